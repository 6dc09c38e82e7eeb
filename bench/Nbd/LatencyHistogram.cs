using System.Numerics;

namespace TierSpaces.Bench.Nbd;

/// <summary>Latencies in buckets about 3 % wide, from 1 ns up.</summary>
internal sealed class LatencyHistogram
{
    private const int SubBits = 5;

    private readonly long[] _buckets = new long[64 << SubBits];

    internal long Count { get; private set; }

    internal long MaxNs { get; private set; }

    internal void Add(long ns)
    {
        ns = Math.Max(ns, 1);
        Count++;
        MaxNs = Math.Max(MaxNs, ns);
        int exponent = Math.Max(BitOperations.Log2((ulong)ns) - SubBits, 0);
        _buckets[(exponent << SubBits) + (int)(ns >> exponent)]++;
    }

    /// <summary>Adds what another one counted.</summary>
    internal void Add(LatencyHistogram other)
    {
        Count += other.Count;
        MaxNs = Math.Max(MaxNs, other.MaxNs);
        for (int i = 0; i < _buckets.Length; i++)
        {
            _buckets[i] += other._buckets[i];
        }
    }

    /// <summary>Upper end, in microseconds, of the bucket that holds the given share of all.</summary>
    internal double PercentileUs(double share)
    {
        long wanted = (long)Math.Ceiling(Count * share);
        long seen = 0;
        for (int i = 0; i < _buckets.Length; i++)
        {
            seen += _buckets[i];
            if (seen >= wanted && seen > 0)
            {
                return Math.Round(Math.Min(UpperNs(i), MaxNs) / 1000.0, 1);
            }
        }

        return 0;
    }

    private static long UpperNs(int bucket)
    {
        int exponent = Math.Max((bucket >> SubBits) - 1, 0);
        return (long)(bucket - (exponent << SubBits) + 1) << exponent;
    }
}
