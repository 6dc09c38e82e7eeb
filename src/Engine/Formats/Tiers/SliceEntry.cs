namespace TierSpaces.Engine.Formats;

/// <summary>Reason of the last move of a slice.</summary>
public enum SliceReason : byte
{
    /// <summary>It was put there by its first write.</summary>
    FirstWrite = 0,

    /// <summary>Hot: it was brought to a faster tier.</summary>
    Promoted = 1,

    /// <summary>It made room for a hotter one.</summary>
    MadeRoom = 2,

    /// <summary>It is pinned there.</summary>
    Pinned = 3,

    /// <summary>It had not been used for the time set.</summary>
    Cold = 4,

    /// <summary>It made room for writes to come: its tier had less free than it is to have.</summary>
    Reserve = 5,

    /// <summary>Its tier held more than it is to hold.</summary>
    Demoted = 6,

    /// <summary>It was put there with the first write of a neighbour, and may not have been written since.</summary>
    Ahead = 7,
}

/// <summary>
/// Place of a slice, in eight bytes: slot (bits 0–31), number of the tier + 1 (32–35; 0: nowhere), reason of the last move (36–39), its hour since 2020 in UTC
/// (40–63).
/// </summary>
/// <param name="Bits">The eight bytes.</param>
public readonly record struct SliceEntry(ulong Bits)
{
    /// <summary>Most tiers of a virtual disk.</summary>
    public const int TiersMax = 15;

    private const long TicksPerHour = 36_000_000_000;
    private const long Hour2020 = 637_134_336_000_000_000 / TicksPerHour;   // hours from year 1 to 2020-01-01

    /// <summary>Entry of a mapped slice.</summary>
    /// <param name="tier">Number of the tier, 0 to 14.</param>
    /// <param name="slot">Slot in it.</param>
    /// <param name="reason">Reason of the move.</param>
    /// <param name="utcTicks">Time of the move, in 100 ns ticks of UTC.</param>
    public SliceEntry(int tier, uint slot, SliceReason reason, long utcTicks)
        : this(slot | ((ulong)(tier + 1) << 32) | ((ulong)reason << 36) | ((ulong)Math.Clamp((utcTicks / TicksPerHour) - Hour2020, 0, (1 << 24) - 1) << 40))
    {
    }

    /// <summary>Nowhere: reads as zeros.</summary>
    public static SliceEntry None => default;

    /// <summary>Whether it is somewhere.</summary>
    public bool IsMapped => (Bits >> 32 & 15) != 0;

    /// <summary>Number of its tier; −1: nowhere.</summary>
    public int Tier => (int)(Bits >> 32 & 15) - 1;

    /// <summary>The same once it was written: <see cref="SliceReason.FirstWrite"/> in place of <see cref="SliceReason.Ahead"/>.</summary>
    internal SliceEntry Written => IsMapped && Reason == SliceReason.Ahead ? new(Bits & ~(15UL << 36)) : this;

    /// <summary>The same with its tier called by another number.</summary>
    internal SliceEntry WithTier(int tier) => new((Bits & ~(15UL << 32)) | ((ulong)(tier + 1) << 32));

    /// <summary>Slot in its tier.</summary>
    public uint Slot => (uint)Bits;

    /// <summary>Reason of the last move.</summary>
    public SliceReason Reason => (SliceReason)(Bits >> 36 & 15);

    /// <summary>Time of the last move, to the hour, in 100 ns ticks of UTC.</summary>
    public long UtcTicks => ((long)(Bits >> 40) + Hour2020) * TicksPerHour;
}
