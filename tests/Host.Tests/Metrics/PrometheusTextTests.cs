using System.Text;
using TierSpaces.Contracts;
using TierSpaces.Host.Metrics;

namespace TierSpaces.Host.Tests.Metrics;

public class PrometheusTextTests
{
    [Fact]
    public void Writes_counters_and_cumulative_histograms()
    {
        var page = Encoding.UTF8.GetString(PrometheusText.Write(
        [
            new StorageCounterInfo
            {
                ObjectType = "VirtualDisk", FriendlyName = "a \"b\"", UniqueId = "1", Reads = 7, ReadBytes = 28672,
                LatencyBoundsUs = [100, 1000], ReadLatency = [3, 2, 1], LatencyTotalUs = 1500,
            },
        ]));
        const string labels = "type=\"VirtualDisk\",name=\"a \\\"b\\\"\",id=\"1\"";
        Assert.Contains($"# TYPE tierspaces_reads_total counter\ntierspaces_reads_total{{{labels}}} 7\n", page);
        Assert.Contains(
            $"tierspaces_latency_seconds_bucket{{{labels},operation=\"read\",le=\"0.0001\"}} 3\n"
            + $"tierspaces_latency_seconds_bucket{{{labels},operation=\"read\",le=\"0.001\"}} 5\n"
            + $"tierspaces_latency_seconds_bucket{{{labels},operation=\"read\",le=\"+Inf\"}} 6\n"
            + $"tierspaces_latency_seconds_count{{{labels},operation=\"read\"}} 6\n",
            page);
    }
}
