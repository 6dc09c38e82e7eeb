using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tests.Exports.Nbd;

// A lane, a socket and a store that allocate nothing themselves, so that what is measured is the server.

internal sealed class QuietLane : ILane
{
    private readonly Queue<(LaneCompletion<Nothing>? Gate, Action? Work)> _ready = new();

    public string Name => "quiet";

    public long NowNs => 0;

    public DateTimeOffset UtcNow => DateTimeOffset.UnixEpoch;

    public BufferPool Buffers { get; } = new();

    public bool IsCurrent => true;

    public ulong NextRandom() => 4;

    public Guid NewGuid() => Guid.Empty;

    public LaneTask Delay(long nanoseconds) => Wait(LaneCompletion<Nothing>.Rent().Task);   // time does not advance

    public LaneTask Yield()
    {
        LaneCompletion<Nothing> gate = LaneCompletion<Nothing>.Rent();
        _ready.Enqueue((gate, null));
        return Wait(gate.Task);
    }

    public LaneTask Offload(Action work) => throw new NotSupportedException();

    public LaneTask OffloadBlocking(Action work) => throw new NotSupportedException();

    public void Post(Action work) => _ready.Enqueue((null, work));

    public void Run()
    {
        while (_ready.TryDequeue(out (LaneCompletion<Nothing>? Gate, Action? Work) next))
        {
            next.Gate?.Complete(default);
            next.Work?.Invoke();
        }
    }

    private static async LaneTask Wait(LaneTask<Nothing> task) => await task;
}

/// <summary>Plays one recorded input at a time and counts the bytes that come back.</summary>
internal sealed class QuietSocket : ILaneSocket
{
    private LaneCompletion<int>? _receive;
    private IoBuffer _target;
    private byte[] _input = [];
    private int _played;

    public LanePeer Peer => new("quiet", 0);

    public long BytesSent { get; private set; }

    public void Play(byte[] input)
    {
        _input = input;
        _played = 0;
        while (_receive is { } receive && _played < _input.Length)
        {
            _receive = null;
            receive.Complete(Next(_target));
        }
    }

    public LaneTask<int> Receive(IoBuffer target)
    {
        if (_played < _input.Length)
        {
            return LaneTask.FromResult(Next(target));
        }

        _receive = LaneCompletion<int>.Rent();
        _target = target;
        return _receive.Task;
    }

    public LaneTask<IoError> Send(ReadOnlyMemory<IoBuffer> pieces)
    {
        foreach (IoBuffer piece in pieces.Span)
        {
            BytesSent += piece.Length;
        }

        return default;
    }

    public void Close() => _receive?.Complete(0);

    private int Next(IoBuffer target)
    {
        int count = Math.Min(target.Length, _input.Length - _played);
        _input.AsSpan(_played, count).CopyTo(target.Span);
        _played += count;
        return count;
    }
}

/// <summary>Completes at once, or when told to, last call first.</summary>
internal sealed class QuietStore(bool completesLater) : IBlockStore
{
    private readonly Stack<LaneCompletion<IoError>> _pending = new();

    public StoreGeometry Geometry => new(1 << 30, 512, 512, 32 << 20);

    public LaneTask<IoError> Read(long offset, IoBuffer target) => Do();

    public LaneTask<IoError> Write(long offset, IoBuffer source, WriteFlags flags) => Do();

    public LaneTask<IoError> Flush() => Do();

    public LaneTask<IoError> Unmap(long offset, long length) => Do();

    public LaneTask<IoError> WriteZeroes(long offset, long length, WriteFlags flags) => Do();

    public LaneTask<IoError> Status(long offset, long length, List<StoreExtent> extents)
    {
        extents.Add(new StoreExtent(length, ExtentState.Data));
        return Do();
    }

    public void CompleteAll()
    {
        while (_pending.TryPop(out LaneCompletion<IoError>? call))
        {
            call.Complete(IoError.None);
        }
    }

    private LaneTask<IoError> Do()
    {
        if (!completesLater)
        {
            return default;
        }

        LaneCompletion<IoError> call = LaneCompletion<IoError>.Rent();
        _pending.Push(call);
        return call.Task;
    }
}
