using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Formats;

/// <summary>
/// Label that makes a disk a member of a pool. It is written when the disk joins, twice (first and last block), and never changed; either copy is enough.
/// Everything that changes is in the superblocks.
/// </summary>
/// <param name="Pool">The pool.</param>
/// <param name="Disk">The disk's identity.</param>
/// <param name="Number">The disk's number in the pool.</param>
/// <param name="DiskBytes">Size of the disk when it joined, in whole blocks: its layout follows from it.</param>
/// <param name="Slabs">Shape of the pool's slabs.</param>
/// <param name="CreatedUtcTicks">Time at which the disk joined, in 100 ns ticks of UTC.</param>
/// <param name="Features">Features the pool used then.</param>
public sealed record DiskLabel(
    PoolId Pool, DiskId Disk, DiskNumber Number, long DiskBytes, SlabGeometry Slabs, long CreatedUtcTicks, FeatureFlags Features)
{
    /// <summary>"TSLB".</summary>
    internal const uint Magic = 0x424C5354;

    /// <summary>Layout of the body, for the documentation; offsets count from the start of the block.</summary>
    public static readonly IReadOnlyList<(int Offset, int Length, string Name)> Layout =
    [
        (56, 4, "compatible features"), (60, 4, "read-only compatible features"), (64, 4, "incompatible features"),
        (68, 2, "disk number"), (70, 8, "size of the disk in bytes, a multiple of 4096"), (78, 8, "slab size in bytes of data"),
        (86, 8, "time of joining, 100 ns ticks of UTC"),
    ];

    /// <summary>Writes the copy at byte <paramref name="offset"/>.</summary>
    public void Encode(Span<byte> block, long offset)
    {
        ByteWriter body = new(64);
        Features.Encode(body);
        body.U16(Number.Value);
        body.I64(DiskBytes);
        body.I64(Slabs.DataBytes);
        body.I64(CreatedUtcTicks);
        new PoolBlock(Pool, Disk, offset / PoolBlock.Size).Seal(block, Magic, body.Written);
    }

    /// <summary>Reads the copy at byte <paramref name="offset"/>.</summary>
    public static BlockStatus Decode(ReadOnlySpan<byte> block, long offset, out DiskLabel? label)
    {
        label = null;
        BlockStatus status = PoolBlock.Open(block, Magic, offset / PoolBlock.Size, out PoolBlock header, out ReadOnlySpan<byte> bytes);
        if (status != BlockStatus.Intact)
        {
            return status;
        }

        ByteReader body = new(bytes);
        FeatureFlags features = FeatureFlags.Decode(ref body);
        DiskLabel read = new(
            header.Pool, header.Disk, new DiskNumber(body.U16()), body.I64(), new SlabGeometry(body.I64()), body.I64(), features);
        bool isWhole = !body.Failed && read.Number != DiskNumber.None && DiskLayout.TryCreate(read.DiskBytes, read.Slabs, out _, out _);
        label = isWhole ? read : null;
        return isWhole ? BlockStatus.Intact : BlockStatus.Damaged;
    }
}
