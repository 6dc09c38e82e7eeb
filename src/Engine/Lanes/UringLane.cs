using System.Runtime.InteropServices;
using TierSpaces.Engine.Lanes.Native;
using TierSpaces.Engine.Lanes.Uring;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Lanes;

// A lane whose one wait is io_uring_enter: it submits what a turn started, a few at a time, and sleeps for the first completion.
//
// Invariants
//  1. A submission that finds the queue full waits in _backlog; nothing overtakes it.
//  2. Every submission has one place in _table, freed by its last completion; the kernel owns its buffer until then.
//  3. A read of the wake descriptor is always outstanding.
//  4. No entry is on a file on a foreign file system: io_uring_enter would wait for it.

/// <summary>A lane on io_uring.</summary>
internal sealed unsafe class UringLane(string name, LaneOptions options) : Lane(name, options), ICompletionTarget
{
    private const uint SubmissionEntries = 512;
    private const uint CompletionEntries = 4096;
    private const uint SubmitBatch = 4;    // entries that are given to the kernel before the turn ends: the disk begins meanwhile

    private const uint KernelThreads = 1024;   // far more than disks that may hang at a time

    private static readonly ulong* s_ignored = (ulong*)NativeMemory.AllocZeroed(sizeof(ulong));   // wake counts, which are never read

    private readonly CompletionTable _table = new();
    private readonly Queue<SubmissionEntry> _backlog = new();
    private Ring _ring = null!;            // from OpenBackend; null if that was refused
    private FileTable _files = null!;
    private BufferTable _memory = null!;
    private int _wakeDescriptor = -1;
    private int _othersInFlight;           // wake read and polls
    private long _spinNs;

    public override LaneBackend Backend => LaneBackend.Uring;

    private protected override int FileOperationsInFlight => _table.Count - _othersInFlight;

    internal override void Submit(in FileOperation operation, ICompletionTarget target)
    {
        if (IsForThread(operation) || (CallFaults.IsOn && FileCalls.HasFault(operation)))
        {
            Workers.Submit(operation, target);
            return;
        }

        SubmissionEntry entry = UringEntries.ForFile(operation, _memory.Find((nint)operation.Buffer));
        entry.UserData = _table.Add(target);
        Add(entry);
    }

    internal override LaneFile AddFile(int descriptor, long watchedSize = 0, CallGuard? guard = null) =>
        new(descriptor, _files.Add(descriptor)) { WatchedSize = watchedSize, Guard = guard };

    internal override void RemoveFile(LaneFile file) => _files.Remove(file.TableIndex);

    internal override void StartPolling(PollTarget target)
    {
        UringPoll poll = new(this, target);
        target.BeginWatch(poll);
        poll.Start();
    }

    internal override void PollWritable(PollTarget target) => ((UringPoll)target.Watch!).AskWritable();

    internal override void StopPolling(PollTarget target) => ((UringPoll)target.Watch!).Stop();

    /// <summary>Whether the kernel has pinned the memory of this buffer once and for all.</summary>
    internal bool IsRegistered(IoBuffer buffer) => _memory.Find((nint)buffer.Pointer) >= 0;

    /// <summary>Adds an entry that is no file operation: a poll, its removal, the wake read.</summary>
    internal ulong AddOther(SubmissionEntry entry, ICompletionTarget target)
    {
        entry.UserData = _table.Add(target);
        _othersInFlight++;
        Add(entry);
        return entry.UserData;
    }

    /// <summary>Each last completion of an <see cref="AddOther"/> says so here.</summary>
    internal void OtherEnded() => _othersInFlight--;

    /// <summary>The wake descriptor was read: read it again.</summary>
    void ICompletionTarget.OnCompletion(int result, bool more)
    {
        OtherEnded();
        ReadWakeDescriptor();
    }

    private protected override string? OpenBackend()
    {
        if (UringProbe.CreateRing(SubmissionEntries, CompletionEntries, Options.RingSetups, out string? reason) is not { } ring)
        {
            return reason;
        }

        _ring = ring;
        _wakeDescriptor = Libc.EventDescriptor(0, Libc.EventCloseOnExec);
        if (_wakeDescriptor < 0)
        {
            return $"eventfd: {Errno.Describe(Libc.LastError())}";
        }

        ring.LimitWorkers(KernelThreads);
        _files = new FileTable(ring);
        _memory = new BufferTable(ring);
        Buffers.OnMemory(_memory.Add);
        _spinNs = Options.SpinNs;
        ReadWakeDescriptor();
        return null;
    }

    private protected override void CloseBackend()
    {
        try
        {
            _ring?.Dispose();
        }
        finally
        {
            CloseDescriptor(ref _wakeDescriptor);
        }
    }

    private protected override void SignalWake()
    {
        ulong one = 1;
        _ = Libc.Write(_wakeDescriptor, &one, sizeof(ulong));
    }

    private protected override void PollBackend(long timeoutNs)
    {
        SubmitBacklog();
        bool sleep = timeoutNs != 0 && !_ring.HasCompletion && _backlog.Count == 0;
        if (sleep && _spinNs > 0 && FileOperationsInFlight == 0)
        {
            sleep = !Spin();
        }

        if (sleep)
        {
            Enter(1, timeoutNs);
        }
        else if (_ring.Unsubmitted > 0 || _ring.MustEnter)
        {
            Enter(0, -1);
        }

        Dispatch();
    }

    /// <summary>
    /// Operations that the ring does not have, and all of a watched file: a file system may wait for its daemon or server already while it takes an entry of
    /// the ring, as FUSE does for the extended attributes of a file that is written to. A call with a condition looks at it on a thread: the ring's own
    /// workers are stopped with the process, and go on with it.
    /// </summary>
    private static bool IsForThread(in FileOperation operation) => operation.File.WatchedSize > 0
        || (operation.Opcode == FileOpcode.Allocate && operation.File.Guard?.Condition is not null)
        || operation.Opcode is FileOpcode.Discard or FileOpcode.ZeroOut or FileOpcode.Status or FileOpcode.Close or FileOpcode.Call;

    private void ReadWakeDescriptor() => AddOther(
        new SubmissionEntry
        {
            Opcode = RingOpcode.Read,
            Descriptor = _wakeDescriptor,
            Address = (ulong)s_ignored,
            Length = sizeof(ulong),
            Offset = -1,
        },
        this);

    private void Add(in SubmissionEntry entry)
    {
        if (_backlog.Count > 0 || !_ring.TryAdd(entry))
        {
            _backlog.Enqueue(entry);
            SubmitBacklog();
        }
        else if (_ring.Unsubmitted >= SubmitBatch)
        {
            Enter(0, -1);
        }
    }

    private void SubmitBacklog()
    {
        while (_backlog.TryPeek(out SubmissionEntry entry))
        {
            if (!_ring.TryAdd(entry))
            {
                // Full: let the kernel take what is there. When it cannot (no memory, completions to be read first),
                // the next turn tries again.
                if (!Enter(0, -1) || !_ring.TryAdd(entry))
                {
                    return;
                }
            }

            _backlog.Dequeue();
        }
    }

    /// <summary>Enters the kernel; false when it took nothing and the completions must be looked at first.</summary>
    private bool Enter(uint minimum, long timeoutNs)
    {
        int result = _ring.Enter(minimum, timeoutNs);
        if (result >= 0)
        {
            return true;
        }

        return -result switch
        {
            Errno.EINTR or Errno.ETIME or Errno.EAGAIN or Errno.EBUSY => false,
            _ => throw new InvalidOperationException($"io_uring_enter: {Errno.Describe(-result)}"),
        };
    }

    private void Dispatch()
    {
        // Only what is there now: what these completions start belongs to the next turn.
        for (uint count = CompletionEntries; count > 0 && _ring.TryTake(out CompletionEntry completion); count--)
        {
            bool more = (completion.Flags & CompletionEntry.More) != 0;
            _table.Take(completion.UserData, more).OnCompletion(completion.Result, more);
        }
    }

    /// <summary>Looks for work for a while instead of sleeping; true when there is some.</summary>
    private bool Spin()
    {
        Enter(0, -1);
        long endNs = NowNs + _spinNs;
        while (NowNs < endNs)
        {
            if (_ring.HasCompletion || _ring.MustEnter || HasOutsideWork)
            {
                _spinNs = Math.Min(Options.SpinNs, _spinNs * 2);
                return true;
            }

            Thread.SpinWait(10);
        }

        _spinNs = Math.Max(Options.SpinNs / 16, _spinNs / 2);
        return false;
    }
}
