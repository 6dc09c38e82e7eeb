namespace TierSpaces.Contracts;

/// <summary>A volume: a partition for a file system, or the file system of a disk without a partition table; what Get-Volume returns.</summary>
[WindowsClass(
    "MSFT_Volume", "DriveLetter", "FriendlyName=FileSystemLabel", "FileSystemType", "DriveType", "HealthStatus", "OperationalStatus", "SizeRemaining:bytes",
    "Size:bytes")]
public sealed record VolumeInfo
{
    /// <summary>A letter from A to Z; null for none.</summary>
    public string? DriveLetter { get; init; }

    /// <summary>Block device.</summary>
    public string Path { get; init; } = "";

    public string FileSystemLabel { get; init; } = "";

    /// <summary>Name of the file system in Linux; empty for none.</summary>
    public string FileSystem { get; init; } = "";

    public string FileSystemType { get; init; } = "";

    public string DriveType { get; init; } = "";

    public string HealthStatus { get; init; } = "";

    public string[] OperationalStatus { get; init; } = [];

    /// <summary>In bytes: of the file system while it is mounted, of its partition else, 0 without a file system.</summary>
    public ulong Size { get; init; }

    /// <summary>In bytes; null while it is not mounted.</summary>
    public ulong? SizeRemaining { get; init; }

    /// <summary>Bytes of an allocation unit; null where only a mount would tell.</summary>
    public uint? AllocationUnitSize { get; init; }

    public string DedupMode { get; init; } = "";

    public string ReFSDedupMode { get; init; } = "";

    /// <summary>Identifier of the object everywhere.</summary>
    public string UniqueId { get; init; } = "";

    /// <summary>Identifier of the object on this machine.</summary>
    public string ObjectId { get; init; } = "";

    public string? PassThroughIds { get; init; }

    public string? PassThroughServer { get; init; }

    public string? PassThroughNamespace { get; init; }

    public string? PassThroughClass { get; init; }

    /// <summary>Ours. The problem, with the command to run; null for none.</summary>
    public string? OtherOperationalStatusDescription { get; init; }

    /// <summary>Ours. File system of Windows that this one was made in place of; null when it is what was requested.</summary>
    public string? RequestedFileSystem { get; init; }

    /// <summary>Ours. Paths that the volume is mounted at now.</summary>
    public string[] MountPoints { get; init; } = [];
}
