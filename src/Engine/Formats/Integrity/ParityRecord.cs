using System.Buffers.Binary;

namespace TierSpaces.Engine.Formats;

/// <summary>Kinds of part in the blocks of a parity journal.</summary>
public enum ParityPartKind : byte
{
    /// <summary>End of the payload.</summary>
    None = 0,

    /// <summary>Begin of a record: what it changes.</summary>
    Begin = 1,

    /// <summary>Bytes of the strips of the record that began last.</summary>
    Data = 2,

    /// <summary>No record: states which records are void.</summary>
    Void = 3,
}

/// <summary>Head of a record: a change of lines of one stripe.</summary>
/// <param name="Number">Number of the record, ever-rising from 1.</param>
/// <param name="VoidBefore">Records with smaller numbers are void.</param>
/// <param name="Row">Row of the space.</param>
/// <param name="SlabOffset">Offset in the slabs in bytes, a multiple of 4096.</param>
/// <param name="Length">Bytes of each strip, a multiple of 4096.</param>
/// <param name="Written">Strips that are written, bit per strip: data by their order in the stripe, then P, then Q. Their bytes follow, ascending.</param>
/// <param name="Zeroed">Strips that become never-written.</param>
/// <param name="Poisoned">Strips that become poisoned.</param>
public readonly record struct ParityRecordHead(
    ulong Number, ulong VoidBefore, int Row, int SlabOffset, int Length, ulong Written, ulong Zeroed, ulong Poisoned);

/// <summary>One part of the payload of a block of a parity journal.</summary>
/// <param name="Kind">Kind.</param>
/// <param name="Head">Head of the record that begins, or the void mark in <see cref="ParityRecordHead.VoidBefore"/>.</param>
/// <param name="Start">First byte of the data in the payload.</param>
/// <param name="Count">Bytes of data.</param>
public readonly record struct ParityPart(ParityPartKind Kind, ParityRecordHead Head, int Start, int Count);

/// <summary>
/// Records of a parity journal. A record is a head and the bytes of the strips that it writes, cut over as many blocks as it takes. Every part states its
/// length, so that a reader finds the first record that begins in a block.
/// </summary>
public static class ParityRecord
{
    /// <summary>Bytes of the head of a record.</summary>
    public const int HeadSize = 56;

    /// <summary>Bytes before the data of a part.</summary>
    public const int DataHeadSize = 4;

    /// <summary>Bytes of a void mark.</summary>
    public const int VoidSize = 16;

    /// <summary>Layouts, for the documentation.</summary>
    public static readonly IReadOnlyList<(int Offset, int Length, string Name)> Layout =
    [
        (0, 1, "kind: 1 begin, 2 data, 3 void"), (1, 1, "reserved, zero"), (2, 2, "count of bytes (data)"), (4, 4, "row (begin), else the first data"),
        (8, 8, "records with smaller numbers are void (begin, void)"), (16, 8, "number"), (24, 4, "offset in the slabs"), (28, 4, "bytes of each strip"),
        (32, 8, "strips written, bit per strip"), (40, 8, "strips that become never-written"), (48, 8, "strips that become poisoned"),
    ];

    /// <summary>Blocks of a journal that a record with so many bytes of strips takes at most, where no other record is in them.</summary>
    public static int BlocksFor(int bytes) => 1 + ((bytes + JournalBlock.PayloadCapacity - DataHeadSize - 1) / (JournalBlock.PayloadCapacity - DataHeadSize));

    /// <summary>Writes a head.</summary>
    public static void WriteHead(Span<byte> target, in ParityRecordHead head)
    {
        target[..HeadSize].Clear();
        target[0] = (byte)ParityPartKind.Begin;
        BinaryPrimitives.WriteInt32LittleEndian(target[4..], head.Row);
        BinaryPrimitives.WriteUInt64LittleEndian(target[8..], head.VoidBefore);
        BinaryPrimitives.WriteUInt64LittleEndian(target[16..], head.Number);
        BinaryPrimitives.WriteInt32LittleEndian(target[24..], head.SlabOffset);
        BinaryPrimitives.WriteInt32LittleEndian(target[28..], head.Length);
        BinaryPrimitives.WriteUInt64LittleEndian(target[32..], head.Written);
        BinaryPrimitives.WriteUInt64LittleEndian(target[40..], head.Zeroed);
        BinaryPrimitives.WriteUInt64LittleEndian(target[48..], head.Poisoned);
    }

    /// <summary>Writes a part with data.</summary>
    public static void WriteData(Span<byte> target, ReadOnlySpan<byte> data)
    {
        target[0] = (byte)ParityPartKind.Data;
        target[1] = 0;
        BinaryPrimitives.WriteUInt16LittleEndian(target[2..], (ushort)data.Length);
        data.CopyTo(target[DataHeadSize..]);
    }

    /// <summary>Writes a void mark.</summary>
    public static void WriteVoid(Span<byte> target, ulong voidBefore)
    {
        target[..VoidSize].Clear();
        target[0] = (byte)ParityPartKind.Void;
        BinaryPrimitives.WriteUInt64LittleEndian(target[8..], voidBefore);
    }

    /// <summary>Takes the part at an offset of a payload and moves the offset behind it; false at the end.</summary>
    /// <exception cref="InvalidDataException">The payload is damaged.</exception>
    public static bool TryTake(ReadOnlySpan<byte> payload, ref int offset, out ParityPart part)
    {
        part = default;
        ReadOnlySpan<byte> rest = payload[offset..];
        if (rest.Length == 0)
        {
            return false;
        }

        switch ((ParityPartKind)rest[0])
        {
            case ParityPartKind.None:
                return false;
            case ParityPartKind.Begin when rest.Length >= HeadSize:
                part = new ParityPart(ParityPartKind.Begin, ReadHead(rest), 0, 0);
                offset += HeadSize;
                return true;
            case ParityPartKind.Data when rest.Length >= DataHeadSize
                && BinaryPrimitives.ReadUInt16LittleEndian(rest[2..]) is var count && rest.Length >= DataHeadSize + count:
                part = new ParityPart(ParityPartKind.Data, default, offset + DataHeadSize, count);
                offset += DataHeadSize + count;
                return true;
            case ParityPartKind.Void when rest.Length >= VoidSize:
                part = new ParityPart(ParityPartKind.Void, new ParityRecordHead { VoidBefore = BinaryPrimitives.ReadUInt64LittleEndian(rest[8..]) }, 0, 0);
                offset += VoidSize;
                return true;
            default:
                throw new InvalidDataException($"a part of kind {rest[0]} with {rest.Length} bytes left in its block");
        }
    }

    private static ParityRecordHead ReadHead(ReadOnlySpan<byte> from) => new(
        BinaryPrimitives.ReadUInt64LittleEndian(from[16..]),
        BinaryPrimitives.ReadUInt64LittleEndian(from[8..]),
        BinaryPrimitives.ReadInt32LittleEndian(from[4..]),
        BinaryPrimitives.ReadInt32LittleEndian(from[24..]),
        BinaryPrimitives.ReadInt32LittleEndian(from[28..]),
        BinaryPrimitives.ReadUInt64LittleEndian(from[32..]),
        BinaryPrimitives.ReadUInt64LittleEndian(from[40..]),
        BinaryPrimitives.ReadUInt64LittleEndian(from[48..]));
}
