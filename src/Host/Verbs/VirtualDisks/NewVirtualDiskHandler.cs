using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.Mapping;
using TierSpaces.Host.Verbs.PhysicalDisks;
using TierSpaces.Host.Verbs.StoragePools;

namespace TierSpaces.Host.Verbs.VirtualDisks;

/// <summary>New-VirtualDisk: carves a virtual disk out of a pool.</summary>
internal sealed class NewVirtualDiskHandler(HostServices services) : VerbHandler<NewVirtualDiskRequest, VirtualDiskInfo>
{
    private const int ChecksumBlock = 4096;

    /// <inheritdoc/>
    protected override async Task HandleAsync(
        NewVirtualDiskRequest request, ReplyBuilder<VirtualDiskInfo> reply, CancellationToken cancellation)
    {
        TierParameters.RequireOneSize(request);
        Catalogue all = await Catalogue.ReadAsync(services).ConfigureAwait(false);
        foreach (StoragePoolTarget pool in all.Pools.Select(
            request.StoragePoolFriendlyName, request.StoragePoolUniqueId, request.StoragePoolName, request.InputObject, reply.Fail))
        {
            await reply.TryAsync(async () =>
            {
                VirtualDiskRequest meant = Translate(all, pool.Concrete, request);
                if (reply.IsWhatIf)
                {
                    VirtualDiskPlacement plan = await services.Subsystem.Placements.PlanNewAsync(pool.Id, meant).ConfigureAwait(false);
                    reply.Tell(PlacementText.OfNew(plan, all, pool.FriendlyName));
                    plan.Remarks.ToList().ForEach(reply.Warn);
                    return;
                }

                VirtualDiskStatus disk = await services.Subsystem.VirtualDisks.CreateAsync(pool.Id, meant).ConfigureAwait(false);
                VirtualDiskPlacement placement = await services.Subsystem.Placements.GetAsync(disk.Description.Id.Value).ConfigureAwait(false);
                reply.Tell(PlacementText.OfNew(placement, all, pool.FriendlyName));
                WarnOfSmallSectors(all, disk, reply.Warn);
                disk.Remarks.ToList().ForEach(reply.Warn);
                reply.Add(services.ToInfo(all, await AttachAsync(disk, reply.Warn).ConfigureAwait(false)));
            }).ConfigureAwait(false);
        }
    }

    /// <summary>
    /// Attaches a virtual disk that was created, unless it is to be attached by hand. One that cannot be attached is a virtual disk all the same.
    /// </summary>
    private async Task<VirtualDiskStatus> AttachAsync(VirtualDiskStatus disk, Action<string> warn)
    {
        string name = disk.Description.FriendlyName;
        if (disk.Description.IsManualAttach || !services.Settings.AttachesNewDisks)
        {
            return disk;
        }

        try
        {
            VirtualDiskStatus attached = await services.Connections.ConnectAsync(disk.Description.Id.Value).ConfigureAwait(false);
            if (services.Attachments.OutcomeOf(Identifiers.OfVirtualDisk(disk.Description.Id.Value))is { DevicePath: null, Reason: { } reason })
            {
                warn($"{reason} Virtual disk '{name}' is served at {VirtualDiskMapping.NbdUri(name, attached.SocketPath)}");
            }

            return attached;
        }
        catch (Exception problem) when (problem is StorageException or ManagementException)
        {
            warn($"Virtual disk '{name}' was created and is not attached: {problem.Message} Connect-VirtualDisk attaches it.");
            return disk;
        }
    }

    /// <summary>Meaning of a request in a pool.</summary>
    internal static VirtualDiskRequest Translate(Catalogue all, StoragePoolStatus pool, NewVirtualDiskRequest request) => new()
    {
        FriendlyName = request.FriendlyName!,
        ResiliencySettingName = request.ResiliencySettingName,
        SizeBytes = request.Size is { } size ? Amount.Bytes(size, nameof(request.Size)) : null,
        UseMaximumSize = request.UseMaximumSize,
        NumberOfColumns = request.NumberOfColumns,
        AutoNumberOfColumns = request.AutoNumberOfColumns,
        NumberOfDataCopies = request.NumberOfDataCopies,
        PhysicalDiskRedundancy = request.PhysicalDiskRedundancy,
        Interleave = request.Interleave is { } interleave ? Amount.Bytes(interleave, nameof(request.Interleave)) : null,
        LogicalSectorSize = Amount.Sector(request.LogicalSectorSize, nameof(request.LogicalSectorSize))
            ?? (pool.Description.LogicalSectorSizeDefault is > PoolSettings.SectorByDisks and var sector ? sector : null),
        ProvisioningType = PoolSettings.Provisioning(request.ProvisioningType, nameof(request.ProvisioningType)),
        Checksum = (Engine.Formats.ChecksumKind)(request.Checksum ?? ChecksumKind.CRC32C),
        WriteCacheSize = request.WriteCacheSize is { } cache ? Amount.Bytes(cache, nameof(request.WriteCacheSize), StorageErrors.WriteCacheSizeRange) : null,
        AutoWriteCacheSize = request.AutoWriteCacheSize,
        CachePool = request.CachePool is { } name ? CachePool(all, name) : null,
        MediaType = request.MediaType?.ToEngine(),
        FaultDomainAwareness = FaultDomainParameters.Level(
            request.FaultDomainAwareness, request.IsEnclosureAware, nameof(request.FaultDomainAwareness), nameof(request.IsEnclosureAware)),
        ColumnIsolation = (Engine.Formats.FaultDomainLevel?)request.ColumnIsolation,
        Tiers = TierParameters.Read(all, pool, request),
        SliceSize = request.SliceSize is { } slice ? Amount.Bytes(slice, nameof(request.SliceSize), StorageErrors.InvalidParameter) : null,
        PhysicalDisks = Disks(all, request),
        IsManualAttach = request.IsManualAttach ?? false,
        Usage = (ushort)(request.Usage ?? VirtualDiskUsage.Other),
        OtherUsageDescription = request.OtherUsageDescription ?? "",
    };

    /// <summary>The pool that the write cache is put in.</summary>
    private static Guid CachePool(Catalogue all, string name)
    {
        StoragePoolTarget? pool = all.Pools.All.FirstOrDefault(pool =>
            pool.FriendlyName.Equals(name, StringComparison.OrdinalIgnoreCase) || Identifiers.OfPoolOrDisk(pool.Id)
                .Equals(name, StringComparison.OrdinalIgnoreCase));
        return pool?.Concrete.UniqueId ?? throw new StorageException(
            StorageErrors.ObjectNotFound, $"-CachePool '{name}': there is no such storage pool.", "Look at Get-StoragePool.", "CachePool");
    }

    /// <summary>The disks it may use: those named in either way, and of those named in both ways what they have in common.</summary>
    private static Guid[] Disks(Catalogue all, NewVirtualDiskRequest request)
    {
        Guid[]? named = request.PhysicalDisksToUse is { } disks ? PoolMembers.Read(all, disks) : null;
        Guid[]? domains = request.StorageFaultDomainsToUse is { } others ? PoolMembers.In(all, others) : null;
        if (named is null || domains is null)
        {
            return named ?? domains ?? [];
        }

        Guid[] common = [.. named.Intersect(domains)];
        return common.Length > 0 ? common : throw new StorageException(
            StorageErrors.TooFewPhysicalDisks, "-PhysicalDisksToUse and -StorageFaultDomainsToUse have no disk in common.", "Give one of them.");
    }

    /// <summary>Warns if the logical sector is smaller than the smallest write, because smaller writes then read first. Names the cause.</summary>
    private static void WarnOfSmallSectors(Catalogue all, VirtualDiskStatus disk, Action<string> warn)
    {
        ushort sector = disk.Description.LogicalSectorSize;
        PhysicalDiskStatus? member = all.Disks.All.FirstOrDefault(member => member.PoolId == disk.PoolId && member.PhysicalSectorSize > sector);
        string? cause = member is not null ? $"physical disk '{member.FriendlyName}' has sectors of {member.PhysicalSectorSize} bytes"
            : sector < ChecksumBlock && disk.Description.Checksum != Engine.Formats.ChecksumKind.None
                ? $"checksums cover blocks of {ChecksumBlock} bytes"
            : null;
        if (cause is not null)
        {
            warn($"Virtual disk '{disk.Description.FriendlyName}' has logical sectors of {sector} bytes, but {cause}: "
                + "smaller writes have to read first.");
        }
    }
}
