using TierSpaces.Contracts;

namespace TierSpaces.Host.Volumes;

/// <summary>Finds the place of a new partition: pure arithmetic over a table.</summary>
internal static class PartitionRoom
{
    private const long MiB = 1 << 20;

    /// <summary>Free extents of at least one alignment unit, aligned at their beginning, by offset.</summary>
    public static List<(long Start, long End)> FreeExtents(DiskContents contents, long alignment)
    {
        List<(long Start, long End)> free = [];
        long from = contents.Usable.First;
        foreach ((long start, long end) in contents.Partitions.Select(static partition => (partition.Offset, partition.End)).Append((contents.Usable.End, 0)))
        {
            long aligned = RoundUp(from, alignment);
            if (start - aligned >= Math.Min(MiB, alignment))
            {
                free.Add((aligned, start));
            }

            from = Math.Max(from, end);
        }

        return free;
    }

    /// <summary>Largest free extent in bytes; 0 for none.</summary>
    public static long LargestFree(DiskContents contents, long alignment) =>
        contents.Style == PartitionStyle.Unknown ? 0 : FreeExtents(contents,
            alignment).Select(static extent => extent.End - extent.Start).DefaultIfEmpty(0).Max();

    /// <summary>Returns offset and size of a new partition in bytes.</summary>
    /// <param name="contents">The table.</param>
    /// <param name="sectorSize">Bytes of a logical sector.</param>
    /// <param name="alignment">Bytes whose multiples it starts at.</param>
    /// <param name="size">Requested size; null: all of the largest free extent.</param>
    /// <param name="offset">Requested offset; null: the first one that fits.</param>
    /// <param name="advice">The way to make the disk larger, for the error; null for none.</param>
    /// <exception cref="StorageException">There is no such place; the error has the largest size.</exception>
    public static (long Offset, long Size) Place(DiskContents contents, int sectorSize, long alignment, long? size, long? offset, string? advice = null)
    {
        if (size is < MiB)
        {
            throw new StorageException(
                StorageErrors.SizeNotSupported, $"-Size {SizeText.Exact(size ?? 0)}: a partition has at least {SizeText.Exact(MiB)}.", "Give a size of 1MB or more.", "Size");
        }

        long? wanted = size is { } given ? RoundUp(given, Math.Max(sectorSize, 4096)) : null;
        return offset is { } place
            ? PlaceAt(contents, sectorSize, place, wanted, advice)
            : PlaceFirst(FreeExtents(contents, alignment), sectorSize, wanted, advice);
    }

    private static (long Offset, long Size) PlaceFirst(List<(long Start, long End)> free, int sectorSize, long? size, string? advice)
    {
        (long Start, long End) largest = free.DefaultIfEmpty().MaxBy(static extent => extent.End - extent.Start);
        (long Start, long End) chosen = size is null ? largest : free.FirstOrDefault(extent => extent.End - extent.Start >= size);
        if (chosen == default)
        {
            throw TooLarge(size, largest.End - largest.Start, advice);
        }

        return (chosen.Start, size ?? RoundDown(chosen.End - chosen.Start, Math.Max(sectorSize, 4096)));
    }

    private static (long Offset, long Size) PlaceAt(DiskContents contents, int sectorSize, long offset, long? size, string? advice)
    {
        (long Start, long End) around = FreeExtents(contents, sectorSize).FirstOrDefault(extent => extent.Start <= offset && offset < extent.End);
        if (offset % sectorSize != 0 || around == default)
        {
            throw new StorageException(
                StorageErrors.PartitionOffset,
                $"-Offset {SizeText.Exact(offset)}: {(offset % sectorSize != 0 ? $"is no multiple of the sector size, {sectorSize} bytes" : "is not in a free extent")}. "
                + $"Valid: {Ranges(FreeExtents(contents, sectorSize))}.",
                "Leave -Offset out to have the place chosen.", "Offset");
        }

        long room = around.End - offset;
        return size is { } given && given > room ? throw TooLarge(given, room, advice) : (offset, size ?? RoundDown(room, Math.Max(sectorSize, 4096)));
    }

    private static StorageException TooLarge(long? size, long largest, string? advice) => new(
        StorageErrors.NotEnoughCapacity,
        size is null ? "-UseMaximumSize: the disk has no free extent of 1 MB." : $"-Size {SizeText.Exact(size.Value)}: the largest free extent has {SizeText.Exact(largest)}.",
        (largest > 0 ? $"Give at most {SizeText.Exact(largest)}, or -UseMaximumSize." : "Remove a partition, or use another disk.")
            + (advice is null ? "" : $" {advice}"),
        "Size");

    private static string Ranges(List<(long Start, long End)> free) =>
        free.Count == 0 ? "none, the disk is full" : string.Join(", ", free.Select(static extent => $"{SizeText.Offset(extent.Start)} to {SizeText.Exact(extent.End - 1)}"));

    /// <summary>The next multiple.</summary>
    public static long RoundUp(long value, long unit) => (value + unit - 1) / unit * unit;

    /// <summary>The multiple before.</summary>
    public static long RoundDown(long value, long unit) => value / unit * unit;
}
