namespace TierSpaces.Contracts;

/// <summary>A partition: what Get-Partition returns.</summary>
[WindowsClass("MSFT_Partition", "PartitionNumber", "DriveLetter", "Offset", "Size:bytes", "Type")]
public sealed record PartitionInfo
{
    public uint DiskNumber { get; init; }

    public uint PartitionNumber { get; init; }

    /// <summary>A letter from A to Z; null for none.</summary>
    public string? DriveLetter { get; init; }

    /// <summary>Drive letter and paths that the volume is mounted at, and its block device.</summary>
    public string[] AccessPaths { get; init; } = [];

    public string OperationalStatus { get; init; } = "";

    /// <summary>1: the partition is stable.</summary>
    public ushort TransitionState { get; init; }

    /// <summary>In bytes.</summary>
    public ulong Offset { get; init; }

    /// <summary>In bytes.</summary>
    public ulong Size { get; init; }

    /// <summary>Basic, System, Reserved, Recovery, Linux, the name of an MBR type, or Unknown.</summary>
    public string Type { get; init; } = "";

    /// <summary>Number of the type in an MBR; null in a GPT.</summary>
    public ushort? MbrType { get; init; }

    /// <summary>GUID of the type in a GPT; null in an MBR.</summary>
    public string? GptType { get; init; }

    /// <summary>Identifier in a GPT; null in an MBR.</summary>
    public string? Guid { get; init; }

    /// <summary>Identifier of the disk.</summary>
    public string DiskId { get; init; } = "";

    /// <summary>Identifier of the object everywhere.</summary>
    public string UniqueId { get; init; } = "";

    /// <summary>Identifier of the object on this machine.</summary>
    public string ObjectId { get; init; } = "";

    public bool IsReadOnly { get; init; }

    public bool IsOffline { get; init; }

    public bool IsSystem { get; init; }

    public bool IsBoot { get; init; }

    public bool IsActive { get; init; }

    public bool IsHidden { get; init; }

    public bool IsShadowCopy { get; init; }

    public bool IsDAX { get; init; }

    public bool NoDefaultDriveLetter { get; init; }

    public string? PassThroughIds { get; init; }

    public string? PassThroughServer { get; init; }

    public string? PassThroughNamespace { get; init; }

    public string? PassThroughClass { get; init; }
}
