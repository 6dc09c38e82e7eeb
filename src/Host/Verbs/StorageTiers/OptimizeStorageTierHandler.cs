using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.Mapping;

namespace TierSpaces.Host.Verbs.StorageTiers;

/// <summary>Optimize-StorageTier: optimizes the virtual disks that tiers belong to, and reports.</summary>
internal sealed class OptimizeStorageTierHandler(HostServices services)
    : VerbHandler<OptimizeStorageTierRequest, StorageTierOptimizationInfo>, ILongVerb
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(
        OptimizeStorageTierRequest request, ReplyBuilder<StorageTierOptimizationInfo> reply, CancellationToken cancellation)
    {
        Catalogue all = await Catalogue.ReadAsync(services).ConfigureAwait(false);
        List<VirtualDiskStatus> disks = request.VirtualDisk is { } named ? all.VirtualDisks.ByReference(named, reply.Fail) : OfTiers(all, request, reply.Fail);
        await new TierOptimizationRuns(services, reply).RunAsync(disks, TierLimitParameters.Read(request), reply.Add).ConfigureAwait(false);
    }

    private static List<VirtualDiskStatus> OfTiers(Catalogue all, OptimizeStorageTierRequest request, Action<StorageErrorInfo> fail)
    {
        List<StorageTierStatus> tiers = all.Tiers.Select(request.FriendlyName, request.UniqueId, null, request.InputObject, fail);
        foreach (StorageTierStatus? template in tiers.Where(tier => tier.IsTemplate && IsNamed(tier, request)))
        {
            fail(new StorageException(
                StorageErrors.InvalidParameter, $"Storage tier '{template.FriendlyName}' is a template: no slices are on it.",
                "Name a tier of a virtual disk.", template.FriendlyName).Error);
        }

        HashSet<Guid?> disks = tiers.Select(tier => tier.VirtualDisk).ToHashSet();
        return [.. all.VirtualDisks.All.Where(disk => disks.Contains(disk.Description.Id.Value))];
    }

    // A wildcard means the tiers among what it fits: '*' optimizes every virtual disk that has some.
    private static bool IsNamed(StorageTierStatus tier, OptimizeStorageTierRequest request) =>
        !(request.FriendlyName ?? request.UniqueId ?? []).Any(text => new WildcardPattern(text) is { HasWildcards: true } pattern
            && pattern.Fits(request.FriendlyName is null ? Identifiers.OfPoolOrDisk(tier.UniqueId) : tier.FriendlyName));
}
