namespace TierSpaces.Engine.Lanes;

// Threads that make blocking calls for a lane: everything on files where io_uring is refused, and on either backend the
// calls that io_uring has no operation for.
//
// A file that does not answer, on a file system that hangs, keeps the threads that call it, and no more than its share of them: the operations of each file
// wait in a queue of their own, and so many of them run at a time. There is no limit over all files.
//
// Invariants
//  1. Of a file at most PerFile operations run at a time. Its queue is among the ready ones once for each operation that may run besides.
//  2. While queues are ready, as many threads as there are entries are idle or on their way to the next operation: so there are never more threads than
//     operations that may run at a time. A thread that has been idle for a while ends.
//  3. Each operation is run once and delivered once, by Deliver on the lane.

/// <summary>Makes the call of an operation, which may block; a count or a negative errno.</summary>
internal delegate int FileCall(in FileOperation operation);

/// <summary>Threads for the blocking calls of one lane.</summary>
/// <param name="name">Name of the lane.</param>
/// <param name="perFile">Most operations of one file that run at a time, at least 1.</param>
/// <param name="wakeLane">Called on a thread when an operation has ended.</param>
/// <param name="call">Makes the calls; null: the system calls.</param>
/// <param name="idleMs">Time after which a thread without work ends, in milliseconds.</param>
internal sealed class FileWorkers(string name, int perFile, Action wakeLane, FileCall? call = null, int idleMs = 10_000)
{
    private const int HeldMs = 20;

    private readonly record struct Outcome(ICompletionTarget Target, int Result);

    private readonly FileCall _call = call ?? FileCalls.Run;
    private readonly object _gate = new();
    private readonly Queue<FileQueue> _ready = new();
    private readonly Queue<Outcome> _delivering = new();   // lane only
    private Queue<Outcome> _finished = new();
    private Queue<Outcome> _spare = new();
    private int _started;   // threads so far
    private int _threads;
    private int _idle;
    private int _coming;    // threads on their way to Take: just started, or at the end of an operation
    private bool _stopped;
    private volatile bool _hasFinished;

    /// <summary>Threads that there are now.</summary>
    internal int Threads
    {
        get
        {
            lock (_gate)
            {
                return _threads;
            }
        }
    }

    /// <summary>Operations queued and not yet delivered. Read on the lane.</summary>
    internal int InFlight { get; private set; }

    /// <summary>Whether <see cref="Deliver"/> has something to do.</summary>
    internal bool HasFinished => _hasFinished || _delivering.Count > 0;

    internal void Submit(in FileOperation operation, ICompletionTarget target)
    {
        InFlight++;
        lock (_gate)
        {
            FileQueue queue = operation.File.Waiting;
            queue.Jobs.Enqueue(new FileJob(operation, target));
            MakeReady(queue);
            if (_ready.Count > _idle + _coming)
            {
                StartThread();
            }

            Monitor.Pulse(_gate);
        }
    }

    /// <summary>Tells the targets of finished operations, on the lane.</summary>
    internal void Deliver()
    {
        TakeFinished();
        while (_delivering.TryDequeue(out Outcome outcome))
        {
            InFlight--;
            outcome.Target.OnCompletion(outcome.Result, more: false);
        }
    }

    /// <summary>Lets the threads end once the queue is empty.</summary>
    internal void Stop()
    {
        lock (_gate)
        {
            _stopped = true;
            Monitor.PulseAll(_gate);
        }
    }

    private void TakeFinished()
    {
        if (!_hasFinished)
        {
            return;
        }

        Queue<Outcome> finished;
        lock (_gate)
        {
            finished = _finished;
            _finished = _spare;
            _hasFinished = false;
        }

        while (finished.TryDequeue(out Outcome outcome))
        {
            _delivering.Enqueue(outcome);
        }

        _spare = finished;
    }

    private void MakeReady(FileQueue queue)
    {
        if (queue.TryMakeReady(perFile))
        {
            _ready.Enqueue(queue);
        }
    }

    private void StartThread()
    {
        _threads++;
        _coming++;
        new Thread(Run, maxStackSize: 256 << 10) { IsBackground = true, Name = $"{name} io {++_started}" }.Start();
    }

    private void Run()
    {
        while (Take(out FileQueue queue) is { } job)
        {
            int result = _call(job.Operation);
            if (result == FileCalls.Held)
            {
                PutBack(queue, job);
                continue;
            }

            lock (_gate)
            {
                queue.End();
                _coming++;
                MakeReady(queue);   // this thread takes it, or another one that is ready
                _finished.Enqueue(new Outcome(job.Target, result));
                _hasFinished = true;
            }

            wakeLane();
        }
    }

    /// <summary>Puts an operation that may not be begun now behind the others of its file, after a pause.</summary>
    private void PutBack(FileQueue queue, FileJob job)
    {
#pragma warning disable RS0030 // a thread for blocking calls, which no lane waits for
        Thread.Sleep(HeldMs);
#pragma warning restore RS0030
        lock (_gate)
        {
            queue.End();
            _coming++;
            queue.Jobs.Enqueue(job);
            MakeReady(queue);
        }
    }

    /// <summary>The next operation that may run; null: the thread is to end.</summary>
    private FileJob? Take(out FileQueue queue)
    {
        lock (_gate)
        {
            _coming--;
            bool isInTime = true;
            while (!_ready.TryDequeue(out queue!))
            {
                if (_stopped || !isInTime)
                {
                    _threads--;
                    return null;
                }

                _idle++;
                isInTime = Monitor.Wait(_gate, idleMs);
                _idle--;
            }

            return queue.Begin();
        }
    }
}

/// <summary>An operation that waits for a thread.</summary>
internal readonly record struct FileJob(FileOperation Operation, ICompletionTarget Target);

/// <summary>Operations of one file for <see cref="FileWorkers"/>, which alone uses it, under its lock.</summary>
internal sealed class FileQueue
{
    private int _ready;     // of the jobs: may be run as soon as a thread is free
    private int _running;   // threads are at them

    /// <summary>Operations that wait, in order.</summary>
    internal Queue<FileJob> Jobs { get; } = new();

    /// <summary>Whether one more of them may be run as soon as a thread is free; it counts as ready then.</summary>
    /// <param name="atOnce">Most operations of a file that are run at once.</param>
    internal bool TryMakeReady(int atOnce)
    {
        bool isOne = _ready < Jobs.Count && _running + _ready < atOnce;
        _ready += isOne ? 1 : 0;
        return isOne;
    }

    /// <summary>A thread takes one that is ready.</summary>
    internal FileJob Begin()
    {
        _ready--;
        _running++;
        return Jobs.Dequeue();
    }

    /// <summary>A thread has ended one.</summary>
    internal void End() => _running--;
}
