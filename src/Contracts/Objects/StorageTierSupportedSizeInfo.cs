namespace TierSpaces.Contracts;

/// <summary>Sizes that a storage tier may have: what Get-StorageTierSupportedSize returns. All in bytes.</summary>
[WindowsClass(
    "StorageTierSupportedSize", "SupportedSizes", "TierSizeMin:bytes", "TierSizeMax:bytes", "TierSizeDivisor:bytes")]
public sealed record StorageTierSupportedSizeInfo
{
    /// <summary>The sizes, when only certain ones are possible; null when minimum, maximum and divisor say it.</summary>
    public ulong[]? SupportedSizes { get; init; }

    /// <summary>Smallest size.</summary>
    public ulong TierSizeMin { get; init; }

    /// <summary>Largest size with what is free now.</summary>
    public ulong TierSizeMax { get; init; }

    /// <summary>Every size is a multiple of this.</summary>
    public ulong TierSizeDivisor { get; init; }
}
