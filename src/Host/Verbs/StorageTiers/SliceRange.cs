using System.Globalization;
using TierSpaces.Contracts;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Verbs.Mapping;

namespace TierSpaces.Host.Verbs.StorageTiers;

/// <summary>Whole slices of a virtual disk, one behind the other, that a verb lists, and where it goes on on the next page.</summary>
/// <param name="Disk">The virtual disk.</param>
/// <param name="Next">First byte that is to be listed.</param>
/// <param name="End">The byte behind the last one.</param>
internal sealed record SliceRange(VirtualDiskStatus Disk, long Next, long End)
{
    /// <summary>Identity of the virtual disk.</summary>
    public Guid Id => Disk.Description.Id.Value;

    /// <summary>All of it.</summary>
    public PinnedRange Bytes => new(Next, End - Next);

    /// <summary>Bytes that are to be listed.</summary>
    public long Left => End - Next;

    /// <summary>Name of the page that begins with this range; a third part, behind another colon, is left to <see cref="PageMemory{T}"/>.</summary>
    public string Page => string.Create(CultureInfo.InvariantCulture, $"{Identifiers.OfVirtualDisk(Id)}:{Next}");

    /// <summary>The same range of each of several virtual disks.</summary>
    /// <param name="disks">The virtual disks, in their order.</param>
    /// <param name="offset">First byte; null for 0.</param>
    /// <param name="length">Bytes; null for all there are.</param>
    /// <param name="page">Value of <see cref="Page"/>; null for the first page.</param>
    /// <exception cref="StorageException">A number is outside its range, or there is no such page.</exception>
    public static List<SliceRange> Of(IEnumerable<VirtualDiskStatus> disks, ulong? offset, ulong? length, string? page)
    {
        if (length == 0)
        {
            throw new StorageException(
                StorageErrors.InvalidParameter, "-Length 0: out of range. Valid: 1 and more.", "Leave it out, or give another.", "Length");
        }

        long first = Amount.Bytes(offset ?? 0, "Offset", StorageErrors.InvalidParameter);
        long bytes = Amount.Bytes(length ?? long.MaxValue, "Length", StorageErrors.InvalidParameter);
        return From([.. disks.Select(disk => Whole(disk, first, bytes))], page);
    }

    /// <summary>Pieces of a virtual disk, in order; each slice once.</summary>
    public static List<SliceRange> Of(VirtualDiskStatus disk, IEnumerable<PinnedRange> pieces, string? page)
    {
        List<SliceRange> joined = new List<SliceRange>();
        foreach (SliceRange? range in pieces.OrderBy(piece => piece.Offset).Select(piece => Whole(disk, piece.Offset, piece.Length)))
        {
            if (joined.Count > 0 && range.Next <= joined[^1].End)
            {
                joined[^1] = joined[^1] with { End = Math.Max(joined[^1].End, range.End) };
            }
            else
            {
                joined.Add(range);
            }
        }

        return From(joined, page);
    }

    /// <summary>The slices of a range, all of which must be on the virtual disk.</summary>
    /// <param name="disk">The virtual disk.</param>
    /// <param name="offset">First byte.</param>
    /// <param name="length">Bytes.</param>
    /// <exception cref="StorageException">There are none, or some are beyond the end of the virtual disk.</exception>
    public static SliceRange Within(VirtualDiskStatus disk, ulong offset, ulong length)
    {
        SliceRange range = Of([disk], offset, length, page: null)[0];
        range.Check();
        return (long)length <= disk.Description.SizeBytes - (long)offset ? range : throw new StorageException(
            StorageErrors.InvalidParameter,
            $"-Length {SizeText.Exact(length)} behind -Offset {SizeText.Exact(offset)} is not within virtual disk '{disk.Description.FriendlyName}', which has {SizeText.Exact(disk.Description.SizeBytes)}.",
            $"Give a length of 1 to {SizeText.Exact(disk.Description.SizeBytes - (long)offset)}.", "Length");
    }

    /// <summary>Whether a piece of a pin has bytes in these slices.</summary>
    public bool Touches(PinnedRange piece) => piece.Offset < End && piece.End > Next;

    /// <summary>Whether a piece of a pin has no bytes but in these slices.</summary>
    public bool Contains(PinnedRange piece) => piece.Offset >= Next && piece.End <= End;

    /// <summary>Refuses a range beyond the end of the virtual disk.</summary>
    /// <exception cref="StorageException">It is.</exception>
    public void Check()
    {
        if (Next >= Disk.Description.SizeBytes)
        {
            throw new StorageException(
                StorageErrors.InvalidParameter,
                $"-Offset {SizeText.Exact(Next)} is not within virtual disk '{Disk.Description.FriendlyName}', which has {SizeText.Exact(Disk.Description.SizeBytes)}.",
                "Give an offset below that.", "Offset");
        }
    }

    private static SliceRange Whole(VirtualDiskStatus disk, long offset, long length)
    {
        uint slice = Math.Max(1, disk.Description.SliceSize);   // one that has no tiers has none, and is refused later
        long size = disk.Description.SizeBytes;
        long end = length < size - offset ? Math.Min(size, (offset + length + slice - 1) / slice * slice) : size;
        return new SliceRange(disk, offset < size ? offset / slice * slice : offset, end);   // what is beyond the end is refused as it was given
    }

    // A page leaves out what was listed before it.
    private static List<SliceRange> From(List<SliceRange> all, string? page)
    {
        string[]? parts = page?.Split(':');
        long next = 0L;
        if (parts is not null && !(parts.Length is 2 or 3 && long.TryParse(parts[1], NumberStyles.None, CultureInfo.InvariantCulture, out next)))
        {
            throw NoPage(page!);
        }

        int at = parts is null ? 0 : all.FindIndex(range => Identifiers.OfVirtualDisk(range.Id) == parts[0] && next < range.End);
        return parts is null ? all
            : at >= 0 ? [all[at] with { Next = Math.Max(next, all[at].Next) }, .. all.Skip(at + 1)]
            : throw NoPage(page!);
    }

    private static StorageException NoPage(string page) => new(
        StorageErrors.ObjectNotFound, "What was being listed is not there any more: a virtual disk or a file has been removed or changed meanwhile.",
        "List it again.", page);
}
