using System.Diagnostics.CodeAnalysis;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

// The replicated state machine of one open pool.
//
// Everything that changes metadata goes through one pump, one thing at a time: a group of commits, a change of the view,
// a superblock that names a finished checkpoint, an operation on members. Only checkpoint pages are written beside it.
//
// Invariants
//  1. State is what is durable on CopiesToCommit metadata disks of the view in force, and Head is its end in the journal.
//  2. At most one group is in flight. The next one, or a change of the view, starts when every metadata disk has taken it
//     or failed; so every metadata disk of a new view holds everything acknowledged under the old.
//  3. A group that a disk failed under is acknowledged only when a view without that disk is in force.
//  4. A sequence is never used twice with different contents in one session: a group waits for space as long as it takes.
//  5. The journal is not written over the blocks that follow the checkpoint before the newest.
//  6. Without a majority nothing is written any more.
//  7. An operation does not overtake commits that were asked for before it: a disk does not join before marks of what it missed.

/// <summary>Journal, checkpoints, superblocks and views of an open pool.</summary>
internal sealed partial class MetadataStore
{
    private const int MaxGroupBlocks = 16;
    private const long FullAfterNs = 60_000_000_000;
    private const long PollNs = 1_000_000;

    private readonly PoolEnvironment _environment;
    private readonly Witness _witness;
    private readonly Queue<PendingCommit> _commits = new();
    private readonly Queue<(Func<LaneTask> Run, long After)> _operations = new();   // After: commits that were asked for before it
    private long _commitsAsked;
    private long _commitsTaken;
    private bool _isPumping;
    private bool _isClosed;
    private GroupWrite? _group;   // in flight

    internal MetadataStore(PoolEnvironment environment, PoolId id, PoolView view, ulong session, ulong epoch)
    {
        _environment = environment;
        _witness = new Witness(environment.HostState, id);
        Id = id;
        View = view;
        Session = session;
        _epoch = epoch;
    }

    /// <summary>Told when a view with other members is in force, and when quorum is lost.</summary>
    internal Action<MembershipChange>? MembershipChanged { get; set; }

    /// <summary>Told of every record that has been applied.</summary>
    internal Action<MetadataRecord>? Applied { get; set; }

    internal PoolId Id { get; }

    /// <summary>Present members of the view.</summary>
    internal Dictionary<DiskNumber, MemberDisk> Members { get; } = [];

    /// <summary>Number of this opening.</summary>
    internal ulong Session { get; }

    /// <summary>The newest committed state.</summary>
    internal PoolState State { get; set; } = PoolState.Empty;

    /// <summary>End of the committed journal.</summary>
    internal JournalPosition Head { get; set; }

    /// <summary>Why nothing can be written any more, or empty.</summary>
    internal string LostReason { get; private set; } = "";

    /// <summary>Whether callers of a commit were told that there is no room while it still may be applied.</summary>
    internal bool HasUndecidedCommit => _group is { IsReported: true, IsEnded: false };

    /// <summary>Members that wait for space on the file system below them.</summary>
    internal IEnumerable<MemberDisk> Full => Members.Values.Where(static member => member.FullSinceNs != 0);

    private MemberDisk[] MetadataMembers =>
        [.. Members.Values.Where(member => View.IsMetadata(member.Number) && !_failed.ContainsKey(member.Number))];

    /// <summary>Makes records durable and applies them, all or none.</summary>
    internal LaneTask<CommitResult> Commit(MetadataRecord[] records)
    {
        LaneCompletion<CommitResult> done = LaneCompletion<CommitResult>.Rent();
        LaneTask<CommitResult> task = done.Task;
        PendingCommit commit = new(records, done.Complete);
        if (StoppedResult() is { } stopped)
        {
            commit.Done(stopped);
            return task;
        }

        _commits.Enqueue(commit);
        _commitsAsked++;
        Kick();
        return task;
    }

    /// <summary>Runs an operation when nothing else is under way; it may call <see cref="CommitNow"/> and change the view.</summary>
    internal LaneTask<CommitResult> Run(Func<LaneTask<CommitResult>> operation)
    {
        LaneCompletion<CommitResult> done = LaneCompletion<CommitResult>.Rent();
        LaneTask<CommitResult> task = done.Task;
        _operations.Enqueue((async () => done.Complete(StoppedResult() ?? await operation()), _commitsAsked));
        Kick();
        return task;
    }

    /// <summary>Holds the pump back while the pool is being opened or made.</summary>
    internal void Hold() => _isPumping = true;

    /// <summary>Lets the pump run.</summary>
    internal void Start()
    {
        _isPumping = false;
        Kick();
    }

    /// <summary>A commit inside an operation.</summary>
    internal async LaneTask<CommitResult> CommitNow(params MetadataRecord[] records)
    {
        CommitResult result = CommitResult.Committed;
        while (!HasRoom && StoppedResult() is null)
        {
            await MakeRoom();
            if (_checkpointProblem.Length > 0)
            {
                return new CommitResult(CommitStatus.NoSpace, _checkpointProblem);
            }
        }

        await WriteGroup([new PendingCommit(records, ended => result = ended)]);
        return result;
    }

    /// <summary>Writes the last superblocks and stops. Nothing may be in use any more.</summary>
    internal async LaneTask Close(bool clean)
    {
        if (Full.Any())
        {
            _isClosed = true;   // before their writes end: a full file system is not a failed disk
            Array.ForEach([.. Full], static member => member.IsAbandoned = true);
        }

        await Run(() => WriteLast(clean));
        _isClosed = true;
        while (_isPumping || (_isCheckpointing && _written is null))
        {
            await _environment.Lane.Delay(PollNs);
        }
    }

    private async LaneTask<CommitResult> WriteLast(bool clean)
    {
        await WriteCommonEpoch();
        await WriteSuperblocks(View, [.. Members.Values], clean && _failed.Count == 0);
        _isClosed = true;
        return CommitResult.Committed;
    }

    /// <summary>Gives every member an epoch, so that the last superblocks state one that every member held.</summary>
    private async LaneTask WriteCommonEpoch() => await WriteSuperblocks(View, [.. Members.Values], clean: false);

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
        if (StoppedResult() is not null)
        {
            FailWaiting();
            return false;
        }

        if (_failed.Count > 0)
        {
            await ChangeView(ViewPlan.None);
        }
        else if (View.Synced != View.Rank)
        {
            await Settle();
        }
        else if (_written is not null)
        {
            await NameCheckpoint();
        }
        else if (_operations.TryPeek(out (Func<LaneTask> Run, long After) next) && next.After <= _commitsTaken)
        {
            _operations.Dequeue();
            await next.Run();
        }
        else if (_electionDue)
        {
            await Elect();
        }
        else if (_commits.Count > 0 && HasRoom)
        {
            await WriteGroup(TakeGroup());
        }
        else if (_commits.Count > 0 && !_isCheckpointing)
        {
            StartCheckpoint();
        }
        else
        {
            return false;
        }

        return true;
    }

    private CommitResult? StoppedResult() =>
        LostReason.Length > 0 ? new CommitResult(CommitStatus.NoQuorum, LostReason)
        : _isClosed ? new CommitResult(CommitStatus.Closed, "The pool is closed.")
        : null;

    private void FailWaiting()
    {
        CommitResult stopped = StoppedResult() ?? CommitResult.Committed;
        while (_operations.TryDequeue(out (Func<LaneTask> Run, long After) operation))
        {
            operation.Run().Forget();
        }

        while (TryTakeCommit(out PendingCommit? commit))
        {
            commit.Done(stopped);
        }

        ReleaseEvictions();
    }

    private List<PendingCommit> TakeGroup()
    {
        List<PendingCommit> group = [];
        int bytes = 0;
        while (_commits.TryPeek(out PendingCommit? next) && (group.Count == 0 || bytes + next.Bytes.Length <= Pool.MaxCommitBytes))
        {
            bytes += next.Bytes.Length;
            group.Add(next);
            TryTakeCommit(out _);
        }

        return group;
    }

    private bool TryTakeCommit([NotNullWhen(true)] out PendingCommit? commit)
    {
        bool any = _commits.TryDequeue(out commit);
        _commitsTaken += any ? 1 : 0;
        return any;
    }

    private async LaneTask WriteGroup(List<PendingCommit> commits)
    {
        PoolState next = State;
        List<PendingCommit> accepted = [];
        foreach (PendingCommit commit in commits)
        {
            if (TryApply(commit, next, out PoolState after, out CommitResult refusal))
            {
                next = after;
                accepted.Add(commit);
            }
            else
            {
                commit.Done(refusal);
            }
        }

        if (accepted.Count == 0)
        {
            return;
        }

        byte[] bytes = [.. accepted.SelectMany(static commit => commit.Bytes)];
        List<JournalEntry> entries = JournalEntry.Cut(bytes, Head, Session, Head.Sequence);
        Invariant.That(entries.Count <= MaxGroupBlocks && _group is null, "At most one group is in flight, and it fits in the blocks that are kept for one.");
        await WriteGroup(new GroupWrite(accepted, next, entries));
    }

    private async LaneTask WriteGroup(GroupWrite group)
    {
        _group = group;
        LaneTask[] writes = [.. MetadataMembers.Select(member => WriteTo(member, group))];
        foreach (LaneTask write in writes)
        {
            await write;
        }

        if (!group.IsEnded && _failed.Count > 0 && !_isClosed)
        {
            await ChangeView(ViewPlan.None);
        }

        if (!group.IsEnded)
        {
            EndGroup(group);
        }

        _group = null;
        if (StoppedResult() is null && IsCheckpointDue)
        {
            StartCheckpoint();
        }
    }

    private async LaneTask WriteTo(MemberDisk member, GroupWrite group)
    {
        IoError error = await JournalEntry.Write(member, group.Entries);
        if (error != IoError.None)
        {
            NoteFailure(member, $"Writing metadata to {member.Name} failed ({error}).");
            return;
        }

        group.Copies++;
        if (!group.IsEnded && _failed.Count == 0 && group.Copies >= View.Votes.CopiesToCommit)
        {
            EndGroup(group);
        }
    }

    private void EndGroup(GroupWrite group)
    {
        group.IsEnded = true;
        if (StoppedResult() is { } stopped)
        {
            group.Report(stopped);
            return;
        }

        Apply(group);
        foreach (MetadataRecord record in group.Commits.SelectMany(static commit => commit.Records))
        {
            Applied?.Invoke(record);
        }

        foreach (MemberDisk member in Members.Values)
        {
            member.SkipsFlush = State.Pool!.IsPowerProtected;
        }

        group.Report(CommitResult.Committed);
    }

    private bool TryApply(PendingCommit commit, PoolState state, out PoolState after, out CommitResult refusal)
    {
        after = state;
        if (commit.Bytes.Length > Pool.MaxCommitBytes)
        {
            string tooMany = $"The records take {commit.Bytes.Length} bytes; one commit takes at most {Pool.MaxCommitBytes}.";
            refusal = new CommitResult(CommitStatus.Refused, tooMany);
            return false;
        }

        foreach (MetadataRecord record in commit.Records)
        {
            if (!after.TryApply(record, out PoolState? next, out string reason))
            {
                refusal = new CommitResult(CommitStatus.Refused, reason);
                return false;
            }

            after = next;
        }

        return HasPagesFor(state, after, out refusal);
    }

    /// <summary>Pages that the state takes, and that it may take at most on the metadata disk with the smallest heap; 0: none is there.</summary>
    internal (long Used, long Most) StatePages => (
        CheckpointPages.CountUpTo(State), MetadataMembers.Select(static member => CheckpointStore.MostStatePages(member.Layout)).DefaultIfEmpty().Min());

    private bool HasPagesFor(PoolState before, PoolState after, out CommitResult refusal)
    {
        refusal = CommitResult.Committed;
        long pages = CheckpointPages.CountUpTo(after);
        if (pages <= CheckpointPages.CountUpTo(before))
        {
            return true;
        }

        MemberDisk? smallest = MetadataMembers.MinBy(static member => member.Layout.HeapPages);
        if (smallest is null)
        {
            return true;   // every metadata disk has failed: the write will find out
        }

        long most = CheckpointStore.MostStatePages(smallest.Layout);
        string full = $"The metadata area of {smallest.Name} is full: {pages} pages of at most {most}. Remove something, or replace the disk by a larger one.";
        refusal = pages <= most ? refusal : new CommitResult(CommitStatus.NoSpace, full);
        return pages <= most;
    }

    /// <summary>After a minute without space the callers are told; the group itself goes on waiting.</summary>
    private void OnWaitsForSpace(MemberDisk member)
    {
        if (_environment.Lane.NowNs - member.FullSinceNs < FullAfterNs)
        {
            return;
        }

        CommitResult full = new(CommitStatus.NoSpace, $"The file system under {member.Name} has been full for a minute.");
        _group?.Report(full);
        while (TryTakeCommit(out PendingCommit? commit))
        {
            commit.Done(full);
        }
    }

    /// <summary>Records that someone waits for.</summary>
    private sealed class PendingCommit(MetadataRecord[] records, Action<CommitResult> done)
    {
        private byte[]? _bytes;

        internal MetadataRecord[] Records { get; } = records;

        internal Action<CommitResult> Done { get; } = done;

        internal byte[] Bytes => _bytes ??= Encode(Records);

        private static byte[] Encode(MetadataRecord[] records)
        {
            ByteWriter to = new(1024);
            foreach (MetadataRecord record in records)
            {
                MetadataCodec.Encode(record, to);
            }

            return to.Written.ToArray();
        }
    }

    /// <summary>A group on its way to the metadata disks.</summary>
    private sealed class GroupWrite(List<PendingCommit> commits, PoolState after, List<JournalEntry> entries)
    {
        internal List<PendingCommit> Commits { get; } = commits;

        internal PoolState After { get; } = after;

        internal List<JournalEntry> Entries { get; } = entries;

        /// <summary>Metadata disks on which it is durable.</summary>
        internal int Copies { get; set; }

        /// <summary>Whether the state holds it.</summary>
        internal bool IsApplied { get; set; }

        /// <summary>Whether its callers have been told how it ended, or that it waits for room.</summary>
        internal bool IsReported { get; private set; }

        /// <summary>Whether it has been applied and reported, or given up because quorum is lost.</summary>
        internal bool IsEnded { get; set; }

        internal void Report(CommitResult result)
        {
            if (!IsReported)
            {
                IsReported = true;
                Commits.ForEach(commit => commit.Done(result));
            }
        }
    }
}
