using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

// Opening a pool, in this order:
//
//  1. refuse clones and what is not readable; group the rest by disk number
//  2. tell histories of the pool apart (Lineages); quorum from superblocks and witness (QuorumRules) for each: one of them has it, and disks
//     of the others are rejected; else nothing is written
//  3. recover the state from the metadata disks (reads only); check that every disk is who the state says it is, and holds what it held
//  4. the lease (LeaseTaker): the session is its number. Where another host may have held the pool, everything before is done again under it
//  5. promise: the new session, highest seen + 1, on everyone present; needs the majority again
//  6. a view that may be half written is decided again under this session
//  7. the journal's tail and missing blocks to every metadata disk of the view that is present; where none of them is, the state to others
//  8. a view without the missing disks, with a new witness where the old one is missing; settled
//  9. the session record in the journal, committed; disks outside the view that are of another history are rejected
// 10. disks the pool knows that are outside the view and hold nothing join again
//
// Until step 4 nothing has been written, and until step 5 nothing but leases. A crash anywhere leaves a pool that opens the same way.

/// <summary>Opens one pool from the scans of its disks.</summary>
internal sealed class PoolOpening
{
    private readonly PoolEnvironment _environment;
    private readonly PoolId _id;
    private readonly LeaseTaker _taker;
    private readonly LeaseGrant? _grant;   // taken already
    private readonly List<RejectedDisk> _rejected = [];
    private readonly Dictionary<DiskNumber, MemberDisk> _disks = [];
    private readonly List<MemberDisk> _forgetful = [];

    private PoolOpening(PoolEnvironment environment, PoolId id, LeaseTaker taker, LeaseGrant? grant)
    {
        _environment = environment;
        _id = id;
        _taker = taker;
        _grant = grant;
    }

    /// <summary>Opens the pool; the result says how it came out.</summary>
    internal static LaneTask<PoolOpenResult> Open(
        PoolEnvironment environment, PoolId id, IReadOnlyList<PoolScan> scans, LeaseTaker taker, LeaseGrant? grant = null)
    {
        PoolOpening opening = new(environment, id, taker, grant);
        opening.Choose(scans);
        return opening.Open();
    }

    private void Choose(IReadOnlyList<PoolScan> scans)
    {
        HashSet<PoolScan> clones = [.. CloneRules.Refuse(scans, _rejected)];
        List<PoolScan> usable = [];
        foreach (PoolScan scan in scans.Where(scan => !clones.Contains(scan)))
        {
            if (scan.Kind is ScanKind.Member or ScanKind.Forming && scan.Label!.Pool == _id)
            {
                usable.Add(scan);
            }
            else
            {
                _rejected.Add(new RejectedDisk(scan.Disk, scan.Reason));
            }
        }

        if (usable.TrueForAll(static scan => scan.Kind == ScanKind.Forming))
        {
            _rejected.AddRange(usable.Select(static scan =>
                new RejectedDisk(scan.Disk, $"{scan.Disk.Identity.Uri} belongs to a pool whose creation never ended. It may be pooled again.")));
            return;
        }

        // Two disks of one number: one of them was being added when the host stopped, before the pool knew it.
        foreach (IGrouping<DiskNumber, PoolScan> same in usable.GroupBy(static scan => scan.Label!.Number))
        {
            PoolScan chosen = same.OrderByDescending(static scan => scan.Kind == ScanKind.Member)
                .ThenByDescending(static scan => scan.Superblock!.Epoch).First();
            _disks.Add(same.Key, new MemberDisk(
                _environment.Lane, chosen.Disk, chosen.Label!, chosen.Superblock, isForming: chosen.Kind == ScanKind.Forming));
            _rejected.AddRange(same.Where(scan => scan != chosen).Select(static scan =>
                new RejectedDisk(scan.Disk, $"{scan.Disk.Identity.Uri} was being added to the pool when the host stopped. Reset it.")));
        }
    }

    private async LaneTask<PoolOpenResult> Open()
    {
        Witness witness = new(_environment.State, _id);
        (QuorumDecision quorum, string split) = await Decide(witness);
        if (split.Length > 0)
        {
            return Failure(PoolOperationalStatus.Incomplete, split, null, quorum.View);
        }

        foreach (DiskNumber forgetful in quorum.Forgetful)
        {
            Exclude(forgetful);
        }

        PoolView? view = quorum.View;
        MemberDisk[] holders = [.. _disks.Values.Where(disk => QuorumRules.IsMetadataCopy(view!, ReportOf(disk)))];
        if (view is null || !quorum.HasQuorum)
        {
            RecoveredState? known = holders.Length == 0 ? null : await StateRecovery.Recover(holders, 0);
            return Failure(PoolOperationalStatus.Incomplete, quorum.Reason, known?.State, view);
        }

        ulong durable = _disks.Values.Where(disk => view.Contains(disk.Number)).Max(static disk => disk.Newest!.DurableSequence);
        RecoveredState recovered = await StateRecovery.Recover(holders, durable);
        if (recovered.State is null)
        {
            return Failure(PoolOperationalStatus.ReadOnly, recovered.Reason, null, view);
        }

        RefuseStrangers(recovered.State);
        if (await ExcludeBehind(recovered.State, view))
        {
            return await Open();   // without their votes and without their journals
        }

        return _disks.Count == 0 ? Failure(PoolOperationalStatus.Incomplete, "the pool knows none of the disks that are there", recovered.State, view)
            : recovered.State.Pool!.HasLease && !_environment.IsReadOnly ? await BeginUnderLease(quorum, recovered, witness)
            : await Begin(quorum, recovered, witness, null);
    }

    private async LaneTask<PoolOpenResult> BeginUnderLease(QuorumDecision quorum, RecoveredState recovered, Witness witness)
    {
        PoolView view = quorum.View!;
        MemberDisk[] voters = [.. _disks.Values.Where(disk => view.HasVoter(disk.Number))];
        LeaseGrant? grant = _grant;
        if (grant is null)
        {
            LeaseAnswer answer = await _taker.Step(_environment, view, voters, quorum.HighestSession, quorum.Witness is not null);
            if (answer.Grant is null)
            {
                PoolOperationalStatus status = answer.OpensSoon ? PoolOperationalStatus.InService : PoolOperationalStatus.Incomplete;
                return Failure(status, answer.Reason, recovered.State, view) with { AwaitsLease = true };
            }

            grant = answer.Grant;
            if (grant.IsTaken)
            {
                List<PoolScan> again = [];
                foreach (MemberDisk disk in _disks.Values.Concat(_forgetful))
                {
                    again.Add(await PoolScan.Scan(_environment.Lane, disk.Disk));
                }

                PoolOpenResult opened = await Open(_environment, _id, again, _taker, grant);
                if (opened.Pool is null)
                {
                    await new LeaseHolder(_environment, grant).Close();
                }

                return opened with { Refused = [.. _rejected, .. opened.Refused] };
            }
        }

        if (view.Rank != grant.View)
        {
            const string reason = "its members have changed while its lease was taken";
            return Failure(PoolOperationalStatus.InService, reason, recovered.State, view) with { AwaitsLease = true };
        }

        LeaseHolder lease = new(_environment, grant with { Disks = [.. voters.Select(voter => new LeaseDisk(_environment.Lane, voter))] });
        PoolOpenResult result = await Begin(quorum, recovered, witness, lease);
        if (result.Pool is null)
        {
            await lease.Close();
            Array.ForEach(voters, static voter => voter.SetGate(null));
        }

        return result;
    }

    private static VoterReport ReportOf(MemberDisk disk) => VoterReport.Of(disk.Number, disk.Newest!);

    private string NameOf(DiskNumber member) => _environment.NameOfMember(_id, member);

    /// <summary>Quorum of the one history that has it; the disks of other histories are refused. Without such a history: the reason.</summary>
    private async LaneTask<(QuorumDecision Quorum, string Split)> Decide(Witness witness)
    {
        VoterReport[] reports = [.. _disks.Values.Select(ReportOf)];
        Dictionary<Guid, WitnessRecord?> witnesses = [];
        foreach (Guid named in reports.Select(static report => report.View.Witness).Where(static id => id != Guid.Empty).Distinct())
        {
            witnesses[named] = await witness.Read(named);
        }

        (Lineage Line, QuorumDecision Quorum)[] histories =
            [.. Lineages.Split(reports).Select(line => (line, QuorumRules.Decide(line.Reports, id => WitnessOf(id, line.Tip), NameOf)))];
        if (histories.Length < 2)
        {
            return (QuorumRules.Decide(reports, id => WitnessOf(id, histories.FirstOrDefault().Line?.Tip ?? MemberHistory.None), NameOf), "");
        }

        (Lineage Line, QuorumDecision Quorum)[] whole = Array.FindAll(histories, static history => history.Quorum.HasQuorum);
        if (whole.Length != 1)
        {
            string sides = string.Join(" and ", histories.Select(static history => history.Line.Name));
            return (histories[0].Quorum, $"its disks hold {histories.Length} histories of the pool, and each may hold writes that the others lack: {sides}. "
                + $"{(whole.Length == 0 ? "None" : "More than one")} of them has the majority of its votes. Leave the disks of one history registered and run Update-StoragePool");
        }

        foreach (DiskNumber stranger in reports.Select(static report => report.Disk).Except(whole[0].Line.Reports.Select(static report => report.Disk)))
        {
            RefuseOtherHistory(stranger);
        }

        return (whole[0].Quorum, "");

        WitnessRecord? WitnessOf(Guid id, MemberHistory history) =>
            witnesses[id] is { } record && Lineages.Fit(record.History, history) ? record : null;
    }

    private void RefuseOtherHistory(DiskNumber number)
    {
        _disks.Remove(number, out MemberDisk? disk);
        _rejected.Add(new RejectedDisk(disk!.Disk, $"{disk.Disk.Identity.Uri} {ReturnRules.OtherHistoryReason}.") { IsOtherHistory = true });
    }

    // It holds an older version than the pool left on it: an old copy, or it has lost writes it confirmed. It is not believed,
    // and joins again only with everything on it stale.
    private void Exclude(DiskNumber number)
    {
        if (_disks.Remove(number, out MemberDisk? disk))
        {
            _forgetful.Add(disk.AsForgetful());
        }
    }

    /// <summary>Excludes voters that hold less than the pool knows that they held. Returns whether there were any.</summary>
    private async LaneTask<bool> ExcludeBehind(PoolState state, PoolView view)
    {
        // A disk that the view has just left out is judged, too: the new session writes its promise to it, and then it says that it is newer than it is.
        bool any = false;
        foreach (MemberDisk disk in _disks.Values.Where(disk => view.HasVoter(disk.Number)).ToArray())
        {
            if (await ReturnRules.Judge(state, disk, _environment.OwnDurable.GetValueOrDefault(disk.Number)) == ReturnVerdict.Less)
            {
                Exclude(disk.Number);
                any = true;
            }
        }

        // A disk that was joining when the host stopped need not hold what the other members of its view hold.
        foreach (MemberDisk disk in view.Synced == view.Rank ? [] : _forgetful.Where(disk => state.Held.ContainsKey(disk.Number)))
        {
            disk.Judge(await ReturnRules.Judge(state, disk));
        }

        return any;
    }

    private void Refuse(DiskNumber number, string why)
    {
        if (_disks.Remove(number, out MemberDisk? disk))
        {
            _rejected.Add(new RejectedDisk(disk.Disk, $"{disk.Disk.Identity.Uri} {why}."));
        }
    }

    private void RefuseStrangers(PoolState state)
    {
        foreach (MemberDisk disk in _disks.Values.ToArray())
        {
            if (state.Disk(disk.Number)?.Description is not { } known || known.Id != disk.Label.Disk || known.SizeBytes != disk.Layout.DiskBytes)
            {
                Refuse(disk.Number, disk.IsForming
                    ? "was being added to the pool when the host stopped. It may be added again"
                    : "says that it is a member, but the pool does not know it");
            }
        }
    }

    private async LaneTask<PoolOpenResult> Begin(QuorumDecision quorum, RecoveredState recovered, Witness witness, LeaseHolder? lease)
    {
        PoolView view = quorum.View!;
        ulong epoch = Math.Max(view.Rank.Epoch, _disks.Values.Max(static disk => disk.Newest!.Epoch));
        SessionToken session = lease?.Session ?? new SessionToken(quorum.HighestSession + 1, _environment.Lane.NextRandom());
        MemberHistory history = HistoryBefore(view, recovered.State!) with { Opening = session };
        MetadataStore store = new(
            _environment, new StoreStart(_id, view, session.Session, epoch, recovered.State!, recovered.Tip, history) { Lease = lease });
        store.Hold();
        lease?.Start();
        MemberDisk[] voters = [.. _disks.Values.Where(disk => view.HasVoter(disk.Number))];
        Array.ForEach(voters, store.Attach);
        if (!await Promise(store, voters, quorum, witness))
        {
            return Failure(PoolOperationalStatus.Incomplete, "the majority failed while it was asked", recovered.State, view);
        }

        foreach (MemberDisk disk in voters.Where(disk => view.Contains(disk.Number)))
        {
            disk.BecomeMember();
            store.Members.Add(disk);
        }

        if (view.Prior is not null && !await store.Views.RepeatView(voters))
        {
            return Failure(PoolOperationalStatus.Incomplete, store.End.LostReason, recovered.State, view);
        }

        await Repair(store, recovered);
        bool hasWitness = quorum.Witness is not null;
        await store.Checkpoints.KeepRoom();
        return await store.Views.ChangeView(new ViewPlan { Witness = hasWitness ? null : _environment.Lane.NewGuid() })
            ? await Serve(store, view)
            : Failure(PoolOperationalStatus.Incomplete, store.End.LostReason, recovered.State, view);
    }

    /// <summary>
    /// The history that the new session continues: of the newest disk of the view, with the session whose first view that is, if it may not
    /// have been settled anywhere. Pools of older releases have none in their superblocks; their records tell the newest session.
    /// </summary>
    private MemberHistory HistoryBefore(PoolView view, PoolState state)
    {
        MemberHistory[] known = [.. _disks.Values.Where(disk => view.Contains(disk.Number)).Select(static disk => disk.Newest!)
            .OrderByDescending(newest => newest.View.Rank == view.Rank).ThenByDescending(static newest => newest.Epoch)
                .Select(static newest => newest.History)];
        MemberHistory newest = known.FirstOrDefault(MemberHistory.None);
        newest = newest.Opening.Session == view.Rank.Session ? newest.Effective : newest with { Opening = default };
        SessionToken recorded = state.Session is { } session ? new SessionToken(session.Session, session.FencingToken) : default;
        newest = recorded.Session > newest.Newest.Session ? (newest with { Opening = recorded }).Effective : newest;
        return newest with { HeldByAll = known.Length == 0 ? 0 : known.Max(static history => history.HeldByAll) };
    }

    /// <summary>Writes the new session to everyone, with the view each already holds: it decides nothing.</summary>
    private static async LaneTask<bool> Promise(MetadataStore store, MemberDisk[] voters, QuorumDecision quorum, Witness witness)
    {
        ulong epoch = store.Superblocks.NextEpoch(voters);
        LaneTask<IoError>[] writes =
        [
            .. voters.Select(disk => disk.WriteSuperblock(disk.Newest! with { Epoch = epoch, Session = store.Session, IsClean = false })),
        ];
        bool isWitnessed = quorum.Witness is { } record && await witness.TryWrite(record with { Session = store.Session });
        HashSet<DiskNumber> promised = [];
        for (int i = 0; i < voters.Length; i++)
        {
            IoError error = await writes[i];
            if (error == IoError.None)
            {
                promised.Add(voters[i].Number);
            }
            else if (store.Members.View.Contains(voters[i].Number))
            {
                store.Members.NoteFailure(voters[i], $"Writing the superblock of {voters[i].Name} failed ({error}).");
            }
        }

        PoolView view = store.Members.View;
        return view.Votes.IsMajority(promised.Contains, isWitnessed)
            && view.Prior?.IsMajority(promised.Contains, isWitnessed && view.Prior.Witness == view.Witness) != false;
    }

    /// <summary>Gives every metadata disk what it lacks of the state. A disk that cannot take it is left out of the next view.</summary>
    private static async LaneTask Repair(MetadataStore store, RecoveredState recovered)
    {
        foreach (MemberDisk disk in store.Members.All.Values.Where(disk => store.Members.View.IsMetadata(disk.Number)).ToArray())
        {
            List<JournalEntry>? lacking = recovered.LackedBy(disk);
            IoError error = lacking is null ? await store.Checkpoints.WriteFullCheckpoint(disk)
                : lacking.Count > 0 ? await JournalEntry.Write(disk, lacking)
                : IoError.None;   // the flushes of its promise have made durable what was read from it
            if (error != IoError.None)
            {
                store.Members.NoteFailure(disk, $"Repairing the metadata of {disk.Name} failed ({error}).");
            }
        }
    }

    private async LaneTask<PoolOpenResult> Serve(MetadataStore store, PoolView before)
    {
        await store.Views.Settle();
        CommitResult opened = await store.CommitNow([.. SessionRecords(store)]);
        if (!opened.Succeeded)
        {
            return Failure(PoolOperationalStatus.Incomplete, opened.Reason, store.State, before);
        }

        Pool pool = new(_environment, store);
        foreach (MemberDisk disk in _disks.Values.Concat(_forgetful).Where(disk => !store.Members.All.ContainsKey(disk.Number)).ToArray())
        {
            if (ReturnRules.IsOtherHistory(store.State, store.State.Held.GetValueOrDefault(disk.Number), disk.Newest!.History.Newest))
            {
                _disks[disk.Number] = disk;
                RefuseOtherHistory(disk.Number);
            }
            else
            {
                pool.Membership.SetOutside(disk);
            }
        }

        await pool.Membership.RejoinEmpty();
        store.Start();
        return new PoolOpenResult
        {
            Id = _id,
            Pool = pool,
            Status = pool.OperationalStatus,
            Reason = pool.StatusReason,
            Refused = _rejected,
            Missing = [.. before.Members.Select(static member => member.Disk).Where(disk => !_disks.ContainsKey(disk))],
        };
    }

    /// <summary>
    /// The record of this session. Before it come the records of sessions that took effect and were not recorded, because the host stopped, and the removal of
    /// the records of disks that left, where they are members.
    /// </summary>
    private IEnumerable<MetadataRecord> SessionRecords(MetadataStore store)
    {
        ulong recorded = store.State.Session?.Session ?? 0;
        return store.Superblocks.History.Sessions.Reverse().Where(session => session.Session > recorded)
            .Select(session => (MetadataRecord)new SessionOpened(session.Session, _environment.NodeId, session.Token, _environment.Lane.UtcNow.UtcTicks))
            .Concat(store.State.Held.Keys.Where(store.Members.View.Contains).Select(DiskHeld.Nothing));
    }

    private PoolOpenResult Failure(PoolOperationalStatus status, string reason, PoolState? known, PoolView? view) => new()
    {
        Id = _id,
        Status = status,
        Reason = reason.Length == 0 ? "no disk of the pool is there" : reason,
        Refused = _rejected,
        LastKnownState = known,
        Missing = view is null ? [] : [.. view.Members.Select(static member => member.Disk).Where(disk => !_disks.ContainsKey(disk))],
    };
}
