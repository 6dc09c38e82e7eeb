namespace TierSpaces.Engine.Tiering;

/// <summary>Limits of one run that moves slices between the tiers of a virtual disk.</summary>
/// <param name="MaxBytes">Most bytes that it moves; <see cref="long.MaxValue"/>: no limit.</param>
/// <param name="LatencyTargetNs">
/// Mean latency of reads and writes of clients, in nanoseconds, that it keeps to: it waits while they take longer. 0: no target, only the share that all jobs
/// keep to.
/// </param>
public sealed record TierLimits(long MaxBytes = long.MaxValue, long LatencyTargetNs = 0)
{
    /// <summary>No limits of its own.</summary>
    public static TierLimits None { get; } = new();

    /// <summary>Smallest <see cref="LatencyTargetNs"/> that can be set: a millisecond.</summary>
    public const long LatencyTargetNsMin = 1_000_000;

    /// <summary>Largest <see cref="LatencyTargetNs"/> that can be set: ten seconds.</summary>
    public const long LatencyTargetNsMax = 10_000_000_000;
}
