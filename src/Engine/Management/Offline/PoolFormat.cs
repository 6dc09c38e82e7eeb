using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

/// <summary>The engine's own format: pools are opened as a host opens them, recovery included.</summary>
public sealed class PoolFormat : IOfflineFormat
{
    /// <inheritdoc/>
    public async LaneTask<OfflinePool> Describe(ILane lane, IReadOnlyList<IDisk> disks)
    {
        List<PoolScan> scans = [];
        foreach (IDisk disk in disks)
        {
            scans.Add(await PoolScan.Scan(lane, disk));
        }

        OfflinePool found = new("TierSpaces", [.. scans.Select(Describe)]);
        PoolScan[] members = [.. scans.Where(static scan => scan.Label is not null)];
        PoolId[] pools = [.. members.Select(static scan => scan.Label!.Pool).Distinct()];
        if (pools.Length != 1)
        {
            return found with { Reason = pools.Length == 0 ? "none of these disks is a member of a pool" : "these disks are of several pools" };
        }

        PoolOpenResult result = await Pool.Open(new PoolEnvironment(lane, new StateFolder(lane, new ScratchHostState()), lane.NewGuid()), pools[0], members);
        return result.Pool is { } pool ? Describe(found, pool.State, pool)
            : result.LastKnownState?.Pool is not null ? Describe(found, result.LastKnownState, null) with { Reason = result.Reason }
            : found with { Reason = result.Reason };
    }

    private static OfflineDisk Describe(PoolScan scan)
    {
        List<string> details = [];
        if (scan.Label is { } label)
        {
            details.Add(
                $"label       pool {label.Pool.Value}, disk {label.Number} ({label.Disk.Value}), {label.DiskBytes} bytes, slabs of {label.Slabs.DataBytes} bytes");
        }

        if (scan.Superblock is { } superblock)
        {
            string stopped = superblock.IsClean ? "stopped cleanly" : "not stopped cleanly";
            details.Add($"superblock  epoch {superblock.Epoch}, session {superblock.Session}, {stopped}, view of {superblock.View.Members.Length} disks");
        }

        return new OfflineDisk(scan.Disk, scan.Label is not null, scan.Reason.Length > 0 ? $"{scan.Kind}: {scan.Reason}" : $"{scan.Kind}", details);
    }

    private static OfflinePool Describe(OfflinePool found, PoolState state, Pool? pool)
    {
        IEnumerable<string> details = state.Disks.Values.Select(static disk =>
            $"disk {disk.Description.Number} {disk.Description.FriendlyName}: {disk.UsedSlabs} of {disk.Description.SlabCount} slabs in use, {disk.Description.Usage}");
        return found with
        {
            FriendlyName = state.Pool!.FriendlyName,
            Details = [.. details, .. pool is null ? Array.Empty<string>()
                : [$"metadata: {pool.MetadataPages.Used} of {pool.MetadataPages.Most} pages in use"]],
            VirtualDisks = [.. state.VirtualDisks.Values.Select(disk => Describe(state, disk, pool))],
        };
    }

    private static OfflineVirtualDisk Describe(PoolState state, VirtualDiskDescription disk, Pool? pool)
    {
        int rows = disk.Parts.Sum(part => state.Space(part.DataSpace)?.MappedRows ?? 0);
        string layout = $"{disk.ResiliencySettingName}, {disk.NumberOfColumns} columns{(disk.Parts[0].Parities is var parities and > 0 ? $", {parities} of them parity" : $", {disk.NumberOfDataCopies} copies")}, interleave {disk.Interleave}";
        return new OfflineVirtualDisk(
            disk.Id.Value.ToString(), disk.FriendlyName, disk.SizeBytes, $"{layout}, {disk.ProvisioningType}, checksums {disk.Checksum}, {rows} rows",
            () => Open(pool, disk));
    }

    private static async LaneTask<OfflineStore> Open(Pool? pool, VirtualDiskDescription disk)
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

        OpenVirtualDisk open = await VirtualDiskStack.Open(pool, disk.Id);
        return open.Fault == IoError.None ? new OfflineStore(open.Disk, "") : new OfflineStore(null, open.FaultReason);
    }
}
