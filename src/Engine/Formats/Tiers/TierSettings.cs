namespace TierSpaces.Engine.Formats;

/// <summary>
/// Settings for the heat of a tiered virtual disk, and conditions for a move that depend on the slice alone. They can change while the disk is in use.
/// </summary>
public sealed record TierSettings
{
    /// <summary>The default settings.</summary>
    public static TierSettings Default { get; } = new();

    /// <summary>Largest <see cref="MinimumHeat"/>.</summary>
    public const long MinimumHeatMax = 1_000_000_000;

    /// <summary>Largest <see cref="DemoteColdAfterNs"/>: a year of 365 days.</summary>
    public const long DemoteColdAfterNsMax = 365 * 86_400L * 1_000_000_000;

    /// <summary>Smallest <see cref="HalfLifeNs"/>: a second.</summary>
    public const long HalfLifeNsMin = 1_000_000_000;

    /// <summary>Largest <see cref="HalfLifeNs"/>: a year of 365 days.</summary>
    public const long HalfLifeNsMax = DemoteColdAfterNsMax;

    /// <summary>Heat that a slice must have to be brought to a faster tier, in requests: 0 to <see cref="MinimumHeatMax"/>.</summary>
    public long MinimumHeat { get; init; }

    /// <summary>Time without a request after which a slice goes to the slowest tier, in nanoseconds; 0: it stays until its place is needed.</summary>
    public long DemoteColdAfterNs { get; init; }

    /// <summary>Time after which a request counts half, in nanoseconds: a second to a year; a day unless set.</summary>
    public long HalfLifeNs { get; init; } = 86_400L * 1_000_000_000;

    /// <summary>Whether every value is in its range.</summary>
    public bool IsPossible =>
        HalfLifeNs is >= HalfLifeNsMin and <= HalfLifeNsMax && MinimumHeat is >= 0 and <= MinimumHeatMax && DemoteColdAfterNs is >= 0
            and <= DemoteColdAfterNsMax;

    internal void Encode(ByteWriter to)
    {
        to.I64(MinimumHeat);
        to.I64(DemoteColdAfterNs);
        to.I64(HalfLifeNs);
    }

    internal static TierSettings Decode(ref ByteReader from) => new()
    {
        MinimumHeat = from.I64(),
        DemoteColdAfterNs = from.I64(),
        HalfLifeNs = from.Remaining > 0 ? from.I64() : Default.HalfLifeNs,
    };
}
