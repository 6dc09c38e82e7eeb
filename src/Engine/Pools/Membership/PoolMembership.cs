using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

// Adding and removing disks, in these orders:
//
//   add:     areas cleared; superblock that says "forming"; labels; DiskAdded committed; view with the disk
//   remove:  view without the disk, which it gets too; DiskRemoved committed; labels erased
//   rejoin:  whole disk marked stale if it holds less than when it left; view with the disk, settled; record of what it held removed
//
// A crash while adding leaves a blank ("forming") disk, or a disk the pool knows and that joins at the next open. A crash
// while removing leaves a disk outside the view, to be removed again.

/// <summary>Adds disks to a pool, removes them, and lets disks that left join again.</summary>
internal sealed class PoolMembership(PoolEnvironment environment, MetadataStore store)
{
    private readonly Dictionary<DiskNumber, MemberDisk> _outside = [];

    private const string BehindReason =
        "holds less than when it left the pool: it is an older copy, or it has lost writes that it confirmed. Everything on it is stale until it has been copied again.";

    /// <summary>Told when everything on a disk outside the view has durably been marked stale, before it joins.</summary>
    internal required Action<DiskNumber> MarkedStale { get; init; }

    /// <summary>Whether a lane of virtual disks has not let go yet of a disk that left: it does not join before.</summary>
    internal required Func<DiskNumber, bool> IsOwed { get; init; }

    /// <summary>Disks of the pool that are there but not in the view.</summary>
    internal IReadOnlyDictionary<DiskNumber, MemberDisk> Outside => _outside;

    private PoolState State => store.State;

    private PoolView View => store.Members.View;

    /// <summary>A disk of the pool was found outside the view while the pool was opened.</summary>
    internal void SetOutside(MemberDisk disk) => _outside[disk.Number] = disk;

    /// <summary>Adds blank disks; the pool owns those that are members afterwards. All or none, unless one fails on the way.</summary>
    internal LaneTask<CommitResult> AddDisks(IReadOnlyList<NewDiskSpec> disks) => store.Run(() => AddDisksNow(disks));

    /// <summary>Returns the reason why disks cannot be added, as far as it is known without reading them; empty if they can.</summary>
    internal string WhyNotAdd(IReadOnlyList<NewDiskSpec> disks)
    {
        try
        {
            Plan(disks);
            return "";
        }
        catch (Exception error) when (error is PoolException or InvalidRecordException)
        {
            return error.Message;
        }
    }

    /// <summary>Removes a disk without slabs in use, present or not. A present one is blank afterwards, and closed.</summary>
    internal LaneTask<CommitResult> RemoveDisk(DiskNumber disk) => store.Run(() => RemoveDiskNow(disk));

    /// <summary>
    /// Lets a disk of the pool that is outside the view take part again. From now on the disk gets writes; its stale rows stay stale until they are resynced.
    /// Nothing submitted to the disk before may be under way.
    /// </summary>
    internal LaneTask<CommitResult> Rejoin(DiskNumber disk) => store.Run(() => RejoinNow(disk));

    /// <summary>Hands over a disk that has come back; it can then <see cref="Rejoin"/>. Gives the reason why not, or an empty string.</summary>
    internal string Offer(PoolScan scan)
    {
        if (scan.Label is not { } label || label.Pool != store.Id || scan.Kind is not (ScanKind.Member or ScanKind.Forming))
        {
            return scan.Kind is ScanKind.Member or ScanKind.Forming ? $"{scan.Disk.Identity.Uri} is of another pool." : scan.Reason;
        }

        if (State.Disk(label.Number)?.Description.Id != label.Disk)
        {
            return $"{scan.Disk.Identity.Uri} is not known to the pool.";
        }

        if (View.Contains(label.Number) || Outside.ContainsKey(label.Number))
        {
            return $"{scan.Disk.Identity.Uri} carries the identity of disk {label.Number}, which is there: one is a clone of the other.";
        }

        if (IsOfOtherHistory(scan))
        {
            return $"{scan.Disk.Identity.Uri} {ReturnRules.OtherHistoryReason}.";
        }

        _outside[label.Number] = new MemberDisk(environment.Lane, scan.Disk, label, scan.Superblock);
        return "";
    }

    /// <summary>Whether a disk with the identity of one of the pool took part in a session that this history of the pool does not have.</summary>
    internal bool IsOfOtherHistory(PoolScan scan) => scan is { Label: { } label, Superblock: { } newest } && label.Pool == store.Id
        && ReturnRules.IsOtherHistory(State, State.Held.GetValueOrDefault(label.Number), newest.History.Newest);

    /// <summary>While the pool is being opened: disks outside the view that hold no slabs have missed nothing and join.</summary>
    internal async LaneTask RejoinEmpty()
    {
        foreach (DiskNumber disk in Outside.Keys.Where(disk => State.Disks[disk].UsedSlabs == 0).ToArray())
        {
            await RejoinNow(disk);
        }
    }

    private static CommitResult Refused(string reason) => new(CommitStatus.Refused, reason);

    private async LaneTask<CommitResult> AddDisksNow(IReadOnlyList<NewDiskSpec> disks)
    {
        List<(MemberDisk Member, MetadataRecord Record)> joining;
        try
        {
            await PoolCreator.Check(environment, disks);
            joining = Plan(disks);
        }
        catch (Exception error) when (error is PoolException or InvalidRecordException)
        {
            return Refused(error.Message);
        }

        List<MemberDisk> joiners = joining.ConvertAll(static joiner => joiner.Member);
        string problem = await Prepare(joiners);
        CommitResult added = problem.Length > 0 ? Refused(problem) : await store.CommitNow([.. joining.Select(static joiner => joiner.Record)]);
        if (!added.Succeeded)
        {
            await Erase(joiners);
            return added;
        }

        return await Join(joiners);
    }

    private void CheckAgainstMembers(IReadOnlyList<NewDiskSpec> disks)
    {
        HashSet<string> keys = [.. store.Members.All.Values.Concat(Outside.Values).Select(static member => member.Disk.Identity.DeviceKey)];
        if (disks.FirstOrDefault(disk => keys.Contains(disk.Disk.Identity.DeviceKey)) is { } twice)
        {
            throw new PoolException($"{twice.Disk.Identity.Uri} is a member already.");
        }

        if (View.Members.Length + disks.Count > PoolView.MaxMembers)
        {
            throw new PoolException($"A pool has at most {PoolView.MaxMembers} disks.");
        }
    }

    private List<(MemberDisk Member, MetadataRecord Record)> Plan(IReadOnlyList<NewDiskSpec> disks)
    {
        CheckAgainstMembers(disks);
        PoolState state = State;
        List<(MemberDisk Member, MetadataRecord Record)> joining = [];
        foreach (NewDiskSpec spec in disks)
        {
            DiskDescription disk = PoolCreator.Describe(spec, state.NextDisk, new DiskId(environment.Lane.NewGuid()), State.Pool!.Slabs);
            joining.Add((PoolCreator.Member(environment, store.Id, disk, state, spec.Disk), new DiskAdded(disk)));
            state = state.Apply(joining[^1].Record);
        }

        List<DiskNumber> elected = MetadataElection.Choose(
            state.Disks.Values.Select(static disk => disk.Description), state.Disks.Values.Select(static disk => disk.Description), View.MetadataDisks);
        long most = joining.Where(joiner => elected.Contains(joiner.Member.Number))
            .Select(static joiner => CheckpointStore.MostStatePages(joiner.Member.Layout))
            .Append(store.StatePages.Most).Min();
        string reason = MemberPages.WhyNot(state, most, number => View.Contains(number) || joining.Exists(joiner => joiner.Member.Number == number));
        return reason.Length == 0 ? joining : throw new PoolException(reason);
    }

    private async LaneTask<string> Prepare(List<MemberDisk> joiners)
    {
        foreach (MemberDisk joiner in joiners)
        {
            store.Attach(joiner);
            joiner.BeginForming();
            IoError error = await joiner.ClearAreas();
            error = error == IoError.None ? await store.PrepareLease(joiner) : error;
            bool isWritten = error == IoError.None && (await store.Superblocks.WriteSuperblocks(View, [joiner], clean: false)).Count == 1;
            error = isWritten ? await joiner.WriteLabels() : error == IoError.None ? IoError.Io : error;
            store.Members.ForgetFailure(joiner.Number);
            if (error != IoError.None)
            {
                return $"Writing to {joiner.Disk.Identity.Uri} failed ({error}).";
            }
        }

        return "";
    }

    private async LaneTask<CommitResult> Join(List<MemberDisk> joiners)
    {
        joiners.ForEach(static joiner => joiner.EndForming());

        if (!await store.Views.ChangeView(new ViewPlan { Joiners = joiners }))
        {
            return new CommitResult(CommitStatus.NoQuorum, store.End.LostReason);
        }

        List<MemberDisk> failed = joiners.FindAll(joiner => !View.Contains(joiner.Number));
        if (failed.Count == 0)
        {
            return CommitResult.Committed;
        }

        string reasons = string.Join(" ", failed.Select(joiner => store.Members.ForgetFailure(joiner.Number)));
        await store.CommitNow([.. failed.Select(static joiner => new DiskRemoved(joiner.Number))]);
        return Refused(reasons);
    }

    private async LaneTask Erase(List<MemberDisk> disks)
    {
        foreach (MemberDisk disk in disks)
        {
            await PoolScan.Erase(environment.Lane, disk.Disk);   // as far as the disk still takes it
        }
    }

    private async LaneTask<CommitResult> RemoveDiskNow(DiskNumber number)
    {
        if (State.Disk(number) is not { } disk)
        {
            return Refused($"There is no disk {number} in the pool.");
        }

        if (disk.UsedSlabs > 0)
        {
            return Refused($"Disk {number} ({disk.Description.FriendlyName}) has {CountText.Of(disk.UsedSlabs, "slab")} in use. Retire it and repair first.");
        }

        if (View.Contains(number) && View.Members.Length == 1)
        {
            return Refused($"Disk {number} is the last of the pool. Remove the pool instead.");
        }

        MemberDisk? member = store.Members.All.GetValueOrDefault(number) ?? Outside.GetValueOrDefault(number);
        CommitResult left = View.Contains(number) ? await LeaveView(number) : CommitResult.Committed;
        if (!left.Succeeded)
        {
            return left;
        }

        CommitResult removed = await store.CommitNow(new DiskRemoved(number));
        if (removed.Succeeded && member is not null)
        {
            _outside.Remove(number);
            await Erase([member]);
            await member.Disk.Close();
        }

        return removed;
    }

    // The only metadata disk cannot leave before another one holds the metadata.
    private async LaneTask<CommitResult> LeaveView(DiskNumber number)
    {
        if (View.MetadataDisks is [var only] && only == number)
        {
            await store.Elect();
        }

        if (View.MetadataDisks is [var last] && last == number)
        {
            return Refused($"Disk {number} is the only one that can hold the pool's metadata.");
        }

        return await store.Views.ChangeView(new ViewPlan { Leavers = [number] })
            ? CommitResult.Committed
            : new CommitResult(CommitStatus.NoQuorum, store.End.LostReason);
    }

    private async LaneTask<CommitResult> RejoinNow(DiskNumber number)
    {
        if (!Outside.TryGetValue(number, out MemberDisk? disk))
        {
            return Refused($"Disk {number} is not there, or is a member already.");
        }

        if (IsOwed(number))
        {
            return Refused($"{disk.Name} has left, and virtual disks still record what it misses or have requests to it under way. It joins when these have ended.");
        }

        if (disk.Disk.InFlight > 0)
        {
            return Refused($"{disk.Name} has {disk.Disk.InFlight} requests under way. Reopen it.");
        }

        if (await disk.Disk.CheckPresence() is not IoError.None and not (IoError.NoDevice or IoError.DeviceGone) and var silent)
        {
            return Refused($"{disk.Name} does not answer ({silent}).");
        }

        if (!disk.Disk.IsPresent)
        {
            _outside.Remove(number);   // it is offered again when it is found again
            await disk.Disk.Close();
            return Refused($"{disk.Name} is gone.");
        }

        bool isBehind = disk.IsForgetful || await ReturnRules.Judge(State, disk) == ReturnVerdict.Less;
        if (isBehind)
        {
            CommitResult marked = await MarkWhole(number);
            if (!marked.Succeeded)
            {
                return marked;
            }
        }

        store.Attach(disk);
        if (await store.PrepareLease(disk) is not IoError.None and var failed)
        {
            return Refused($"The lease could not be written to {disk.Name} ({failed}).");
        }

        disk.BecomeMember();
        if (!await store.Views.ChangeView(new ViewPlan { Joiners = [disk] }))
        {
            return new CommitResult(CommitStatus.NoQuorum, store.End.LostReason);
        }

        if (!View.Contains(number))
        {
            return Refused(store.Members.ForgetFailure(number));
        }

        _outside.Remove(number);
        await store.Views.Settle();
        CommitResult joined = State.Held.ContainsKey(number) ? await store.CommitNow(DiskHeld.Nothing(number)) : CommitResult.Committed;
        return joined.Succeeded && isBehind ? joined with { Reason = $"{disk.Name} {BehindReason}" } : joined;
    }

    private async LaneTask<CommitResult> MarkWhole(DiskNumber number)
    {
        foreach (SpaceId space in State.Spaces.Keys.ToArray())
        {
            CommitResult marked = await store.CommitNow(new DiskStale(space, number));
            if (!marked.Succeeded)
            {
                return marked;
            }
        }

        MarkedStale(number);
        return CommitResult.Committed;
    }
}
