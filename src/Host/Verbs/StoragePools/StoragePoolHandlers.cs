using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Engine;
using TierSpaces.Host.Serving;
using EngineFormats = TierSpaces.Engine.Formats;

namespace TierSpaces.Host.Verbs.StoragePools;

/// <summary>Get-StoragePool: the primordial pool and the others.</summary>
internal sealed class GetStoragePoolHandler(HostServices services) : EngineHandler<GetStoragePoolRequest, StoragePoolInfo>(services)
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(GetStoragePoolRequest request, ReplyBuilder<StoragePoolInfo> reply, CancellationToken cancellation)
    {
        var pools = await Engine.PoolsAsync().ConfigureAwait(false);
        var disks = await Engine.PhysicalDisksAsync().ConfigureAwait(false);
        StoragePoolInfo[] all = [ObjectMapping.Primordial(disks), .. pools.Select(ObjectMapping.ToInfo)];
        var selector = new Selector<StoragePoolInfo>("MSFT_StoragePool", all, pool => pool.UniqueId, pool => pool.FriendlyName);
        IEnumerable<StoragePoolInfo> found = Select(selector, reply, request.FriendlyName, request.UniqueId, request.Name, null);
        if (request.PhysicalDisk is { } physical)
        {
            var disk = (await PhysicalDisksAsync().ConfigureAwait(false)).One(physical);
            found = found.Where(pool => disk.PoolId is { } id ? pool.UniqueId == ObjectMapping.Text(id) : pool.IsPrimordial);
        }

        if (request.VirtualDisk is { } virtualDisk)
        {
            var disk = (await VirtualDisksAsync().ConfigureAwait(false)).One(virtualDisk);
            found = found.Where(pool => pool.UniqueId == ObjectMapping.Text(disk.PoolId));
        }

        reply.Add(found.Where(pool =>
            (request.IsPrimordial is not { Length: > 0 } primordial || primordial.Contains(pool.IsPrimordial))
            && (request.HealthStatus is not { Length: > 0 } health || health.Any(value => value.ToString() == pool.HealthStatus))
            && (request.Usage is not { Length: > 0 } usage || usage.Any(value => DisplayName.Of(value) == pool.Usage))));
    }
}

/// <summary>New-StoragePool.</summary>
internal sealed class NewStoragePoolHandler(HostServices services) : EngineHandler<NewStoragePoolRequest, StoragePoolInfo>(services)
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(NewStoragePoolRequest request, ReplyBuilder<StoragePoolInfo> reply, CancellationToken cancellation)
    {
        Subsystem.SubsystemObject.Require(request.StorageSubSystemFriendlyName, request.StorageSubSystemUniqueId, request.StorageSubSystemName, request.InputObject);
        var disks = (await PhysicalDisksAsync().ConfigureAwait(false)).ByReference(request.PhysicalDisks ?? [], reply.Fail);
        if (disks.Count == 0)
        {
            return;
        }

        var settings = new EngineFormats.PoolDescription
        {
            FriendlyName = request.FriendlyName ?? "",
            Slabs = new EngineFormats.SlabGeometry(EngineFormats.SlabGeometry.SmallestSlab),   // the engine chooses it by the smallest disk
            ResiliencySettingNameDefault = request.ResiliencySettingNameDefault ?? "Mirror",
            ProvisioningTypeDefault = (EngineFormats.ProvisioningType)(int)(request.ProvisioningTypeDefault ?? ProvisioningType.Fixed),
            LogicalSectorSizeDefault = SectorOf(request.LogicalSectorSizeDefault),
            WriteCacheSizeDefault = request.WriteCacheSizeDefault ?? ulong.MaxValue,
            AutoWriteCacheSize = request.AutoWriteCacheSize ?? true,
        };
        if (!settings.ResiliencySettings.Any(setting => setting.Name.Equals(settings.ResiliencySettingNameDefault, StringComparison.OrdinalIgnoreCase)))
        {
            throw new StorageException(
                StorageErrors.NoSuchResiliencySetting, $"-ResiliencySettingNameDefault '{settings.ResiliencySettingNameDefault}' is not one of Simple, Mirror, Parity.");
        }

        reply.Add(ObjectMapping.ToInfo(await Engine.NewPoolAsync(
            settings, [.. disks.Select(disk => disk.UniqueId)], EngineFormats.DiskUsage.AutoSelect).ConfigureAwait(false)));
    }

    private static ushort SectorOf(ulong? size) => size switch
    {
        null => 0,
        512 or 4096 => (ushort)size,
        _ => throw new StorageException(StorageErrors.SectorSizeNotSupported, $"-LogicalSectorSizeDefault {size} is not supported; 512 and 4096 are."),
    };
}

/// <summary>Set-StoragePool.</summary>
internal sealed class SetStoragePoolHandler(HostServices services) : EngineHandler<SetStoragePoolRequest, StoragePoolInfo>(services)
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(SetStoragePoolRequest request, ReplyBuilder<StoragePoolInfo> reply, CancellationToken cancellation)
    {
        var all = await PoolsAsync().ConfigureAwait(false);
        foreach (var pool in Select(all, reply, One(request.FriendlyName), One(request.UniqueId), One(request.Name), request.InputObject))
        {
            if (request.IsPowerProtected == true && !pool.Description.IsPowerProtected)
            {
                reply.Warn($"Storage pool '{pool.Description.FriendlyName}' now takes a completed write for a durable one; a power cut can lose data where that is not true.");
            }

            await reply.TryAsync(() => Engine.SetPoolAsync(pool.UniqueId, description => Change(request, description))).ConfigureAwait(false);
        }
    }

    private static EngineFormats.PoolDescription Change(SetStoragePoolRequest request, EngineFormats.PoolDescription old)
    {
        if (request.ThinProvisioningAlertThresholds is { Length: not 1 } many)
        {
            throw new StorageException(StorageErrors.TooManyThresholds, $"-ThinProvisioningAlertThresholds has {many.Length} values; one is supported.");
        }

        if (request.ThinProvisioningAlertThresholds is [> 100 or 0])
        {
            throw new StorageException(
                StorageErrors.InvalidParameter, $"-ThinProvisioningAlertThresholds {request.ThinProvisioningAlertThresholds[0]} is outside 1 to 100 percent.");
        }

        return old with
        {
            FriendlyName = request.NewFriendlyName ?? old.FriendlyName,
            IsPowerProtected = request.IsPowerProtected ?? old.IsPowerProtected,
            IsReadOnly = request.IsReadOnly ?? old.IsReadOnly,
            RetireMissingPhysicalDisks = (EngineFormats.RetireMissingPhysicalDisks)(int)(request.RetireMissingPhysicalDisks ?? (RetireMissingPhysicalDisks)(int)old.RetireMissingPhysicalDisks),
            ThinProvisioningAlertThreshold = request.ThinProvisioningAlertThresholds is [var threshold] ? (byte)threshold : old.ThinProvisioningAlertThreshold,
            ProvisioningTypeDefault = request.ProvisioningTypeDefault is { } type ? (EngineFormats.ProvisioningType)(int)type : old.ProvisioningTypeDefault,
            ResiliencySettingNameDefault = request.ResiliencySettingNameDefault ?? old.ResiliencySettingNameDefault,
            WriteCacheSizeDefault = request.WriteCacheSizeDefault ?? old.WriteCacheSizeDefault,
            AutoWriteCacheSize = request.AutoWriteCacheSize ?? old.AutoWriteCacheSize,
        };
    }
}

/// <summary>Remove-StoragePool.</summary>
internal sealed class RemoveStoragePoolHandler(HostServices services) : EngineHandler<RemoveStoragePoolRequest, StoragePoolInfo>(services)
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(RemoveStoragePoolRequest request, ReplyBuilder<StoragePoolInfo> reply, CancellationToken cancellation)
    {
        var all = await PoolsAsync().ConfigureAwait(false);
        foreach (var pool in Select(all, reply, request.FriendlyName, request.UniqueId, request.Name, request.InputObject))
        {
            await reply.TryAsync(async () =>
            {
                await Engine.RemovePoolAsync(pool.UniqueId).ConfigureAwait(false);
                if (request.PassThru)
                {
                    reply.Add(ObjectMapping.ToInfo(pool));
                }
            }).ConfigureAwait(false);
        }
    }
}

/// <summary>Update-StoragePool: looks at the registered disks again.</summary>
internal sealed class UpdateStoragePoolHandler(HostServices services) : EngineHandler<UpdateStoragePoolRequest, StoragePoolInfo>(services)
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(UpdateStoragePoolRequest request, ReplyBuilder<StoragePoolInfo> reply, CancellationToken cancellation)
    {
        var all = await PoolsAsync().ConfigureAwait(false);
        var found = Select(all, reply, request.FriendlyName, request.UniqueId, request.Name, request.InputObject);
        var updated = await Engine.UpdatePoolsAsync().ConfigureAwait(false);
        await Services.AttachConnectedAsync().ConfigureAwait(false);
        if (request.PassThru)
        {
            reply.Add(updated.Where(pool => found.Exists(asked => asked.UniqueId == pool.UniqueId)).Select(ObjectMapping.ToInfo));
        }
    }
}

/// <summary>Get-ResiliencySetting.</summary>
internal sealed class GetResiliencySettingHandler(HostServices services) : EngineHandler<GetResiliencySettingRequest, ResiliencySettingInfo>(services)
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(GetResiliencySettingRequest request, ReplyBuilder<ResiliencySettingInfo> reply, CancellationToken cancellation)
    {
        var pools = await PoolsAsync().ConfigureAwait(false);
        IEnumerable<StoragePoolStatus> asked = request.StoragePool is { } name ? [pools.One(name)] : pools.All;
        var settings = asked.SelectMany(pool => pool.Description.ResiliencySettings.Select(setting => ObjectMapping.ToInfo(pool.UniqueId, setting))).ToArray();
        var selector = new Selector<ResiliencySettingInfo>("MSFT_ResiliencySetting", settings, setting => setting.UniqueId, setting => setting.Name);
        reply.Add(request.UniqueId is { } ids ? selector.ByUniqueId(ids, reply.Fail)
            : request.Name is { } names ? selector.By("Name", setting => setting.Name, names, reply.Fail) : settings);
    }
}

/// <summary>Set-ResiliencySetting.</summary>
internal sealed class SetResiliencySettingHandler(HostServices services) : EngineHandler<SetResiliencySettingRequest, ResiliencySettingInfo>(services)
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(SetResiliencySettingRequest request, ReplyBuilder<ResiliencySettingInfo> reply, CancellationToken cancellation)
    {
        var pools = await PoolsAsync().ConfigureAwait(false);
        var references = request.UniqueId ?? request.InputObject;
        foreach (var pool in references is not null ? pools.All : request.StoragePool is { } name ? [pools.One(name)] : [])
        {
            bool Asked(EngineFormats.ResiliencyDefaults setting) => references?.Contains($"{ObjectMapping.Text(pool.UniqueId)}:{setting.Name}", StringComparer.OrdinalIgnoreCase)
                ?? (request.Name ?? []).Any(pattern => new WildcardPattern(pattern).Fits(setting.Name));
            if (!pool.Description.ResiliencySettings.Any(Asked))
            {
                continue;
            }

            await reply.TryAsync(async () =>
            {
                var changed = await Engine.SetPoolAsync(pool.UniqueId, old => old with
                {
                    ResiliencySettings = [.. old.ResiliencySettings.Select(setting => Asked(setting) ? Change(request, setting) : setting)],
                }).ConfigureAwait(false);
                if (request.PassThru)
                {
                    reply.Add(changed.Description.ResiliencySettings.Where(Asked).Select(setting => ObjectMapping.ToInfo(pool.UniqueId, setting)));
                }
            }).ConfigureAwait(false);
        }
    }

    private static EngineFormats.ResiliencyDefaults Change(SetResiliencySettingRequest request, EngineFormats.ResiliencyDefaults old)
    {
        var (least, most) = old.Name == "Mirror" ? (2, 3) : (1, 1);
        if (request.NumberOfDataCopiesDefault is { } copies && (copies < least || copies > most))
        {
            throw new StorageException(StorageErrors.CopiesRange, $"-NumberOfDataCopiesDefault {copies} of {old.Name} is outside {least} to {most}.");
        }

        if (request.InterleaveDefault is { } interleave && (interleave is < (16 << 10) or > (16 << 20) || !System.Numerics.BitOperations.IsPow2(interleave)))
        {
            throw new StorageException(StorageErrors.InterleaveRange, $"-InterleaveDefault {interleave} is not a power of two from {16 << 10} to {16 << 20}.");
        }

        if (request.NumberOfColumnsDefault is { } columns and (0 or > 64))
        {
            throw new StorageException(StorageErrors.ColumnsRange, $"-NumberOfColumnsDefault {columns} is outside 1 to 64.");
        }

        var newCopies = request.NumberOfDataCopiesDefault ?? old.NumberOfDataCopiesDefault;
        return old with
        {
            NumberOfDataCopiesDefault = newCopies,
            PhysicalDiskRedundancyDefault = request.PhysicalDiskRedundancyDefault ?? (old.Name == "Mirror" ? (ushort)(newCopies - 1) : old.PhysicalDiskRedundancyDefault),
            NumberOfColumnsDefault = request.AutoNumberOfColumns ? (ushort)0 : request.NumberOfColumnsDefault ?? old.NumberOfColumnsDefault,
            InterleaveDefault = (uint)(request.InterleaveDefault ?? old.InterleaveDefault),
        };
    }
}
