using System.Buffers.Binary;
using System.Runtime.InteropServices;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Formats;

/// <summary>Whose entries a checksum sector holds.</summary>
/// <param name="PoolTag">First eight bytes of the pool's id.</param>
/// <param name="Space">Space.</param>
/// <param name="Row">Row of the space.</param>
/// <param name="Column">Column in the row.</param>
/// <param name="Page">Checksum page in the slab.</param>
public readonly record struct ChecksumPlace(ulong PoolTag, uint Space, int Row, int Column, int Page);

/// <summary>
/// 512 bytes of a checksum page: 64 entries of a CRC32C and a generation, with a checksum, an address and a sequence of
/// their own, so that a torn page loses nothing and a misdirected one is not believed. Of two copies the higher sequence is newer.
/// Generation 0 is a block never written. 65533 to 65535 are marks: the entry is not known, the block is lost or in doubt, both.
/// </summary>
public static class ChecksumSector
{
    /// <summary>Size in bytes.</summary>
    public const int Size = 512;

    /// <summary>Entries in a sector.</summary>
    public const int Entries = 64;

    /// <summary>Sectors in a page.</summary>
    public const int PerPage = 8;

    /// <summary>Bytes of a checksum page.</summary>
    public const int PageSize = Size * PerPage;

    /// <summary>Generation of a block that was never written: it reads as zeros.</summary>
    public const ushort NeverWritten = 0;

    /// <summary>Generation of a block whose contents are lost, and whose entry is not known: an error until it is rewritten.</summary>
    public const ushort Poisoned = 0xFFFF;

    /// <summary>
    /// Generation of a block that is lost or in doubt: an error until it is rewritten or a copy proves its value. The checksum is that of the value that a
    /// copy has to hold. Releases that do not know the mark wrote this generation for a block that was written 65,534 times: such a block proves itself.
    /// </summary>
    public const ushort Marked = 0xFFFE;

    /// <summary>
    /// Generation of an entry that no page at hand gives, with checksum 0: an error until a page that was away gives it, or the block is rewritten. With
    /// another checksum it is the entry of a release that does not know the mark.
    /// </summary>
    public const ushort Unknown = 0xFFFD;

    private const ushort Magic = 0x4353;   // "SC"
    private const byte Version = 1;
    private const int ChecksumsOffset = 128;
    private const int GenerationsOffset = 384;

    /// <summary>Layout of the sector, for the documentation.</summary>
    public static readonly IReadOnlyList<(int Offset, int Length, string Name)> Layout =
    [
        (0, 4, "CRC32C of bytes 4 to 511"), (4, 2, "magic \"SC\""), (6, 1, "version"), (7, 1, "sector in the page"), (8, 8, "sequence"),
        (16, 8, "pool tag"), (24, 4, "space"), (28, 4, "row"), (32, 2, "column"), (34, 2, "page"), (36, 92, "reserved, zero"),
        (128, 256, "64 × CRC32C"), (384, 128, "64 × generation"),
    ];

    /// <summary>Whether a block with this generation is an error until it is rewritten or proven.</summary>
    public static bool IsMark(ushort generation) => generation >= Unknown;

    /// <summary>Whether an entry with this generation says what its block holds, or has to hold.</summary>
    public static bool HasValue(ushort generation) => generation is not (NeverWritten or Poisoned or Unknown);

    /// <summary>Writes a sector.</summary>
    public static void Write(
        Span<byte> sector, in ChecksumPlace place, int index, ulong sequence, ReadOnlySpan<uint> checksums, ReadOnlySpan<ushort> generations)
    {
        sector[..ChecksumsOffset].Clear();
        BinaryPrimitives.WriteUInt16LittleEndian(sector[4..], Magic);
        sector[6] = Version;
        sector[7] = (byte)index;
        BinaryPrimitives.WriteUInt64LittleEndian(sector[8..], sequence);
        BinaryPrimitives.WriteUInt64LittleEndian(sector[16..], place.PoolTag);
        BinaryPrimitives.WriteUInt32LittleEndian(sector[24..], place.Space);
        BinaryPrimitives.WriteInt32LittleEndian(sector[28..], place.Row);
        BinaryPrimitives.WriteUInt16LittleEndian(sector[32..], (ushort)place.Column);
        BinaryPrimitives.WriteUInt16LittleEndian(sector[34..], (ushort)place.Page);
        for (int i = 0; i < Entries; i++)
        {
            BinaryPrimitives.WriteUInt32LittleEndian(sector[(ChecksumsOffset + (i * 4))..], checksums[i]);
            BinaryPrimitives.WriteUInt16LittleEndian(sector[(GenerationsOffset + (i * 2))..], generations[i]);
        }

        BinaryPrimitives.WriteUInt32LittleEndian(sector, Crc32c.Compute(sector[4..Size]));
    }

    /// <summary>Reads a sector; false when it is damaged or belongs elsewhere.</summary>
    public static bool TryRead(
        ReadOnlySpan<byte> sector, in ChecksumPlace place, int index, out ulong sequence, Span<uint> checksums, Span<ushort> generations)
    {
        sequence = BinaryPrimitives.ReadUInt64LittleEndian(sector[8..]);
        if (BinaryPrimitives.ReadUInt16LittleEndian(sector[4..]) != Magic
            || sector[6] != Version
            || sector[7] != index
            || BinaryPrimitives.ReadUInt64LittleEndian(sector[16..]) != place.PoolTag
            || BinaryPrimitives.ReadUInt32LittleEndian(sector[24..]) != place.Space
            || BinaryPrimitives.ReadInt32LittleEndian(sector[28..]) != place.Row
            || BinaryPrimitives.ReadUInt16LittleEndian(sector[32..]) != place.Column
            || BinaryPrimitives.ReadUInt16LittleEndian(sector[34..]) != place.Page
            || Crc32c.Compute(sector[4..Size]) != BinaryPrimitives.ReadUInt32LittleEndian(sector))
        {
            return false;
        }

        MemoryMarshal.Cast<byte, uint>(sector[ChecksumsOffset..GenerationsOffset]).CopyTo(checksums);
        MemoryMarshal.Cast<byte, ushort>(sector[GenerationsOffset..Size]).CopyTo(generations);
        if (!BitConverter.IsLittleEndian)
        {
            BinaryPrimitives.ReverseEndianness(checksums[..Entries], checksums);
            BinaryPrimitives.ReverseEndianness(generations[..Entries], generations);
        }

        return true;
    }
}
