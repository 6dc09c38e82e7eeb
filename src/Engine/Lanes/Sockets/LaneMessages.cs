using System.Runtime.InteropServices;
using TierSpaces.Engine.Lanes.Native;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Lanes.Sockets;

/// <summary>A descriptor of whole messages on a lane, see <see cref="ILaneMessages"/>.</summary>
internal sealed unsafe class LaneMessages : PollTarget, ILaneMessages
{
    private readonly IoVector* _vectors = (IoVector*)NativeMemory.AllocZeroed(2, (nuint)sizeof(IoVector));
    private readonly Lane _lane;
    private readonly Action _arrived;
    private bool _closed;

    internal LaneMessages(Lane lane, int descriptor, Action arrived)
        : base(descriptor)
    {
        _lane = lane;
        _arrived = arrived;
        lane.StartPolling(this);
    }

    public int Read(IoBuffer head, IoBuffer body)
    {
        int result;
        do
        {
            result = Libc.CountOrError(Libc.ReadVector(Descriptor, Fill(head, body), 2));
        }
        while (result == -Errno.EINTR);
        return result;
    }

    public int Write(IoBuffer head, IoBuffer body)
    {
        int result;
        do
        {
            result = Libc.CountOrError(Libc.WriteVector(Descriptor, Fill(head, body), body.Length > 0 ? 2 : 1));
        }
        while (result == -Errno.EINTR);
        return result;
    }

    public void Close()
    {
        if (!_closed)
        {
            _closed = true;
            _lane.StopPolling(this);
        }
    }

    internal override void OnReadable()
    {
        if (!_closed)
        {
            _arrived();
        }
    }

    internal override void OnWritable()
    {
    }

    /// <summary>The next read finds the error.</summary>
    internal override void OnPollingFailed(int errno) => OnReadable();

    internal override void OnPollingStopped()
    {
        Libc.Close(Descriptor);
        NativeMemory.Free(_vectors);
    }

    private IoVector* Fill(IoBuffer head, IoBuffer body)
    {
        _vectors[0] = new IoVector { Base = head.Pointer, Length = (nuint)head.Length };
        _vectors[1] = new IoVector { Base = body.Pointer, Length = (nuint)body.Length };
        return _vectors;
    }
}
