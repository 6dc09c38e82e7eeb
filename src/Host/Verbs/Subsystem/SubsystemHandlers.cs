using TierSpaces.Contracts;
using TierSpaces.Host.Engine;
using TierSpaces.Host.Serving;

namespace TierSpaces.Host.Verbs.Subsystem;

/// <summary>The one storage subsystem: this machine. It answers to the names that Windows' own subsystem has.</summary>
internal static class SubsystemObject
{
    private static readonly string[] names = ["Windows Storage", "Storage Spaces"];

    /// <summary>Name shown.</summary>
    public static string FriendlyName => $"Windows Storage on {Environment.MachineName}";

    /// <summary>The subsystem as an object.</summary>
    public static StorageSubSystemInfo Describe(bool isHealthy) => new()
    {
        FriendlyName = FriendlyName,
        Name = Environment.MachineName,
        UniqueId = Environment.MachineName,
        ObjectId = $"StorageSubSystem:{Environment.MachineName}",
        HealthStatus = (isHealthy ? HealthStatus.Healthy : HealthStatus.Warning).ToString(),
        OperationalStatus = [(isHealthy ? OperationalStatus.OK : OperationalStatus.Degraded).ToString()],
        Manufacturer = "TierSpaces",
        Model = "TierSpaces",
        SupportsVirtualDiskCreation = true,
        SupportsVirtualDiskModification = true,
        SupportsVirtualDiskDeletion = true,
        SupportsVirtualDiskCapacityExpansion = true,
        SupportsVirtualDiskCapacityReduction = false,
        SupportsStoragePoolCreation = true,
        SupportsStoragePoolDeletion = true,
        SupportsStoragePoolFriendlyNameModification = true,
        SupportsStoragePoolAddPhysicalDisk = true,
        SupportsStoragePoolRemovePhysicalDisk = true,
        SupportsMultipleResiliencySettingsPerStoragePool = true,
        SupportsMirrorLocal = true,
        PhysicalDisksPerStoragePoolMin = 1,
    };

    /// <summary>Whether a text or wildcard means the subsystem.</summary>
    public static bool IsMeant(string pattern)
    {
        var wildcard = new WildcardPattern(pattern);
        return wildcard.Fits(FriendlyName) || wildcard.Fits(Environment.MachineName)
            || names.Any(name => wildcard.Fits(name) || wildcard.Fits($"{name} on {Environment.MachineName}"));
    }

    /// <summary>Refuses a request that names another subsystem.</summary>
    public static void Require(params string[]?[] selectors)
    {
        foreach (var pattern in selectors.SelectMany(selector => selector ?? []))
        {
            if (!IsMeant(pattern))
            {
                throw StorageException.NotFound("MSFT_StorageSubSystem", "FriendlyName", pattern);
            }
        }
    }
}

/// <summary>Get-StorageSubSystem.</summary>
internal sealed class GetStorageSubSystemHandler(HostServices services) : EngineHandler<GetStorageSubSystemRequest, StorageSubSystemInfo>(services)
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(GetStorageSubSystemRequest request, ReplyBuilder<StorageSubSystemInfo> reply, CancellationToken cancellation)
    {
        var pools = await Engine.PoolsAsync().ConfigureAwait(false);
        var info = SubsystemObject.Describe(pools.All(pool => pool.Health == TierSpaces.Engine.Pools.HealthStatus.Healthy));
        var patterns = request.FriendlyName ?? request.UniqueId ?? request.Name ?? ["*"];
        foreach (var pattern in patterns)
        {
            if (!SubsystemObject.IsMeant(pattern) && !new WildcardPattern(pattern).HasWildcards)
            {
                reply.Fail(StorageException.NotFound("MSFT_StorageSubSystem", "FriendlyName", pattern).Error);
            }
        }

        if (patterns.Any(SubsystemObject.IsMeant) && (request.HealthStatus is not { Length: > 0 } health || health.Any(value => value.ToString() == info.HealthStatus)))
        {
            reply.Add(info);
        }
    }
}

/// <summary>Get-StorageCounter.</summary>
internal sealed class GetStorageCounterHandler(HostServices services) : EngineHandler<GetStorageCounterRequest, StorageCounterInfo>(services)
{
    /// <summary>The counters of everything that is open.</summary>
    public static async Task<StorageCounterInfo[]> AllAsync(HostServices services)
    {
        var disks = await services.Engine.Subsystem.VirtualDisksAsync().ConfigureAwait(false);
        var physical = await services.Engine.Subsystem.PhysicalDisksAsync().ConfigureAwait(false);
        return
        [
            .. disks.Where(disk => disk.Counters is not null).Select(ObjectMapping.Counters),
            .. physical.Where(disk => disk.Counters is not null).Select(ObjectMapping.Counters),
        ];
    }

    /// <inheritdoc/>
    protected override async Task HandleAsync(GetStorageCounterRequest request, ReplyBuilder<StorageCounterInfo> reply, CancellationToken cancellation)
    {
        if (request.VirtualDisk is null && request.PhysicalDisk is null)
        {
            reply.Add(await AllAsync(Services).ConfigureAwait(false));
            return;
        }

        if (request.VirtualDisk is { } virtualDisks)
        {
            reply.Add((await VirtualDisksAsync().ConfigureAwait(false)).ByReference(virtualDisks, reply.Fail)
                .Where(disk => disk.Counters is not null).Select(ObjectMapping.Counters));
        }

        if (request.PhysicalDisk is { } physicalDisks)
        {
            reply.Add((await PhysicalDisksAsync().ConfigureAwait(false)).ByReference(physicalDisks, reply.Fail)
                .Where(disk => disk.Counters is not null).Select(ObjectMapping.Counters));
        }
    }
}
