using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Jobs;

/// <summary>
/// One stage of a job. It does a bounded piece at a time and keeps nothing that its cursor does not say: between pieces the job may be
/// paced, stopped, or ended with the process and taken up again from the cursor.
/// </summary>
public interface IJobStep
{
    /// <summary>Name that users see while it runs and that its cursor is kept under; unique in its job and never reused.</summary>
    string Name { get; }

    /// <summary>Whether its pieces run on the lane of the virtual disk of the job (<see cref="JobSpec.DiskLane"/>); if not, on that of the job.</summary>
    bool IsOnDiskLane => false;

    /// <summary>
    /// Bytes the whole step has to go through, as its first piece has found; −1 before. Read on the lane of the job while a piece runs on another one.
    /// </summary>
    long BytesTotal { get; }

    /// <summary>Finds the bytes the whole step has to go through, as far as is known now. May walk over rows.</summary>
    long Measure() => BytesTotal;

    /// <summary>
    /// Does one piece, of about a megabyte at most or with <see cref="Breaks"/>, from <paramref name="cursor"/> (0: the beginning; else what the last piece
    /// gave, perhaps in another process). Doing a piece twice does no harm.
    /// </summary>
    LaneTask<JobAdvance> Advance(long cursor);

    /// <summary>Points at which a step with long pieces can be held back; null for a step whose pieces are short.</summary>
    JobBreaks? Breaks => null;

    /// <summary>Outcome of the step, in words; empty when there is none to report.</summary>
    string Outcome => "";

    /// <summary>
    /// Called when the job begins again: work that failed before may succeed now. Work that has been done still counts for the
    /// outcome.
    /// </summary>
    void Reset()
    {
    }

    /// <summary>The job ends, however it does; what it works on is still there.</summary>
    LaneTask<Nothing> Ended() => LaneTask.FromResult<Nothing>(default);
}

/// <summary>Result of one piece.</summary>
/// <param name="Cursor">Position at which the next piece begins.</param>
/// <param name="Bytes">Bytes this piece went through, of those in <see cref="IJobStep.BytesTotal"/>.</param>
/// <param name="IsDone">Whether the step has ended.</param>
/// <param name="Error">Error because of which the job cannot go on; <see cref="IoError.None"/> while it can.</param>
/// <param name="Reason">Reason of the error, in words.</param>
public readonly record struct JobAdvance(long Cursor, long Bytes, bool IsDone, IoError Error = IoError.None, string Reason = "");
