using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.Subsystems;

namespace TierSpaces.Host.Verbs.StorageFaultDomains;

/// <summary>Get-StorageFaultDomain: lists fault domains, by type and place, and those above and below one.</summary>
internal sealed class GetStorageFaultDomainHandler(HostServices services) : VerbHandler<GetStorageFaultDomainRequest, StorageFaultDomainInfo>
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(
        GetStorageFaultDomainRequest request, ReplyBuilder<StorageFaultDomainInfo> reply, CancellationToken cancellation)
    {
        Catalogue all = await Catalogue.ReadAsync(services).ConfigureAwait(false);
        if (request.StorageSubsystem is { } subsystem)
        {
            LocalSubsystem.Selector.One(subsystem);
        }

        IEnumerable<FaultDomain> domains = request.StorageFaultDomain is { } reference ? Related(all, all.FaultDomains.One(reference))
            : request.VirtualDisk is { } disk ? Holding(all, all.VirtualDisks.One(disk))
            : all.FaultDomains.All;
        reply.Add(domains.Where(domain => request.Type is null || domain.Type == request.Type).Select(static domain => domain.ToInfo())
            .Where(info => Passes(info, request)));
    }

    private static IEnumerable<FaultDomain> Related(Catalogue all, FaultDomain one) => all.FaultDomains.All.Where(one.IsRelatedTo);

    private static IEnumerable<FaultDomain> Holding(Catalogue all, VirtualDiskStatus disk)
    {
        HashSet<Guid> holders = [.. all.Now.Extents(disk.Description.Id.Value).Select(static extent => extent.PhysicalDisk)];
        return all.FaultDomains.All.Where(domain => domain.Disks.Any(member => holders.Contains(member.UniqueId)));
    }

    private static bool Passes(StorageFaultDomainInfo info, GetStorageFaultDomainRequest request) =>
        Fits(request.PhysicalLocation, info.PhysicalLocation ?? "") && Fits(request.FriendlyName, info.FriendlyName)
        && Fits(request.SerialNumber, info.StorageEnclosure?.SerialNumber ?? info.SerialNumber);

    private static bool Fits(string? pattern, string text) => pattern is null || new WildcardPattern(pattern).Fits(text);
}
