using TierSpaces.Contracts;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Host.Verbs.VirtualDisks;

/// <summary>Slabs that move, in words: a line for each pair of disks, with the offsets of the first slabs.</summary>
internal static class SlabMoveText
{
    private const int SlabsShown = 16;   // of each line

    /// <summary>Slabs that a repair of one virtual disk makes again.</summary>
    public static IEnumerable<string> OfRepair(PlannedSlabMoves plan) => plan.Moves.Select(move =>
    {
        string what = $"{What(move, plan)} of physical disk '{move.From}'";
        return move.To is { } to ? $"Regenerate {what} on physical disk '{to}': {Offsets(move.Each)}"
            : $"Leave {what} where they are: no physical disk has room for them";
    });

    /// <summary>Slabs of several virtual disks that move.</summary>
    public static IEnumerable<string> OfMoves(PlannedSlabMoves plan)
    {
        foreach (PlannedMoves move in plan.Moves)
        {
            string what = $"{What(move, plan)} of virtual disk '{move.VirtualDisk}'";
            yield return move.To is { } to ? $"Move {what} from physical disk '{move.From}' to physical disk '{to}': {Offsets(move.Each)}"
                : $"Leave {what} on physical disk '{move.From}': no physical disk has room for them";
        }

        if (plan.More > 0)
        {
            yield return $"Move about {CountText.Of(plan.More, "more slab")}";
        }
    }

    /// <summary>Place of a write cache of another size.</summary>
    public static IEnumerable<string> OfCache(CachePlacement plan, Catalogue all) =>
    [
        .. Extents("Place the write cache on", plan.Placed, all),
        .. Extents("Free the former write cache on", plan.Freed, all),
    ];

    private static IEnumerable<string> Extents(string doing, PhysicalExtent[] extents, Catalogue all) =>
        extents.GroupBy(static extent => extent.PhysicalDisk)
            .Select(disk => (Name: all.Disks.All.First(known => known.UniqueId == disk.Key).FriendlyName, Slabs: disk.ToArray()))
            .OrderBy(static disk => disk.Name, StringComparer.Ordinal)
            .Select(disk => $"{doing} physical disk '{disk.Name}': {CountText.Of(disk.Slabs.Length, "slab")} of {SizeText.Exact(disk.Slabs[0].Size)}, "
                + Listed([.. disk.Slabs.Select(static slab => SizeText.Exact(slab.PhysicalOffset))]));

    private static string What(PlannedMoves move, PlannedSlabMoves plan) => $"{CountText.Of(move.Slabs, "slab")} of {SizeText.Exact(plan.SlabBytes)}" + move.Kind switch
    {
        SpaceKind.IntegrityLog => " of the integrity log",
        SpaceKind.WriteCache => " of the write cache",
        _ => "",
    };

    private static string Offsets(PlannedSlab[] slabs) =>
        Listed([.. slabs.Select(static slab => $"{SizeText.Exact(slab.FromOffset)} to {SizeText.Exact(slab.ToOffset ?? 0)}")]);

    private static string Listed(string[] offsets) => "offsets " + string.Join(", ", offsets.Take(SlabsShown))
        + (offsets.Length > SlabsShown ? $", and {CountText.Of(offsets.Length - SlabsShown, "more slab")}" : "");
}
