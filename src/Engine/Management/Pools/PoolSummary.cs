using System.Collections.Immutable;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Management;

/// <summary>
/// Summary of a pool, for display while it is not open: its settings, disks and virtual disks, as a state without spaces and rows. It is kept in the host's
/// state, and decides nothing: a pool is opened from its disks alone.
/// </summary>
internal static class PoolSummary
{
    /// <summary>Writes the summaries of pools, one after the other.</summary>
    internal static byte[] Encode(IEnumerable<(PoolId Id, PoolState State)> pools)
    {
        ByteWriter to = new();
        foreach ((PoolId id, PoolState state) in pools)
        {
            ByteWriter records = new();
            foreach (MetadataRecord record in RecordsOf(state))
            {
                MetadataCodec.Encode(record, records);
            }

            to.Guid(id.Value);
            to.Blob(records.Written);
        }

        return to.Written.ToArray();
    }

    /// <summary>Reads summaries back, or says what is wrong with them. Input is not trusted.</summary>
    internal static bool TryDecode(ReadOnlySpan<byte> bytes, out List<(PoolId Id, PoolState State)> pools, out string reason)
    {
        pools = [];
        ByteReader from = new(bytes);
        while (from.Remaining > 0)
        {
            PoolId id = new(from.Guid());
            List<MetadataRecord> records = [];
            if (!MetadataCodec.TryDecodeAll(from.Blob(), records, out reason))
            {
                return false;
            }

            if (from.Failed || StateOf(records) is not { Pool: not null } state)
            {
                reason = "it ends inside a pool, or a pool has no settings";
                return false;
            }

            pools.Add((id, state));
        }

        reason = "";
        return true;
    }

    /// <summary>Summary of a pool of which nothing is known but the labels of the disks that are there. It is called by its identity.</summary>
    internal static PoolState OfLabels(PoolId id, IEnumerable<RegisteredDisk> disks)
    {
        (RegisteredDisk Disk, DiskLabel Label)[] there =
        [
            .. disks.Where(static disk => disk.Condition.Label is not null).Select(static disk => (Disk: disk, Label: disk.Condition.Label!))
                .DistinctBy(static one => one.Label.Number),
        ];
        return StateOf(
        [
            new PoolCreated(new PoolDescription { FriendlyName = id.Value.ToString("B"), Slabs = there[0].Label.Slabs }),
            .. there.Select(static one => new DiskAdded(new DiskDescription
            {
                Number = one.Label.Number,
                Id = one.Label.Disk,
                FriendlyName = one.Disk.Stored.FriendlyName,
                SizeBytes = one.Label.DiskBytes,
                SlabCount = 0,
                MediaTypeCode = (ushort)(one.Disk.Stored.Overrides.MediaType ?? one.Disk.Device.Identity?.MediaType ?? Devices.MediaType.Unspecified),
                BusTypeCode = (ushort)(one.Disk.Device.Identity?.BusType ?? Devices.BusType.Unknown),
                LogicalSectorSize = (ushort)(one.Disk.Device.Identity?.LogicalSectorSize ?? 512),
                PhysicalSectorSize = (ushort)(one.Disk.Device.Identity?.PhysicalSectorSize ?? 4096),
            })),
        ]);
    }

    private static IEnumerable<MetadataRecord> RecordsOf(PoolState state) =>
        state.Disks.Values.Select(static disk => (MetadataRecord)new DiskAdded(disk.Description))
            .Concat(state.VirtualDisks.Values.Where(static disk => !disk.IsBeingCreated).Select(static disk => new VirtualDiskCreated(disk)))
            .Prepend(new PoolCreated(state.Pool!));

    private static PoolState StateOf(IReadOnlyCollection<MetadataRecord> records) => PoolState.Empty with
    {
        Pool = records.OfType<PoolCreated>().LastOrDefault()?.Pool,
        Disks = records.OfType<DiskAdded>().Select(static added => added.Disk).DistinctBy(static disk => disk.Number)
            .ToImmutableSortedDictionary(static disk => disk.Number, static disk => new DiskState(disk)),
        VirtualDisks = records.OfType<VirtualDiskCreated>().Select(static created => created.VirtualDisk).DistinctBy(static disk => disk.Id)
            .ToImmutableSortedDictionary(static disk => disk.Id, static disk => disk),
    };
}
