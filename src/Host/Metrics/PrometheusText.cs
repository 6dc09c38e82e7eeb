using System.Globalization;
using System.Text;
using TierSpaces.Contracts;

namespace TierSpaces.Host.Metrics;

/// <summary>
/// Writes counters in Prometheus' text format, one family per counter, latency as a cumulative histogram in seconds.
/// </summary>
internal static class PrometheusText
{
    private static readonly (string Name, string Help, string Type, Func<StorageCounterInfo, ulong> Value)[] s_families =
    [
        ("reads_total", "Reads of data completed.", "counter", c => c.Reads),
        ("read_bytes_total", "Bytes of data read.", "counter", c => c.ReadBytes),
        ("writes_total", "Writes of data completed.", "counter", c => c.Writes),
        ("write_bytes_total", "Bytes of data written.", "counter", c => c.WriteBytes),
        ("flushes_total", "Flushes completed.", "counter", c => c.Flushes),
        ("unmaps_total", "Ranges given back.", "counter", c => c.Unmaps),
        ("unmap_bytes_total", "Bytes given back.", "counter", c => c.UnmapBytes),
        ("metadata_reads_total", "Reads of metadata completed.", "counter", c => c.MetadataReads),
        ("metadata_read_bytes_total", "Bytes of metadata read.", "counter", c => c.MetadataReadBytes),
        ("metadata_writes_total", "Writes of metadata completed.", "counter", c => c.MetadataWrites),
        ("metadata_write_bytes_total", "Bytes of metadata written.", "counter", c => c.MetadataWriteBytes),
        ("errors_total", "Requests that failed.", "counter", c => c.Errors),
        ("latency_microseconds_total", "Sum of the latencies of completed requests.", "counter", c => c.LatencyTotalUs),
        ("queue_length", "Requests under way.", "gauge", c => c.QueueLength),
        ("queue_length_max", "Most requests under way at once.", "gauge", c => c.QueueLengthMax),
        ("splits_total", "Requests that were taken apart.", "counter", c => c.Splits),
        ("read_modify_writes_total", "Writes that had to read first.", "counter", c => c.ReadModifyWrites),
        ("first_writes_total", "Writes for which a slice was given its place on a tier.", "counter", c => c.FirstWrites),
        ("first_write_bytes_total", "Bytes of them.", "counter", c => c.FirstWriteBytes),
        ("destaged_bytes_total", "Bytes that came to a tier from the write cache, which are not among the bytes written.", "counter", c => c.DestagedBytes),
        ("slices_allocated_total", "Slices that their first write put on a tier.", "counter", c => c.SlicesAllocated),
        ("slices_moved_in_total", "Slices that came to a tier from another.", "counter", c => c.SlicesMovedIn),
        ("slices_moved_out_total", "Slices that went from a tier to another.", "counter", c => c.SlicesMovedOut),
    ];

    private static readonly (string Name, string Help, string Type, Func<VirtualDiskWriteCacheInfo, ulong> Value)[] s_cacheFamilies =
    [
        ("size_bytes", "Size of one copy of the write cache.", "gauge", c => c.Size),
        ("dirty_bytes", "Bytes in the write cache that are not destaged yet.", "gauge", c => c.DirtyBytes),
        ("available_bytes", "Bytes that can be written to the write cache now.", "gauge", c => c.AvailableBytes),
        ("active", "1 while the write cache takes writes, else 0.", "gauge", c => c.State == "Active" ? 1UL : 0),
        ("destaged_bytes_total", "Bytes destaged from the write cache.", "counter", c => c.DestagedBytes),
        ("evictions_total", "Times that part of the write cache was freed.", "counter", c => c.Evictions),
        ("evicted_bytes_total", "Bytes of the write cache freed.", "counter", c => c.EvictedBytes),
        ("hit_bytes_total", "Bytes read from the write cache.", "counter", c => c.HitBytes),
        ("miss_bytes_total", "Bytes read from the home.", "counter", c => c.MissBytes),
        ("lost_bytes_total", "Bytes that no copy of the write cache could give: errors until they are written or unmapped.", "counter", c => c.LostBytes),
        ("wait_overlaps_total", "Writes and unmaps that waited for their range to leave the write cache.", "counter", c => c.WaitOverlaps),
    ];

    private static readonly (string Name, string Help, Func<StoragePoolInfo, ulong?> Value)[] s_poolFamilies =
    [
        ("metadata_pages_used", "Pages of the metadata area in use.", p => p.MetadataPagesUsed),
        ("metadata_pages", "Pages of the metadata area that can be in use.", p => p.MetadataPages),
    ];

    private static readonly (string Reason, Func<VirtualDiskWriteCacheInfo, ulong> Writes, Func<VirtualDiskWriteCacheInfo, ulong> Bytes)[] s_reasons =
    [
        ("cache", c => c.CacheWrites, c => c.CacheBytes),
        ("ssd-allocated", c => c.SsdAllocatedWrites, c => c.SsdAllocatedBytes),
        ("ssd-resident", c => c.SsdResidentWrites, c => c.SsdResidentBytes),
        ("bypass-large", c => c.BypassLargeWrites, c => c.BypassLargeBytes),
        ("bypass-full", c => c.BypassFullWrites, c => c.BypassFullBytes),
        ("write-through", c => c.WriteThroughWrites, c => c.WriteThroughBytes),
        ("slow", c => c.SlowWrites, c => c.SlowBytes),
    ];

    /// <summary>
    /// The whole page as UTF-8. Virtual disks without a write cache are left out of the families of caches, but not of where requests
    /// went; pools and virtual disks that are not open of
    /// their own.
    /// </summary>
    public static byte[] Write(
        IReadOnlyList<StorageCounterInfo> counters, IReadOnlyList<VirtualDiskWriteCacheInfo> caches, IReadOnlyList<StoragePoolInfo> pools,
        IReadOnlyList<VirtualDiskInfo> disks)
    {
        StringBuilder page = new StringBuilder();
        foreach ((string? name, string? help, string? type, Func<StorageCounterInfo, ulong>? value) in s_families)
        {
            page.Append(CultureInfo.InvariantCulture, $"# HELP tierspaces_{name} {help}\n# TYPE tierspaces_{name} {type}\n");
            foreach (StorageCounterInfo counter in counters)
            {
                page.Append(CultureInfo.InvariantCulture, $"tierspaces_{name}{{{Labels(counter)}}} {value(counter)}\n");
            }
        }

        page.Append("# HELP tierspaces_latency_seconds Latency of completed requests.\n");
        page.Append("# TYPE tierspaces_latency_seconds histogram\n");
        foreach (StorageCounterInfo? counter in counters.Where(counter => counter.LatencyBoundsUs.Length > 0))   // a tier has no latency of its own
        {
            string labels = Labels(counter);
            WriteHistogram(page, $"{labels},operation=\"read\"", counter.LatencyBoundsUs, counter.ReadLatency);
            WriteHistogram(page, $"{labels},operation=\"write\"", counter.LatencyBoundsUs, counter.WriteLatency);
            WriteHistogram(page, $"{labels},operation=\"flush\"", counter.LatencyBoundsUs, counter.FlushLatency);
        }

        WriteCaches(page, [.. caches.Where(cache => cache.Size > 0)]);
        WriteWays(page, [.. caches.Where(cache => cache.Size > 0 || s_reasons.Any(reason => reason.Writes(cache) > 0) || ReadBytes(cache) > 0)]);
        WritePools(page, [.. pools.Where(pool => pool.MetadataPages is not null)]);
        WriteDisks(page, [.. disks.Where(disk => disk.Lane > 0)]);
        return Encoding.UTF8.GetBytes(page.ToString());
    }

    private static void WritePools(StringBuilder page, StoragePoolInfo[] pools)
    {
        foreach ((string? name, string? help, Func<StoragePoolInfo, ulong?>? value) in s_poolFamilies)
        {
            page.Append(CultureInfo.InvariantCulture, $"# HELP tierspaces_pool_{name} {help}\n# TYPE tierspaces_pool_{name} gauge\n");
            foreach (StoragePoolInfo pool in pools)
            {
                page.Append(CultureInfo.InvariantCulture,
                    $"tierspaces_pool_{name}{{name=\"{Escape(pool.FriendlyName)}\",id=\"{Escape(pool.UniqueId)}\"}} {value(pool)}\n");
            }
        }
    }

    private static void WriteDisks(StringBuilder page, VirtualDiskInfo[] disks)
    {
        page.Append("# HELP tierspaces_virtual_disk_lane Number of the data lane that the virtual disk is on.\n# TYPE tierspaces_virtual_disk_lane gauge\n");
        foreach (VirtualDiskInfo disk in disks)
        {
            page.Append(CultureInfo.InvariantCulture,
                $"tierspaces_virtual_disk_lane{{name=\"{Escape(disk.FriendlyName)}\",id=\"{Escape(disk.UniqueId)}\"}} {disk.Lane}\n");
        }
    }

    private static void WriteCaches(StringBuilder page, VirtualDiskWriteCacheInfo[] caches)
    {
        foreach ((string? name, string? help, string? type, Func<VirtualDiskWriteCacheInfo, ulong>? value) in s_cacheFamilies)
        {
            page.Append(CultureInfo.InvariantCulture, $"# HELP tierspaces_write_cache_{name} {help}\n# TYPE tierspaces_write_cache_{name} {type}\n");
            foreach (VirtualDiskWriteCacheInfo cache in caches)
            {
                page.Append(CultureInfo.InvariantCulture, $"tierspaces_write_cache_{name}{{{Labels(cache)}}} {value(cache)}\n");
            }
        }

    }

    private static void WriteWays(StringBuilder page, VirtualDiskWriteCacheInfo[] caches)
    {
        WriteReasons(page, caches, "writes_total", "Writes by where they went.", reason => reason.Writes);
        WriteReasons(page, caches, "write_bytes_total", "Bytes written by where they went.", reason => reason.Bytes);
        page.Append("# HELP tierspaces_write_cache_read_bytes_total Bytes read by where they came from.\n");
        page.Append("# TYPE tierspaces_write_cache_read_bytes_total counter\n");
        foreach (VirtualDiskWriteCacheInfo cache in caches)
        {
            foreach ((string reason, ulong bytes) in ((string, ulong)[])[("cache", cache.HitBytes), ("ssd", cache.SsdReadBytes), ("slow", cache.SlowReadBytes)])
            {
                page.Append(CultureInfo.InvariantCulture, $"tierspaces_write_cache_read_bytes_total{{{Labels(cache)},reason=\"{reason}\"}} {bytes}\n");
            }
        }
    }

    private static ulong ReadBytes(VirtualDiskWriteCacheInfo cache) => cache.HitBytes + cache.SsdReadBytes + cache.SlowReadBytes;

    private static void WriteReasons(
        StringBuilder page, VirtualDiskWriteCacheInfo[] caches, string name, string help,
        Func<(string Reason, Func<VirtualDiskWriteCacheInfo, ulong> Writes, Func<VirtualDiskWriteCacheInfo, ulong> Bytes),
            Func<VirtualDiskWriteCacheInfo, ulong>> choose)
    {
        page.Append(CultureInfo.InvariantCulture, $"# HELP tierspaces_write_cache_{name} {help}\n# TYPE tierspaces_write_cache_{name} counter\n");
        foreach (VirtualDiskWriteCacheInfo cache in caches)
        {
            foreach ((string Reason, Func<VirtualDiskWriteCacheInfo, ulong> Writes, Func<VirtualDiskWriteCacheInfo, ulong> Bytes) reason in s_reasons)
            {
                page.Append(CultureInfo.InvariantCulture,
                    $"tierspaces_write_cache_{name}{{{Labels(cache)},reason=\"{reason.Reason}\"}} {choose(reason)(cache)}\n");
            }
        }
    }

    private static void WriteHistogram(StringBuilder page, string labels, ulong[] boundsUs, ulong[] classes)
    {
        ulong count = 0UL;
        for (int i = 0; i < classes.Length; i++)
        {
            count += classes[i];
            string bound = i < boundsUs.Length && i < classes.Length - 1 ? Seconds(boundsUs[i]) : "+Inf";
            page.Append(CultureInfo.InvariantCulture, $"tierspaces_latency_seconds_bucket{{{labels},le=\"{bound}\"}} {count}\n");
        }

        page.Append(CultureInfo.InvariantCulture, $"tierspaces_latency_seconds_count{{{labels}}} {count}\n");
    }

    private static string Seconds(ulong microseconds) => (microseconds / 1e6).ToString(CultureInfo.InvariantCulture);

    private static string Labels(StorageCounterInfo counter) =>
        $"type=\"{Escape(counter.ObjectType)}\",name=\"{Escape(counter.FriendlyName)}\",id=\"{Escape(counter.UniqueId)}\"";

    private static string Labels(VirtualDiskWriteCacheInfo cache) => $"name=\"{Escape(cache.FriendlyName)}\",id=\"{Escape(cache.UniqueId)}\"";

    private static string Escape(string text) => text.Replace("\\", "\\\\").Replace("\"", "\\\"").Replace("\n", "\\n");
}
