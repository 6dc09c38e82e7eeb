using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Exports.Nbd;

/// <summary>
/// The server's end of a connection whose other end is the test. Segment sizes and completion times follow the lane's
/// seed; what is sent is copied only when the send completes, so memory given back too early shows.
/// </summary>
internal sealed class TestSocket(SimLane lane) : ILaneSocket
{
    private readonly List<byte> _toServer = [];
    private readonly List<byte> _toClient = [];
    private LaneCompletion<int>? _receive;
    private LaneCompletion<IoError>? _send;
    private IoBuffer _target;
    private ReadOnlyMemory<IoBuffer> _pieces;

    public LanePeer Peer => new("test", 0);

    public long BytesSent { get; private set; }

    /// <summary>Largest segment a receive gives.</summary>
    public int MaxSegment { get; init; } = int.MaxValue;

    /// <summary>Whether some calls complete later, in random order.</summary>
    public bool IsSlow { get; init; }

    /// <summary>Whether the client takes nothing: sends do not complete.</summary>
    public bool IsStuffed { get; set; }

    public bool ClosedByServer { get; private set; }

    public bool ClosedByClient { get; private set; }

    public bool IsPeerGone => ClosedByClient;

    public int Sends { get; private set; }

    public int ReceivedByClient => _toClient.Count;

    /// <summary>Bytes the server has not received yet.</summary>
    public int Unread => _toServer.Count;

    /// <summary>Bytes that the server asked for last.</summary>
    public int Asked => _target.Length;

    public LaneTask<int> Receive(IoBuffer target)
    {
        Assert.Null(_receive);
        Assert.True(target.Length > 0);
        _receive = LaneCompletion<int>.Rent();
        _target = target;
        LaneTask<int> task = _receive.Task;
        Later(Arrive);
        return task;
    }

    public LaneTask<IoError> Send(ReadOnlyMemory<IoBuffer> pieces)
    {
        Assert.Null(_send);
        Assert.False(pieces.IsEmpty);
        Sends++;
        _send = LaneCompletion<IoError>.Rent();
        _pieces = pieces;
        LaneTask<IoError> task = _send.Task;
        Later(Depart);
        return task;
    }

    public void Close()
    {
        ClosedByServer = true;
        Arrive();
        Depart();
    }

    public void ClientSends(ReadOnlySpan<byte> bytes)
    {
        _toServer.AddRange(bytes);
        Arrive();
    }

    public void ClientCloses()
    {
        ClosedByClient = true;
        Arrive();
        Depart();
    }

    public void ClientReadsAgain()
    {
        IsStuffed = false;
        Depart();
    }

    public byte[] TakeReceived(int length)
    {
        byte[] taken = [.. _toClient[..length]];
        _toClient.RemoveRange(0, length);
        return taken;
    }

    private void Later(Action completion)
    {
        if (IsSlow && lane.Next(3) > 0)
        {
            lane.Schedule(lane.Next(1000), completion);
        }
        else
        {
            completion();
        }
    }

    private void Arrive()
    {
        if (_receive is not { } receive || (_toServer.Count == 0 && !ClosedByClient && !ClosedByServer))
        {
            return;
        }

        int limit = MaxSegment == int.MaxValue ? int.MaxValue : 1 + lane.Next(MaxSegment);
        int count = ClosedByServer ? 0 : Math.Min(Math.Min(_toServer.Count, _target.Length), limit);
        _toServer.GetRange(0, count).ToArray().CopyTo(_target.Span);
        _toServer.RemoveRange(0, count);
        _receive = null;
        receive.Complete(count);
    }

    private void Depart()
    {
        bool isBroken = ClosedByClient || ClosedByServer;
        if (_send is not { } send || (IsStuffed && !isBroken))
        {
            return;
        }

        foreach (IoBuffer piece in isBroken ? [] : _pieces.ToArray())
        {
            _toClient.AddRange(piece.Span);
            BytesSent += piece.Length;
        }

        _send = null;
        send.Complete(isBroken ? IoError.ShutDown : IoError.None);
    }
}
