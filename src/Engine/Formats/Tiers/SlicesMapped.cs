using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Formats;

/// <summary>From now on these slices of a tiered virtual disk are where the entries say; slots no longer named are free.</summary>
/// <param name="Disk">The virtual disk.</param>
/// <param name="FirstSlice">Index of the first slice.</param>
/// <param name="Entries">The slices, in order.</param>
public sealed record SlicesMapped(VirtualDiskId Disk, int FirstSlice, SliceEntry[] Entries) : MetadataRecord
{
    /// <summary>Most slices that a map may have.</summary>
    public const int SlicesMax = 1 << 30;

    /// <summary>First of the slices that hold metadata of the disk and not its data.</summary>
    public const int SystemSlices = SlicesMax / 2;

    /// <summary>Bytes of a record without its entries, frame included.</summary>
    internal const int Overhead = 32;

    internal override RecordKind Kind => RecordKind.SlicesMapped;

    internal override void EncodeBody(ByteWriter to)
    {
        to.Guid(Disk.Value);
        to.U32((uint)FirstSlice);
        to.U32((uint)Entries.Length);
        foreach (SliceEntry entry in Entries)
        {
            to.U64(entry.Bits);
        }
    }

    internal static MetadataRecord Decode(ref ByteReader from)
    {
        VirtualDiskId disk = new(from.Guid());
        uint first = from.U32();
        SliceEntry[] entries = new SliceEntry[from.Count(sizeof(ulong))];
        if (first > SlicesMax || entries.Length > SlicesMax - first)
        {
            from.Fail();
            return new SlicesMapped(disk, 0, []);
        }

        for (int i = 0; i < entries.Length; i++)
        {
            entries[i] = new SliceEntry(from.U64());
        }

        return new SlicesMapped(disk, (int)first, entries);
    }
}
