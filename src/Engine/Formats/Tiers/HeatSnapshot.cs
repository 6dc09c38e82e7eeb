using System.Buffers.Binary;
using System.Runtime.InteropServices;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Formats;

/// <summary>
/// Header of every block of one snapshot of a virtual disk's heat. A snapshot is a row of blocks of 4 KiB, numbered from 0, the last one
/// marked. Each has the heat of a run of slices; slices between the runs have none. Two areas are used alternately. A snapshot
/// with a missing or torn block is ignored as a whole: heat can be measured again.
/// </summary>
/// <param name="Owner">Virtual disk it belongs to.</param>
/// <param name="Sequence">Ever-rising, from 1; odd ones are in the second area.</param>
/// <param name="HalfLifeNs">Half-life that the heat was counted with.</param>
/// <param name="SliceBytes">Bytes of a slice.</param>
/// <param name="UtcTicks">Time of the snapshot, as ticks of UTC.</param>
public readonly record struct HeatSnapshot(Guid Owner, ulong Sequence, long HalfLifeNs, int SliceBytes, long UtcTicks)
{
    /// <summary>Bytes of a block.</summary>
    public const int BlockSize = 4096;

    /// <summary>Most slices in a block.</summary>
    public const int BlockSlices = (BlockSize - HeatsOffset) / sizeof(float);

    /// <summary>Largest heat of a slice.</summary>
    public const float HeatMax = 1e15f;

    /// <summary>Version of a block.</summary>
    public const ushort Version = 1;

    private const uint Magic = 0x48435354;   // "TSCH"
    private const ushort Last = 1;
    private const int ChecksumOffset = 72;
    private const int HeatsOffset = 96;

    /// <summary>Layout of a block, for the documentation.</summary>
    public static readonly IReadOnlyList<(int Offset, int Length, string Name)> Layout =
    [
        (0, 4, "magic \"TSCH\""), (4, 2, "version"), (6, 2, "1: the last block of the snapshot"), (8, 16, "owner"), (24, 8, "sequence"),
        (32, 8, "half-life in ns"), (40, 8, "taken at, ticks of UTC"), (48, 4, "bytes of a slice"), (52, 4, "number of the block"),
        (56, 8, "first slice"), (64, 4, "slices, 0 to 1000"), (68, 4, "reserved, zero"), (72, 4, "CRC32C of the block with this field zero"),
        (76, 20, "reserved, zero"), (96, 4000, "heat of each slice when it was taken (4), IEEE 754, 0 to 1e15"),
    ];

    /// <summary>Most blocks that a snapshot takes: the length of an area.</summary>
    /// <param name="slices">Slices of the virtual disk, 0 or more.</param>
    public static long BlocksFor(long slices) => Math.Max(1, (slices + BlockSlices - 1) / BlockSlices);

    /// <summary>The area of a snapshot, 0 or 1.</summary>
    public int Area => (int)(Sequence & 1);

    /// <summary>
    /// The heats in a block, to be written before <see cref="Seal"/> or read after <see cref="TryRead(ReadOnlySpan{byte}, out HeatSnapshot, out HeatRun)"/>.
    /// </summary>
    public static Span<float> Heats(Span<byte> block) => MemoryMarshal.Cast<byte, float>(block[HeatsOffset..BlockSize]);

    /// <summary>The heats in a block.</summary>
    public static ReadOnlySpan<float> Heats(ReadOnlySpan<byte> block) => MemoryMarshal.Cast<byte, float>(block[HeatsOffset..BlockSize]);

    /// <summary>Completes a block whose heats are in place.</summary>
    /// <param name="block">The block.</param>
    /// <param name="run">Its place in the snapshot and what it holds.</param>
    public void Seal(Span<byte> block, HeatRun run)
    {
        block[..HeatsOffset].Clear();
        Heats(block)[run.Count..].Clear();
        BinaryPrimitives.WriteUInt32LittleEndian(block, Magic);
        BinaryPrimitives.WriteUInt16LittleEndian(block[4..], Version);
        BinaryPrimitives.WriteUInt16LittleEndian(block[6..], run.IsLast ? Last : (ushort)0);
        Owner.TryWriteBytes(block[8..]);
        BinaryPrimitives.WriteUInt64LittleEndian(block[24..], Sequence);
        BinaryPrimitives.WriteInt64LittleEndian(block[32..], HalfLifeNs);
        BinaryPrimitives.WriteInt64LittleEndian(block[40..], UtcTicks);
        BinaryPrimitives.WriteInt32LittleEndian(block[48..], SliceBytes);
        BinaryPrimitives.WriteInt32LittleEndian(block[52..], run.Number);
        BinaryPrimitives.WriteInt64LittleEndian(block[56..], run.FirstSlice);
        BinaryPrimitives.WriteInt32LittleEndian(block[64..], run.Count);
        BinaryPrimitives.WriteUInt32LittleEndian(block[ChecksumOffset..], Crc32c.Compute(block[..BlockSize]));
    }

    /// <summary>Whether a block says that it is one, of whatever version and however damaged.</summary>
    public static bool IsOne(ReadOnlySpan<byte> block) => BinaryPrimitives.ReadUInt32LittleEndian(block) == Magic;

    /// <summary>The version that a block says it has; <see cref="Version"/> is the one that is read.</summary>
    public static int VersionOf(ReadOnlySpan<byte> block) => BinaryPrimitives.ReadUInt16LittleEndian(block[4..]);

    /// <summary>Reads a block; false when it is not a whole one of <paramref name="owner"/> with nothing impossible in it.</summary>
    public static bool TryRead(ReadOnlySpan<byte> block, Guid owner, out HeatSnapshot snapshot, out HeatRun run) =>
        TryRead(block, out snapshot, out run) && snapshot.Owner == owner;

    /// <summary>Reads a block of any virtual disk. Returns false if it is not a whole block with possible values.</summary>
    public static bool TryRead(ReadOnlySpan<byte> block, out HeatSnapshot snapshot, out HeatRun run)
    {
        snapshot = default;
        run = default;
        uint checksum = BinaryPrimitives.ReadUInt32LittleEndian(block[ChecksumOffset..]);
        uint own = Crc32c.Compute([0, 0, 0, 0], Crc32c.Compute(block[..ChecksumOffset]));
        if (!IsOne(block) || VersionOf(block) != Version || Crc32c.Compute(block[(ChecksumOffset + 4)..BlockSize], own) != checksum)
        {
            return false;
        }

        snapshot = new HeatSnapshot(
            new Guid(block.Slice(8, 16)), BinaryPrimitives.ReadUInt64LittleEndian(block[24..]), BinaryPrimitives.ReadInt64LittleEndian(block[32..]),
            BinaryPrimitives.ReadInt32LittleEndian(block[48..]), BinaryPrimitives.ReadInt64LittleEndian(block[40..]));
        run = new HeatRun(
            BinaryPrimitives.ReadInt32LittleEndian(block[52..]), BinaryPrimitives.ReadInt64LittleEndian(block[56..]),
            BinaryPrimitives.ReadInt32LittleEndian(block[64..]), BinaryPrimitives.ReadUInt16LittleEndian(block[6..]) == Last);
        return snapshot is { Sequence: > 0, HalfLifeNs: > 0, SliceBytes: > 0, UtcTicks: >= 0 } && snapshot.UtcTicks <= DateTime.MaxValue.Ticks
            && run is { Number: >= 0, FirstSlice: >= 0, Count: >= 0 and <= BlockSlices } && run.FirstSlice <= long.MaxValue - BlockSlices
            && ArePossible(Heats(block)[..run.Count]);
    }

    private static bool ArePossible(ReadOnlySpan<float> heats)
    {
        foreach (float heat in heats)
        {
            if (!(heat >= 0 && heat <= HeatMax))
            {
                return false;
            }
        }

        return true;
    }
}

/// <summary>A block of a snapshot of heat.</summary>
/// <param name="Number">Its number, from 0.</param>
/// <param name="FirstSlice">First slice whose heat it says.</param>
/// <param name="Count">Slices whose heat it says, 0 to <see cref="HeatSnapshot.BlockSlices"/>.</param>
/// <param name="IsLast">Whether none follows.</param>
public readonly record struct HeatRun(int Number, long FirstSlice, int Count, bool IsLast);
