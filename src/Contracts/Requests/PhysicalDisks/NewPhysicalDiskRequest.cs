namespace TierSpaces.Contracts;

/// <summary>Creates image files and registers them as physical disks.</summary>
[Verb("New-PhysicalDisk", "Creates image files and registers them as physical disks.", ChangesState = true, IsOurs = true)]
public sealed record NewPhysicalDiskRequest : StorageRequest<PhysicalDiskInfo>, IPhysicalDiskDeclaration
{
    [VerbParameter(
        "Image files to create; a relative path counts from the current directory.", Required = true, Position = 0,
        Kind = ParameterKind.Path)]
    public string[]? Path { get; init; }

    [VerbParameter(
        "Size of each image in bytes; KB, MB, GB, TB and PB are accepted.", Required = true, Position = 1,
        Kind = ParameterKind.Size)]
    public ulong? Size { get; init; }

    [VerbParameter("Friendly name; default is the name of the file. One file only.")]
    public string? FriendlyName { get; init; }

    [VerbParameter("Reserves the space on the file system at once, instead of on first write.")]
    public bool Preallocate { get; init; }

    [VerbParameter("Kind of medium, instead of what the system says.", Except = "Unspecified")]
    public MediaType? MediaType { get; init; }

    [VerbParameter("Bus, instead of what the system says.")]
    public BusType? BusType { get; init; }

    [VerbParameter("Accepts a RAID below the disk (bus RAID, md, device-mapper), which hides identity and health of its disks: it can be pooled.")]
    public bool Force { get; init; }

    [VerbParameter("Revolutions per minute, 0 for none, instead of what the system says.")]
    public uint? SpindleSpeed { get; init; }

    [VerbParameter("Logical sector size in bytes, 512 or 4096, instead of what the system says.", Kind = ParameterKind.Size, Suggestions = "512, 4096")]
    public ulong? LogicalSectorSize { get; init; }

    [VerbParameter(
        "Physical sector size in bytes, 512 or 4096, at least the logical one, instead of what the system says.",
        Kind = ParameterKind.Size, Suggestions = "512, 4096")]
    public ulong? PhysicalSectorSize { get; init; }

    [VerbParameter("Indicates whether the disk holds completed writes in a volatile cache, instead of what the system says.")]
    public bool? IsWriteCacheEnabled { get; init; }

    [VerbParameter(
        "Emulates the latency of a class of disk; Get-StorageDiskProfile lists them.",
        Suggestions = "HDD5400, HDD7200, HDD10K, HDD15K, SSDSata, SSDSas, NVMe")]
    public string? LatencyProfile { get; init; }

    [VerbParameter("Number of the enclosure the disk is in.")]
    public ushort? EnclosureNumber { get; init; }

    [VerbParameter("Slot of the disk in its enclosure.")]
    public ushort? SlotNumber { get; init; }

    [VerbParameter("Name of the scale unit (node) the disk is in.")]
    public string? StorageScaleUnitId { get; init; }

    [VerbParameter("Name of the chassis the disk is in.")]
    public string? StorageChassisId { get; init; }

    [VerbParameter("Name of the rack the disk is in.")]
    public string? StorageRackId { get; init; }
}
