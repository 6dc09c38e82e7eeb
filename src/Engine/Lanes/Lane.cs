using System.Diagnostics;
using System.Runtime.InteropServices;
using TierSpaces.Engine.Lanes.Native;
using TierSpaces.Engine.Lanes.Sockets;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Lanes;

// A thread that does everything for the virtual disks that live on it.
//
// The loop: take what other threads posted, run what is ready, fire due timers, then one wait that also submits
// everything started meanwhile. The two backends differ only in that wait (PollBackend) and in how a file operation
// starts. The thread sleeps nowhere else.
//
// Invariants
//  1. Other threads call only Post, Stop and WakeFromOutside, and offloaded items PostUnlessStopped; everything else runs on the lane's thread.
//  2. One turn runs only what was ready when it began, so that a lane which keeps itself busy still serves its ring.
//  3. Before sleeping the lane declares that it needs waking and looks at the queues once more. A thread that queues afterwards
//     finds the declaration and signals. So no post is missed and a busy lane costs its callers no system call.
//  4. At most one offloaded work item runs at a time, in FIFO order, so a lane never occupies more than one extra core.
//  5. The thread ends only when no file operation is in flight (or after StopPatienceNs, leaving its memory alone).

/// <summary>The lane of the real world: see <see cref="LaneFactory.Create"/>.</summary>
public abstract class Lane : ILane, IDisposable
{
    private const long StopPatienceNs = 10_000_000_000;
    private static readonly long s_ticksPerSecond = Stopwatch.Frequency;

    private readonly record struct OffloadedItem(Action Work, LaneCompletion<Nothing> Completion);

    private readonly record struct ReadyItem(Action? Work, LaneCompletion<Nothing>? Completion);

    private readonly Thread _thread;
    private readonly ManualResetEventSlim _started = new();
    private readonly Queue<ReadyItem> _ready = new(256);
    private readonly Queue<OffloadedItem> _offloaded = new();
    private readonly TimerHeap _timers = new();
    private readonly object _postGate = new();
    private List<Action> _posted = [];
    private List<Action> _taken = [];
    private volatile bool _hasPosted;
    private bool _closed;               // under _postGate: nothing will run what is posted
    private int _wakeNeeded;            // 1 while the lane sleeps or is about to
    private long _stopAtNs = long.MaxValue;   // latest end, once it has been asked for
    private int _threadId;
    private LaneRandom _random = LaneRandom.Create();
    private int? _lockErrno;   // of the first attempt to lock the memory; null: there was none

    private protected Lane(string name, LaneOptions options)
    {
        Name = name;
        Options = options;
        Workers = new FileWorkers(name, Math.Clamp(options.CallsPerFile, 1, 64), WakeFromOutside, options.FileCall);
        Network = new LaneNetwork(this);
        _thread = new Thread(Run) { IsBackground = true, Name = name };
    }

    /// <inheritdoc/>
    public string Name { get; }

    /// <summary>I/O backend of this lane.</summary>
    public abstract LaneBackend Backend { get; }

    /// <summary>The backend and the reason for its choice, in words.</summary>
    public string BackendReason { get; internal init; } = string.Empty;

    /// <inheritdoc/>
    public long NowNs => RecentNs = s_ticksPerSecond == 1_000_000_000
        ? Stopwatch.GetTimestamp()
        : (long)((Int128)Stopwatch.GetTimestamp() * 1_000_000_000 / s_ticksPerSecond);

    /// <inheritdoc/>
    public long RecentNs { get; private set; }

    /// <inheritdoc/>
    public long BootNs => Libc.BootTimeNs();

#pragma warning disable RS0030 // the lane is where the clock enters the engine
    /// <inheritdoc/>
    public DateTimeOffset UtcNow => DateTimeOffset.UtcNow;
#pragma warning restore RS0030

    /// <inheritdoc/>
    public BufferPool Buffers { get; } = new(HugePageMemory.Instance);

    /// <summary>Sockets of this lane.</summary>
    public ILaneNetwork Network { get; }

    /// <inheritdoc/>
    public bool IsCurrent => Environment.CurrentManagedThreadId == _threadId;

    /// <summary>
    /// Handles exceptions that no awaiting code took; the lane goes on. Without a handler such an exception ends the process,
    /// because state that may be inconsistent must not reach a disk.
    /// </summary>
    public Action<Exception>? UnhandledException { get; set; }

    /// <summary>Number of the current turn of the loop.</summary>
    internal long Turn { get; private set; }

    private protected LaneOptions Options { get; }

    private protected FileWorkers Workers { get; }

    /// <summary>File operations the backend has not completed yet.</summary>
    private protected abstract int FileOperationsInFlight { get; }

    private bool IsQuiet => FileOperationsInFlight + Workers.InFlight == 0;

    private protected bool HasOutsideWork => _hasPosted || Workers.HasFinished;

    /// <inheritdoc/>
    public ulong NextRandom() => _random.Next();

    /// <inheritdoc/>
    public Guid NewGuid() => LaneRandom.NewGuid();

    /// <summary>
    /// Locks the memory of the buffers of this lane: what is there, and what comes. From then on this thread serves block devices of its own machine, so its
    /// allocations do not wait for them to write back (PR_SET_IO_FLUSHER). Called on the lane; repeats do nothing.
    /// </summary>
    /// <returns>0, or the errno for which the memory that is there could not be locked.</returns>
    internal unsafe int LockMemory()
    {
        if (_lockErrno is { } known)
        {
            return known;
        }

        // Later memory that cannot be locked serves as it is: only a kill in the same instant can tell.
        int errno = 0;
        Buffers.OnMemory((address, bytes) => errno = Libc.LockMemory((void*)address, (nuint)bytes) < 0 ? Libc.LastError() : errno);
        _lockErrno = errno;
        _ = Libc.ProcessControl(Libc.SetIoFlusher, 1, 0, 0, 0);
        return errno;
    }

    /// <inheritdoc/>
    public LaneTask Delay(long nanoseconds)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(nanoseconds);
        LaneCompletion<Nothing> completion = LaneCompletion<Nothing>.Rent();
        long now = NowNs;
        _timers.Add(nanoseconds > long.MaxValue - now ? long.MaxValue : now + nanoseconds, completion);
        return new LaneTask(completion.Task);
    }

    /// <inheritdoc/>
    public LaneTask Yield()
    {
        LaneCompletion<Nothing> completion = LaneCompletion<Nothing>.Rent();
        _ready.Enqueue(new ReadyItem(null, completion));
        return new LaneTask(completion.Task);
    }

    /// <inheritdoc/>
    public LaneTask Offload(Action work)
    {
        OffloadedItem item = new(work, LaneCompletion<Nothing>.Rent());
        _offloaded.Enqueue(item);
        if (_offloaded.Count == 1)
        {
            StartOffloaded(item);
        }

        return new LaneTask(item.Completion.Task);
    }

    /// <inheritdoc/>
    public LaneTask OffloadBlocking(Action work) => new BlockingCall(work).Start(Workers);

    /// <summary>The same for calls on an open file, which count among its operations.</summary>
    internal LaneTask OffloadBlocking(Action work, LaneFile file) => new BlockingCall(work, file).Start(Workers);

    /// <inheritdoc/>
    /// <exception cref="ObjectDisposedException">The lane has stopped.</exception>
    public void Post(Action work)
    {
        ArgumentNullException.ThrowIfNull(work);
        if (IsCurrent)
        {
            _ready.Enqueue(new ReadyItem(work, null));
            return;
        }

        ObjectDisposedException.ThrowIf(!PostUnlessStopped(work), this);
    }

    /// <summary>
    /// Ends the lane after the file operations in flight and waits for its thread; called from another thread. Operations that still wait on a timer
    /// or a socket never complete: their owner ends them first.
    /// </summary>
    public void Dispose()
    {
        if (!_thread.IsAlive)
        {
            return;
        }

        try
        {
            Post(() => _stopAtNs = NowNs + StopPatienceNs);
        }
        catch (ObjectDisposedException)
        {
            // Another caller was first; wait for the thread with it.
        }

        _thread.Join();
        GC.SuppressFinalize(this);
    }

    /// <summary>Starts the thread; the backend's reason when it could not open.</summary>
    internal string? Start()
    {
        _thread.Start();
        _started.Wait();
        return StartFailure;
    }

    /// <summary>Starts an operation; its target is completed on the lane, never within this call.</summary>
    internal abstract void Submit(in FileOperation operation, ICompletionTarget target);

    /// <summary>Makes a descriptor known to the backend.</summary>
    /// <param name="descriptor">The open file.</param>
    /// <param name="watchedSize">See <see cref="LaneFile.WatchedSize"/>.</param>
    /// <param name="guard">See <see cref="LaneFile.Guard"/>.</param>
    internal abstract LaneFile AddFile(int descriptor, long watchedSize = 0, CallGuard? guard = null);

    /// <summary>Forgets a descriptor, which may be closed afterwards.</summary>
    internal abstract void RemoveFile(LaneFile file);

    /// <summary>Watches for input from now on.</summary>
    internal abstract void StartPolling(PollTarget target);

    /// <summary>Asks once for room to send.</summary>
    internal abstract void PollWritable(PollTarget target);

    /// <summary>Ends the watch; <see cref="PollTarget.OnPollingStopped"/> follows, here or later.</summary>
    internal abstract void StopPolling(PollTarget target);

    private protected string? StartFailure { get; private set; }

    /// <summary>Opens the backend on the lane's thread: null, or why it cannot.</summary>
    private protected abstract string? OpenBackend();

    /// <summary>Submits, waits at most <paramref name="timeoutNs"/> (0: not at all, negative: until something happens), dispatches.</summary>
    private protected abstract void PollBackend(long timeoutNs);

    /// <summary>Releases what <see cref="OpenBackend"/> took.</summary>
    private protected abstract void CloseBackend();

    /// <summary>Ends a sleep in <see cref="PollBackend"/>. Called from any thread.</summary>
    private protected abstract void SignalWake();

    private protected void WakeFromOutside()
    {
        if (Interlocked.Exchange(ref _wakeNeeded, 0) == 1)
        {
            SignalWake();
        }
    }

    private void StartOffloaded(OffloadedItem item) => ThreadPool.UnsafeQueueUserWorkItem(
        static state =>
        {
            state.item.Work();
            state.lane.PostUnlessStopped(state.lane.EndOffloaded);
        },
        (lane: this, item),
        preferLocal: false);

    private void EndOffloaded()
    {
        OffloadedItem ended = _offloaded.Dequeue();
        if (_offloaded.TryPeek(out OffloadedItem next))
        {
            StartOffloaded(next);
        }

        ended.Completion.Complete(default);
    }

    /// <summary>Posts work unless the lane has stopped. Returns false then: no task on the lane waits any more.</summary>
    private bool PostUnlessStopped(Action work)
    {
        lock (_postGate)
        {
            if (_closed)
            {
                return false;
            }

            _posted.Add(work);
            _hasPosted = true;
        }

        WakeFromOutside();
        return true;
    }

    private void Run()
    {
        _threadId = Environment.CurrentManagedThreadId;
        _ = Libc.ProcessControl(Libc.SetTimerSlack, 1, 0, 0, 0);   // the default lets every timer be 50 µs late
        StartFailure = TryOpenBackend();
        _started.Set();
        if (StartFailure is not null)
        {
            return;
        }

        while (!MayEnd())
        {
            try
            {
                RunTurn();
            }
            catch (Exception error)
            {
                Report(error);
            }
        }

        End();
    }

    /// <summary>Opens the backend. One that cannot be opened as a whole is closed again.</summary>
    private string? TryOpenBackend()
    {
        string? reason;
        try
        {
            reason = OpenBackend();
        }
        catch (Exception error) when (error is not InvariantException)
        {
            reason = error.Message;
        }

        if (reason is not null)
        {
            CloseEach(CloseBackend);
        }

        return reason;
    }

    private void RunTurn()
    {
        Turn++;
        TakePosted();
        Workers.Deliver();
        RunReady();
        FireTimers();
        long timeoutNs = SleepTimeNs();
        if (timeoutNs != 0)
        {
            Interlocked.Exchange(ref _wakeNeeded, 1);
            timeoutNs = HasOutsideWork ? 0 : timeoutNs;
        }

        PollBackend(timeoutNs);
        _wakeNeeded = 0;
    }

    private void TakePosted()
    {
        if (!_hasPosted)
        {
            return;
        }

        lock (_postGate)
        {
            (_posted, _taken) = (_taken, _posted);
            _hasPosted = false;
        }

        foreach (Action work in _taken)
        {
            _ready.Enqueue(new ReadyItem(work, null));
        }

        _taken.Clear();
    }

    private void RunReady()
    {
        for (int count = _ready.Count; count > 0; count--)
        {
            ReadyItem item = _ready.Dequeue();
            if (item.Work is { } work)
            {
                work();
            }
            else
            {
                item.Completion!.Complete(default);
            }
        }
    }

    private void FireTimers()
    {
        if (_timers.Count == 0)
        {
            return;
        }

        long now = NowNs;
        while (_timers.Count > 0 && _timers.EarliestNs <= now)
        {
            _timers.TakeEarliest().Complete(default);
        }
    }

    private long SleepTimeNs()
    {
        if (_ready.Count > 0 || MayEnd())
        {
            return 0;
        }

        long dueNs = _timers.Count > 0 ? _timers.EarliestNs : long.MaxValue;
        dueNs = Math.Min(dueNs, _stopAtNs);
        return dueNs == long.MaxValue ? -1 : Math.Max(0, dueNs - NowNs);
    }

    private bool MayEnd() => _stopAtNs != long.MaxValue && (IsQuiet || NowNs >= _stopAtNs);

    private void End()
    {
        bool quiet = IsQuiet;
        lock (_postGate)
        {
            _closed = true;
        }

        CloseEach(Workers.Stop, CloseBackend, quiet ? Buffers.Dispose : static () => { });
    }

    /// <summary>Steps of closing: one that fails is reported when all of them are done.</summary>
    private void CloseEach(params ReadOnlySpan<Action> steps)
    {
        Exception? failure = null;
        foreach (Action step in steps)
        {
            try
            {
                step();
            }
            catch (Exception error) when (error is not InvariantException)
            {
                failure ??= error;
            }
        }

        if (failure is not null)
        {
            Report(failure);
        }
    }

    private protected static void CloseDescriptor(ref int descriptor)
    {
        if (descriptor >= 0)
        {
            Libc.Close(descriptor);
            descriptor = -1;
        }
    }

    private void Report(Exception error)
    {
        if (UnhandledException is { } handler)
        {
            handler(error);
            return;
        }

        Environment.FailFast($"Lane {Name}: an exception that nothing handled. {error}", error);
    }
}
