using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

// From journals and checkpoints of several disks to one state. Reads only.
//
//  1. read the journal ring of every metadata disk; decide where the journal ends (JournalRules)
//  2. of all checkpoints named by superblocks, newest position first: the first that can be read whole and from which the
//     blocks lead to the end without a gap is the base
//  3. apply the records between the base and the end
//  4. find out what each disk lacks of it

/// <summary>State of a pool when it was last written.</summary>
/// <param name="State">The state; null when it could not be recovered.</param>
/// <param name="Tip">End of the journal.</param>
/// <param name="Path">Blocks up to the end, oldest first.</param>
/// <param name="Held">Sequences on the path that each disk holds.</param>
/// <param name="Reason">Reason why there is no state, for people.</param>
internal sealed record RecoveredState(
    PoolState? State,
    JournalPosition Tip,
    List<FoundBlock> Path,
    Dictionary<DiskNumber, HashSet<ulong>> Held,
    string Reason)
{
    /// <summary>Blocks that a disk lacks to recover from its own checkpoints; null when it needs a new checkpoint instead.</summary>
    internal List<JournalEntry>? LackedBy(MemberDisk disk)
    {
        JournalPosition newest = disk.Checkpoints.Newest.Position;
        ulong first = Path.Count > 0 ? Path[0].Header.Sequence : Tip.Sequence + 1;
        bool isFarBehind = Tip.Sequence > disk.Checkpoints.Oldest.Sequence + (ulong)disk.Layout.JournalBlocks;
        if (disk.Checkpoints.Newest.Generation == 0 || newest.Sequence > Tip.Sequence || newest.Sequence + 1 < first || isFarBehind)
        {
            return null;
        }

        HashSet<ulong> held = Held.GetValueOrDefault(disk.Number) ?? [];
        return
        [
            .. Path.Where(block => block.Header.Sequence > disk.Checkpoints.Oldest.Sequence && !held.Contains(block.Header.Sequence))
                .Select(static block => new JournalEntry(block.Header, block.Chain, block.Payload)),
        ];
    }
}

/// <summary>Recovers the state of a pool from its metadata disks.</summary>
internal static class StateRecovery
{
    /// <summary>Recovers from these disks; their superblocks have been read.</summary>
    /// <param name="disks">Metadata disks.</param>
    /// <param name="known">Sequence that is known from other members to have been durable.</param>
    internal static async LaneTask<RecoveredState> Recover(IReadOnlyCollection<MemberDisk> disks, ulong known)
    {
        List<FoundBlock> blocks = [];
        foreach (MemberDisk disk in disks)
        {
            blocks.AddRange(await JournalReader.ReadAll(disk));
        }

        List<Candidate> candidates =
        [
            .. disks.SelectMany(Candidates).Where(static candidate => candidate.Root.Generation > 0)
                .OrderByDescending(static candidate => candidate.Root.Position.Sequence),
        ];
        if (candidates.Count == 0)
        {
            return Failed("no metadata disk present names a checkpoint");
        }

        ulong durable = Math.Max(known, disks.Max(static disk => disk.Newest!.DurableSequence));
        JournalDecision decision = JournalRules.Decide(blocks, candidates[0].Root.Position, durable);
        return decision.Verdict == JournalVerdict.Found ? await Replay(candidates, decision, blocks) : Failed(decision.Reason);
    }

    private static RecoveredState Failed(string reason) => new(null, default, [], [], reason);

    private static IEnumerable<Candidate> Candidates(MemberDisk disk) =>
    [
        new(disk, disk.Newest!.Checkpoint, disk.Newest.PreviousCheckpoint),
        new(disk, disk.Newest.PreviousCheckpoint, default),
    ];

    private static async LaneTask<RecoveredState> Replay(List<Candidate> candidates, JournalDecision decision, List<FoundBlock> blocks)
    {
        Dictionary<(ulong, uint), FoundBlock> path = decision.Path.ToDictionary(static block => (block.Header.Sequence, block.Chain));
        string reason = "no checkpoint is readable on any metadata disk present";
        foreach (Candidate candidate in candidates)
        {
            JournalPosition from = candidate.Root.Position;
            if (!Leads(decision, from) || await candidate.Disk.Checkpoints.Load(candidate.Root, candidate.Previous) is not { } state)
            {
                continue;
            }

            PoolState checkpoint = state;
            reason = Apply(ref state, decision.Path.Where(block => block.Header.Sequence > from.Sequence));
            if (reason.Length == 0)
            {
                await LoadOthers(candidate, checkpoint, candidates);
                Dictionary<DiskNumber, HashSet<ulong>> held = blocks.Where(block => path.ContainsKey((block.Header.Sequence, block.Chain)))
                    .GroupBy(static block => block.Disk)
                    .ToDictionary(static disk => disk.Key, static disk => disk.Select(static block => block.Header.Sequence).ToHashSet());
                return new RecoveredState(state, decision.Tip, decision.Path, held, "");
            }
        }

        return Failed(reason);
    }

    // The blocks lead from a position to the end when the one after it names its chain, or it is the end.
    private static bool Leads(JournalDecision decision, JournalPosition from) =>
        (from.Sequence, from.Chain) == (decision.Tip.Sequence, decision.Tip.Chain)
        || decision.Path.Exists(block => block.Header.Sequence == from.Sequence + 1 && block.Header.PreviousChain == from.Chain);

    private static string Apply(ref PoolState state, IEnumerable<FoundBlock> blocks)
    {
        ByteWriter group = new(PoolBlock.Size);
        List<MetadataRecord> records = [];
        foreach (FoundBlock block in blocks)
        {
            group.Raw(block.Payload);
            if (!block.Header.IsLast)
            {
                continue;
            }

            records.Clear();
            if (!MetadataCodec.TryDecodeAll(group.Written, records, out string reason))
            {
                return reason;
            }

            foreach (MetadataRecord record in records)
            {
                if (!state.TryApply(record, out PoolState? next, out reason))
                {
                    return reason;
                }

                state = next;
            }

            group.Clear();
        }

        return state.IsConsistent(out string problem) ? "" : problem;
    }

    // The other disks' checkpoints are read too: to know which pages of their heaps are in use, and to find out now, not
    // later, whether they can be read.
    private static async LaneTask LoadOthers(Candidate used, PoolState checkpoint, List<Candidate> candidates)
    {
        HashSet<DiskNumber> loaded = [used.Disk.Number];
        foreach (Candidate candidate in candidates)
        {
            if (loaded.Contains(candidate.Disk.Number)
                || await candidate.Disk.Checkpoints.Load(candidate.Root, candidate.Previous) is null)
            {
                continue;
            }

            loaded.Add(candidate.Disk.Number);
            if (candidate.Root.Position == used.Root.Position)
            {
                candidate.Disk.Checkpoints.Share(checkpoint);
            }
        }
    }

    private sealed record Candidate(MemberDisk Disk, CheckpointRoot Root, CheckpointRoot Previous);
}
