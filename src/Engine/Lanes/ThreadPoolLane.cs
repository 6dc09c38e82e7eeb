using System.Runtime.InteropServices;
using TierSpaces.Engine.Lanes.Native;

namespace TierSpaces.Engine.Lanes;

// A lane without io_uring: it sleeps in epoll, its sockets are edge-triggered there, and worker threads make the file
// calls. Completions come back through the same wake descriptor as posts.

/// <summary>The fallback lane, for kernels and containers that refuse io_uring.</summary>
internal sealed unsafe class ThreadPoolLane(string name, LaneOptions options) : Lane(name, options)
{
    private const int EventsPerWait = 64;
    private const int WakeIndex = -1;
    private const uint InputEvents = Libc.PollIn | Libc.PollPeerHangUp | Libc.EpollEdge;

    // struct epoll_event is packed on x86-64 only.
    private static readonly int s_dataOffset = Libc.IsArm64 ? 8 : 4;
    private static readonly int s_eventSize = s_dataOffset + 8;

    private readonly List<PollTarget?> _targets = [];
    private readonly Stack<int> _freeTargets = new();
    private byte* _events = (byte*)NativeMemory.AllocZeroed(EventsPerWait * 16);
    private int _epoll = -1;
    private int _wakeDescriptor = -1;
    private bool _hasPreciseWait = true;

    public override LaneBackend Backend => LaneBackend.Threads;

    private protected override int FileOperationsInFlight => 0;   // all of them are the workers'

    internal override void Submit(in FileOperation operation, ICompletionTarget target) => Workers.Submit(operation, target);

    internal override LaneFile AddFile(int descriptor, long watchedSize = 0, CallGuard? guard = null) =>
        new(descriptor, -1) { WatchedSize = watchedSize, Guard = guard };

    internal override void RemoveFile(LaneFile file)
    {
    }

    internal override void StartPolling(PollTarget target)
    {
        if (!_freeTargets.TryPop(out int index))
        {
            index = _targets.Count;
            _targets.Add(null);
        }

        _targets[index] = target;
        target.BeginWatch(index);
        Watch(Libc.EpollAdd, target, InputEvents);
    }

    internal override void PollWritable(PollTarget target) => Watch(Libc.EpollModify, target, InputEvents | Libc.PollOut);

    internal override void StopPolling(PollTarget target)
    {
        Forget(target);
        target.OnPollingStopped();
    }

    private protected override string? OpenBackend()
    {
        _epoll = Libc.EpollCreate(Libc.EpollCloseOnExec);
        _wakeDescriptor = _epoll < 0 ? -1 : Libc.EventDescriptor(0, Libc.EventCloseOnExec | Libc.EventNonblocking);
        if (_wakeDescriptor < 0)
        {
            return $"epoll or eventfd: {Errno.Describe(Libc.LastError())}";   // what is open, the lane closes
        }

        int errno = Control(Libc.EpollAdd, _wakeDescriptor, Libc.PollIn, WakeIndex);
        return errno == 0 ? null : $"epoll_ctl: {Errno.Describe(errno)}";
    }

    private protected override void CloseBackend()
    {
        CloseDescriptor(ref _epoll);
        CloseDescriptor(ref _wakeDescriptor);
        NativeMemory.Free(_events);
        _events = null;
    }

    private protected override void SignalWake()
    {
        ulong one = 1;
        _ = Libc.Write(_wakeDescriptor, &one, sizeof(ulong));
    }

    private protected override void PollBackend(long timeoutNs)
    {
        int count = Wait(timeoutNs);
        for (int number = 0; number < count; number++)
        {
            byte* item = _events + (number * s_eventSize);
            Dispatch(*(uint*)item, (int)*(long*)(item + s_dataOffset));
        }
    }

    private void Dispatch(uint readiness, int index)
    {
        if (index == WakeIndex)
        {
            ulong ignored;
            _ = Libc.Read(_wakeDescriptor, &ignored, sizeof(ulong));
            return;
        }

        // A target may have been stopped by an earlier event of the same wait.
        if (_targets[index] is { } target && (readiness & (Libc.PollOut | Libc.PollError | Libc.PollHangUp)) != 0)
        {
            Watch(Libc.EpollModify, target, InputEvents);
            target.OnWritable();
        }

        if (_targets[index] is { } reader && (readiness & ~Libc.PollOut) != 0)
        {
            reader.OnReadable();
        }
    }

    private int Wait(long timeoutNs)
    {
        if (timeoutNs > 0 && _hasPreciseWait)
        {
            Timespec limit = Timespec.FromNanoseconds(timeoutNs);
            int count = Libc.CountOrError(
                Libc.SystemCall(Libc.EpollWait2Call, _epoll, (nint)_events, EventsPerWait, (nint)(&limit), 0, 0));
            if (count >= 0 || count == -Errno.EINTR)
            {
                return Math.Max(0, count);
            }

            _hasPreciseWait = false;   // before Linux 5.11, or filtered: whole milliseconds, rounded up
        }

        int milliseconds = timeoutNs <= 0 ? Math.Sign(timeoutNs) : (int)Math.Min(int.MaxValue, (timeoutNs + 999_999) / 1_000_000);
        return Math.Max(0, Libc.EpollWait(_epoll, _events, EventsPerWait, milliseconds < 0 ? -1 : milliseconds));
    }

    /// <summary>Begins or changes a watch. If the kernel rejects it, nothing is watched and the target is notified in a turn of its own.</summary>
    private void Watch(int operation, PollTarget target, uint events)
    {
        if (target.Watch is not int index)
        {
            return;   // the kernel rejected it before
        }

        int errno = Control(operation, target.Descriptor, events, index);
        if (errno != 0)
        {
            Forget(target);
            Post(() => target.OnPollingFailed(errno));
        }
    }

    private void Forget(PollTarget target)
    {
        if (target.Watch is int index)
        {
            _ = Control(Libc.EpollDelete, target.Descriptor, 0, index);   // closing the descriptor ends the watch as well
            _targets[index] = null;
            _freeTargets.Push(index);
            target.EndWatch();
        }
    }

    private int Control(int operation, int descriptor, uint events, int index)
    {
        byte* item = stackalloc byte[16];
        *(uint*)item = events;
        *(long*)(item + s_dataOffset) = index;
        return Libc.EpollControl(_epoll, operation, descriptor, item) < 0 ? Libc.LastError() : 0;
    }
}
