using TierSpaces.Contracts;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Host.Verbs.VirtualDisks;

/// <summary>Placement of a virtual disk, existing or planned, in words: a line for the disk, and a line for each physical disk.</summary>
internal static class PlacementText
{
    /// <summary>A virtual disk that is made.</summary>
    public static IEnumerable<string> OfNew(VirtualDiskPlacement placement, Catalogue all, string pool)
    {
        VirtualDiskDescription disk = placement.Disk;
        string layout = disk.IsTiered ? $"{CountText.Of(disk.Tiers.Length, "tier")} in slices of {SizeText.Exact(disk.SliceSize)}" : Layout(disk.Parts[0]);
        string head = $"Create virtual disk '{disk.FriendlyName}' in storage pool '{pool}': {layout}, {SizeText.Exact(disk.SizeBytes)}, {disk.ProvisioningType}, "
            + $"logical sectors of {disk.LogicalSectorSize} bytes, checksum {disk.Checksum}"
            + (disk.WriteCacheSize > 0 ? $", write cache {SizeText.Exact(disk.WriteCacheSize)}" : "");
        IEnumerable<string> tiers =
            disk.Tiers.Select(tier => $"Create storage tier '{tier.FriendlyName}' on {tier.Media()}: {Layout(tier)}, {SizeText.Exact(tier.SizeBytes)}");
        return [head, .. tiers, .. Lines("Place on", placement, all)];
    }

    /// <summary>A virtual disk that grows.</summary>
    public static IEnumerable<string> OfGrowth(VirtualDiskPlacement placement, Catalogue all) =>
        Lines("Place on", placement, all).Prepend($"Resize virtual disk '{placement.Disk.FriendlyName}' to {SizeText.Exact(placement.Disk.SizeBytes)}");

    /// <summary>A tier that grows.</summary>
    public static IEnumerable<string> OfGrowth(VirtualDiskPlacement placement, Catalogue all, TierDescription tier) =>
        Lines("Place on", placement, all).Prepend(
            $"Resize storage tier '{tier.FriendlyName}' to {SizeText.Exact(tier.SizeBytes)}, and virtual disk '{placement.Disk.FriendlyName}' to {SizeText.Exact(placement.Disk.SizeBytes)}");

    /// <summary>A tier that is added.</summary>
    public static IEnumerable<string> OfAddedTier(AddedTierPlacement added, Catalogue all) =>
        Lines("Place on", added.Placement, all).Prepend(
            $"Add storage tier '{added.Tier.FriendlyName}' on {added.Tier.Media()}: {Layout(added.Tier)}, {SizeText.Exact(added.Tier.SizeBytes)}; "
            + $"resize virtual disk '{added.Placement.Disk.FriendlyName}' to {SizeText.Exact(added.Placement.Disk.SizeBytes)}");

    /// <summary>A virtual disk that is removed.</summary>
    public static IEnumerable<string> OfRemoval(VirtualDiskPlacement placement, Catalogue all) =>
        Lines("Free on", placement, all).Prepend(
            $"Remove virtual disk '{placement.Disk.FriendlyName}' with all its data ({SizeText.Exact(placement.Disk.SizeBytes)})");

    private static string Layout(TierDescription part) =>
        $"{part.ResiliencySettingName}, {CountText.Of(part.NumberOfColumns, "column")}{(part.Parities > 0 ? $", {part.Parities} of them parity" : part.NumberOfDataCopies == 1 ? ", 1 copy" : $", {part.NumberOfDataCopies} copies")}, interleave {SizeText.Exact(part.Interleave)}";

    private static IEnumerable<string> Lines(string doing, VirtualDiskPlacement placement, Catalogue all)
    {
        ILookup<Guid, PhysicalExtent> logs = placement.Log.ToLookup(extent => extent.PhysicalDisk);
        ILookup<Guid, PhysicalExtent> caches = placement.Cache.ToLookup(extent => extent.PhysicalDisk);
        ILookup<Guid, PhysicalExtent> data = placement.Data.ToLookup(extent => extent.PhysicalDisk);
        return new[] { data, logs, caches }.SelectMany(extents => extents.Select(group => group.Key)).Distinct()
            .Select(disk => (Name: all.Disks.All.First(known => known.UniqueId == disk).FriendlyName, Id: disk))
            .OrderBy(disk => disk.Name, StringComparer.Ordinal)
            .Select(disk => $"{doing} physical disk '{disk.Name}': {string.Join(", ", Parts(placement.Disk, [.. data[disk.Id]], logs[disk.Id].Count(), caches[disk.Id].Count()))}");
    }

    private static IEnumerable<string> Parts(VirtualDiskDescription disk, PhysicalExtent[] data, int log, int cache)
    {
        foreach (IGrouping<Guid?, PhysicalExtent> part in data.GroupBy(extent => extent.Tier))
        {
            IEnumerable<string> columns = part.GroupBy(extent => (extent.Column, extent.Copy)).OrderBy(group => group.Key)
                .Select(group => $"column {group.Key.Column} copy {group.Key.Copy}: {group.Count()}");
            string tier = disk.Tiers.FirstOrDefault(tier => tier.Id == part.Key) is { } named ? $" for tier '{named.FriendlyName}'" : "";
            yield return $"{CountText.Of(part.Count(), "slab")} of {SizeText.Exact(data[0].Size)}{tier} ({string.Join("; ", columns)})";
        }

        if (log > 0)
        {
            yield return $"{CountText.Of(log, "slab")} for the integrity log";
        }

        if (cache > 0)
        {
            yield return $"{CountText.Of(cache, "slab")} for the write cache";
        }
    }
}
