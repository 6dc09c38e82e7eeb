using System.Diagnostics.CodeAnalysis;

namespace TierSpaces.Engine.Pools;

// Commits that wait to be written.
//
// Invariant
//  1. Commits are taken in the order in which they were asked for.

/// <summary>Commits that wait for their group.</summary>
internal sealed class CommitQueue
{
    private readonly Queue<PendingCommit> _waiting = new();

    /// <summary>Number of commits that were asked for.</summary>
    internal long Asked { get; private set; }

    /// <summary>Number of commits that were taken out again.</summary>
    internal long Taken { get; private set; }

    /// <summary>Whether a commit waits.</summary>
    internal bool HasWaiting => _waiting.Count > 0;

    internal void Add(PendingCommit commit)
    {
        _waiting.Enqueue(commit);
        Asked++;
    }

    /// <summary>Takes the commits of one group: at least one, and more as long as they fit in <see cref="Pool.MaxCommitBytes"/>.</summary>
    internal List<PendingCommit> TakeGroup()
    {
        List<PendingCommit> group = [];
        int bytes = 0;
        while (_waiting.TryPeek(out PendingCommit? next) && (group.Count == 0 || bytes + next.Bytes.Length <= Pool.MaxCommitBytes))
        {
            bytes += next.Bytes.Length;
            group.Add(next);
            TryTake(out _);
        }

        return group;
    }

    /// <summary>Ends every waiting commit with the same result.</summary>
    internal void EndAll(CommitResult result)
    {
        while (TryTake(out PendingCommit? commit))
        {
            commit.Done(result);
        }
    }

    private bool TryTake([NotNullWhen(true)] out PendingCommit? commit)
    {
        bool any = _waiting.TryDequeue(out commit);
        Taken += any ? 1 : 0;
        return any;
    }
}
