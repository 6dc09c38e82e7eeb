using System.Text;
using TierSpaces.Contracts;
using TierSpaces.Host.Metrics;

namespace TierSpaces.Host.Tests.Metrics;

public class PrometheusTextTests
{
    [Fact]
    public void Writes_counters_and_cumulative_histograms()
    {
        string page = Encoding.UTF8.GetString(PrometheusText.Write(
        [
            new StorageCounterInfo
            {
                ObjectType = "VirtualDisk", FriendlyName = "a \"b\"", UniqueId = "1", Reads = 7, ReadBytes = 28672,
                LatencyBoundsUs = [100, 1000], ReadLatency = [3, 2, 1], LatencyTotalUs = 1500,
            },
        ], [], [], []));
        const string labels = "type=\"VirtualDisk\",name=\"a \\\"b\\\"\",id=\"1\"";
        Assert.Contains($"# TYPE tierspaces_reads_total counter\ntierspaces_reads_total{{{labels}}} 7\n", page);
        Assert.Contains(
            $"tierspaces_latency_seconds_bucket{{{labels},operation=\"read\",le=\"0.0001\"}} 3\n"
            + $"tierspaces_latency_seconds_bucket{{{labels},operation=\"read\",le=\"0.001\"}} 5\n"
            + $"tierspaces_latency_seconds_bucket{{{labels},operation=\"read\",le=\"+Inf\"}} 6\n"
            + $"tierspaces_latency_seconds_count{{{labels},operation=\"read\"}} 6\n",
            page);
    }

    [Fact]
    public void Writes_what_write_caches_hold_and_where_writes_went()
    {
        string page = Encoding.UTF8.GetString(PrometheusText.Write([],
        [
            new VirtualDiskWriteCacheInfo
            {
                FriendlyName = "d", UniqueId = "1", Size = 1 << 30, DirtyBytes = 4096, State = "Active", CacheWrites = 3, CacheBytes = 12288,
                    BypassFullWrites = 2,
            },
            new VirtualDiskWriteCacheInfo { FriendlyName = "none", UniqueId = "2", State = "None" },
        ], [], []));
        const string labels = "name=\"d\",id=\"1\"";
        Assert.Contains($"# TYPE tierspaces_write_cache_dirty_bytes gauge\ntierspaces_write_cache_dirty_bytes{{{labels}}} 4096\n", page);
        Assert.Contains($"tierspaces_write_cache_active{{{labels}}} 1\n", page);
        Assert.Contains($"tierspaces_write_cache_writes_total{{{labels},reason=\"cache\"}} 3\n", page);
        Assert.Contains($"tierspaces_write_cache_writes_total{{{labels},reason=\"bypass-full\"}} 2\n", page);
        Assert.Contains($"tierspaces_write_cache_write_bytes_total{{{labels},reason=\"cache\"}} 12288\n", page);
        Assert.DoesNotContain("name=\"none\"", page);
    }

    [Fact]
    public void Writes_how_full_the_metadata_of_open_pools_is()
    {
        string page = Encoding.UTF8.GetString(PrometheusText.Write([], [],
        [
            new StoragePoolInfo { FriendlyName = "p", UniqueId = "1", MetadataPagesUsed = 12, MetadataPages = 83 },
            new StoragePoolInfo { FriendlyName = "closed", UniqueId = "2" },
        ], []));
        Assert.Contains("# TYPE tierspaces_pool_metadata_pages gauge\ntierspaces_pool_metadata_pages{name=\"p\",id=\"1\"} 83\n", page);
        Assert.Contains("tierspaces_pool_metadata_pages_used{name=\"p\",id=\"1\"} 12\n", page);
        Assert.DoesNotContain("closed", page);
    }

    [Fact]
    public void Writes_the_lane_of_each_open_virtual_disk()
    {
        string page = Encoding.UTF8.GetString(PrometheusText.Write([], [], [],
        [
            new VirtualDiskInfo { FriendlyName = "d", UniqueId = "1", Lane = 2 },
            new VirtualDiskInfo { FriendlyName = "closed", UniqueId = "2" },
        ]));
        Assert.Contains("# TYPE tierspaces_virtual_disk_lane gauge\ntierspaces_virtual_disk_lane{name=\"d\",id=\"1\"} 2\n", page);
        Assert.DoesNotContain("closed", page);
    }
}
