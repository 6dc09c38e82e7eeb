namespace TierSpaces.Contracts;

/// <summary>Sizes of virtual disk that a pool supports: what Get-VirtualDiskSupportedSize returns. All in bytes.</summary>
[WindowsClass(
    "SupportedSize",
    "SupportedSizes", "VirtualDiskSizeMin:bytes", "VirtualDiskSizeMax:bytes", "VirtualDiskSizeDivisor:bytes")]
public sealed record SupportedSizeInfo
{
    /// <summary>The sizes, when only certain ones are possible; null when minimum, maximum and divisor say it.</summary>
    public ulong[]? SupportedSizes { get; init; }

    /// <summary>Smallest size.</summary>
    public ulong VirtualDiskSizeMin { get; init; }

    /// <summary>Largest size with what is free now.</summary>
    public ulong VirtualDiskSizeMax { get; init; }

    /// <summary>Every size is a multiple of this.</summary>
    public ulong VirtualDiskSizeDivisor { get; init; }
}
