using TierSpaces.Contracts;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Engine;
using TierSpaces.Host.Serving;
using EngineFormats = TierSpaces.Engine.Formats;
using Media = TierSpaces.Engine.Devices.MediaType;

namespace TierSpaces.Host.Verbs.PhysicalDisks;

/// <summary>Get-PhysicalDisk.</summary>
internal sealed class GetPhysicalDiskHandler(HostServices services) : EngineHandler<GetPhysicalDiskRequest, PhysicalDiskInfo>(services)
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(GetPhysicalDiskRequest request, ReplyBuilder<PhysicalDiskInfo> reply, CancellationToken cancellation)
    {
        var all = await PhysicalDisksAsync().ConfigureAwait(false);
        var found = request.SerialNumber is { } serial
            ? all.By("SerialNumber", disk => disk.SerialNumber, [serial], reply.Fail)
            : request.ObjectId is { } id
                ? all.By("ObjectId", disk => ObjectMapping.ToInfo(disk).ObjectId, [id], reply.Fail)
                : Select(all, reply, One(request.FriendlyName), One(request.UniqueId), null, One(request.InputObject));
        reply.Add((await OfAsync(request, found).ConfigureAwait(false)).Select(ObjectMapping.ToInfo).Where(disk => Fits(request, disk)));
    }

    private async Task<IEnumerable<PhysicalDiskStatus>> OfAsync(GetPhysicalDiskRequest request, List<PhysicalDiskStatus> found)
    {
        if (request.StoragePool is { } poolName && !poolName.Equals("Primordial", StringComparison.OrdinalIgnoreCase))
        {
            var pool = (await PoolsAsync().ConfigureAwait(false)).One(poolName);
            return found.Where(disk => disk.PoolId == pool.UniqueId);
        }

        if (request.VirtualDisk is { } diskName)
        {
            var disk = (await VirtualDisksAsync().ConfigureAwait(false)).One(diskName);
            var extents = await Engine.PhysicalExtentsAsync(disk.Description.Id.Value, null).ConfigureAwait(false);
            var min = (long)(request.VirtualRangeMin ?? 0);
            var max = (long)Math.Min(request.VirtualRangeMax ?? long.MaxValue, long.MaxValue);
            var used = extents.Where(extent => extent.VirtualOffset <= max && extent.VirtualOffset + (extent.Size * disk.Description.NumberOfColumns) > min)
                .Select(extent => extent.PhysicalDisk).ToHashSet();
            return found.Where(member => used.Contains(member.UniqueId));
        }

        return found;
    }

    private static bool Fits(GetPhysicalDiskRequest request, PhysicalDiskInfo disk) =>
        (request.Usage is not { } usage || disk.Usage == DisplayName.Of(usage))
        && Matches(request.Description, disk.Description) && Matches(request.Manufacturer, disk.Manufacturer) && Matches(request.Model, disk.Model)
        && (request.CanPool is not { } canPool || disk.CanPool == canPool)
        && (request.HasAllocations is not { } has || (disk.VirtualDiskFootprint > 0) == has)
        && (request.HealthStatus is not { } health || disk.HealthStatus == health.ToString());

    private static bool Matches(string? pattern, string? value) => pattern is null || new WildcardPattern(pattern).Fits(value ?? "");
}

/// <summary>New-PhysicalDisk: image files, one per path.</summary>
internal sealed class NewPhysicalDiskHandler(HostServices services) : EngineHandler<NewPhysicalDiskRequest, PhysicalDiskInfo>(services)
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(NewPhysicalDiskRequest request, ReplyBuilder<PhysicalDiskInfo> reply, CancellationToken cancellation)
    {
        foreach (var path in request.Path ?? [])
        {
            var spec = Registration.Of(
                path, request.FriendlyName, request.MediaType, request.BusType, request.SpindleSpeed, request.LogicalSectorSize, request.PhysicalSectorSize,
                request.IsWriteCacheEnabled, request.LatencyProfile, request.EnclosureNumber, request.SlotNumber);
            await reply.TryAsync(async () => reply.Add(ObjectMapping.ToInfo(
                await Engine.NewPhysicalDiskAsync(spec, (long)Math.Min(request.Size ?? 0, long.MaxValue), request.Preallocate).ConfigureAwait(false)))).ConfigureAwait(false);
        }
    }
}

/// <summary>Register-PhysicalDisk.</summary>
internal sealed class RegisterPhysicalDiskHandler(HostServices services) : EngineHandler<RegisterPhysicalDiskRequest, PhysicalDiskInfo>(services)
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(RegisterPhysicalDiskRequest request, ReplyBuilder<PhysicalDiskInfo> reply, CancellationToken cancellation)
    {
        foreach (var path in request.Path ?? [])
        {
            var spec = Registration.Of(
                path, request.FriendlyName, request.MediaType, request.BusType, request.SpindleSpeed, request.LogicalSectorSize, request.PhysicalSectorSize,
                request.IsWriteCacheEnabled, request.LatencyProfile, request.EnclosureNumber, request.SlotNumber);
            await reply.TryAsync(async () => reply.Add(ObjectMapping.ToInfo(
                await Engine.RegisterPhysicalDiskAsync(spec).ConfigureAwait(false)))).ConfigureAwait(false);
        }

        await Services.AttachConnectedAsync().ConfigureAwait(false);
    }
}

/// <summary>Unregister-PhysicalDisk.</summary>
internal sealed class UnregisterPhysicalDiskHandler(HostServices services) : EngineHandler<UnregisterPhysicalDiskRequest, PhysicalDiskInfo>(services)
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(UnregisterPhysicalDiskRequest request, ReplyBuilder<PhysicalDiskInfo> reply, CancellationToken cancellation)
    {
        var all = await PhysicalDisksAsync().ConfigureAwait(false);
        var found = request.Path is { } paths
            ? all.By("Path", disk => ObjectMapping.ToInfo(disk).Path ?? "", paths, reply.Fail)
            : Select(all, reply, request.FriendlyName, request.UniqueId, null, request.InputObject);
        foreach (var disk in found)
        {
            await reply.TryAsync(() => Engine.UnregisterPhysicalDiskAsync(disk.UniqueId)).ConfigureAwait(false);
        }
    }
}

/// <summary>Set-PhysicalDisk.</summary>
internal sealed class SetPhysicalDiskHandler(HostServices services) : EngineHandler<SetPhysicalDiskRequest, PhysicalDiskInfo>(services)
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(SetPhysicalDiskRequest request, ReplyBuilder<PhysicalDiskInfo> reply, CancellationToken cancellation)
    {
        var all = await PhysicalDisksAsync().ConfigureAwait(false);
        foreach (var disk in Select(all, reply, One(request.FriendlyName), One(request.UniqueId), null, request.InputObject))
        {
            await reply.TryAsync(() => Engine.SetPhysicalDiskAsync(
                disk.UniqueId, request.NewFriendlyName, request.Description, (Media?)(int?)request.MediaType, (EngineFormats.DiskUsage?)(int?)request.Usage)).ConfigureAwait(false);
        }
    }
}

/// <summary>Add-PhysicalDisk.</summary>
internal sealed class AddPhysicalDiskHandler(HostServices services) : EngineHandler<AddPhysicalDiskRequest, PhysicalDiskInfo>(services)
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(AddPhysicalDiskRequest request, ReplyBuilder<PhysicalDiskInfo> reply, CancellationToken cancellation)
    {
        if ((request.VirtualDisk ?? request.VirtualDiskFriendlyName ?? request.VirtualDiskName ?? request.VirtualDiskUniqueId) is not null)
        {
            throw new StorageException(
                StorageErrors.NotSupported, "Disks are added to storage pools; a virtual disk uses the disks of its pool.", "Name the pool instead.");
        }

        var pool = (await PoolsAsync().ConfigureAwait(false)).One(
            request.StoragePool ?? request.StoragePoolFriendlyName ?? request.StoragePoolUniqueId ?? request.StoragePoolName ?? "");
        var disks = (await PhysicalDisksAsync().ConfigureAwait(false)).ByReference(request.PhysicalDisks ?? [], reply.Fail);
        if (disks.Count > 0)
        {
            var usage = (EngineFormats.DiskUsage)(int)(request.Usage ?? PhysicalDiskUsage.AutoSelect);
            await Engine.AddPhysicalDisksAsync(pool.UniqueId, [.. disks.Select(disk => disk.UniqueId)], usage).ConfigureAwait(false);
        }
    }
}

/// <summary>Remove-PhysicalDisk.</summary>
internal sealed class RemovePhysicalDiskHandler(HostServices services) : EngineHandler<RemovePhysicalDiskRequest, PhysicalDiskInfo>(services)
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(RemovePhysicalDiskRequest request, ReplyBuilder<PhysicalDiskInfo> reply, CancellationToken cancellation)
    {
        if ((request.VirtualDisk ?? request.VirtualDiskFriendlyName ?? request.VirtualDiskName ?? request.VirtualDiskUniqueId) is not null)
        {
            throw new StorageException(
                StorageErrors.NotSupported, "Disks are removed from storage pools; a virtual disk uses the disks of its pool.", "Name the pool instead.");
        }

        var pool = (await PoolsAsync().ConfigureAwait(false)).One(
            request.StoragePool ?? request.StoragePoolFriendlyName ?? request.StoragePoolUniqueId ?? request.StoragePoolName ?? "");
        var disks = (await PhysicalDisksAsync().ConfigureAwait(false)).ByReference(request.PhysicalDisks ?? [], reply.Fail);
        if (disks.Count > 0)
        {
            await Engine.RemovePhysicalDisksAsync(pool.UniqueId, [.. disks.Select(disk => disk.UniqueId)]).ConfigureAwait(false);
        }
    }
}

/// <summary>Reset-PhysicalDisk.</summary>
internal sealed class ResetPhysicalDiskHandler(HostServices services) : EngineHandler<ResetPhysicalDiskRequest, PhysicalDiskInfo>(services)
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(ResetPhysicalDiskRequest request, ReplyBuilder<PhysicalDiskInfo> reply, CancellationToken cancellation)
    {
        var all = await PhysicalDisksAsync().ConfigureAwait(false);
        foreach (var disk in Select(all, reply, One(request.FriendlyName), One(request.UniqueId), null, request.InputObject))
        {
            await reply.TryAsync(() => Engine.ResetPhysicalDiskAsync(disk.UniqueId)).ConfigureAwait(false);
        }
    }
}

/// <summary>The parameters that New- and Register-PhysicalDisk share, as the engine takes them.</summary>
internal static class Registration
{
    /// <summary>A registration.</summary>
    public static RegistrationSpec Of(
        string path, string? name, Contracts.MediaType? media, Contracts.BusType? bus, uint? spindle, ulong? logical, ulong? physical, bool? cache,
        string? profile, ushort? enclosure, ushort? slot) => new()
        {
            Path = path,
            FriendlyName = name ?? "",
            LatencyProfile = profile ?? "",
            EnclosureNumber = enclosure ?? -1,
            SlotNumber = slot ?? -1,
            Overrides = new DiskOverrides(
                (Media?)(int?)media, (TierSpaces.Engine.Devices.BusType?)(int?)bus, spindle, Sector(logical), Sector(physical), cache),
        };

    private static int? Sector(ulong? size) => size is { } given ? (int)Math.Min(given, int.MaxValue) : null;
}
