using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.Subsystems;

namespace TierSpaces.Host.Verbs.StorageFaultDomains;

/// <summary>Get-StorageEnclosure: lists enclosures, by name or by a disk that is in one.</summary>
internal sealed class GetStorageEnclosureHandler(HostServices services) : VerbHandler<GetStorageEnclosureRequest, StorageEnclosureInfo>
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(
        GetStorageEnclosureRequest request, ReplyBuilder<StorageEnclosureInfo> reply, CancellationToken cancellation)
    {
        Catalogue all = await Catalogue.ReadAsync(services).ConfigureAwait(false);
        if (request.StorageSubSystem is { } subsystem)
        {
            LocalSubsystem.Selector.One(subsystem);
        }

        if (request.StorageNode is { } node)
        {
            LocalNode.Selector.One(node);
        }

        reply.Add(Selected(all, request, reply.Fail).Select(static domain => domain.ToEnclosure()).Where(info => Passes(info, request)));
    }

    private static IEnumerable<FaultDomain> Selected(Catalogue all, GetStorageEnclosureRequest request, Action<StorageErrorInfo> fail)
    {
        if (request.PhysicalDisk is { } disk)
        {
            PhysicalDiskStatus one = all.Disks.One(disk);
            return all.Enclosures.All.Where(domain => domain.Disks.Any(member => member.UniqueId == one.UniqueId));
        }

        return request is { SerialNumber: { } serials, FriendlyName: null }
            ? all.Enclosures.By("SerialNumber", static domain => domain.ToEnclosure().SerialNumber, serials, fail)
            : all.Enclosures.Select(request.FriendlyName, request.UniqueId, null, null, fail);
    }

    private static bool Passes(StorageEnclosureInfo info, GetStorageEnclosureRequest request) =>
        Fits(request.SerialNumber, info.SerialNumber) && Fits(request.Manufacturer, info.Manufacturer ?? "") && Fits(request.Model, info.Model ?? "")
        && (request.HealthStatus is null || DisplayName.Of(request.HealthStatus).Contains(info.HealthStatus));

    private static bool Fits(string[]? patterns, string text) => patterns is null || patterns.Any(pattern => new WildcardPattern(pattern).Fits(text));
}
