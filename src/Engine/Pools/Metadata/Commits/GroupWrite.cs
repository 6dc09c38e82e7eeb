namespace TierSpaces.Engine.Pools;

/// <summary>A group of commits on its way to the metadata disks.</summary>
/// <param name="commits">The commits that the state accepted.</param>
/// <param name="after">The state with them.</param>
/// <param name="entries">Their blocks of the journal.</param>
internal sealed class GroupWrite(List<PendingCommit> commits, PoolState after, List<JournalEntry> entries)
{
    private bool _isApplied;   // the state holds it

    internal List<PendingCommit> Commits { get; } = commits;

    internal PoolState After { get; } = after;

    internal List<JournalEntry> Entries { get; } = entries;

    /// <summary>Metadata disks on which it is durable.</summary>
    internal int Copies { get; private set; }

    /// <summary>Whether its callers have been told how it ended, or that it waits for room.</summary>
    internal bool IsReported { get; private set; }

    /// <summary>Whether it has been applied and reported, or given up because quorum is lost.</summary>
    internal bool IsEnded { get; private set; }

    /// <summary>It is durable on one more metadata disk.</summary>
    internal void NoteCopy() => Copies++;

    /// <summary>Whether the state takes it now: it does so once.</summary>
    internal bool TryApply() => !_isApplied && (_isApplied = true);

    /// <summary>It is about to be applied and reported, or given up because quorum is lost.</summary>
    internal void End() => IsEnded = true;

    /// <summary>Tells the callers, once.</summary>
    internal void Report(CommitResult result)
    {
        if (!IsReported)
        {
            IsReported = true;
            Commits.ForEach(commit => commit.Done(result));
        }
    }
}
