using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Engine;
using TierSpaces.Host.Serving;
using EngineFormats = TierSpaces.Engine.Formats;

namespace TierSpaces.Host.Verbs.VirtualDisks;

/// <summary>Get-VirtualDisk.</summary>
internal sealed class GetVirtualDiskHandler(HostServices services) : EngineHandler<GetVirtualDiskRequest, VirtualDiskInfo>(services)
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(GetVirtualDiskRequest request, ReplyBuilder<VirtualDiskInfo> reply, CancellationToken cancellation)
    {
        var all = await VirtualDisksAsync().ConfigureAwait(false);
        IEnumerable<VirtualDiskStatus> found = Select(all, reply, request.FriendlyName, request.UniqueId, request.Name, null);
        if (request.StoragePool is { } poolName)
        {
            var pool = (await PoolsAsync().ConfigureAwait(false)).One(poolName);
            found = found.Where(disk => disk.PoolId == pool.UniqueId);
        }

        if (request.PhysicalDisk is { } physical)
        {
            var disk = (await PhysicalDisksAsync().ConfigureAwait(false)).One(physical);
            var extents = await Engine.PhysicalExtentsAsync(null, disk.UniqueId).ConfigureAwait(false);
            var min = (long)Math.Min(request.PhysicalRangeMin ?? 0, long.MaxValue);
            var max = (long)Math.Min(request.PhysicalRangeMax ?? long.MaxValue, long.MaxValue);
            var on = extents.Where(extent => extent.PhysicalOffset <= max && extent.PhysicalOffset + extent.Size > min).Select(extent => extent.VirtualDisk).ToHashSet();
            found = found.Where(virtualDisk => on.Contains(virtualDisk.Description.Id.Value)
                && (!request.NoRedundancy || virtualDisk.Description.NumberOfDataCopies == 1));
        }

        reply.Add(found.Select(ToInfo).Where(disk =>
            (request.Usage is not { Length: > 0 } usage || usage.Any(value => DisplayName.Of(value) == disk.Usage))
            && (request.OtherUsageDescription is not { Length: > 0 } other || other.Any(value => new WildcardPattern(value).Fits(disk.OtherUsageDescription ?? "")))
            && (request.IsSnapshot is not { Length: > 0 } snapshot || snapshot.Contains(false))
            && (request.HealthStatus is not { Length: > 0 } health || health.Any(value => value.ToString() == disk.HealthStatus))));
    }
}

/// <summary>New-VirtualDisk.</summary>
internal sealed class NewVirtualDiskHandler(HostServices services) : EngineHandler<NewVirtualDiskRequest, VirtualDiskInfo>(services)
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(NewVirtualDiskRequest request, ReplyBuilder<VirtualDiskInfo> reply, CancellationToken cancellation)
    {
        if (request.UseMaximumSize == request.Size.HasValue)
        {
            throw new StorageException(
                StorageErrors.SizeOrMaximum, request.UseMaximumSize ? "-Size and -UseMaximumSize were both given." : "Neither -Size nor -UseMaximumSize was given.",
                "Give exactly one of them.");
        }

        var pools = await PoolsAsync().ConfigureAwait(false);
        var disks = await PhysicalDisksAsync().ConfigureAwait(false);
        Guid[] only = request.PhysicalDisksToUse is { } named ? [.. disks.ByReference(named, reply.Fail).Select(disk => disk.UniqueId)] : [];
        foreach (var pool in Select(pools, reply, request.StoragePoolFriendlyName, request.StoragePoolUniqueId, request.StoragePoolName, request.InputObject))
        {
            await reply.TryAsync(async () =>
            {
                var disk = await Engine.NewVirtualDiskAsync(pool.UniqueId, Of(request, pool, only)).ConfigureAwait(false);
                WarnOfSmallSectors(disk, pool, reply);
                reply.Add(ToInfo(disk));
            }).ConfigureAwait(false);
        }
    }

    private static VirtualDiskRequest Of(NewVirtualDiskRequest request, StoragePoolStatus pool, Guid[] only) => new()
    {
        FriendlyName = request.FriendlyName ?? "",
        ResiliencySettingName = request.ResiliencySettingName,
        SizeBytes = request.Size is { } size ? (long)Math.Min(size, long.MaxValue) : null,
        UseMaximumSize = request.UseMaximumSize,
        NumberOfColumns = request.AutoNumberOfColumns ? null : request.NumberOfColumns,
        NumberOfDataCopies = request.NumberOfDataCopies,
        PhysicalDiskRedundancy = request.PhysicalDiskRedundancy,
        Interleave = request.Interleave is { } interleave ? (long)Math.Min(interleave, long.MaxValue) : null,
        LogicalSectorSize = request.LogicalSectorSize is { } sector ? (int)Math.Min(sector, int.MaxValue)
            : pool.Description.LogicalSectorSizeDefault == 0 ? null : pool.Description.LogicalSectorSizeDefault,
        ProvisioningType = request.ProvisioningType is { } type and not ProvisioningType.Unknown ? (EngineFormats.ProvisioningType)(int)type : null,
        Checksum = (EngineFormats.ChecksumKind)(int)(request.Checksum ?? ChecksumKind.CRC32C),
        MediaType = (TierSpaces.Engine.Devices.MediaType?)(int?)request.MediaType,
        PhysicalDisks = only,
        IsManualAttach = request.IsManualAttach ?? false,
        Usage = (ushort)(request.Usage ?? VirtualDiskUsage.Other),
        OtherUsageDescription = request.OtherUsageDescription ?? "",
    };

    private static void WarnOfSmallSectors(VirtualDiskStatus disk, StoragePoolStatus pool, ReplyBuilder<VirtualDiskInfo> reply)
    {
        if (disk.Description.LogicalSectorSize < pool.PhysicalSectorSize)
        {
            reply.Warn(
                $"-LogicalSectorSize {disk.Description.LogicalSectorSize} is smaller than the physical sector of the pool's disks ({pool.PhysicalSectorSize} bytes): smaller writes read the rest of a sector first.");
        }
        else if (disk.Description is { LogicalSectorSize: < 4096, Checksum: EngineFormats.ChecksumKind.CRC32C })
        {
            reply.Warn(
                $"-LogicalSectorSize {disk.Description.LogicalSectorSize} is smaller than the checksum block (4096 bytes): smaller writes read the rest of a block first.");
        }
    }
}

/// <summary>Set-VirtualDisk.</summary>
internal sealed class SetVirtualDiskHandler(HostServices services) : EngineHandler<SetVirtualDiskRequest, VirtualDiskInfo>(services)
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(SetVirtualDiskRequest request, ReplyBuilder<VirtualDiskInfo> reply, CancellationToken cancellation)
    {
        var all = await VirtualDisksAsync().ConfigureAwait(false);
        foreach (var disk in Select(all, reply, One(request.FriendlyName), One(request.UniqueId), One(request.Name), request.InputObject))
        {
            await reply.TryAsync(() => Engine.SetVirtualDiskAsync(disk.Description.Id.Value, old => old with
            {
                FriendlyName = request.NewFriendlyName ?? old.FriendlyName,
                Usage = (ushort?)request.Usage ?? old.Usage,
                OtherUsageDescription = request.OtherUsageDescription ?? old.OtherUsageDescription,
                IsManualAttach = request.IsManualAttach ?? old.IsManualAttach,
                IsReadOnly = request.Access is { } access ? access == Access.Readable : old.IsReadOnly,
            })).ConfigureAwait(false);
        }
    }
}

/// <summary>Remove-VirtualDisk.</summary>
internal sealed class RemoveVirtualDiskHandler(HostServices services) : EngineHandler<RemoveVirtualDiskRequest, VirtualDiskInfo>(services)
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(RemoveVirtualDiskRequest request, ReplyBuilder<VirtualDiskInfo> reply, CancellationToken cancellation)
    {
        var all = await VirtualDisksAsync().ConfigureAwait(false);
        foreach (var disk in Select(all, reply, request.FriendlyName, request.UniqueId, request.Name, request.InputObject))
        {
            await reply.TryAsync(async () =>
            {
                var info = ToInfo(disk);
                await Services.DetachAsync(info.UniqueId).ConfigureAwait(false);
                await Engine.RemoveVirtualDiskAsync(disk.Description.Id.Value).ConfigureAwait(false);
                if (request.PassThru)
                {
                    reply.Add(info);
                }
            }).ConfigureAwait(false);
        }
    }
}

/// <summary>Resize-VirtualDisk.</summary>
internal sealed class ResizeVirtualDiskHandler(HostServices services) : EngineHandler<ResizeVirtualDiskRequest, VirtualDiskInfo>(services)
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(ResizeVirtualDiskRequest request, ReplyBuilder<VirtualDiskInfo> reply, CancellationToken cancellation)
    {
        var all = await VirtualDisksAsync().ConfigureAwait(false);
        foreach (var disk in Select(all, reply, request.FriendlyName, request.UniqueId, request.Name, request.InputObject))
        {
            await reply.TryAsync(async () =>
            {
                var grown = await Engine.ResizeVirtualDiskAsync(disk.Description.Id.Value, (long)Math.Min(request.Size ?? 0, long.MaxValue)).ConfigureAwait(false);
                if (request.PassThru)
                {
                    reply.Add(ToInfo(grown));
                }
            }).ConfigureAwait(false);
        }
    }
}

/// <summary>Connect-VirtualDisk: exports it and attaches a block device where that is possible.</summary>
internal sealed class ConnectVirtualDiskHandler(HostServices services) : EngineHandler<ConnectVirtualDiskRequest, VirtualDiskInfo>(services)
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(ConnectVirtualDiskRequest request, ReplyBuilder<VirtualDiskInfo> reply, CancellationToken cancellation)
    {
        var all = await VirtualDisksAsync().ConfigureAwait(false);
        foreach (var disk in Select(all, reply, request.FriendlyName, request.UniqueId, request.Name, request.InputObject))
        {
            await reply.TryAsync(async () =>
            {
                var connected = await Engine.ConnectVirtualDiskAsync(disk.Description.Id.Value).ConfigureAwait(false);
                var reason = await Services.AttachAsync(connected).ConfigureAwait(false);
                if (reason is not null)
                {
                    reply.Warn($"Virtual disk '{disk.Description.FriendlyName}' is served at its NbdUri only. {reason}");
                }

                if (request.PassThru)
                {
                    reply.Add(ToInfo(connected));
                }
            }).ConfigureAwait(false);
        }
    }
}

/// <summary>Disconnect-VirtualDisk.</summary>
internal sealed class DisconnectVirtualDiskHandler(HostServices services) : EngineHandler<DisconnectVirtualDiskRequest, VirtualDiskInfo>(services)
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(DisconnectVirtualDiskRequest request, ReplyBuilder<VirtualDiskInfo> reply, CancellationToken cancellation)
    {
        var all = await VirtualDisksAsync().ConfigureAwait(false);
        foreach (var disk in Select(all, reply, request.FriendlyName, request.UniqueId, request.Name, request.InputObject))
        {
            await reply.TryAsync(async () =>
            {
                await Services.DetachAsync(ObjectMapping.Text(disk.Description.Id.Value)).ConfigureAwait(false);
                var disconnected = await Engine.DisconnectVirtualDiskAsync(disk.Description.Id.Value).ConfigureAwait(false);
                if (request.PassThru)
                {
                    reply.Add(ToInfo(disconnected));
                }
            }).ConfigureAwait(false);
        }
    }
}

/// <summary>Get-VirtualDiskSupportedSize.</summary>
internal sealed class GetVirtualDiskSupportedSizeHandler(HostServices services)
    : EngineHandler<GetVirtualDiskSupportedSizeRequest, SupportedSizeInfo>(services)
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(
        GetVirtualDiskSupportedSizeRequest request, ReplyBuilder<SupportedSizeInfo> reply, CancellationToken cancellation)
    {
        var pools = await PoolsAsync().ConfigureAwait(false);
        foreach (var pool in Select(pools, reply, request.StoragePoolFriendlyName, request.StoragePoolUniqueId, request.StoragePoolName, request.InputObject))
        {
            await reply.TryAsync(async () =>
            {
                var size = await Engine.SupportedSizeAsync(
                    pool.UniqueId, request.ResiliencySettingName ?? pool.Description.ResiliencySettingNameDefault).ConfigureAwait(false);
                reply.Add(new SupportedSizeInfo
                {
                    VirtualDiskSizeMin = (ulong)size.Min,
                    VirtualDiskSizeMax = (ulong)size.Max,
                    VirtualDiskSizeDivisor = (ulong)size.Divisor,
                });
            }).ConfigureAwait(false);
        }
    }
}

/// <summary>Get-PhysicalExtent.</summary>
internal sealed class GetPhysicalExtentHandler(HostServices services) : EngineHandler<GetPhysicalExtentRequest, PhysicalExtentInfo>(services)
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(GetPhysicalExtentRequest request, ReplyBuilder<PhysicalExtentInfo> reply, CancellationToken cancellation)
    {
        Guid? virtualDisk = request.VirtualDisk is { } name ? (await VirtualDisksAsync().ConfigureAwait(false)).One(name).Description.Id.Value : null;
        Guid? physicalDisk = request.PhysicalDisk is { } disk ? (await PhysicalDisksAsync().ConfigureAwait(false)).One(disk).UniqueId : null;
        reply.Add((await Engine.PhysicalExtentsAsync(virtualDisk, physicalDisk).ConfigureAwait(false)).Select(ObjectMapping.ToInfo));
    }
}
