using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.VirtualDisks;
using EngineFormats = TierSpaces.Engine.Formats;

namespace TierSpaces.Host.Engine;

/// <summary>The engine's objects as the documented ones. Names and numbers only; nothing is decided here.</summary>
internal static class ObjectMapping
{
    private const string Root = "{1}\\\\localhost\\root/Microsoft/Windows/Storage/Providers_v2\\SPACES_";

    /// <summary>Identifiers as objects show them.</summary>
    public static string Text(Guid id) => id.ToString("D");

    /// <summary>A physical disk.</summary>
    public static PhysicalDiskInfo ToInfo(PhysicalDiskStatus disk) => new()
    {
        FriendlyName = disk.FriendlyName,
        UniqueId = Text(disk.UniqueId),
        ObjectId = $"{Root}PhysicalDisk.ObjectId=\"{Text(disk.UniqueId)}\"",
        UniqueIdFormat = DisplayName.Of(UniqueIdFormat.VendorSpecific),
        DeviceId = disk.DeviceId < 0 ? "" : disk.DeviceId.ToString(System.Globalization.CultureInfo.InvariantCulture),
        HealthStatus = disk.Health.ToString(),
        OperationalStatus = [disk.OperationalStatus],
        PhysicalLocation = disk.EnclosureNumber >= 0 ? $"Enclosure {disk.EnclosureNumber} : Slot {disk.SlotNumber}" : null,
        VirtualDiskFootprint = (ulong)disk.VirtualDiskBytes,
        Usage = DisplayName.Of((PhysicalDiskUsage)(int)disk.Usage),
        SupportedUsages = DisplayName.Of(
            [PhysicalDiskUsage.AutoSelect, PhysicalDiskUsage.ManualSelect, PhysicalDiskUsage.HotSpare, PhysicalDiskUsage.Retired, PhysicalDiskUsage.Journal]),
        Description = disk.Description,
        FirmwareVersion = disk.FirmwareVersion,
        Size = (ulong)disk.SizeBytes,
        AllocatedSize = (ulong)disk.AllocatedBytes,
        BusType = DisplayName.Of((BusType)(int)disk.BusType),
        IsWriteCacheEnabled = disk.IsWriteCacheEnabled,
        IsPowerProtected = false,
        PhysicalSectorSize = (ulong)disk.PhysicalSectorSize,
        LogicalSectorSize = (ulong)disk.LogicalSectorSize,
        SpindleSpeed = disk.SpindleSpeed,
        IsIndicationEnabled = false,
        EnclosureNumber = disk.EnclosureNumber >= 0 ? (ushort)disk.EnclosureNumber : null,
        SlotNumber = disk.SlotNumber >= 0 ? (ushort)disk.SlotNumber : null,
        CanPool = disk.CannotPool is null,
        CannotPoolReason = disk.CannotPool is { } why ? [DisplayName.Of(ReasonOf(why))] : [],
        OtherCannotPoolReasonDescription = disk.CannotPool is { } other && ReasonOf(other) == CannotPoolReason.Other ? disk.CannotPoolReason : null,
        MediaType = DisplayName.Of((MediaType)(int)disk.MediaType),
        StoragePoolUniqueId = disk.PoolId is { } pool ? Text(pool) : null,
        Manufacturer = disk.Manufacturer,
        Model = disk.Model,
        SerialNumber = disk.SerialNumber,
        Path = PathOf(disk.Uri),
        LatencyProfile = disk.LatencyProfile.Length > 0 ? disk.LatencyProfile : null,
    };

    /// <summary>A pool.</summary>
    public static StoragePoolInfo ToInfo(StoragePoolStatus pool) => new()
    {
        FriendlyName = pool.Description.FriendlyName,
        Name = Text(pool.UniqueId),
        UniqueId = Text(pool.UniqueId),
        ObjectId = $"{Root}StoragePool.ObjectId=\"{Text(pool.UniqueId)}\"",
        Usage = DisplayName.Of(StoragePoolUsage.Other),
        IsPrimordial = false,
        HealthStatus = pool.Health.ToString(),
        OperationalStatus = [pool.OperationalStatus == PoolOperationalStatus.ReadOnly ? "Read-only" : pool.OperationalStatus.ToString()],
        OtherOperationalStatusDescription = pool.StatusReason.Length > 0 ? pool.StatusReason : null,
        Size = (ulong)pool.SizeBytes,
        AllocatedSize = (ulong)pool.AllocatedBytes,
        LogicalSectorSize = (ulong)pool.LogicalSectorSize,
        PhysicalSectorSize = (ulong)pool.PhysicalSectorSize,
        ProvisioningTypeDefault = pool.Description.ProvisioningTypeDefault.ToString(),
        SupportedProvisioningTypes = [nameof(ProvisioningType.Thin), nameof(ProvisioningType.Fixed)],
        ResiliencySettingNameDefault = pool.Description.ResiliencySettingNameDefault,
        IsReadOnly = pool.Description.IsReadOnly || pool.OperationalStatus == PoolOperationalStatus.ReadOnly,
        ReadOnlyReason = DisplayName.Of(pool.Description.IsReadOnly ? ReadOnlyReason.ByPolicy : ReadOnlyReason.None),
        IsClustered = false,
        SupportsDeduplication = false,
        ThinProvisioningAlertThresholds = [pool.Description.ThinProvisioningAlertThreshold],
        ClearOnDeallocate = false,
        IsPowerProtected = pool.Description.IsPowerProtected,
        EnclosureAwareDefault = pool.Description.EnclosureAwareDefault,
        FaultDomainAwarenessDefault = pool.Description.FaultDomainAwarenessDefault.ToString(),
        RetireMissingPhysicalDisks = pool.Description.RetireMissingPhysicalDisks.ToString(),
        WriteCacheSizeDefault = pool.Description.WriteCacheSizeDefault,
        MinimumAllocationSize = (ulong)pool.Description.Slabs.DataBytes,
    };

    /// <summary>Physical disks that no pool has: what Windows calls the primordial pool.</summary>
    public static StoragePoolInfo Primordial(IReadOnlyCollection<PhysicalDiskStatus> disks) => new()
    {
        FriendlyName = "Primordial",
        Name = "Primordial",
        UniqueId = "Primordial",
        ObjectId = $"{Root}StoragePool.ObjectId=\"Primordial\"",
        Usage = DisplayName.Of(StoragePoolUsage.Unrestricted),
        IsPrimordial = true,
        HealthStatus = nameof(Contracts.HealthStatus.Healthy),
        OperationalStatus = [nameof(OperationalStatus.OK)],
        Size = (ulong)disks.Sum(disk => disk.SizeBytes),
        AllocatedSize = (ulong)disks.Where(disk => disk.PoolId is not null).Sum(disk => disk.SizeBytes),
        IsReadOnly = false,
    };

    /// <summary>A virtual disk; how it is attached comes from the host.</summary>
    public static VirtualDiskInfo ToInfo(VirtualDiskStatus disk, string? devicePath, string? method, string? reason)
    {
        var description = disk.Description;
        return new VirtualDiskInfo
        {
            FriendlyName = description.FriendlyName,
            Name = Text(description.Id.Value),
            UniqueId = Text(description.Id.Value),
            ObjectId = $"{Root}VirtualDisk.ObjectId=\"{Text(description.Id.Value)}\"",
            UniqueIdFormat = DisplayName.Of(UniqueIdFormat.VendorSpecific),
            Usage = DisplayName.Of((VirtualDiskUsage)description.Usage),
            OtherUsageDescription = description.OtherUsageDescription,
            HealthStatus = disk.Health.ToString(),
            OperationalStatus = [disk.OperationalStatus],
            ResiliencySettingName = description.ResiliencySettingName,
            Size = (ulong)description.SizeBytes,
            AllocatedSize = (ulong)disk.AllocatedBytes,
            LogicalSectorSize = description.LogicalSectorSize,
            PhysicalSectorSize = description.PhysicalSectorSize,
            FootprintOnPool = (ulong)disk.FootprintBytes,
            ProvisioningType = description.ProvisioningType.ToString(),
            NumberOfDataCopies = description.NumberOfDataCopies,
            PhysicalDiskRedundancy = description.PhysicalDiskRedundancy,
            NumberOfColumns = description.NumberOfColumns,
            Interleave = description.Interleave,
            RequestNoSinglePointOfFailure = description.NumberOfDataCopies > 1,
            Access = DisplayName.Of(description.IsReadOnly ? Access.Readable : Access.ReadWrite),
            IsSnapshot = false,
            IsManualAttach = description.IsManualAttach,
            IsDeduplicationEnabled = false,
            IsEnclosureAware = false,
            NumberOfAvailableCopies = description.NumberOfDataCopies,
            DetachedReason = disk.DetachedReason.Length > 0 ? disk.DetachedReason : DisplayName.Of(DetachedReason.None),
            WriteCacheSize = 0,
            FaultDomainAwareness = description.FaultDomainAwareness.ToString(),
            IsTiered = false,
            MediaType = DisplayName.Of((MediaType)description.MediaTypeCode),
            NumberOfGroups = 1,
            ReadCacheSize = 0,
            StoragePoolUniqueId = Text(disk.PoolId),
            Checksum = description.Checksum.ToString(),
            NbdUri = disk.SocketPath.Length > 0 ? NbdUri(description.FriendlyName, disk.SocketPath) : null,
            DevicePath = devicePath,
            AttachMethod = disk.SocketPath.Length > 0 ? method : null,
            AttachReason = disk.SocketPath.Length > 0 ? reason : null,
            ReadModifyWrites = (ulong)(disk.Counters?.ReadModifyWrites ?? 0),
        };
    }

    /// <summary>The counters of a virtual disk.</summary>
    public static StorageCounterInfo Counters(VirtualDiskStatus disk)
    {
        var counters = disk.Counters!;
        return new StorageCounterInfo
        {
            ObjectType = "VirtualDisk",
            FriendlyName = disk.Description.FriendlyName,
            UniqueId = Text(disk.Description.Id.Value),
            Reads = (ulong)counters.ReadOperations,
            ReadBytes = (ulong)counters.ReadBytes,
            Writes = (ulong)counters.WriteOperations,
            WriteBytes = (ulong)counters.WriteBytes,
            Flushes = (ulong)counters.FlushOperations,
            Unmaps = (ulong)counters.UnmapOperations,
            UnmapBytes = (ulong)counters.UnmapBytes,
            MetadataWriteBytes = (ulong)(disk.SpaceCounters?.MetadataBytesWritten ?? 0),
            Errors = (ulong)counters.Errors,
            QueueLength = (ulong)counters.Queue,
            Splits = (ulong)Math.Max(0, (disk.SpaceCounters?.Pieces ?? 0) - counters.ReadOperations - counters.WriteOperations),
            ReadModifyWrites = (ulong)counters.ReadModifyWrites,
            LatencyBoundsUs = Bounds(),
            ReadLatency = Classes(counters.ReadLatencies),
            WriteLatency = Classes(counters.WriteLatencies),
            FlushLatency = Classes(counters.FlushLatencies),
        };
    }

    /// <summary>The counters of a physical disk.</summary>
    public static StorageCounterInfo Counters(PhysicalDiskStatus disk)
    {
        var counters = disk.Counters!;
        return new StorageCounterInfo
        {
            ObjectType = "PhysicalDisk",
            FriendlyName = disk.FriendlyName,
            UniqueId = Text(disk.UniqueId),
            Reads = (ulong)counters.ReadOperations,
            ReadBytes = (ulong)counters.ReadBytes,
            Writes = (ulong)counters.WriteOperations,
            WriteBytes = (ulong)counters.WriteBytes,
            Flushes = (ulong)counters.FlushOperations,
            Unmaps = (ulong)counters.UnmapOperations,
            UnmapBytes = (ulong)counters.UnmapBytes,
            Errors = (ulong)counters.Errors,
            QueueLength = (ulong)counters.Queue,
            LatencyBoundsUs = Bounds(),
            ReadLatency = Classes(counters.ReadLatencies),
            WriteLatency = Classes(counters.WriteLatencies),
            FlushLatency = Classes(counters.FlushLatencies),
        };
    }

    /// <summary>A run of slabs.</summary>
    public static PhysicalExtentInfo ToInfo(PhysicalExtent extent) => new()
    {
        ColumnNumber = (ushort)extent.Column,
        CopyNumber = (ushort)extent.Copy,
        OperationalStatus = [extent.IsMissing ? "Lost Communication" : extent.IsStale ? "Stale" : nameof(OperationalStatus.OK)],
        PhysicalDiskOffset = (ulong)extent.PhysicalOffset,
        PhysicalDiskUniqueId = Text(extent.PhysicalDisk),
        Size = (ulong)extent.Size,
        VirtualDiskOffset = (ulong)extent.VirtualOffset,
        VirtualDiskUniqueId = Text(extent.VirtualDisk),
    };

    /// <summary>A resiliency setting of a pool.</summary>
    public static ResiliencySettingInfo ToInfo(Guid pool, EngineFormats.ResiliencyDefaults setting)
    {
        var isMirror = setting.Name == "Mirror";
        return new ResiliencySettingInfo
        {
            Name = setting.Name,
            UniqueId = $"{Text(pool)}:{setting.Name}",
            ObjectId = $"{Root}ResiliencySetting.ObjectId=\"{Text(pool)}:{setting.Name}\"",
            NumberOfDataCopiesMin = (ushort)(isMirror ? 2 : 1),
            NumberOfDataCopiesMax = (ushort)(isMirror ? 3 : 1),
            NumberOfDataCopiesDefault = setting.NumberOfDataCopiesDefault,
            PhysicalDiskRedundancyMin = (ushort)(setting.Name == "Simple" ? 0 : 1),
            PhysicalDiskRedundancyMax = (ushort)(setting.Name == "Simple" ? 0 : 2),
            PhysicalDiskRedundancyDefault = setting.PhysicalDiskRedundancyDefault,
            NumberOfColumnsMin = 1,
            NumberOfColumnsMax = 64,
            NumberOfColumnsDefault = setting.NumberOfColumnsDefault == 0 ? null : setting.NumberOfColumnsDefault,
            InterleaveMin = 16 << 10,
            InterleaveMax = 16 << 20,
            InterleaveDefault = setting.InterleaveDefault,
            RequestNoSinglePointOfFailure = setting.Name != "Simple",
        };
    }

    /// <summary>Where any NBD client finds an export.</summary>
    public static string NbdUri(string name, string socket) => $"nbd+unix:///{Uri.EscapeDataString(name)}?socket={Uri.EscapeDataString(socket).Replace("%2F", "/", StringComparison.Ordinal)}";

    private static string? PathOf(string uri) => uri.Length == 0 ? null : TierSpaces.Engine.Devices.DiskUri.Parse(uri).Path;

    private static ulong[] Bounds() => [.. Enumerable.Range(0, IoCounters.LatencyClasses).Select(i => 2UL << i)];

    private static ulong[] Classes(ReadOnlySpan<long> classes)
    {
        var copy = new ulong[classes.Length];
        for (var i = 0; i < copy.Length; i++)
        {
            copy[i] = (ulong)classes[i];
        }

        return copy;
    }

    private static CannotPoolReason ReasonOf(Refusal refusal) => refusal switch
    {
        Refusal.PhysicalDiskInUse => CannotPoolReason.InAPool,
        Refusal.NotEnoughCapacity => CannotPoolReason.InsufficientCapacity,
        Refusal.Failed => CannotPoolReason.NotHealthy,
        _ => CannotPoolReason.Other,
    };
}
