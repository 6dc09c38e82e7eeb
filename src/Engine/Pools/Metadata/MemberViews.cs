using System.Collections.Immutable;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

// Changes of the view.
//
// The order, always (a joining disk has its metadata before it is named):
//   disks leave:  witness, then everyone who stays (and who leaves in good health)
//   disks join:   old members, witness, joiner
//   metadata from memory: members that got them, witness, the others; so no crash leaves the view on disks of which none has the metadata
//   new witness:  last
// The new view carries the votes of the one before and is in force when the majority of those votes, every member and the
// witness hold it. Only then is anything acknowledged under it. A disk or witness that fails on the way is left out of the
// next attempt. When no attempt can reach the majority of the votes before, quorum is lost. Where every metadata disk is lost and the votes are not,
// other members get the metadata from memory, with everything that has been written, before they are named.
// Then the view is settled: written again without the votes before, so that from now on its own votes are enough.

/// <summary>Brings views of a pool into force.</summary>
/// <param name="environment">Environment of the pool.</param>
/// <param name="id">Pool.</param>
/// <param name="session">Number of this opening.</param>
/// <param name="end">Records the loss of the quorum.</param>
/// <param name="members">The view in force.</param>
/// <param name="committed">Committed state, with the groups that wait for the next view.</param>
/// <param name="superblocks">Writes the views to members.</param>
internal sealed class MemberViews(
    PoolEnvironment environment, PoolId id, ulong session, StoreEnd end, PresentMembers members, CommittedState committed, SuperblockWriter superblocks)
{
    /// <summary>Reason of a member that left for no failure.</summary>
    internal const string TakenOut = "It was taken out of the pool.";

    private readonly Witness _witness = new(environment.State, id);
    private readonly LeaverRecords _leavers = new(session, members, committed, superblocks);
    private readonly List<(DiskNumber Disk, LaneCompletion<CommitResult> Done)> _evictions = [];
    private MetadataVoters? _voters;

    /// <summary>Told when a view with other members is in force, and when quorum is lost.</summary>
    internal event Action<MembershipChange>? MembershipChanged;

    /// <summary>Takes over a disk that failed and has left the view.</summary>
    internal event Action<MemberDisk>? Evicted;

    private PoolView View => members.View;

    /// <summary>The function that chooses metadata disks after each change of the view, and where the next view has none of those before.</summary>
    internal void Use(MetadataVoters voters) => _voters = voters;

    /// <summary>Takes a disk out of the view; completes when a view without it is in force.</summary>
    internal LaneTask<CommitResult> Evict(DiskNumber disk, string reason)
    {
        LaneCompletion<CommitResult> done = LaneCompletion<CommitResult>.Rent();
        LaneTask<CommitResult> task = done.Task;
        if (end.Result is { } stopped)
        {
            done.Complete(stopped);
        }
        else if (!View.Contains(disk))
        {
            done.Complete(CommitResult.Committed);
        }
        else
        {
            _evictions.Add((disk, done));
            members.NoteFailure(members.All[disk], reason);
            members.All[disk].Disk.Disconnect();   // metadata on its way there must not hold the new view up
        }

        return task;
    }

    /// <summary>Brings a new view into force. False when quorum is lost on the way.</summary>
    internal async LaneTask<bool> ChangeView(ViewPlan plan)
    {
        Guid witness = plan.Witness ?? View.Witness;
        while (end.LostReason.Length == 0)
        {
            int failures = members.FailureCount;
            List<MemberDisk> staying = MembersOf(plan);
            bool canCarry = View.Votes.IsMajority(disk => Reaches(plan, staying, disk), witness != Guid.Empty && witness == View.Witness);
            bool hasMetadata = staying.Exists(member => IsMetadataIn(plan, member.Number));
            if (canCarry && !hasMetadata && View.MembersVote)
            {
                plan = plan with { Promoted = await _voters!.PromoteFromMemory(staying) };
                hasMetadata = plan.Promoted.Count > 0;
            }

            if (!canCarry || (!hasMetadata && members.FailureCount == failures))
            {
                LoseQuorum(canCarry ? "Every disk that held the pool's metadata is lost, and no other can hold them." : "The majority of the pool's votes is lost.");
                return false;
            }

            if (members.FailureCount != failures)
            {
                continue;
            }

            await _leavers.RecordLeavers(plan, staying);
            if (members.FailureCount != failures)
            {
                continue;
            }

            PoolView next = NextView(plan, staying, witness);
            bool isWitnessed = await WriteView(plan, next, staying);
            witness = isWitnessed ? witness : Guid.Empty;
            if (isWitnessed && members.FailureCount == failures)
            {
                Adopt(next, plan);
                return true;
            }
        }

        return false;
    }

    /// <summary>Decides the present view again under this session, so that nothing older can win over it.</summary>
    internal async LaneTask<bool> RepeatView(IReadOnlyCollection<MemberDisk> voters)
    {
        PoolView again = View with { Rank = new ViewRank(session, superblocks.NextEpoch(voters)) };
        bool isWitnessed = again.Witness != Guid.Empty && await TryWriteWitness(again);
        HashSet<DiskNumber> held = await superblocks.WriteSuperblocks(again, voters, clean: false);
        bool isCarried = again.Votes.IsMajority(held.Contains, isWitnessed)
            && again.Prior?.IsMajority(held.Contains, isWitnessed && again.Prior.Witness == again.Witness) != false;
        if (isCarried)
        {
            members.Adopt(again);
        }
        else
        {
            LoseQuorum("The majority of the pool's votes is lost.");
        }

        foreach (MemberDisk other in voters.Where(voter => !View.Contains(voter.Number)))
        {
            members.ForgetFailure(other.Number);
        }

        return isCarried;
    }

    /// <summary>Writes that the view's own votes are enough, and that a session that opens has taken effect.</summary>
    internal async LaneTask Settle()
    {
        superblocks.TakeEffect();
        PoolView settled = View with { Prior = null, Synced = View.Rank };
        await superblocks.WriteSuperblocks(settled, [.. members.All.Values], clean: false);
        members.Adopt(settled);
    }

    private List<MemberDisk> MembersOf(ViewPlan plan) =>
    [
        .. members.All.Values.Concat(plan.Joiners)
            .Where(member => !members.IsFailed(member.Number) && !plan.Leavers.Contains(member.Number)),
    ];

    private bool IsMetadataIn(ViewPlan plan, DiskNumber disk) =>
        (View.IsMetadata(disk) && !plan.Demoted.Contains(disk)) || plan.Promoted.Contains(disk);

    private bool Reaches(ViewPlan plan, List<MemberDisk> staying, DiskNumber disk) =>
        staying.Exists(member => member.Number == disk)
        || (plan.Leavers.Contains(disk) && members.All.ContainsKey(disk) && !members.IsFailed(disk));

    private PoolView NextView(ViewPlan plan, List<MemberDisk> staying, Guid witness)
    {
        ulong epoch = superblocks.NextEpoch(members.All.Values.Concat(plan.Joiners));
        ImmutableArray<ViewMember> sorted =
            [.. staying.Select(member => new ViewMember(member.Number, IsMetadataIn(plan, member.Number))).OrderBy(static member => member.Disk)];
        return new PoolView
        {
            Rank = new ViewRank(session, epoch),
            Synced = View.Synced,
            Members = sorted,
            Witness = witness,
            Prior = View.Votes,
            MembersVote = View.MembersVote || committed.State.Pool!.MembersVote,
            Joining = [.. sorted.Select(static member => member.Disk).Where(disk => !View.Contains(disk))],
        };
    }

    /// <summary>Writes a view in the order its change asks for. False when the witness did not take it.</summary>
    private async LaneTask<bool> WriteView(ViewPlan plan, PoolView next, List<MemberDisk> staying)
    {
        List<MemberDisk> joiners = staying.FindAll(member => !View.Contains(member.Number) || plan.Promoted.Contains(member.Number));
        List<MemberDisk> others = staying.FindAll(member => !joiners.Contains(member));
        others.AddRange(members.All.Values.Where(member => plan.Leavers.Contains(member.Number) && !members.IsFailed(member.Number)));
        bool isNewWitness = next.Witness != View.Witness;
        if (!staying.Exists(member => View.IsMetadata(member.Number) && !plan.Demoted.Contains(member.Number)))
        {
            List<MemberDisk> holders = joiners.FindAll(joiner => plan.Promoted.Contains(joiner.Number));
            joiners.RemoveAll(holders.Contains);
            await superblocks.WriteSuperblocks(next, holders, clean: false);
        }

        bool witnessFirst = joiners.Count == 0 && !isNewWitness;
        if (witnessFirst && !await TryWriteWitness(next))
        {
            return false;
        }

        if (others.Count > 0)
        {
            await superblocks.WriteSuperblocks(next, others, clean: false);
        }

        if (!witnessFirst && !isNewWitness && !await TryWriteWitness(next))
        {
            return false;
        }

        if (joiners.Count > 0)
        {
            await superblocks.WriteSuperblocks(next, joiners, clean: false);
        }

        return !isNewWitness || await TryWriteWitness(next);
    }

    private LaneTask<bool> TryWriteWitness(PoolView view) => view.Witness == Guid.Empty ? LaneTask.FromResult(true)
        : _witness.TryWrite(new WitnessRecord(id, view.Witness, session, view) { History = superblocks.History });

    private void Adopt(PoolView next, ViewPlan plan)
    {
        PoolView before = View;
        members.Adopt(next);
        committed.ApplyWaiting();
        foreach (MemberDisk joiner in plan.Joiners.Where(joiner => next.Contains(joiner.Number)))
        {
            members.Add(joiner);
        }

        List<MembershipChange> changes = [];
        foreach (ViewMember gone in before.Members.Where(member => !next.Contains(member.Disk)))
        {
            string failure = members.ForgetFailure(gone.Disk);
            string reason = failure.Length > 0 ? failure : TakenOut;
            changes.Add(new MembershipChange(MembershipChangeKind.Left, gone.Disk, reason));
            if (members.Remove(gone.Disk) is { } member && !plan.Leavers.Contains(gone.Disk))
            {
                Evicted?.Invoke(member);
            }
        }

        changes.AddRange(plan.Joiners.Where(joiner => next.Contains(joiner.Number))
            .Select(static joiner => new MembershipChange(MembershipChangeKind.Joined, joiner.Number, "It joined the pool.")));
        _voters?.Request();
        changes.ForEach(change => MembershipChanged?.Invoke(change));
        ReleaseEvictions();
    }

    /// <summary>Ends the evictions that are in force, or all of them when the metadata is not written any more.</summary>
    internal void ReleaseEvictions()
    {
        CommitResult result = end.Result ?? CommitResult.Committed;
        foreach ((DiskNumber disk, LaneCompletion<CommitResult> done) in _evictions.ToArray())
        {
            if (!result.Succeeded || !View.Contains(disk))
            {
                _evictions.Remove((disk, done));
                done.Complete(result);
            }
        }
    }

    /// <summary>The pool belongs to another host: nothing of it is written any more.</summary>
    internal void LosePool(string reason)
    {
        if (end.LostReason.Length == 0)
        {
            end.LoseQuorum(reason);
            MembershipChanged?.Invoke(new MembershipChange(MembershipChangeKind.QuorumLost, DiskNumber.None, reason));
        }
    }

    private void LoseQuorum(string what)
    {
        DiskNumber[] lost = [.. committed.State.Disks.Keys.Where(disk => !members.IsUsable(disk))];
        string names = PoolCondition.Describe(committed.State, lost, "is missing or has failed", "are missing or have failed");
        end.LoseQuorum(string.Join(' ', ((string?[])[what, names, members.FailureReasons.FirstOrDefault()]).Where(static text => text?.Length > 0)));
        MembershipChanged?.Invoke(new MembershipChange(MembershipChangeKind.QuorumLost, DiskNumber.None, end.LostReason));
    }
}
