namespace TierSpaces.Contracts;

/// <summary>The storage subsystem: what Get-StorageSubSystem returns.</summary>
[WindowsClass("MSFT_StorageSubSystem", "FriendlyName", "HealthStatus", "OperationalStatus")]
public sealed record StorageSubSystemInfo
{
    public string FriendlyName { get; init; } = "";

    public string Name { get; init; } = "";

    /// <summary>Identifier of the object everywhere.</summary>
    public string UniqueId { get; init; } = "";

    /// <summary>Identifier of the object on this machine.</summary>
    public string ObjectId { get; init; } = "";

    public string? Description { get; init; }

    public string? NameFormat { get; init; }

    public string[]? OtherIdentifyingInfo { get; init; }

    public string[]? OtherIdentifyingInfoDescription { get; init; }

    public string HealthStatus { get; init; } = "";

    public string[] OperationalStatus { get; init; } = [];

    public string? OtherOperationalStatusDescription { get; init; }

    public string? CurrentCacheLevel { get; init; }

    public string? Manufacturer { get; init; }

    public string? Model { get; init; }

    public string? SerialNumber { get; init; }

    public string? FirmwareVersion { get; init; }

    public string? Tag { get; init; }

    public bool? AutomaticClusteringEnabled { get; init; }

    public ushort? PhysicalDisksPerStoragePoolMin { get; init; }

    public bool? SupportsMirrorLocal { get; init; }

    public bool? SupportsMirrorRemote { get; init; }

    public bool? SupportsSnapshotLocal { get; init; }

    public bool? SupportsSnapshotRemote { get; init; }

    public bool? SupportsCloneLocal { get; init; }

    public bool? SupportsCloneRemote { get; init; }

    public bool? SupportsVirtualDiskCreation { get; init; }

    public bool? SupportsVirtualDiskModification { get; init; }

    public bool? SupportsVirtualDiskDeletion { get; init; }

    public bool? SupportsVirtualDiskCapacityExpansion { get; init; }

    public bool? SupportsVirtualDiskCapacityReduction { get; init; }

    public bool? SupportsVirtualDiskRepair { get; init; }

    public bool? SupportsVolumeCreation { get; init; }

    public bool? SupportsStoragePoolCreation { get; init; }

    public bool? SupportsStoragePoolDeletion { get; init; }

    public bool? SupportsStoragePoolFriendlyNameModification { get; init; }

    public bool? SupportsStoragePoolAddPhysicalDisk { get; init; }

    public bool? SupportsStoragePoolRemovePhysicalDisk { get; init; }

    public bool? SupportsAutomaticStoragePoolSelection { get; init; }

    public bool? SupportsMultipleResiliencySettingsPerStoragePool { get; init; }

    public bool? SupportsStorageTierCreation { get; init; }

    public bool? SupportsStorageTierDeletion { get; init; }

    public bool? SupportsStorageTierResize { get; init; }

    public bool? SupportsStorageTierFriendlyNameModification { get; init; }

    public bool? SupportsStorageTieredVirtualDiskCreation { get; init; }

    public ushort? ReplicasPerSourceSnapshotMax { get; init; }

    public ushort? ReplicasPerSourceCloneMax { get; init; }

    public ushort? ReplicasPerSourceMirrorMax { get; init; }

    public bool? SupportsMaskingVirtualDiskToHosts { get; init; }

    public string[]? MaskingValidInitiatorIdTypes { get; init; }

    public string[]? MaskingOtherValidInitiatorIdTypes { get; init; }

    public string? MaskingPortsPerView { get; init; }

    public bool? MaskingClientSelectableDeviceNumbers { get; init; }

    public bool? MaskingOneInitiatorIdPerView { get; init; }

    public ushort? MaskingMapCountMax { get; init; }

    public string? DataTieringType { get; init; }

    public string? iSCSITargetCreationScheme { get; init; }

    public uint? NumberOfSlots { get; init; }

    public string[]? SupportedHostType { get; init; }

    public string[]? OtherHostTypeDescription { get; init; }

    public string? FaultDomainAwarenessDefault { get; init; }

    public ushort? StorageConnectionType { get; init; }

    public string[]? SupportedDeduplicationFileSystemTypes { get; init; }

    public string[]? SupportedDeduplicationObjectTypes { get; init; }

    public string[]? SupportedFileServerProtocols { get; init; }

    public string[]? SupportedFileSystems { get; init; }

    public bool? SupportsContinuouslyAvailableFileServer { get; init; }

    public bool? SupportsFileServer { get; init; }

    public bool? SupportsFileServerCreation { get; init; }

    public bool? VirtualDiskRepairEnabled { get; init; }

    /// <summary>1, 2, 4, 8 or 16: how much of the disks repairs have while clients use them.</summary>
    public uint? VirtualDiskRepairQueueDepth { get; init; }

    public string? PassThroughIds { get; init; }

    public string? PassThroughServer { get; init; }

    public string? PassThroughNamespace { get; init; }

    public string? PassThroughClass { get; init; }
}
