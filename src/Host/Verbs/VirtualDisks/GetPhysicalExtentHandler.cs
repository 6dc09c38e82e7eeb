using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.Mapping;

namespace TierSpaces.Host.Verbs.VirtualDisks;

/// <summary>Get-PhysicalExtent: where a virtual disk lies, or what lies on a physical disk.</summary>
internal sealed class GetPhysicalExtentHandler(HostServices services) : VerbHandler<GetPhysicalExtentRequest, PhysicalExtentInfo>
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(
        GetPhysicalExtentRequest request, ReplyBuilder<PhysicalExtentInfo> reply, CancellationToken cancellation)
    {
        Catalogue all = await Catalogue.ReadAsync(services).ConfigureAwait(false);
        Guid? virtualDisk = request.VirtualDisk is { } disk ? all.VirtualDisks.One(disk).Description.Id.Value : null;
        Guid? physicalDisk = request.PhysicalDisk is { } physical ? all.Disks.One(physical).UniqueId : null;
        PhysicalExtent[] extents = await services.Subsystem.Placements.ExtentsAsync(virtualDisk, physicalDisk).ConfigureAwait(false);
        Guid? tier = request.StorageTier is { } named ? all.Tiers.One(named).UniqueId : (Guid?)null;
        reply.Add(extents.Where(extent => tier is null || extent.Tier == tier).Select(Describe));
    }

    /// <summary>Maps one.</summary>
    internal static PhysicalExtentInfo Describe(PhysicalExtent extent) => new()
    {
        VirtualDiskUniqueId = Identifiers.OfVirtualDisk(extent.VirtualDisk),
        PhysicalDiskUniqueId = Identifiers.OfPoolOrDisk(extent.PhysicalDisk),
        ColumnNumber = (ushort)extent.Column,
        CopyNumber = (ushort)extent.Copy,
        VirtualDiskOffset = (ulong)extent.VirtualOffset,
        PhysicalDiskOffset = (ulong)extent.PhysicalOffset,
        Size = (ulong)extent.Size,
        StorageTierUniqueId = extent.Tier is { } tier ? Identifiers.OfPoolOrDisk(tier) : null,
        Flags = 0,
        OperationalStatus = [DisplayName.Of(StatusOf(extent))],
        OperationalDetails = extent.IsStale ? ["Stale"] : [],
    };

    private static OperationalStatus StatusOf(PhysicalExtent extent) =>
        extent.IsMissing ? OperationalStatus.LostCommunication
        : extent.IsStale ? OperationalStatus.Degraded
        : OperationalStatus.OK;
}
