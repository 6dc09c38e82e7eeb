using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs;
using TierSpaces.Host.Verbs.Mapping;
using TierSpaces.Host.Verbs.Subsystems;

namespace TierSpaces.Host.Metrics;

/// <summary>The metrics of a host: what Get-StorageCounter, Get-VirtualDiskWriteCache, Get-StoragePool and Get-VirtualDisk answer, of one moment.</summary>
internal static class PrometheusPage
{
    /// <summary>Makes the page from one snapshot.</summary>
    public static async Task<byte[]> MakeAsync(HostServices services)
    {
        Catalogue all = await Catalogue.ReadAsync(services).ConfigureAwait(false);
        StorageCounterInfo[] counters = [.. GetStorageCounterHandler.Of(all, all.VirtualDisks.All, all.Disks.All)];
        VirtualDiskWriteCacheInfo[] caches = [.. all.VirtualDisks.All.Select(static disk => disk.ToWriteCacheInfo())];
        StoragePoolInfo[] pools = [.. all.Pools.All.Where(static pool => !pool.IsPrimordial).Select(static pool => pool.Concrete.ToInfo())];
        VirtualDiskInfo[] disks = [.. all.VirtualDisks.All.Select(disk => services.ToInfo(all, disk))];
        return PrometheusText.Write(counters, caches, pools, disks);
    }
}
