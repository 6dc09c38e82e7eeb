using TierSpaces.Contracts;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Primitives;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.Mapping;
using TierSpaces.Host.Verbs.PhysicalDisks;
using TierSpaces.Host.Verbs.Subsystems;

namespace TierSpaces.Host.Verbs.StoragePools;

/// <summary>New-StoragePool: makes a pool of physical disks.</summary>
internal sealed class NewStoragePoolHandler(HostServices services) : VerbHandler<NewStoragePoolRequest, StoragePoolInfo>
{
    private const int SmallSector = 512;

    /// <inheritdoc/>
    protected override async Task HandleAsync(
        NewStoragePoolRequest request, ReplyBuilder<StoragePoolInfo> reply, CancellationToken cancellation)
    {
        List<string> subsystem = LocalSubsystem.Selector.Select(
            request.StorageSubSystemFriendlyName, request.StorageSubSystemUniqueId, request.StorageSubSystemName, request.InputObject,
            error => throw new StorageException(error));
        if (subsystem.Count == 0)
        {
            return;   // wildcards that mean another machine
        }

        Catalogue all = await Catalogue.ReadAsync(services).ConfigureAwait(false);
        Guid[] disks = PoolMembers.Read(all, request.PhysicalDisks!);
        PoolDescription settings = Settings(request);
        PoolPlacement plan = await services.Subsystem.Pools.PlanAsync(request.FriendlyName!, disks).ConfigureAwait(false);
        if (!reply.IsWhatIf)
        {
            reply.Add((await services.Subsystem.Pools.CreateAsync(settings, disks, DiskUsage.AutoSelect).ConfigureAwait(false)).ToInfo());
        }

        DiskRemarks.OfPooling(all.Disks.All.Where(disk => disks.Contains(disk.UniqueId)), settings.LogicalSectorSizeDefault == SmallSector)
            .ToList().ForEach(reply.Warn);
        reply.Tell(Steps(request.FriendlyName!, plan));
    }

    private static IEnumerable<string> Steps(string name, PoolPlacement plan) => plan.Members
        .Select(disk => $"Take physical disk '{disk.FriendlyName}' ({SizeText.Exact(disk.SizeBytes)}): {CountText.Of(disk.Slabs, "slab")} of {SizeText.Exact(plan.SlabBytes)}")
        .Prepend($"Create storage pool '{name}' of {CountText.Of(plan.Members.Length, "physical disk")}: {SizeText.Exact(plan.Members.Sum(disk => disk.Slabs) * plan.SlabBytes)}");

    private static PoolDescription Settings(NewStoragePoolRequest request)
    {
        // The engine chooses the slab size by the disks and ignores this value.
        PoolDescription settings = new PoolDescription
        {
            FriendlyName = request.FriendlyName!, Slabs = new SlabGeometry(SlabGeometry.SmallestSlab),
        };
        settings = FaultDomainParameters.WithDefaults(settings, request.FaultDomainAwarenessDefault, request.EnclosureAwareDefault);
        return PoolSettings.WithWriteCache(settings, request.WriteCacheSizeDefault, request.AutoWriteCacheSize) with
        {
            ProvisioningTypeDefault = PoolSettings.Provisioning(request.ProvisioningTypeDefault) ?? settings.ProvisioningTypeDefault,
            ResiliencySettingNameDefault =
                PoolSettings.Resiliency(settings, request.ResiliencySettingNameDefault) ?? settings.ResiliencySettingNameDefault,
            LogicalSectorSizeDefault =
                (ushort?)Amount.Sector(request.LogicalSectorSizeDefault, nameof(request.LogicalSectorSizeDefault))
                ?? PoolSettings.SectorByDisks,
        };
    }
}
