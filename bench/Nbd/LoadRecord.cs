using System.Diagnostics;

namespace TierSpaces.Bench.Nbd;

/// <summary>Record of a load while it runs: latencies of requests, and the number of requests that ended in each second.</summary>
internal sealed class LoadRecord
{
    private readonly long _start = Stopwatch.GetTimestamp();

    internal LatencyHistogram Latency { get; } = new();

    /// <summary>Requests that ended in each second since the load began; the last one may be a part of a second.</summary>
    internal List<long> PerSecond { get; } = [];

    /// <summary>A request ended; both in ticks of the stopwatch.</summary>
    internal void Add(long now, long duration)
    {
        Latency.Add(duration * (1_000_000_000 / Stopwatch.Frequency));
        int second = (int)((now - _start) / Stopwatch.Frequency);
        Count(second, 1);
    }

    /// <summary>Adds what another load did that began at the same time.</summary>
    internal void Add(LoadRecord other)
    {
        Latency.Add(other.Latency);
        for (int second = 0; second < other.PerSecond.Count; second++)
        {
            Count(second, other.PerSecond[second]);
        }
    }

    private void Count(int second, long requests)
    {
        while (PerSecond.Count <= second)
        {
            PerSecond.Add(0);
        }

        PerSecond[second] += requests;
    }
}
