using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

// The committed state of a pool, and what has been written that is not in it yet.
//
// Invariants
//  1. State is what is durable on PoolView.CopiesToCommit metadata disks of the view in force, and Head is its end in the journal.
//  2. At most one group is in flight.
//  3. Records that wait for a view (the group in flight, records of members that leave) are applied when that view is in force, in the order of the journal.

/// <summary>The committed state, its end in the journal, and the group in flight.</summary>
internal sealed class CommittedState(PoolState state, JournalPosition head, PresentMembers members)
{
    private readonly List<GroupWrite> _leaving = [];   // written, and applied with the view that is being written
    private GroupWrite? _group;   // in flight

    /// <summary>The newest committed state.</summary>
    internal PoolState State { get; private set; } = state;

    /// <summary>End of the committed journal.</summary>
    internal JournalPosition Head { get; private set; } = head;

    /// <summary>Groups that wait for the next view.</summary>
    internal IReadOnlyList<GroupWrite> Leaving => _leaving;

    /// <summary>Whether a commit was answered with NoSpace although it may still be applied.</summary>
    internal bool HasUndecidedCommit => _group is { IsReported: true, IsEnded: false };

    /// <summary>Pages that the state takes, and that it may take at most on the metadata disk with the smallest heap; 0: none is there.</summary>
    internal (long Used, long Most) Pages => (CheckpointPages.CountUpTo(State), MostPages);

    /// <summary>Pages that the state may take at most on the metadata disk with the smallest heap; 0: none is there.</summary>
    internal long MostPages => members.Metadata.Select(static member => CheckpointStore.MostStatePages(member.Layout)).DefaultIfEmpty().Min();

    /// <summary>The state and the journal with everything that every metadata disk that has not failed holds, in force or not.</summary>
    internal (PoolState State, JournalPosition Head) NewestWritten
    {
        get
        {
            GroupWrite? newest = _leaving.Count > 0 ? _leaving[^1] : _group is { IsEnded: false } group ? group : null;
            return newest is null ? (State, Head) : (newest.After, newest.Entries[^1].Position);
        }
    }

    /// <summary>A group is on its way.</summary>
    internal void Begin(GroupWrite group)
    {
        Invariant.That(_group is null, "At most one group is in flight.");
        _group = group;
    }

    /// <summary>Every metadata disk has taken the group, or failed.</summary>
    internal void End() => _group = null;

    /// <summary>Tells the callers of the group in flight; it may still be applied.</summary>
    internal void ReportGroup(CommitResult result) => _group?.Report(result);

    /// <summary>A group has been written that is in force with the next view.</summary>
    internal void AwaitView(GroupWrite group) => _leaving.Add(group);

    /// <summary>A view is in force: so is the group that waited for it, and what the members held that it leaves out.</summary>
    internal void ApplyWaiting()
    {
        if (_group is { IsEnded: false } waiting)
        {
            Apply(waiting);
        }

        _leaving.ForEach(Apply);
        _leaving.Clear();
    }

    /// <summary>Applies a group, once.</summary>
    internal void Apply(GroupWrite group)
    {
        if (group.TryApply())
        {
            State = group.After;
            Head = group.Entries[^1].Position;
        }
    }

    /// <summary>The state with the records of a commit, or the result that refuses it.</summary>
    internal bool TryApply(PendingCommit commit, PoolState before, out PoolState after, out CommitResult problem)
    {
        after = before;
        if (commit.Bytes.Length > Pool.MaxCommitBytes)
        {
            string tooMany = $"The records take {ByteText.Exact(commit.Bytes.Length)}; one commit takes at most {ByteText.Exact(Pool.MaxCommitBytes)}.";
            problem = new CommitResult(CommitStatus.Refused, tooMany);
            return false;
        }

        foreach (MetadataRecord record in commit.Records)
        {
            if (!after.TryApply(record, out PoolState? next, out string reason))
            {
                problem = new CommitResult(CommitStatus.Refused, reason);
                return false;
            }

            after = next;
        }

        return HasPagesFor(before, after, out problem);
    }

    private bool HasPagesFor(PoolState before, PoolState after, out CommitResult problem)
    {
        problem = CommitResult.Committed;
        long pages = CheckpointPages.CountUpTo(after);
        if (pages <= CheckpointPages.CountUpTo(before))
        {
            return true;
        }

        MemberDisk? smallest = members.Metadata.MinBy(static member => member.Layout.HeapPages);
        if (smallest is null)
        {
            return true;   // every metadata disk has failed: the write will find out
        }

        long most = CheckpointStore.MostStatePages(smallest.Layout);
        string full = $"The metadata area of {smallest.Name} is full: {pages} pages of at most {most}. Remove something, or replace the disk by a larger one.";
        problem = pages <= most ? problem : new CommitResult(CommitStatus.NoSpace, full);
        return pages <= most;
    }
}
