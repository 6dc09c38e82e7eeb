using TierSpaces.Contracts;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Tiering;

namespace TierSpaces.Host.Verbs.Mapping;

/// <summary>A slice of a tiered virtual disk as the object users see.</summary>
internal static class SliceMapping
{
    private const int HeatDigits = 3;

    /// <summary>Maps one.</summary>
    public static StorageTierHeatInfo ToInfo(this SliceStatus slice, VirtualDiskDescription disk, HeatRanking ranking)
    {
        TierDescription? tier = slice.Entry.IsMapped ? disk.Tiers[slice.Entry.Tier] : null;
        return new StorageTierHeatInfo
        {
            VirtualDiskFriendlyName = disk.FriendlyName,
            VirtualDiskUniqueId = Identifiers.OfVirtualDisk(disk.Id.Value),
            Slice = (uint)slice.Slice,
            Offset = (ulong)slice.Slice * (ulong)disk.SliceSize,
            Length = (ulong)disk.SliceSize,
            Heat = Shown(slice.Heat),
            Rank = tier is null ? null : (uint)ranking.Hotter(slice.Heat) + 1,
            Tier = tier?.FriendlyName,
            MediaType = tier is null ? null : DisplayName.Of(MediaCode.Of(tier.MediaTypeCode).ToContract()),
            PinnedTier = slice.PinnedTier >= 0 ? disk.Tiers[slice.PinnedTier].FriendlyName : null,
            Reason = tier is null ? null : slice.Entry.Reason.ToString(),
            Since = tier is null ? null : SinceOf(slice),
        };
    }

    /// <summary>Heat as it is shown.</summary>
    public static double Shown(double heat) => Math.Round(heat, HeatDigits);

    /// <summary>Returns the time at which a slice came to its place.</summary>
    public static DateTime SinceOf(SliceStatus slice) => new(slice.Entry.UtcTicks, DateTimeKind.Utc);
}
