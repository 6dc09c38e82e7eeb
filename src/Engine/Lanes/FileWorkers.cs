namespace TierSpaces.Engine.Lanes;

// Threads that make blocking calls for a lane: everything on files where io_uring is refused, and on either backend the
// calls that io_uring has no operation for.
//
// Invariants
//  1. At most `limit` threads exist; one is started when work is queued and none is idle.
//  2. Each operation is run once and delivered once, by Deliver on the lane.

/// <summary>A bounded set of threads for the blocking calls of one lane.</summary>
internal sealed class FileWorkers(string name, int limit, Action wakeLane)
{
    private readonly record struct Job(FileOperation Operation, ICompletionTarget Target);

    private readonly record struct Outcome(ICompletionTarget Target, int Result);

    private readonly object _gate = new();
    private readonly Queue<Job> _jobs = new();
    private readonly Queue<Outcome> _delivering = new();   // lane only
    private Queue<Outcome> _finished = new();
    private Queue<Outcome> _spare = new();
    private int _threads;
    private int _idle;
    private bool _stopped;
    private volatile bool _hasFinished;

    /// <summary>Operations queued and not yet delivered. Read on the lane.</summary>
    internal int InFlight { get; private set; }

    /// <summary>Whether <see cref="Deliver"/> has something to do.</summary>
    internal bool HasFinished => _hasFinished || _delivering.Count > 0;

    internal void Submit(in FileOperation operation, ICompletionTarget target)
    {
        InFlight++;
        lock (_gate)
        {
            _jobs.Enqueue(new Job(operation, target));
            if (_jobs.Count > _idle && _threads < limit)
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

    private void StartThread()
    {
        _threads++;
        new Thread(Run, maxStackSize: 256 << 10) { IsBackground = true, Name = $"{name} io {_threads}" }.Start();
    }

    private void Run()
    {
        while (TakeJob(out Job job))
        {
            int result = FileCalls.Run(job.Operation);
            lock (_gate)
            {
                _finished.Enqueue(new Outcome(job.Target, result));
                _hasFinished = true;
            }

            wakeLane();
        }
    }

    private bool TakeJob(out Job job)
    {
        lock (_gate)
        {
            while (!_jobs.TryDequeue(out job))
            {
                if (_stopped)
                {
                    return false;
                }

                _idle++;
                Monitor.Wait(_gate);
                _idle--;
            }

            return true;
        }
    }
}
