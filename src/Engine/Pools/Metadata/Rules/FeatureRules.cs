using TierSpaces.Engine.Formats;

namespace TierSpaces.Engine.Pools;

/// <summary>Derives the features that a release must know from the state of a pool. Pure.</summary>
internal static class FeatureRules
{
    /// <summary>Returns the features that a release needs to serve a pool in this state.</summary>
    internal static FeatureFlags Of(PoolState state) =>
        new(FeatureFlags.MemberHistoryFeature, 0,
            (UsesFaultDomains(state) ? FeatureFlags.FaultDomainsFeature : 0) | (UsesParity(state) ? FeatureFlags.ParityFeature : 0)
                | (state.Pool?.MembersVote == true ? FeatureFlags.MemberVotesFeature : 0)
                | (state.Pool?.HasLease == true ? FeatureFlags.LeaseFeature : 0)
                | (state.Pool?.HasCacheSummaries == true ? FeatureFlags.CacheSummariesFeature : 0));

    private static bool UsesParity(PoolState state) =>
        state.VirtualDisks.Values.Any(static disk => disk.Parts.Any(static part => part.Parities > 0));

    private static bool UsesFaultDomains(PoolState state) =>
        state.Pool is { } pool && (pool.EnclosureAwareDefault || pool.FaultDomainAwarenessDefault != FaultDomainLevel.PhysicalDisk
            || state.VirtualDisks.Values.Any(static disk => disk.Parts.Any(static part => IsWide(part.FaultDomainAwareness, part.ColumnIsolation)))
            || state.TierTemplates.Values.Any(static template => IsWide(template.FaultDomainAwareness, template.ColumnIsolation)));

    private static bool IsWide(FaultDomainLevel awareness, FaultDomainLevel isolation) =>
        awareness != FaultDomainLevel.PhysicalDisk || isolation != FaultDomainLevel.PhysicalDisk;
}
