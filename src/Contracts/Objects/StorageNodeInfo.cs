namespace TierSpaces.Contracts;

/// <summary>A node: what Get-StorageNode returns.</summary>
[WindowsClass("MSFT_StorageNode", "Name", "Manufacturer", "Model", "SerialNumber", "OperationalStatus")]
public sealed record StorageNodeInfo
{
    public string Name { get; init; } = "";

    /// <summary>Identifier of the object everywhere.</summary>
    public string UniqueId { get; init; } = "";

    /// <summary>Identifier of the object on this machine.</summary>
    public string ObjectId { get; init; } = "";

    public ushort? NameFormat { get; init; }

    public string[]? OtherIdentifyingInfo { get; init; }

    public string[]? OtherIdentifyingInfoDescription { get; init; }

    public string OperationalStatus { get; init; } = "";

    public string? Manufacturer { get; init; }

    public string? Model { get; init; }

    public string? SerialNumber { get; init; }

    public string? FirmwareVersion { get; init; }

    public string? PassThroughIds { get; init; }

    public string? PassThroughServer { get; init; }

    public string? PassThroughNamespace { get; init; }

    public string? PassThroughClass { get; init; }
}
