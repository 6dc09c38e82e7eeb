using System.Numerics;

namespace TierSpaces.Engine.Tiering;

/// <summary>Settings by which heat is counted on a virtual disk.</summary>
public sealed record HeatSettings
{
    /// <summary>The default settings.</summary>
    public static HeatSettings Default { get; } = new();

    /// <summary>Smallest <see cref="SliceBytes"/>.</summary>
    public const int SliceBytesMin = 256 << 10;

    /// <summary>Largest <see cref="SliceBytes"/>.</summary>
    public const int SliceBytesMax = 16 << 20;

    /// <summary>Smallest <see cref="HalfLifeNs"/>: a second.</summary>
    public const long HalfLifeNsMin = 1_000_000_000;

    /// <summary>Largest <see cref="HalfLifeNs"/>: a year of 365 days.</summary>
    public const long HalfLifeNsMax = 365 * 86_400L * 1_000_000_000;

    /// <summary>Bytes of a slice: a power of two, 256 KiB to 16 MiB.</summary>
    public int SliceBytes { get; init; } = 1 << 20;

    /// <summary>Time after which a request counts half, in nanoseconds: a second to 365 days.</summary>
    public long HalfLifeNs { get; init; } = 86_400L * 1_000_000_000;

    /// <summary>Whether every value is in its range.</summary>
    public bool IsPossible => BitOperations.IsPow2(SliceBytes) && SliceBytes is >= SliceBytesMin and <= SliceBytesMax
        && HalfLifeNs is >= HalfLifeNsMin and <= HalfLifeNsMax;
}
