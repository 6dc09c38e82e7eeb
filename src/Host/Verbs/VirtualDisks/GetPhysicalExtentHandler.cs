using TierSpaces.Contracts;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.Mapping;

namespace TierSpaces.Host.Verbs.VirtualDisks;

/// <summary>Get-PhysicalExtent: where a virtual disk lies, or what lies on a physical disk. Extents are made while the reply is written.</summary>
internal sealed class GetPhysicalExtentHandler(HostServices services) : VerbHandler<GetPhysicalExtentRequest, PhysicalExtentInfo>
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(
        GetPhysicalExtentRequest request, ReplyBuilder<PhysicalExtentInfo> reply, CancellationToken cancellation)
    {
        Catalogue all = await Catalogue.ReadAsync(services).ConfigureAwait(false);
        VirtualDiskDescription? one = request.VirtualDisk is { } disk ? all.VirtualDiskNames.One(disk) : null;
        Guid? virtualDisk = one?.Id.Value;
        Guid? physicalDisk = request.PhysicalDisk is { } physical ? all.Disks.One(physical).UniqueId : null;
        Guid? tier = request.StorageTier is { } named ? all.Tiers.One(named).UniqueId : null;
        ExtentMapping mapping = new ExtentMapping();
        if (!request.Tier)
        {
            reply.Stream(all.Now.Extents(virtualDisk, physicalDisk).Where(extent => tier is null || extent.Tier == tier).Select(mapping.ToInfo));
            return;
        }

        if (one is { IsTiered: false })
        {
            throw new StorageException(
                StorageErrors.NotSupported, $"-Tier: virtual disk '{one.FriendlyName}' has no tiers.", "Leave it out. Only virtual disks made with -StorageTiers have.",
                nameof(request.Tier));
        }

        reply.Stream(all.Now.SliceExtents(virtualDisk, physicalDisk).Where(slice => tier is null || slice.Extent.Tier == tier).Select(mapping.ToInfo));
    }
}
