namespace TierSpaces.Contracts;

/// <summary>A size of an allocation unit that a file system can have on a volume. A shell gets the number alone.</summary>
[WindowsClass("SupportedClusterSize", "ClusterSize:bytes", Value = nameof(ClusterSize))]
public sealed record SupportedClusterSizeInfo
{
    /// <summary>In bytes.</summary>
    public uint ClusterSize { get; init; }
}
