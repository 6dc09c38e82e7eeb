namespace TierSpaces.Bench.Experiments;

/// <summary>Settings of a run of an experiment; every figure is settable, so that it can be tried in seconds.</summary>
/// <param name="Rounds">Number of times that every arrangement is loaded.</param>
/// <param name="Seconds">Longest time of one load.</param>
/// <param name="Size">Bytes of the virtual disks of an arrangement together.</param>
/// <param name="CacheSize">Bytes of the write caches of an arrangement together.</param>
internal sealed record ExperimentSettings(int Rounds, double Seconds, long Size, long CacheSize)
{
    /// <summary>Share of a cache that a load fills at most where the cache shall not be full.</summary>
    internal const double RoomShare = 0.6;

    internal static ExperimentSettings From(Arguments arguments) => new(
        (int)arguments.Number("rounds", 5, 1, 99),
        arguments.Number("seconds", 30, 1, 3600),
        arguments.Number("size", 1L << 30, 64 << 20, 1L << 40),
        arguments.Number("cache", 1L << 30, 0, 1L << 40));
}
