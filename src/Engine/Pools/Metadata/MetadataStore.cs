using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

// The replicated state machine of one open pool.
//
// Everything that changes metadata goes through one pump, one thing at a time: a group of commits, a change of the view,
// a superblock that names a finished checkpoint, an operation on members. Only checkpoint pages are written beside it.
//
// Invariants
//  1. The pump begins nothing before what it began last has ended.
//  2. The journal is not written over the blocks that follow the checkpoint before the newest.
//  3. Without a majority of the votes nothing is written any more.
//  4. An operation does not overtake commits that were asked for before it: a disk does not join before marks of what it missed.

/// <summary>Journal, checkpoints, superblocks and views of an open pool.</summary>
internal sealed class MetadataStore
{
    /// <summary>Interval between two checks of work that no event ends, in nanoseconds.</summary>
    internal const long PollNs = 1_000_000;

    private readonly PoolEnvironment _environment;
    private readonly CommittedState _committed;
    private readonly CommitQueue _commits = new();
    private readonly CommitGroups _groups;
    private readonly MetadataVoters _voters;
    private readonly MetadataScrub _scrub;
    private readonly Queue<(Func<LaneTask> Run, long After)> _operations = new();   // After: commits that were asked for before it
    private bool _isPumping;

    internal MetadataStore(PoolEnvironment environment, StoreStart start)
    {
        _environment = environment;
        (Id, Session) = (start.Id, start.Session);
        Members = new PresentMembers(start.View, End, Kick);
        _committed = new CommittedState(start.State, start.Head, Members);
        Superblocks = new SuperblockWriter(start, _committed, Members);
        Views = new MemberViews(environment, start.Id, start.Session, End, Members, _committed, Superblocks);
        Checkpoints = new StateCheckpoints(environment.Lane, End, Members, _committed, Superblocks, _commits, Kick);
        _voters = new MetadataVoters(environment.Lane, End, Members, _committed, Checkpoints, Views, Kick);
        Views.Use(_voters);
        _groups = new CommitGroups(environment.Lane, start.Session, End, Members, _committed, _commits, Views, _voters, Checkpoints, Superblocks);
        _scrub = new MetadataScrub(End, Members, _committed, Superblocks, Checkpoints);
        if (start.Lease is { } lease)
        {
            Hold(lease);
        }
    }

    /// <summary>Told of every record that has been applied.</summary>
    internal event Action<MetadataRecord>? Applied
    {
        add => _groups.Applied += value;
        remove => _groups.Applied -= value;
    }

    internal PoolId Id { get; }

    /// <summary>Number of this opening.</summary>
    internal ulong Session { get; }

    /// <summary>Records whether the metadata can still be written, and the reason if it cannot.</summary>
    internal StoreEnd End { get; } = new();

    /// <summary>The view in force and its present members.</summary>
    internal PresentMembers Members { get; }

    /// <summary>Holds the lease of the pool; null: it has none.</summary>
    internal LeaseHolder? Lease { get; private set; }

    /// <summary>Writes superblocks.</summary>
    internal SuperblockWriter Superblocks { get; }

    /// <summary>Brings views into force.</summary>
    internal MemberViews Views { get; }

    /// <summary>Writes checkpoints.</summary>
    internal StateCheckpoints Checkpoints { get; }

    /// <summary>The newest committed state.</summary>
    internal PoolState State => _committed.State;

    /// <summary>End of the committed journal.</summary>
    internal JournalPosition Head => _committed.Head;

    /// <summary>Whether a commit was answered with NoSpace although it may still be applied.</summary>
    internal bool HasUndecidedCommit => _committed.HasUndecidedCommit;

    /// <summary>Pages that the state takes, and that it may take at most on the metadata disk with the smallest heap; 0: none is there.</summary>
    internal (long Used, long Most) StatePages => _committed.Pages;

    /// <summary>Pages that the state may take at most on the metadata disk with the smallest heap; 0: none is there.</summary>
    internal long MostStatePages => _committed.MostPages;

    /// <summary>Makes records durable and applies them, all or none.</summary>
    internal LaneTask<CommitResult> Commit(MetadataRecord[] records)
    {
        Invariant.That(!Invariant.ChecksCostly || _environment.Lane.IsCurrent, "Everything that changes metadata comes to it on its lane.");
        LaneCompletion<CommitResult> done = LaneCompletion<CommitResult>.Rent();
        LaneTask<CommitResult> task = done.Task;
        PendingCommit commit = new(records, done.Complete);
        if (End.Result is { } stopped)
        {
            commit.Done(stopped);
            return task;
        }

        _commits.Add(commit);
        Kick();
        return task;
    }

    /// <summary>A commit inside an operation.</summary>
    internal LaneTask<CommitResult> CommitNow(params MetadataRecord[] records) => _groups.CommitNow(records);

    /// <summary>Runs an operation when nothing else is under way; it may call <see cref="CommitNow"/> and change the view.</summary>
    internal LaneTask<CommitResult> Run(Func<LaneTask<CommitResult>> operation)
    {
        LaneCompletion<CommitResult> done = LaneCompletion<CommitResult>.Rent();
        LaneTask<CommitResult> task = done.Task;
        if (End.Result is { } stopped)
        {
            done.Complete(stopped);   // nothing may wait for the pump: it may be ending what waited
            return task;
        }

        _operations.Enqueue((async () => done.Complete(End.Result ?? await operation()), _commits.Asked));
        Kick();
        return task;
    }

    /// <summary>Verifies and heals the metadata on one disk; gives the number of blocks that were damaged or unreadable.</summary>
    internal async LaneTask<int> Scrub(DiskNumber disk)
    {
        int damaged = 0;
        await Run(async () =>
        {
            damaged = await _scrub.Scrub(disk);
            return CommitResult.Committed;
        });
        return damaged;
    }

    /// <summary>Prepares a disk for metadata: a member, or one that is about to be.</summary>
    internal void Attach(MemberDisk disk) => disk.Attach(_groups.OnWaitsForSpace, State.Pool?.IsPowerProtected == true, Lease?.Gate);

    /// <summary>Puts the session of the lease on a disk that is about to join; nothing to do where the pool has no lease.</summary>
    internal LaneTask<IoError> PrepareLease(MemberDisk disk) => Lease?.Prepare(disk) ?? LaneTask.FromResult(IoError.None);

    /// <summary>Inside an operation: takes a lease for a pool that had none, which no other host can open meanwhile.</summary>
    internal async LaneTask<bool> BeginLease()
    {
        if (Lease is not null)
        {
            return true;
        }

        LeaseHolder lease = new(_environment, Superblocks.History.Newest);
        List<DiskNumber> prepared = [];
        foreach (MemberDisk member in Members.All.Values.ToArray())
        {
            if (await lease.Prepare(member) == IoError.None)
            {
                prepared.Add(member.Number);
            }
        }

        if (!Members.View.Votes.IsMajority(prepared.Contains, holdsWitness: true))
        {
            return false;
        }

        Hold(lease);
        foreach (MemberDisk member in Members.All.Values)
        {
            member.SetGate(lease.Gate);
        }

        lease.Start();
        return true;
    }

    /// <summary>Inside an operation: chooses metadata disks where some are missing, gives them the metadata, and names them in a view.</summary>
    internal LaneTask Elect() => _voters.Elect();

    /// <summary>Holds the pump back while the pool is being opened or made.</summary>
    internal void Hold() => _isPumping = true;

    /// <summary>Lets the pump run.</summary>
    internal void Start()
    {
        Lease?.Start();
        _isPumping = false;
        Kick();
    }

    /// <summary>Writes the last superblocks and stops. Nothing may be in use any more.</summary>
    internal async LaneTask Close(bool clean)
    {
        if (Members.Full.Any())
        {
            End.Close();   // before their writes end: a full file system is not a failed disk
            Array.ForEach([.. Members.Full], static member => member.FailWhenFull());
        }

        await Run(() => WriteLast(clean));
        End.Close();
        _ = Lease is { } lease ? await lease.Close() : default;
        while (_isPumping || (Checkpoints.IsUnderWay && !Checkpoints.IsWritten))
        {
            await _environment.Lane.Delay(PollNs);
        }
    }

    private async LaneTask<CommitResult> WriteLast(bool clean)
    {
        await WriteCommonEpoch();
        await Superblocks.WriteSuperblocks(Members.View, [.. Members.All.Values], clean && Members.FailureCount == 0);
        End.Close();
        return CommitResult.Committed;
    }

    /// <summary>Gives every member an epoch, so that the last superblocks state one that every member held.</summary>
    private async LaneTask WriteCommonEpoch() => await Superblocks.WriteSuperblocks(Members.View, [.. Members.All.Values], clean: false);

    private void Hold(LeaseHolder lease)
    {
        Lease = lease;
        lease.Use(Members, Views.LosePool);
        End.Lost += lease.Gate.Shut;
    }

    private void Kick()
    {
        if (!_isPumping)
        {
            Pump().Forget();
        }
    }

    private async LaneTask Pump()
    {
        _isPumping = true;
        while (await PumpOne())
        {
        }

        _isPumping = false;
    }

    private async LaneTask<bool> PumpOne()
    {
        if (End.Result is { } stopped)
        {
            EndWaiting(stopped);
            return false;
        }

        if (Members.FailureCount > 0)
        {
            await Views.ChangeView(ViewPlan.None);
        }
        else if (Members.View.Synced != Members.View.Rank)
        {
            await Views.Settle();
        }
        else if (Checkpoints.IsWritten)
        {
            await Checkpoints.NameCheckpoint();
        }
        else if (_operations.TryPeek(out (Func<LaneTask> Run, long After) next) && next.After <= _commits.Taken)
        {
            _operations.Dequeue();
            await next.Run();
        }
        else if (_voters.IsElectionDue)
        {
            await _voters.Elect();
        }
        else if (_commits.HasWaiting && Checkpoints.HasRoom)
        {
            await _groups.WriteGroup(_commits.TakeGroup());
        }
        else if (_commits.HasWaiting && !Checkpoints.IsUnderWay)
        {
            Checkpoints.Start();
        }
        else
        {
            return false;
        }

        return true;
    }

    private void EndWaiting(CommitResult stopped)
    {
        while (_operations.TryDequeue(out (Func<LaneTask> Run, long After) operation))
        {
            operation.Run().Forget();
        }

        _commits.EndAll(stopped);
        Views.ReleaseEvictions();
    }
}
