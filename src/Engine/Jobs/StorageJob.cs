using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Jobs;

/// <summary>Everything a job is made of.</summary>
public sealed record JobSpec
{
    /// <summary>Identity; that of the record it is resumed from.</summary>
    public required Guid Id { get; init; }

    /// <summary>Kind of the job.</summary>
    public required JobKind Kind { get; init; }

    /// <summary>Name users see: Repair, Scrub …</summary>
    public required string Name { get; init; }

    /// <summary>Purpose of the job, one sentence.</summary>
    public string Description { get; init; } = "";

    /// <summary>Pool it works in.</summary>
    public required Guid Pool { get; init; }

    /// <summary>Virtual disk it works on.</summary>
    public required Guid VirtualDisk { get; init; }

    /// <summary>Friendly name that it had when the job began; empty for a job of a pool.</summary>
    public string VirtualDiskName { get; init; } = "";

    /// <summary>Lane of the virtual disk, for the steps whose pieces run there; null: the lane of the job.</summary>
    public IDiskLane? DiskLane { get; init; }

    /// <summary>Its stages, in order.</summary>
    public required IReadOnlyList<IJobStep> Steps { get; init; }

    /// <summary>Whether it verifies, where that can be left out; null: it does not matter.</summary>
    public VerifyOrder? Verify { get; init; }

    /// <summary>Holds it back for the latency of clients, besides the share that all jobs keep to; null: nothing does.</summary>
    public LatencyHold? Latency { get; init; }

    /// <summary>Progress at which an earlier process left the job; null for a new job.</summary>
    public JobProgress? Resumed { get; init; }

    /// <summary>Makes the progress durable; null: the job has ended. If it fails, some work is repeated, with no other effect.</summary>
    public required Func<JobProgress?, LaneTask<Nothing>> Save { get; init; }
}

// A long operation: its steps, piece by piece, with a pause after each.
//
// Invariants
//  1. State goes New, Running, then once to Completed, Terminated, Suspended or Exception; ShuttingDown comes before a stop.
//  2. A piece that has begun is carried to its end, or given up by the step at one of its breaks: it is never cut in the middle by a stop.
//  3. The saved cursor is never ahead of the work done.
//  4. Told to begin again, it does so after the piece under way, or has said that it cannot.
//  5. A piece may run on the lane of the virtual disk. Until it has returned the job reads of its step only totals and counters, each a whole number.

/// <summary>One long operation and how far it is.</summary>
public sealed class StorageJob
{
    private const long SavePeriodNs = 10_000_000_000;

    private readonly ILane _lane;
    private readonly JobSpec _spec;
    private readonly JobPiece _piece;
    private readonly LaneSignal _ended = new();
    private int _step;
    private long _cursor;
    private long _doneInSteps;      // bytes of steps that have ended since it began, or began again
    private long _doneInStep;
    private long _elapsedBeforeNs;  // in former processes
    private long _startNs;
    private long _endNs;
    private long _savedNs;
    private JobState? _endAs;       // set when a stop is requested
    private bool _again;            // set when a restart is requested
    private bool _isEnding;
    private long _stepAhead;        // bytes of the step under way, as known before its first piece
    private long _stepsAhead;       // bytes of the steps after it, as known when it began
    private bool _hasBegunStep;     // its first piece has begun: the step keeps its total itself
    private long _total;            // of a job that has ended: what it did where it has completed, else what there was to do

    internal StorageJob(ILane lane, JobSpec spec, JobPacer pacer)
    {
        _lane = lane;
        _spec = spec;
        _piece = new JobPiece(pacer);
        TimeSubmitted = StartTime = TimeOfLastStateChange = lane.UtcNow;
        _startNs = _endNs = _savedNs = lane.NowNs;
        foreach (IJobStep step in spec.Steps)
        {
            step.Breaks?.Follow(_piece, spec.DiskLane?.Lane ?? lane);
        }

        if (spec.Resumed is { } resumed)
        {
            TimeSubmitted = new DateTimeOffset(resumed.UtcTicks, TimeSpan.Zero);
            _step = Math.Max(0, spec.Steps.ToList().FindIndex(step => step.Name == resumed.Step));
            bool isSame = spec.Steps[_step].Name == resumed.Step;
            _cursor = isSame ? resumed.Cursor : 0;
            _doneInStep = isSame ? resumed.BytesProcessed : 0;
            _elapsedBeforeNs = resumed.ElapsedNs;
        }
    }

    /// <summary>Identity, name, target.</summary>
    public JobSpec Spec => _spec;

    /// <summary>State of the job.</summary>
    public JobState State { get; private set; } = JobState.New;

    /// <summary>The step under way, or the outcome of the job at its end.</summary>
    public string Status { get; private set; } = "";

    /// <summary>Error that stopped the job; <see cref="IoError.None"/> otherwise.</summary>
    public IoError Error { get; private set; }

    /// <summary>Reason of the error, in words.</summary>
    public string ErrorDescription { get; private set; } = "";

    /// <summary>Time at which the job was requested.</summary>
    public DateTimeOffset TimeSubmitted { get; }

    /// <summary>Time at which the job began in this process.</summary>
    public DateTimeOffset StartTime { get; private set; }

    /// <summary>Time of the last change of <see cref="State"/>.</summary>
    public DateTimeOffset TimeOfLastStateChange { get; private set; }

    /// <summary>Bytes gone through.</summary>
    public long BytesProcessed => _doneInSteps + _doneInStep + _piece.Bytes;

    /// <summary>
    /// Bytes there are to go through, as far as was known when the step under way began; never less than <see cref="BytesProcessed"/>. Asking for it walks over
    /// nothing.
    /// </summary>
    public long BytesTotal => HasEnded ? _total : Math.Max(
        BytesProcessed, _doneInSteps + (_hasBegunStep && Step is { BytesTotal: >= 0 and var total } ? total : _stepAhead) + _stepsAhead);

    /// <summary>Percent done, 0 to 100; 100 only when it has completed.</summary>
    public int PercentComplete => State == JobState.Completed ? 100 : BytesTotal == 0 ? 0 : (int)Math.Min(99, BytesProcessed * 100.0 / BytesTotal);

    /// <summary>Time spent on it, in nanoseconds, former processes included.</summary>
    public long ElapsedNs => _elapsedBeforeNs + (HasEnded ? _endNs : _lane.NowNs) - _startNs;

    /// <summary>Time it may still take at the pace so far, in nanoseconds; null while nothing can be said.</summary>
    public long? TimeLeftNs => BytesProcessed == 0 || State != JobState.Running ? null
        : (long)((double)ElapsedNs / BytesProcessed * (BytesTotal - BytesProcessed));

    /// <summary>Whether it does nothing any more (until its pool is opened again, where it is suspended).</summary>
    public bool HasEnded => State is JobState.Completed or JobState.Terminated or JobState.Suspended or JobState.Exception;

    /// <summary>The step under way; null when the last one has ended.</summary>
    internal IJobStep? Step => _step < _spec.Steps.Count ? _spec.Steps[_step] : null;

    /// <summary>Time at which the job ended, on the lane's clock.</summary>
    internal long EndNs => _endNs;

    /// <summary>Completes when the job has ended.</summary>
    public async LaneTask<Nothing> WaitForEnd()
    {
        while (!HasEnded)
        {
            await _ended.Wait();
        }

        return default;
    }

    /// <summary>Ends it after the piece under way. <paramref name="end"/> is Terminated (for good) or Suspended (to go on later).</summary>
    internal async LaneTask<Nothing> Stop(JobState end)
    {
        if (!HasEnded)
        {
            _endAs ??= end;
            _piece.Stop();
            Enter(JobState.ShuttingDown);
            await WaitForEnd();
        }

        return default;
    }

    /// <summary>Whether it does nothing any more but end.</summary>
    internal bool IsEnding => _isEnding;

    /// <summary>Goes through all its steps once more after the piece under way. False when it is too late for that: it has ended, or is about to.</summary>
    internal bool BeginAgain() => _again = !HasEnded && !_isEnding && _endAs is null;

    internal async LaneTask Run()
    {
        await MeasureSteps();
        if (_endAs is null)
        {
            Enter(JobState.Running);
            await Save();
        }

        while (_endAs is null && _step < _spec.Steps.Count && Error == IoError.None)
        {
            IJobStep step = _spec.Steps[_step];
            Status = step.Name;
            _piece.Begin(_lane.NowNs);
            JobAdvance advance = await Advance(step);
            long paid = _piece.End();
            await Note(advance, Math.Max(advance.Bytes, paid));
            await Rewind();
            if (advance.Error == IoError.None)
            {
                await SaveWhenDue(advance.IsDone);
                if (_endAs is null && !(advance.IsDone && _step == _spec.Steps.Count))
                {
                    await _piece.Pause(_lane, Math.Max(0, advance.Bytes - paid));
                }
            }
        }

        await End();
    }

    private async LaneTask<JobAdvance> Advance(IJobStep step)
    {
        try
        {
            LaneTask<JobAdvance> piece = OnLaneOf(step, () => step.Advance(_cursor));
            _hasBegunStep = true;
            return await piece;
        }
        catch (Exception failure)
        {
            return new JobAdvance(_cursor, 0, false, IoError.Io, failure.Message);   // the job's failure is not the host's
        }
    }

    /// <summary>Runs an action of a step on the lane of its pieces.</summary>
    private LaneTask<T> OnLaneOf<T>(IJobStep step, Func<LaneTask<T>> action) =>
        step.IsOnDiskLane && _spec.DiskLane is { } lane ? lane.Run(action) : action();

    private async LaneTask<Nothing> Note(JobAdvance advance, long bytes)
    {
        if (advance.Error != IoError.None)
        {
            Error = advance.Error;
            ErrorDescription = advance.Reason;
            return default;
        }

        _cursor = advance.Cursor;
        _doneInStep += bytes;
        if (advance.IsDone)
        {
            _doneInSteps += _doneInStep;
            _doneInStep = 0;
            _cursor = 0;
            _step++;
            await MeasureSteps();
        }

        return default;
    }

    /// <summary>Computes the work of the steps that have not begun. That may walk over rows, so it is done once for each step.</summary>
    private async LaneTask<Nothing> MeasureSteps()
    {
        _hasBegunStep = false;
        long[] ahead = new long[Math.Max(1, _spec.Steps.Count - _step)];
        for (int i = 0; i < _spec.Steps.Count - _step; i++)
        {
            IJobStep step = _spec.Steps[_step + i];
            ahead[i] = await OnLaneOf(step, () => LaneTask.FromResult(step.Measure()));
        }

        _stepAhead = ahead[0];
        _stepsAhead = ahead.Skip(1).Sum();
        return default;
    }

    private async LaneTask<Nothing> Rewind()
    {
        if (!_again || Error != IoError.None)
        {
            return default;
        }

        _again = false;
        _step = 0;
        _cursor = _doneInSteps = _doneInStep = 0;
        foreach (IJobStep step in _spec.Steps)
        {
            step.Reset();
        }

        await MeasureSteps();
        return default;
    }

    private async LaneTask<Nothing> End()
    {
        _isEnding = true;
        bool isDone = _step == _spec.Steps.Count && Error == IoError.None;
        JobState end = Error != IoError.None ? JobState.Exception : isDone ? JobState.Completed : _endAs!.Value;
        if (end == JobState.Suspended)
        {
            await Save();
        }
        else
        {
            await _spec.Save(null);
        }

        _total = end == JobState.Completed ? BytesProcessed : BytesTotal;
        await EndSteps();
        _endNs = _lane.NowNs;
        Status = end == JobState.Completed ? string.Join("; ", _spec.Steps.Select(step => step.Outcome).Where(text => text.Length > 0)) : Status;
        Enter(end);
        _ended.NotifyAll();
        return default;
    }

    private async LaneTask<Nothing> EndSteps()
    {
        try
        {
            foreach (IJobStep step in _spec.Steps)
            {
                await OnLaneOf(step, step.Ended);
            }
        }
        catch (Exception failure)
        {
            ErrorDescription = ErrorDescription.Length > 0 ? ErrorDescription : failure.Message;   // it has ended all the same
        }

        return default;
    }

    private void Enter(JobState state)
    {
        State = state;
        TimeOfLastStateChange = _lane.UtcNow;
    }

    private LaneTask<Nothing> SaveWhenDue(bool isDue) =>
        isDue && _step < _spec.Steps.Count || _lane.NowNs - _savedNs >= SavePeriodNs ? Save() : LaneTask.FromResult(default(Nothing));

    private LaneTask<Nothing> Save()
    {
        _savedNs = _lane.NowNs;
        return _spec.Save(new JobProgress
        {
            Kind = _spec.Kind,
            Subject = _spec.VirtualDisk,
            UtcTicks = TimeSubmitted.UtcTicks,
            Step = _step < _spec.Steps.Count ? _spec.Steps[_step].Name : "",
            Cursor = _cursor,
            BytesProcessed = _doneInStep,
            ElapsedNs = ElapsedNs,
        });
    }
}
