namespace TierSpaces.Engine.Pools;

// All on the clock of one host, which goes on while the machine is suspended. A lease runs longer than a renewal and the longest request to a disk take
// together; a claim is awaited longer than a write of another host's claim may be under way.

/// <summary>Times of the lease, in nanoseconds.</summary>
internal static class LeaseTimes
{
    private const long Second = 1_000_000_000;

    /// <summary>Time between two renewals.</summary>
    internal const long RenewalNs = 2 * Second;

    /// <summary>A lease runs so long from before the renewal that was read back whole.</summary>
    internal const long LeaseNs = 20 * Second;

    /// <summary>Added to what is waited for: clocks of two hosts do not run at quite the same pace.</summary>
    internal const long MarginNs = Second;

    /// <summary>A host that has not renewed for so long does not serve.</summary>
    internal const long SilenceNs = LeaseNs + MarginNs;

    /// <summary>A host that serves, also a copy of this machine, is seen to renew within this time.</summary>
    internal const long TwinNs = (2 * RenewalNs) + MarginNs;

    /// <summary>A claim is void unless it is on the majority so soon after the look that decided it.</summary>
    internal const long ClaimNs = 11 * Second;

    /// <summary>A claim is awaited so long before it counts.</summary>
    internal const long ClaimWaitNs = ClaimNs + MarginNs;
}
