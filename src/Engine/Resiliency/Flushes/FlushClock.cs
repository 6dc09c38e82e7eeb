namespace TierSpaces.Engine.Resiliency;

/// <summary>Numbers of the flush rounds of a space. A write that ends during round n is covered by round n + 1.</summary>
internal sealed class FlushClock
{
    /// <summary>Number of the next round.</summary>
    internal ulong Next { get; private set; } = 1;

    /// <summary>Latest round that has completed.</summary>
    internal ulong Covered { get; private set; }

    internal ulong Begin() => Next++;

    internal void Complete(ulong round) => Covered = round;
}
