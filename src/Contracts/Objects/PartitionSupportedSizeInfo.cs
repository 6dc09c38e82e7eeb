namespace TierSpaces.Contracts;

/// <summary>Sizes that a partition can be resized to: what Get-PartitionSupportedSize returns. In bytes.</summary>
[WindowsClass("PartitionSupportedSize", "SizeMin:bytes", "SizeMax:bytes")]
public sealed record PartitionSupportedSizeInfo
{
    /// <summary>Smallest size with the file system that is on it.</summary>
    public ulong SizeMin { get; init; }

    /// <summary>Largest size with the free extent behind it.</summary>
    public ulong SizeMax { get; init; }
}
