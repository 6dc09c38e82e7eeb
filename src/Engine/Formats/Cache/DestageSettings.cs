namespace TierSpaces.Engine.Formats;

/// <summary>Conditions and rate at which a write cache destages its data. They can change while the cache is in use.</summary>
public sealed record DestageSettings
{
    /// <summary>The default settings.</summary>
    public static DestageSettings Default { get; } = new();

    /// <summary>Largest <see cref="StartPercent"/>.</summary>
    public const int StartPercentMax = 95;

    /// <summary>Largest <see cref="IdleNs"/>: a day.</summary>
    public const long IdleNsMax = 86_400L * 1_000_000_000;

    /// <summary>Last minute of a day.</summary>
    public const int HoldUntilMax = (24 * 60) - 1;

    private const ushort NoTime = ushort.MaxValue;

    /// <summary>Fill level of the cache at which destaging starts, in percent: 1 to 95.</summary>
    public int StartPercent { get; init; } = 25;

    /// <summary>Fill level of the cache at which destaging stops, in percent: 0 to <see cref="StartPercent"/> − 1.</summary>
    public int StopPercent { get; init; } = 10;

    /// <summary>Time without requests after which everything is destaged, in nanoseconds: 0 to a day.</summary>
    public long IdleNs { get; init; } = 2_000_000_000;

    /// <summary>Most bytes destaged in a second; 0: as fast as the pacing allows.</summary>
    public long BytesPerSecond { get; init; }

    /// <summary>Whether nothing is destaged until it is 80 % full or <see cref="HoldUntil"/> has come.</summary>
    public bool Hold { get; init; }

    /// <summary>Time of day at which held data is destaged, in minutes since midnight, local time; −1: none.</summary>
    public int HoldUntil { get; init; } = -1;

    /// <summary>Whether every value is in its range.</summary>
    public bool IsPossible => StartPercent is >= 1 and <= StartPercentMax && StopPercent >= 0 && StopPercent < StartPercent
        && IdleNs is >= 0 and <= IdleNsMax && BytesPerSecond >= 0 && HoldUntil is >= -1 and <= HoldUntilMax;

    internal void Encode(ByteWriter to)
    {
        to.U8((byte)StartPercent);
        to.U8((byte)StopPercent);
        to.I64(IdleNs);
        to.I64(BytesPerSecond);
        to.Bool(Hold);
        to.U16(HoldUntil < 0 ? NoTime : (ushort)HoldUntil);
    }

    internal static DestageSettings Decode(ref ByteReader from) => new()
    {
        StartPercent = from.U8(),
        StopPercent = from.U8(),
        IdleNs = from.I64(),
        BytesPerSecond = from.I64(),
        Hold = from.Bool(),
        HoldUntil = from.U16() is var minutes and not NoTime ? minutes : -1,
    };
}
