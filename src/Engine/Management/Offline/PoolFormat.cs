using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

/// <summary>
/// The engine's own format: pools are opened as a host opens them, recovery included. Disks that lack the majority are read, too
/// (<see cref="MinorityView"/>).
/// </summary>
public sealed class PoolFormat : IOfflineFormat
{
    /// <inheritdoc/>
    public async LaneTask<OfflinePool> Describe(ILane lane, IReadOnlyList<IDisk> disks, bool withOlder)
    {
        PoolScan[] scans = await Scan(lane, disks);
        OfflinePool found = new("TierSpaces", [.. scans.Select(Describe)]);
        PoolScan[] members = [.. scans.Where(static scan => scan.Label is not null)];
        PoolId[] pools = [.. members.Select(static scan => scan.Label!.Pool).Distinct()];
        if (pools.Length != 1)
        {
            return found with { Reason = pools.Length == 0 ? "none of these disks is a member of a pool" : "these disks are of several pools" };
        }

        PoolOpenResult? result = withOlder ? null : await Open(lane, pools[0], members);
        List<string> remarks = [];
        if (result?.Pool is null)
        {
            remarks.Add(RemarkOn(result?.Reason, withOlder));
            string without = await MinorityView.Write(lane, members, withOlder);
            result = without.Length > 0 && result is not null ? result with { Reason = $"{result.Reason}; and of the disks that are here, {without}" }
                : await Open(lane, pools[0], [.. (await Scan(lane, disks)).Where(static scan => scan.Label is not null)], OwnDurable(members));
        }

        return result.Pool is { } pool ? Describe(found, pool.State, pool, withOlder) with { Remarks = remarks }
            : result.LastKnownState?.Pool is not null ? Describe(found, result.LastKnownState, null, withOlder) with { Reason = result.Reason }
            : found with { Reason = result.Reason };
    }

    private static string RemarkOn(string? reason, bool withOlder) =>
        $"{(withOlder ? "Copies that may be out of date are read where no others are there." : $"The pool has no majority here: {reason}.")} "
        + "What is read is the newest that these disks hold; whether the pool went on without them is not known.";

    private static async LaneTask<PoolScan[]> Scan(ILane lane, IReadOnlyList<IDisk> disks)
    {
        List<PoolScan> scans = [];
        foreach (IDisk disk in disks)
        {
            scans.Add(await PoolScan.Scan(lane, disk));
        }

        return [.. scans];
    }

    private static LaneTask<PoolOpenResult> Open(ILane lane, PoolId pool, PoolScan[] members, Dictionary<DiskNumber, ulong>? ownDurable = null) =>
        Pool.Open(new PoolEnvironment(lane, new StateFolder(lane, new ScratchHostState()), lane.NewGuid())
        {
            IsReadOnly = true,
            OwnDurable = ownDurable ?? [],
        }, pool, members);

    private static Dictionary<DiskNumber, ulong> OwnDurable(PoolScan[] members) => members.Where(static scan => scan.Superblock is not null)
        .DistinctBy(static scan => scan.Label!.Number).ToDictionary(static scan => scan.Label!.Number, static scan => scan.Superblock!.DurableSequence);

    private static OfflineDisk Describe(PoolScan scan)
    {
        List<string> details = [];
        if (scan.Label is { } label)
        {
            details.Add(
                $"label       pool {label.Pool.Value}, disk {label.Number} ({label.Disk.Value}), {ByteText.Exact(label.DiskBytes)}, slabs of {ByteText.Exact(label.Slabs.DataBytes)}");
        }

        if (scan.Superblock is { } superblock)
        {
            string stopped = superblock.IsClean ? "stopped cleanly" : "not stopped cleanly";
            details.Add($"superblock  epoch {superblock.Epoch}, session {superblock.Session}, {stopped}, view of {superblock.View.Members.Length} disks");
        }

        return new OfflineDisk(scan.Disk, scan.Label is not null, scan.Reason.Length > 0 ? $"{scan.Kind}: {scan.Reason}" : $"{scan.Kind}", details);
    }

    private static OfflinePool Describe(OfflinePool found, PoolState state, Pool? pool, bool withOlder)
    {
        IEnumerable<string> details = state.Disks.Values.Select(static disk =>
            $"disk {disk.Description.Number} {disk.Description.FriendlyName}: {disk.UsedSlabs} of {disk.Description.SlabCount} slabs in use, {disk.Description.Usage}");
        return found with
        {
            FriendlyName = state.Pool!.FriendlyName,
            Details = [.. details, .. pool is null ? Array.Empty<string>()
                : [$"metadata: {pool.MetadataPages.Used} of {pool.MetadataPages.Most} pages in use"]],
            VirtualDisks = [.. state.VirtualDisks.Values.Select(disk => Describe(state, disk, pool, withOlder))],
        };
    }

    private static OfflineVirtualDisk Describe(PoolState state, VirtualDiskDescription disk, Pool? pool, bool withOlder)
    {
        string layout = disk.IsTiered
            ? $"{CountText.Of(disk.Tiers.Length, "tier")} ({string.Join("; ", disk.Tiers.Select(tier => $"{tier.FriendlyName}: {ByteText.Exact(tier.SizeBytes)}, {LayoutOf(state, tier)}"))})"
            : LayoutOf(state, disk.Parts[0]);
        string cache = disk.CacheSpace == SpaceId.None ? "no write cache"
            : $"write cache of {ByteText.Exact(disk.WriteCacheSize)}{(disk.IsCacheElsewhere ? $" in pool {disk.CachePool}" : "")}";
        return new OfflineVirtualDisk(
            disk.Id.Value.ToString(), disk.FriendlyName, disk.SizeBytes, $"{layout}, {cache}, {disk.ProvisioningType}, checksums {disk.Checksum}",
            () => Open(pool, disk, withOlder));
    }

    private static string LayoutOf(PoolState state, TierDescription part)
    {
        string redundancy = part.Parities > 0 ? $"{part.Parities} of them parity" : $"{part.NumberOfDataCopies} copies";
        int rows = state.Space(part.DataSpace)?.MappedRows ?? 0;
        return $"{part.ResiliencySettingName}, {CountText.Of(part.NumberOfColumns, "column")}, {redundancy}, interleave {ByteText.Exact(part.Interleave)}, {CountText.Of(rows, "row")}";
    }

    private static async LaneTask<OfflineStore> Open(Pool? pool, VirtualDiskDescription disk, bool withOlder)
    {
        if (pool is null)
        {
            return new OfflineStore(null, "the pool is not open");
        }

        if (disk.IsCacheElsewhere && disk.CacheSpace != SpaceId.None)
        {
            return new OfflineStore(
                null, $"its newest data may be in its write cache, which is in another pool ({disk.CachePool}): only a host with both pools open can read it");
        }

        if (withOlder)
        {
            await StaleCopies.Use(pool, disk);
        }

        OpenVirtualDisk open = await VirtualDiskStack.Open(pool, disk.Id);
        return open.Fault == IoError.None ? new OfflineStore(open.Disk, "") : new OfflineStore(null, open.FaultReason);
    }
}
