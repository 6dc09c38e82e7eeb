using TierSpaces.Engine.Management;

namespace TierSpaces.Host.Verbs.VirtualDisks;

/// <summary>Where a virtual disk lies or would lie, in words: what it is, and a line for each physical disk.</summary>
internal static class PlacementText
{
    /// <summary>A virtual disk that is made.</summary>
    public static IEnumerable<string> OfNew(VirtualDiskPlacement placement, Catalogue all, string pool)
    {
        var disk = placement.Disk;
        return Lines("Place on", placement, all).Prepend(
            $"Create virtual disk '{disk.FriendlyName}' in storage pool '{pool}': {disk.ResiliencySettingName}, {disk.NumberOfColumns} columns, "
            + $"{disk.NumberOfDataCopies} copies, interleave {disk.Interleave}, {disk.SizeBytes} bytes, {disk.ProvisioningType}, "
            + $"logical sectors of {disk.LogicalSectorSize} bytes, checksum {disk.Checksum}"
            + (disk.WriteCacheSize > 0 ? $", write cache {disk.WriteCacheSize} bytes" : ""));
    }

    /// <summary>A virtual disk that grows.</summary>
    public static IEnumerable<string> OfGrowth(VirtualDiskPlacement placement, Catalogue all) =>
        Lines("Place on", placement, all).Prepend($"Resize virtual disk '{placement.Disk.FriendlyName}' to {placement.Disk.SizeBytes} bytes");

    /// <summary>A virtual disk that is removed.</summary>
    public static IEnumerable<string> OfRemoval(VirtualDiskPlacement placement, Catalogue all) =>
        Lines("Free on", placement, all).Prepend(
            $"Remove virtual disk '{placement.Disk.FriendlyName}' with all its data ({placement.Disk.SizeBytes} bytes)");

    private static IEnumerable<string> Lines(string doing, VirtualDiskPlacement placement, Catalogue all)
    {
        var logs = placement.Log.ToLookup(extent => extent.PhysicalDisk);
        var caches = placement.Cache.ToLookup(extent => extent.PhysicalDisk);
        var data = placement.Data.ToLookup(extent => extent.PhysicalDisk);
        return new[] { data, logs, caches }.SelectMany(extents => extents.Select(group => group.Key)).Distinct()
            .Select(disk => (Name: all.Disks.All.First(known => known.UniqueId == disk).FriendlyName, Id: disk))
            .OrderBy(disk => disk.Name, StringComparer.Ordinal)
            .Select(disk => $"{doing} physical disk '{disk.Name}': {string.Join(", ", Parts([.. data[disk.Id]], logs[disk.Id].Count(), caches[disk.Id].Count()))}");
    }

    private static IEnumerable<string> Parts(PhysicalExtent[] data, int log, int cache)
    {
        if (data.Length > 0)
        {
            var columns = data.GroupBy(extent => (extent.Column, extent.Copy)).OrderBy(group => group.Key)
                .Select(group => $"column {group.Key.Column} copy {group.Key.Copy}: {group.Count()}");
            yield return $"{data.Length} slabs of {data[0].Size} bytes ({string.Join("; ", columns)})";
        }

        if (log > 0)
        {
            yield return $"{log} slabs for the integrity log";
        }

        if (cache > 0)
        {
            yield return $"{cache} slabs for the write cache";
        }
    }
}
