using System.Collections.Immutable;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

// Changes of the view.
//
// The order, always (a joining disk has its metadata before it is named):
//   disks leave:  witness, then everyone who stays (and who leaves in good health)
//   disks join:   old members, witness, joiner
//   new witness:  last
// The new view carries the votes of the one before and is in force when the majority of those votes, every member and the
// witness hold it. Only then is anything acknowledged under it. A disk or witness that fails on the way is left out of the
// next attempt. When no attempt can reach the majority of the votes before, quorum is lost.
// Then the view is settled: written again without the votes before, so that from now on its own votes are enough.

internal sealed partial class MetadataStore
{
    private readonly Dictionary<DiskNumber, string> _failed = [];   // members to be taken out of the view, and why
    private readonly List<(DiskNumber Disk, LaneCompletion<CommitResult> Done)> _evictions = [];
    private ulong _epoch;

    /// <summary>The view in force.</summary>
    internal PoolView View { get; private set; }

    /// <summary>Whether superblocks written now say that the pool is still being made.</summary>
    internal bool IsForming { get; set; }

    /// <summary>Takes over a disk that failed and has left the view.</summary>
    internal Action<MemberDisk>? LeftDisk { get; set; }

    /// <summary>Whether a member may be used.</summary>
    internal bool IsUsable(DiskNumber disk) => Usable(disk) is not null;

    /// <summary>A member that may be used; null for any other disk.</summary>
    internal MemberDisk? Usable(DiskNumber disk) =>
        Members.TryGetValue(disk, out MemberDisk? member) && View.Contains(disk) && (_failed.Count == 0 || !_failed.ContainsKey(disk)) ? member : null;

    /// <summary>Whether a member of the view in force is not used any more.</summary>
    internal bool HasFailed(DiskNumber disk) => _failed.Count > 0 && _failed.ContainsKey(disk) && View.Contains(disk);

    /// <summary>Whether a majority of the votes and a metadata disk are left without this disk.</summary>
    internal bool CanSpare(DiskNumber disk) =>
        View.Votes.IsMajority(vote => vote != disk && IsUsable(vote), View.Witness != Guid.Empty)
        && Members.Keys.Any(other => other != disk && View.IsMetadata(other) && IsUsable(other));

    /// <summary>Takes a disk out of the view; completes when a view without it is in force.</summary>
    internal LaneTask<CommitResult> Evict(DiskNumber disk, string reason)
    {
        LaneCompletion<CommitResult> done = LaneCompletion<CommitResult>.Rent();
        LaneTask<CommitResult> task = done.Task;
        if (StoppedResult() is { } stopped)
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
            NoteFailure(Members[disk], reason);
            Members[disk].Disk.Abandon();   // metadata on its way there must not hold the new view up
        }

        return task;
    }

    /// <summary>Adds a disk to the members, or to those about to be.</summary>
    internal void Attach(MemberDisk disk)
    {
        disk.WaitsForSpace = OnWaitsForSpace;
        disk.SkipsFlush = State.Pool?.IsPowerProtected == true;
    }

    /// <summary>Remembers that a disk has failed: from now on it is not used, and the next view is without it.</summary>
    internal void NoteFailure(MemberDisk disk, string reason)
    {
        if (!_isClosed && _failed.TryAdd(disk.Number, reason))
        {
            disk.IsAbandoned = true;
            Kick();
        }
    }

    /// <summary>Forgets that a disk which is not a member has failed; gives the reason.</summary>
    internal string ForgetFailure(DiskNumber disk) => _failed.Remove(disk, out string? reason) ? reason : "";

    /// <summary>Brings a new view into force. False when quorum is lost on the way.</summary>
    internal async LaneTask<bool> ChangeView(ViewPlan plan)
    {
        Guid witness = plan.Witness ?? View.Witness;
        while (LostReason.Length == 0)
        {
            int failures = _failed.Count;
            List<MemberDisk> members = MembersOf(plan);
            bool canCarry = View.Votes.IsMajority(disk => Reaches(plan, members, disk), witness != Guid.Empty && witness == View.Witness);
            if (!canCarry || !members.Any(member => IsMetadataIn(plan, member.Number)))
            {
                LoseQuorum();
                return false;
            }

            await RecordLeavers(plan, members);
            if (_failed.Count != failures)
            {
                continue;
            }

            PoolView next = NextView(plan, members, witness);
            bool isWitnessed = await WriteView(plan, next, members);
            witness = isWitnessed ? witness : Guid.Empty;
            if (isWitnessed && _failed.Count == failures)
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
        PoolView again = View with { Rank = new ViewRank(Session, NextEpoch(voters)) };
        bool isWitnessed = again.Witness != Guid.Empty && TryWriteWitness(again);
        HashSet<DiskNumber> held = await WriteSuperblocks(again, voters, clean: false);
        bool isCarried = again.Votes.IsMajority(held.Contains, isWitnessed)
            && again.Prior?.IsMajority(held.Contains, isWitnessed && again.Prior.Witness == again.Witness) != false;
        if (isCarried)
        {
            View = again;
        }
        else
        {
            LoseQuorum();
        }

        foreach (MemberDisk other in voters.Where(voter => !View.Contains(voter.Number)))
        {
            ForgetFailure(other.Number);
        }

        return isCarried;
    }

    /// <summary>Writes that the view's own votes are enough, and that a session that opens has taken effect.</summary>
    internal async LaneTask Settle()
    {
        History = History.Effective;
        PoolView settled = View with { Prior = null, Synced = View.Rank };
        await WriteSuperblocks(settled, [.. Members.Values], clean: false);
        View = settled;
    }

    /// <summary>Writes a superblock with this view to disks; gives those that hold it. The others are noted as failed.</summary>
    internal async LaneTask<HashSet<DiskNumber>> WriteSuperblocks(PoolView view, IReadOnlyCollection<MemberDisk> disks, bool clean)
    {
        ulong epoch = NextEpoch(disks);
        MemberDisk[] targets = [.. disks];
        Superblock[] superblocks = Array.ConvertAll(targets, disk => SuperblockOf(disk, view, epoch, clean));
        LaneTask<IoError>[] writes = [.. targets.Select((disk, i) => disk.WriteSuperblock(superblocks[i]))];
        HashSet<DiskNumber> held = [];
        for (int i = 0; i < targets.Length; i++)
        {
            IoError error = await writes[i];
            if (error == IoError.None)
            {
                targets[i].Checkpoints.Accept(superblocks[i]);
                held.Add(targets[i].Number);
            }
            else
            {
                NoteFailure(targets[i], $"Writing the superblock of {targets[i].Name} failed ({error}).");
            }
        }

        if (view.Members.All(member => held.Contains(member.Disk)))
        {
            History = History with { HeldByAll = epoch };
        }

        return held;
    }

    private Superblock SuperblockOf(MemberDisk disk, PoolView view, ulong epoch, bool clean)
    {
        (CheckpointRoot newest, CheckpointRoot previous) = disk.Checkpoints.RootsToName;
        return new Superblock
        {
            Features = new FeatureFlags(FeatureFlags.MemberHistoryFeature, 0, 0),
            History = History,
            Epoch = epoch,
            Session = Session,
            IsClean = clean,
            IsForming = IsForming || disk.IsForming,
            DurableSequence = Head.Sequence,
            Checkpoint = newest,
            PreviousCheckpoint = previous,
            View = view,
        };
    }

    /// <summary>Epochs rise over all disks, and no target's newest superblock stands in the slot of the next.</summary>
    internal ulong NextEpoch(IEnumerable<MemberDisk> targets)
    {
        MemberDisk[] all = [.. targets];
        _epoch = Math.Max(_epoch, all.Max(static disk => disk.Newest?.Epoch ?? 0)) + 1;
        while (Array.Exists(all, disk => disk.IsSlotOfNewest(_epoch)))
        {
            _epoch++;
        }

        return _epoch;
    }

    private List<MemberDisk> MembersOf(ViewPlan plan) =>
    [
        .. Members.Values.Concat(plan.Joiners)
            .Where(member => !_failed.ContainsKey(member.Number) && !plan.Leavers.Contains(member.Number)),
    ];

    private bool IsMetadataIn(ViewPlan plan, DiskNumber disk) => View.IsMetadata(disk) || plan.Promoted.Contains(disk);

    private bool Reaches(ViewPlan plan, List<MemberDisk> members, DiskNumber disk) =>
        members.Exists(member => member.Number == disk)
        || (plan.Leavers.Contains(disk) && Members.ContainsKey(disk) && !_failed.ContainsKey(disk));

    private PoolView NextView(ViewPlan plan, List<MemberDisk> members, Guid witness)
    {
        ulong epoch = NextEpoch(Members.Values.Concat(plan.Joiners));
        ImmutableArray<ViewMember> sorted =
            [.. members.Select(member => new ViewMember(member.Number, IsMetadataIn(plan, member.Number))).OrderBy(static member => member.Disk)];
        return new PoolView
        {
            Rank = new ViewRank(Session, epoch),
            Synced = View.Synced,
            Members = sorted,
            Witness = witness,
            Prior = View.Votes,
        };
    }

    /// <summary>Writes a view in the order its change asks for. False when the witness did not take it.</summary>
    private async LaneTask<bool> WriteView(ViewPlan plan, PoolView next, List<MemberDisk> members)
    {
        List<MemberDisk> joiners = members.FindAll(member => !View.Contains(member.Number) || plan.Promoted.Contains(member.Number));
        List<MemberDisk> others = members.FindAll(member => !joiners.Contains(member));
        others.AddRange(Members.Values.Where(member => plan.Leavers.Contains(member.Number) && !_failed.ContainsKey(member.Number)));
        bool isNewWitness = next.Witness != View.Witness;
        bool witnessFirst = joiners.Count == 0 && !isNewWitness;
        if (witnessFirst && !TryWriteWitness(next))
        {
            return false;
        }

        await WriteSuperblocks(next, others, clean: false);
        if (!witnessFirst && !isNewWitness && !TryWriteWitness(next))
        {
            return false;
        }

        if (joiners.Count > 0)
        {
            await WriteSuperblocks(next, joiners, clean: false);
        }

        return !isNewWitness || TryWriteWitness(next);
    }

    private bool TryWriteWitness(PoolView view) =>
        view.Witness == Guid.Empty || _witness.TryWrite(new WitnessRecord(Id, view.Witness, Session, view) { History = History });

    private void Adopt(PoolView next, ViewPlan plan)
    {
        PoolView before = View;
        View = next;
        ApplyLeavers();
        foreach (MemberDisk joiner in plan.Joiners.Where(joiner => next.Contains(joiner.Number)))
        {
            Members[joiner.Number] = joiner;
        }

        List<MembershipChange> changes = [];
        foreach (ViewMember gone in before.Members.Where(member => !next.Contains(member.Disk)))
        {
            string reason = _failed.Remove(gone.Disk, out string? why) ? why : "It was taken out of the pool.";
            changes.Add(new MembershipChange(MembershipChangeKind.Left, gone.Disk, reason));
            if (Members.Remove(gone.Disk, out MemberDisk? member) && !plan.Leavers.Contains(gone.Disk))
            {
                LeftDisk?.Invoke(member);
            }
        }

        changes.AddRange(plan.Joiners.Where(joiner => next.Contains(joiner.Number))
            .Select(static joiner => new MembershipChange(MembershipChangeKind.Joined, joiner.Number, "It joined the pool.")));
        _electionDue = true;
        changes.ForEach(change => MembershipChanged?.Invoke(change));
        ReleaseEvictions();
    }

    private void ReleaseEvictions()
    {
        CommitResult result = StoppedResult() ?? CommitResult.Committed;
        foreach ((DiskNumber disk, LaneCompletion<CommitResult> done) in _evictions.ToArray())
        {
            if (!result.Succeeded || !View.Contains(disk))
            {
                _evictions.Remove((disk, done));
                done.Complete(result);
            }
        }
    }

    private void LoseQuorum()
    {
        string failed = string.Join(" ", _failed.Values);
        LostReason = $"The majority of the pool's metadata votes is lost. {failed}".TrimEnd();
        MembershipChanged?.Invoke(new MembershipChange(MembershipChangeKind.QuorumLost, DiskNumber.None, LostReason));
    }
}

/// <summary>How the next view differs from the one in force, beside leaving out what has failed.</summary>
internal sealed record ViewPlan
{
    /// <summary>Nothing but what has failed.</summary>
    internal static ViewPlan None { get; } = new();

    /// <summary>Disks that become members; their metadata areas are ready.</summary>
    internal IReadOnlyList<MemberDisk> Joiners { get; init; } = [];

    /// <summary>Disks in good health that leave.</summary>
    internal IReadOnlyList<DiskNumber> Leavers { get; init; } = [];

    /// <summary>Members or joiners that become metadata disks; they hold checkpoint and journal.</summary>
    internal IReadOnlyList<DiskNumber> Promoted { get; init; } = [];

    /// <summary>A new witness, or null for the old one.</summary>
    internal Guid? Witness { get; init; }
}
