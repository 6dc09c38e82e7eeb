using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Fuzz.Targets;

/// <summary>Records of variable length, and the state machine they are applied to.</summary>
internal static class RecordTargets
{
    private const int StateBytes = 64 << 10;

    internal static IReadOnlyList<FuzzTarget> All { get; } =
    [
        new("metadata-records", [.. Samples.Records.Select(static record => Samples.Encode(record)), Samples.Encode([.. Samples.Records])], Decode),
        new("pool-state", [Samples.Encode([.. Samples.Records]), Samples.Encode([.. Samples.Records.Take(17)])], Apply)
        {
            AllocationBase = 2 << 20, AllocationPerByte = 512, Weight = 50,
        },
        new("row-mapping", [RowOf(withJoining: false), RowOf(withJoining: true)], Row),
        new("job-progress", Jobs(), Job),
    ];

    // A record that was understood is written and read again as the same bytes: none is understood in part.
    private static string Decode(byte[] bytes)
    {
        List<MetadataRecord> records = [];
        if (!MetadataCodec.TryDecodeAll(bytes, records, out string reason))
        {
            return reason;
        }

        byte[] once = Samples.Encode([.. records]);
        List<MetadataRecord> again = [];
        if (!MetadataCodec.TryDecodeAll(once, again, out reason) || !Samples.Encode([.. again]).AsSpan().SequenceEqual(once))
        {
            throw new WrongAnswerException($"records that do not come back: {reason}");
        }

        return string.Concat(records.Select(static record => (char)('A' + (int)record.Kind)));
    }

    private static string Apply(byte[] bytes)
    {
        List<MetadataRecord> records = [];
        MetadataCodec.TryDecodeAll(bytes.AsSpan(0, Math.Min(bytes.Length, StateBytes)), records, out string reason);
        PoolState state = PoolState.Empty;
        foreach (MetadataRecord record in records)
        {
            if (!state.TryApply(record, out PoolState? next, out reason))
            {
                break;
            }

            state = next;
        }

        bool isConsistent = state.IsConsistent(out string why);
        if (state.Pool is not null)
        {
            Checkpoint(state);
        }

        return $"{reason} {isConsistent} {why}";
    }

    // A state that was reached can be written as a checkpoint and read back.
    private static void Checkpoint(PoolState state)
    {
        PoolState copy = PoolState.Empty;
        ByteWriter to = new();
        foreach (StatePage page in CheckpointPages.Enumerate(state))
        {
            to.Clear();
            page.Encode(to);
            List<MetadataRecord> records = [];
            if (to.Length > CheckpointPages.Capacity || !MetadataCodec.TryDecodeAll(to.Written, records, out _))
            {
                throw new WrongAnswerException($"a page {page.Key} of {to.Length} bytes that does not come back");
            }

            foreach (MetadataRecord record in records)
            {
                copy = copy.TryApply(record, out PoolState? next, out string why) ? next : throw new WrongAnswerException($"a checkpoint is refused: {why}");
            }
        }

        if (copy.Spaces.Count != state.Spaces.Count
            || copy.Disks.Values.Sum(static disk => disk.UsedSlabs) != state.Disks.Values.Sum(static disk => disk.UsedSlabs))
        {
            throw new WrongAnswerException("a checkpoint that is another state");
        }
    }

    private static byte[] RowOf(bool withJoining)
    {
        SlabRef[] slabs = [new(new(1), 7), new(new(2), 8), new(new(3), 9), new(new(4), 1)];
        return Samples.Encode(to => new RowMapping(slabs, withJoining ? slabs : null).Encode(to));
    }

    private static string Row(byte[] bytes)
    {
        ByteReader from = new(bytes);
        RowMapping row = RowMapping.Decode(ref from, 4);
        return from.Failed ? "refused" : $"{row.HasJoining} {row.IsInitialized} {row.Joining(3).IsNone}";
    }

    private static byte[][] Jobs() =>
    [
        .. Enum.GetValues<JobKind>().Select(static kind => new JobProgress
        {
            Kind = kind, Subject = Samples.Id, UtcTicks = 638_000_000_000_000_000, Step = "Verify", Cursor = 5, BytesProcessed = 6, ElapsedNs = 7,
        }.Encode()),
    ];

    private static string Job(byte[] bytes)
    {
        JobProgress? progress = JobProgress.TryDecode(bytes);
        return progress is null ? "refused" : $"{progress.Kind} {new DateTime(progress.UtcTicks).Year > 0} {progress.Encode().AsSpan().SequenceEqual(bytes)}";
    }
}
