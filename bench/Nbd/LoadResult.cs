using System.Globalization;

namespace TierSpaces.Bench.Nbd;

/// <summary>Outcome of a load.</summary>
/// <param name="Operations">Requests that were answered in the measured time.</param>
/// <param name="Seconds">Length of the measured time.</param>
/// <param name="Block">Bytes of a request.</param>
/// <param name="Record">Latencies, and requests in each second.</param>
/// <param name="ClientCpu">Share of one processor the client used: near 1, it may have been the limit itself.</param>
/// <param name="ServerCpuUs">Processor time of the server per operation, in microseconds; null when not asked for, or when it runs in the client's
/// process.</param>
/// <param name="OthersCpu">
/// Processors used by neither client nor server. Where it is not near 0 the run was disturbed: on two cores, a third busy
/// process puts client and server on one core, and the figure is their common cost and no throughput.
/// </param>
internal sealed record LoadResult(
    long Operations, double Seconds, int Block, LoadRecord Record, double ClientCpu, double? ServerCpuUs, double? OthersCpu)
{
    /// <summary>The result of a load that took this long and used that much processor time.</summary>
    internal static LoadResult Of(LoadOptions options, long operations, double seconds, LoadRecord record, ProcessorTimes used)
    {
        bool knowsServer = options.Pid > 0;
        return new LoadResult(
            operations,
            seconds,
            options.Block,
            record,
            used.Client / seconds,
            knowsServer && options.Pid != Environment.ProcessId ? used.Server * 1e6 / Math.Max(operations, 1) : null,
            knowsServer ? Math.Max(0, used.Machine - used.Client - used.Server) / seconds : null);
    }

    internal LatencyHistogram Latency => Record.Latency;

    internal double Iops => Operations / Seconds;

    internal string ToJson() => string.Create(
        CultureInfo.InvariantCulture,
        $$"""
        {"iops":{{Iops:F0}},"mbPerSecond":{{Iops * Block / 1e6:F1}},"operations":{{Operations}},"seconds":{{Seconds:F2}},"p50Us":{{Latency.PercentileUs(0.5):F1}},"p99Us":{{Latency.PercentileUs(0.99):F1}},"p999Us":{{Latency.PercentileUs(0.999):F1}},"maxUs":{{Latency.MaxNs / 1000.0:F1}},"clientCpu":{{ClientCpu:F2}},"serverCpuUsPerOp":{{Text(ServerCpuUs)}},"othersCpu":{{Text(OthersCpu)}}}
        """);

    private static string Text(double? value) => value?.ToString("F2", CultureInfo.InvariantCulture) ?? "null";
}
