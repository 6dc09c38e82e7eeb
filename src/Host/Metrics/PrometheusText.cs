using System.Globalization;
using System.Text;
using TierSpaces.Contracts;

namespace TierSpaces.Host.Metrics;

/// <summary>
/// Writes counters in Prometheus' text format, one family per counter, latency as a cumulative histogram in seconds.
/// </summary>
internal static class PrometheusText
{
    private static readonly (string Name, string Help, string Type, Func<StorageCounterInfo, ulong> Value)[] families =
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
    ];

    /// <summary>The whole page as UTF-8.</summary>
    public static byte[] Write(IReadOnlyList<StorageCounterInfo> counters)
    {
        var page = new StringBuilder();
        foreach (var (name, help, type, value) in families)
        {
            page.Append(CultureInfo.InvariantCulture, $"# HELP tierspaces_{name} {help}\n# TYPE tierspaces_{name} {type}\n");
            foreach (var counter in counters)
            {
                page.Append(CultureInfo.InvariantCulture, $"tierspaces_{name}{{{Labels(counter)}}} {value(counter)}\n");
            }
        }

        page.Append("# HELP tierspaces_latency_seconds Latency of completed requests.\n");
        page.Append("# TYPE tierspaces_latency_seconds histogram\n");
        foreach (var counter in counters)
        {
            var labels = Labels(counter);
            WriteHistogram(page, $"{labels},operation=\"read\"", counter.LatencyBoundsUs, counter.ReadLatency);
            WriteHistogram(page, $"{labels},operation=\"write\"", counter.LatencyBoundsUs, counter.WriteLatency);
            WriteHistogram(page, $"{labels},operation=\"flush\"", counter.LatencyBoundsUs, counter.FlushLatency);
        }

        return Encoding.UTF8.GetBytes(page.ToString());
    }

    private static void WriteHistogram(StringBuilder page, string labels, ulong[] boundsUs, ulong[] classes)
    {
        var count = 0UL;
        for (var i = 0; i < classes.Length; i++)
        {
            count += classes[i];
            var bound = i < boundsUs.Length && i < classes.Length - 1 ? Seconds(boundsUs[i]) : "+Inf";
            page.Append(CultureInfo.InvariantCulture, $"tierspaces_latency_seconds_bucket{{{labels},le=\"{bound}\"}} {count}\n");
        }

        page.Append(CultureInfo.InvariantCulture, $"tierspaces_latency_seconds_count{{{labels}}} {count}\n");
    }

    private static string Seconds(ulong microseconds) => (microseconds / 1e6).ToString(CultureInfo.InvariantCulture);

    private static string Labels(StorageCounterInfo counter) =>
        $"type=\"{Escape(counter.ObjectType)}\",name=\"{Escape(counter.FriendlyName)}\",id=\"{Escape(counter.UniqueId)}\"";

    private static string Escape(string text) => text.Replace("\\", "\\\\").Replace("\"", "\\\"").Replace("\n", "\\n");
}
