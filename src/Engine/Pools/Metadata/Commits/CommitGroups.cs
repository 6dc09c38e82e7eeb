using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

// Groups of commits, written to the journal of every metadata disk.
//
// Invariants
//  1. The next group, or a change of the view, starts when every metadata disk has taken the group or failed, or is late (CommitRound); so every
//     metadata disk of a new view holds everything acknowledged under the old.
//  2. A group that a disk failed under is acknowledged only when a view without that disk is in force.
//  3. A late disk loses the metadata with the next view, before the group is acknowledged. If it does not take that view either in the same
//     time, it has failed.
//  4. A sequence is never used twice with different contents in one session: a group waits for space as long as it takes.

/// <summary>Writes groups of commits.</summary>
/// <param name="lane">Lane of the pool.</param>
/// <param name="session">Number of this opening.</param>
/// <param name="end">Whether the metadata is still written.</param>
/// <param name="members">The view in force.</param>
/// <param name="committed">The state that the groups change.</param>
/// <param name="commits">Commits that wait.</param>
/// <param name="views">Changes the view when a disk fails under a group.</param>
/// <param name="voters">Let a disk rest that loses the metadata because it is late.</param>
/// <param name="checkpoints">Make room in the journal.</param>
/// <param name="superblocks">Name the features of the state.</param>
internal sealed class CommitGroups(
    ILane lane, ulong session, StoreEnd end, PresentMembers members, CommittedState committed, CommitQueue commits, MemberViews views,
    MetadataVoters voters, StateCheckpoints checkpoints, SuperblockWriter superblocks)
{
    /// <summary>Most journal blocks of one group.</summary>
    internal const int BlocksMax = 16;

    private const long FullAfterNs = 60_000_000_000;
    private const long LookNs = 100_000_000;

    private CommitRound? _round;   // in flight
    private bool _looks;

    /// <summary>Told of every record that has been applied.</summary>
    internal event Action<MetadataRecord>? Applied;

    /// <summary>A commit inside an operation.</summary>
    internal async LaneTask<CommitResult> CommitNow(params MetadataRecord[] records)
    {
        CommitResult result = CommitResult.Committed;
        while (!checkpoints.HasRoom && end.Result is null)
        {
            await checkpoints.MakeRoom();
            if (checkpoints.Problem.Length > 0)
            {
                return new CommitResult(CommitStatus.NoSpace, checkpoints.Problem);
            }
        }

        await WriteGroup([new PendingCommit(records, ended => result = ended)]);
        return result;
    }

    /// <summary>Reports NoSpace to the callers after a minute without space; the group itself goes on waiting.</summary>
    internal void OnWaitsForSpace(MemberDisk member)
    {
        if (lane.NowNs - member.FullSinceNs < FullAfterNs)
        {
            return;
        }

        CommitResult full = new(CommitStatus.NoSpace, $"The file system under {member.Name} has been full for a minute.");
        committed.ReportGroup(full);
        commits.EndAll(full);
    }

    /// <summary>Writes commits as one group and reports to each how it ended.</summary>
    internal async LaneTask WriteGroup(List<PendingCommit> taken)
    {
        PoolState next = committed.State;
        List<PendingCommit> accepted = [];
        foreach (PendingCommit commit in taken)
        {
            if (committed.TryApply(commit, next, out PoolState after, out CommitResult problem))
            {
                next = after;
                accepted.Add(commit);
            }
            else
            {
                commit.Done(problem);
            }
        }

        if (accepted.Count == 0)
        {
            return;
        }

        await superblocks.Announce(next);
        byte[] bytes = [.. accepted.SelectMany(static commit => commit.Bytes)];
        List<JournalEntry> entries = JournalEntry.Cut(bytes, committed.Head, session, committed.Head.Sequence);
        Invariant.That(entries.Count <= BlocksMax, "A group fits in the blocks that are kept for one.");
        await WriteGroup(new GroupWrite(accepted, next, entries));
    }

    private async LaneTask WriteGroup(GroupWrite group)
    {
        committed.Begin(group);
        MemberDisk[] disks = members.Metadata;
        CommitRound round = new(lane, disks);
        _round = members.View.MembersVote ? round : null;
        Array.ForEach(disks, disk => WriteTo(disk, group, round).Forget());
        LookForLate().Forget();
        await round.Ended;
        _round = null;
        if (!group.IsEnded && (members.FailureCount > 0 || round.Awaited.Count > 0) && !end.IsClosed)
        {
            await views.ChangeView(new ViewPlan { Demoted = Demote(round.Awaited) });
        }

        if (!group.IsEnded)
        {
            EndGroup(group);
        }

        committed.End();
        if (end.Result is null && checkpoints.IsDue)
        {
            checkpoints.Start();
        }
    }

    private async LaneTask WriteTo(MemberDisk member, GroupWrite group, CommitRound round)
    {
        member.BeginMetadata();
        IoError error = await JournalEntry.Write(member, group.Entries);
        member.EndMetadata();
        if (error != IoError.None)
        {
            members.NoteFailure(member, $"Writing metadata to {member.Name} failed ({error}).");
        }
        else
        {
            group.NoteCopy();
            if (!group.IsEnded && members.FailureCount == 0 && group.Copies >= members.View.CopiesToCommit)
            {
                EndGroup(group);
            }
        }

        round.Report(member, error == IoError.None);
    }

    private async LaneTask LookForLate()
    {
        if (_looks)
        {
            return;
        }

        _looks = true;
        while (_round is not null)
        {
            await lane.Delay(LookNs);
            _round?.EndIfLate(Describe);
        }

        _looks = false;
    }

    private DiskDescription? Describe(DiskNumber disk) => committed.State.Disk(disk)?.Description;

    private IReadOnlyList<DiskNumber> Demote(IReadOnlyList<MemberDisk> late)
    {
        foreach (MemberDisk disk in late)
        {
            voters.Rest(disk);
            FailUnlessDemoted(disk).Forget();
        }

        return [.. late.Select(static disk => disk.Number)];
    }

    private async LaneTask FailUnlessDemoted(MemberDisk disk)
    {
        long limit = CommitRound.LimitOf(Describe(disk.Number));
        await lane.Delay(limit);
        if (disk.Newest!.View.IsMetadata(disk.Number) && disk.FullSinceNs == 0 && members.Usable(disk.Number) == disk)
        {
            members.NoteFailure(disk, $"{disk.Name} has taken no metadata for {2 * limit / 1_000_000_000} seconds.");
            disk.Disk.Disconnect();   // metadata on its way there must not hold the new view up
        }
    }

    private void EndGroup(GroupWrite group)
    {
        group.End();
        if (end.Result is { } stopped)
        {
            group.Report(stopped);
            return;
        }

        committed.Apply(group);
        foreach (MetadataRecord record in group.Commits.SelectMany(static commit => commit.Records))
        {
            Applied?.Invoke(record);
        }

        foreach (MemberDisk member in members.All.Values)
        {
            member.DeclarePowerProtected(committed.State.Pool!.IsPowerProtected);
        }

        group.Report(CommitResult.Committed);
    }
}
