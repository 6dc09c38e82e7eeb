using System.Buffers.Binary;

namespace TierSpaces.Engine.Formats;

/// <summary>Kinds of record in an integrity log.</summary>
public enum IntegrityKind : byte
{
    /// <summary>End of the payload.</summary>
    None = 0,

    /// <summary>A region may differ between its copies or from its entries.</summary>
    Dirty = 1,

    /// <summary>A region agrees again.</summary>
    Clean = 2,

    /// <summary>Entries of blocks of one checksum page.</summary>
    Entries = 3,

    /// <summary>A run of blocks became never written.</summary>
    Zeroed = 4,

    /// <summary>A write of a block by a process that died, and which no flush covered: its data counts where a copy proves it.</summary>
    Found = 5,
}

/// <summary>One entry as a record carries it.</summary>
/// <param name="Block">Block in the checksum page, 0 to 511.</param>
/// <param name="Generation">Generation.</param>
/// <param name="Checksum">CRC32C of the block.</param>
public readonly record struct IntegrityEntry(ushort Block, ushort Generation, uint Checksum);

/// <summary>
/// Records of an integrity log: kind, row, column and what the kind says. Fixed fields first, so that a reader checks every
/// length before it uses it.
/// </summary>
public static class IntegrityRecord
{
    /// <summary>Bytes of a region mark.</summary>
    public const int MarkSize = 8;

    /// <summary>Bytes of a zeroed run.</summary>
    public const int ZeroedSize = 16;

    /// <summary>Bytes before the entries of an entries record.</summary>
    public const int EntriesHeaderSize = 12;

    /// <summary>Bytes of a found write.</summary>
    public const int FoundSize = 16 + (SectorsPerBlock * 4);

    /// <summary>Checksums of sectors in a found write.</summary>
    public const int SectorsPerBlock = 8;

    /// <summary>Bytes of one entry.</summary>
    public const int EntrySize = 8;

    internal const int HasSectorsFlag = 1;
    internal const int AcknowledgedFlag = 2;

    /// <summary>Layouts, for the documentation.</summary>
    public static readonly IReadOnlyList<(int Offset, int Length, string Name)> Layout =
    [
        (0, 1, "kind: 1 dirty, 2 clean, 3 entries, 4 zeroed, 5 found write"), (1, 1, "region (dirty, clean); found write: 1 with checksums of sectors, plus 2 acknowledged"), (2, 2, "column"), (4, 4, "row"),
        (8, 4, "page and count of entries (2 bytes each), or first block (zeroed), or block (found write)"),
        (12, 4, "count of blocks (zeroed), or CRC32C of the block (found write)"), (12, 8, "each entry: block 2, generation 2, CRC32C 4"),
        (16, 32, "CRC32C of each sector of 512 bytes (found write)"),
    ];

    /// <summary>Writes a dirty or clean mark.</summary>
    public static void WriteMark(Span<byte> target, IntegrityKind kind, int row, int column, int region)
    {
        target[0] = (byte)kind;
        target[1] = (byte)region;
        BinaryPrimitives.WriteUInt16LittleEndian(target[2..], (ushort)column);
        BinaryPrimitives.WriteInt32LittleEndian(target[4..], row);
    }

    /// <summary>Writes a zeroed run: <paramref name="count"/> blocks of the slab from <paramref name="firstBlock"/>.</summary>
    public static void WriteZeroed(Span<byte> target, int row, int column, int firstBlock, int count)
    {
        WriteMark(target, IntegrityKind.Zeroed, row, column, 0);
        BinaryPrimitives.WriteInt32LittleEndian(target[8..], firstBlock);
        BinaryPrimitives.WriteInt32LittleEndian(target[12..], count);
    }

    /// <summary>Writes a found write of a block of the slab; no checksums of sectors where a former version recorded none.</summary>
    public static void WriteFound(Span<byte> target, int row, int column, int block, uint checksum, bool isAcknowledged, ReadOnlySpan<uint> sectors)
    {
        WriteMark(target, IntegrityKind.Found, row, column, (sectors.Length > 0 ? HasSectorsFlag : 0) | (isAcknowledged ? AcknowledgedFlag : 0));
        BinaryPrimitives.WriteInt32LittleEndian(target[8..], block);
        BinaryPrimitives.WriteUInt32LittleEndian(target[12..], checksum);
        target[16..FoundSize].Clear();
        for (int i = 0; i < sectors.Length; i++)
        {
            BinaryPrimitives.WriteUInt32LittleEndian(target[(16 + (i * 4))..], sectors[i]);
        }
    }

    /// <summary>Writes entries of one page.</summary>
    public static void WriteEntries(Span<byte> target, int row, int column, int page, ReadOnlySpan<IntegrityEntry> entries)
    {
        WriteMark(target, IntegrityKind.Entries, row, column, 0);
        BinaryPrimitives.WriteUInt16LittleEndian(target[8..], (ushort)page);
        BinaryPrimitives.WriteUInt16LittleEndian(target[10..], (ushort)entries.Length);
        for (int i = 0; i < entries.Length; i++)
        {
            Span<byte> at = target.Slice(EntriesHeaderSize + (i * EntrySize), EntrySize);
            BinaryPrimitives.WriteUInt16LittleEndian(at, entries[i].Block);
            BinaryPrimitives.WriteUInt16LittleEndian(at[2..], entries[i].Generation);
            BinaryPrimitives.WriteUInt32LittleEndian(at[4..], entries[i].Checksum);
        }
    }

    /// <summary>Takes the next record off <paramref name="payload"/>; false at its end.</summary>
    /// <exception cref="InvalidDataException">The payload is not a sequence of records.</exception>
    public static bool TryTake(ref ReadOnlySpan<byte> payload, out IntegrityItem item)
    {
        item = default;
        if (payload.Length == 0 || payload[0] == (byte)IntegrityKind.None)
        {
            return false;
        }

        IntegrityKind kind = (IntegrityKind)payload[0];
        int size = kind switch
        {
            IntegrityKind.Dirty or IntegrityKind.Clean => MarkSize,
            IntegrityKind.Zeroed => ZeroedSize,
            IntegrityKind.Found => FoundSize,
            IntegrityKind.Entries when payload.Length >= EntriesHeaderSize =>
                EntriesHeaderSize + (BinaryPrimitives.ReadUInt16LittleEndian(payload[10..]) * EntrySize),
            _ => throw new InvalidDataException($"Integrity record of unknown kind {payload[0]}."),
        };
        if (size > payload.Length)
        {
            throw new InvalidDataException($"Integrity record of {size} bytes in {payload.Length}.");
        }

        item = new IntegrityItem(kind, payload[..size]);
        payload = payload[size..];
        return true;
    }
}

/// <summary>A record in place.</summary>
public readonly ref struct IntegrityItem(IntegrityKind kind, ReadOnlySpan<byte> bytes)
{
    private readonly ReadOnlySpan<byte> _bytes = bytes;

    /// <summary>Kind.</summary>
    public IntegrityKind Kind { get; } = kind;

    /// <summary>Checksum of a found write.</summary>
    public uint Checksum => BinaryPrimitives.ReadUInt32LittleEndian(_bytes[12..]);

    /// <summary>Whether a found write has checksums of its sectors.</summary>
    public bool HasSectors => (_bytes[1] & IntegrityRecord.HasSectorsFlag) != 0;

    /// <summary>Whether a found write was acknowledged.</summary>
    public bool IsAcknowledged => (_bytes[1] & IntegrityRecord.AcknowledgedFlag) != 0;

    /// <summary>Region of a mark.</summary>
    public int Region => _bytes[1];

    /// <summary>Column.</summary>
    public int Column => BinaryPrimitives.ReadUInt16LittleEndian(_bytes[2..]);

    /// <summary>Row.</summary>
    public int Row => BinaryPrimitives.ReadInt32LittleEndian(_bytes[4..]);

    /// <summary>First block of a zeroed run, or the block of a found write, in the slab.</summary>
    public int FirstBlock => BinaryPrimitives.ReadInt32LittleEndian(_bytes[8..]);

    /// <summary>Blocks of a zeroed run.</summary>
    public int BlockCount => BinaryPrimitives.ReadInt32LittleEndian(_bytes[12..]);

    /// <summary>Checksum page of the entries.</summary>
    public int Page => BinaryPrimitives.ReadUInt16LittleEndian(_bytes[8..]);

    /// <summary>Number of entries.</summary>
    public int EntryCount => BinaryPrimitives.ReadUInt16LittleEndian(_bytes[10..]);

    /// <summary>Checksum of a sector of a found write.</summary>
    public uint Sector(int index) => BinaryPrimitives.ReadUInt32LittleEndian(_bytes[(16 + (index * 4))..]);

    /// <summary>An entry.</summary>
    public IntegrityEntry Entry(int index)
    {
        ReadOnlySpan<byte> at = _bytes.Slice(IntegrityRecord.EntriesHeaderSize + (index * IntegrityRecord.EntrySize), IntegrityRecord.EntrySize);
        return new IntegrityEntry(
            BinaryPrimitives.ReadUInt16LittleEndian(at),
            BinaryPrimitives.ReadUInt16LittleEndian(at[2..]),
            BinaryPrimitives.ReadUInt32LittleEndian(at[4..]));
    }
}
