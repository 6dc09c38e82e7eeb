using System.Buffers;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

/// <summary>Kind of content that a disk holds.</summary>
public enum ScanKind
{
    /// <summary>Nothing known: it may join a pool.</summary>
    Blank,

    /// <summary>A member of a pool of ours.</summary>
    Member,

    /// <summary>
    /// Of ours, but the pool or the disk was only being made when the host stopped: nothing on it was ever acknowledged. It may
    /// join a pool unless a pool knows it.
    /// </summary>
    Forming,

    /// <summary>Data of other software: it must not be pooled.</summary>
    Foreign,

    /// <summary>Of ours, but unreadable or inconsistent: it must not be pooled or opened.</summary>
    Damaged,

    /// <summary>Of ours, but written by a newer release.</summary>
    Unsupported,

    /// <summary>The disk could not be read.</summary>
    Unreadable,
}

/// <summary>Content of a disk, as read from its labels and superblocks; nothing is written.</summary>
/// <param name="Disk">The disk.</param>
/// <param name="Kind">Kind of content.</param>
/// <param name="Reason">For people: the content of a disk that is not a member; empty for a blank disk.</param>
public sealed record PoolScan(IDisk Disk, ScanKind Kind, string Reason)
{
    /// <summary>The label of a disk of ours.</summary>
    public DiskLabel? Label { get; init; }

    /// <summary>The newest superblock of a disk of ours.</summary>
    public Superblock? Superblock { get; init; }

    /// <summary>Signatures of other software, of a disk whose kind is <see cref="ScanKind.Foreign"/>.</summary>
    public IReadOnlyList<DiskSignature> Signatures { get; init; } = [];

    /// <summary>Returns the scan of a disk that holds these signatures of other software, one at least.</summary>
    public static PoolScan ForeignDisk(IDisk disk, IReadOnlyList<DiskSignature> signatures) => new(
        disk, ScanKind.Foreign,
        $"{disk.Identity.Uri} holds {string.Join(" and ", signatures.Select(static signature => signature.Name).Distinct())}. "
        + "If that is no longer needed, Reset-PhysicalDisk erases it.") { Signatures = signatures };

    /// <summary>Looks at a disk.</summary>
    public static async LaneTask<PoolScan> Scan(ILane lane, IDisk disk)
    {
        long size = disk.Geometry.Length / DiskLayout.BlockBytes * DiskLayout.BlockBytes;
        if (size < DiskLayout.SmallestDisk)
        {
            return new PoolScan(disk, ScanKind.Blank, "");
        }

        byte[] labelA = new byte[PoolBlock.Size];
        byte[] labelB = new byte[PoolBlock.Size];
        IoError errorA = await MetadataIo.Read(lane, disk, DiskLayout.LabelA, labelA);
        IoError errorB = await MetadataIo.Read(lane, disk, size - PoolBlock.Size, labelB);
        return errorA != IoError.None && errorB != IoError.None
            ? new PoolScan(disk, ScanKind.Unreadable, $"{disk.Identity.Uri} cannot be read ({errorA}).")
            : await Judge(lane, disk, size, labelA, labelB);
    }

    /// <summary>Writes zeros over both labels, so that the disk is blank.</summary>
    public static async LaneTask<IoError> Erase(ILane lane, IDisk disk)
    {
        byte[] zeros = new byte[PoolBlock.Size];
        long size = disk.Geometry.Length / DiskLayout.BlockBytes * DiskLayout.BlockBytes;
        IoError error = await MetadataIo.Write(lane, disk, size - PoolBlock.Size, zeros);
        error = error == IoError.None ? await MetadataIo.Write(lane, disk, DiskLayout.LabelA, zeros) : error;
        return error == IoError.None ? await disk.Flush() : error;
    }

    private static async LaneTask<PoolScan> Judge(ILane lane, IDisk disk, long size, byte[] labelA, byte[] labelB)
    {
        BlockStatus statusA = DiskLabel.Decode(labelA, DiskLayout.LabelA, out DiskLabel? a);
        BlockStatus statusB = DiskLabel.Decode(labelB, size - PoolBlock.Size, out DiskLabel? b);
        string uri = disk.Identity.Uri;
        if (statusA == BlockStatus.Newer || (statusB == BlockStatus.Newer && a is null))
        {
            return new PoolScan(disk, ScanKind.Unsupported, $"{uri} is a pool member written by a newer release. Open it with that.");
        }

        if (a is not null && b is not null && a != b)
        {
            return new PoolScan(disk, ScanKind.Damaged, $"The two labels of {uri} disagree (pool {a.Pool} and pool {b.Pool}).");
        }

        if ((a ?? b) is { } label)
        {
            return await JudgeMember(lane, disk, size, label);
        }

        if (statusA != BlockStatus.NotOurs || statusB != BlockStatus.NotOurs)
        {
            return new PoolScan(disk, ScanKind.Damaged, $"Both labels of {uri} are damaged.");
        }

        return await JudgeStranger(lane, disk);
    }

    private static async LaneTask<PoolScan> JudgeStranger(ILane lane, IDisk disk)
    {
        (IoError error, IReadOnlyList<DiskSignature> signatures) = await FindSignatures(lane, disk);
        return error != IoError.None ? new PoolScan(disk, ScanKind.Unreadable, $"{disk.Identity.Uri} cannot be read ({error}).")
            : signatures.Count == 0 ? new PoolScan(disk, ScanKind.Blank, "")
            : ForeignDisk(disk, signatures);
    }

    /// <summary>Finds the signatures of other software that the engine itself knows, whatever else the disk holds.</summary>
    public static async LaneTask<(IoError Error, IReadOnlyList<DiskSignature> Signatures)> FindSignatures(ILane lane, IDisk disk)
    {
        long length = disk.Geometry.Length;
        byte[] head = new byte[(int)Math.Min(ForeignSignature.HeadBytes, length)];
        byte[] tail = new byte[(int)Math.Min(ForeignSignature.TailBytes, length)];
        IoError error = await MetadataIo.Read(lane, disk, 0, head);
        error = error == IoError.None ? await MetadataIo.Read(lane, disk, length - tail.Length, tail) : error;
        return (error, error == IoError.None ? ForeignSignature.FindAll(head, tail, length) : []);
    }

    /// <summary>Writes zeros over the blocks of 4096 bytes that these signatures are in; the last block of a disk may be shorter.</summary>
    public static async LaneTask<IoError> EraseSignatures(ILane lane, IDisk disk, IReadOnlyList<DiskSignature> signatures)
    {
        IoError error = IoError.None;
        IEnumerable<long> blocks = signatures
            .SelectMany(static signature => Blocks(signature.Offset, signature.Length)).Where(offset => offset < disk.Geometry.Length).Distinct();
        foreach (long offset in blocks)
        {
            byte[] zeros = new byte[(int)Math.Min(PoolBlock.Size, disk.Geometry.Length - offset)];
            error = error == IoError.None ? await MetadataIo.Write(lane, disk, offset, zeros) : error;
        }

        return error == IoError.None ? await disk.Flush() : error;
    }

    private static IEnumerable<long> Blocks(long offset, int length)
    {
        for (long at = offset / PoolBlock.Size * PoolBlock.Size; at < offset + length; at += PoolBlock.Size)
        {
            yield return at;
        }
    }

    private static async LaneTask<PoolScan> JudgeMember(ILane lane, IDisk disk, long size, DiskLabel label)
    {
        string uri = disk.Identity.Uri;
        if (size < label.DiskBytes)
        {
            string shrank = $"{uri} had {ByteText.Exact(label.DiskBytes)} when it joined pool {label.Pool} and has {ByteText.Exact(size)} now: it has been cut short.";
            return new PoolScan(disk, ScanKind.Damaged, shrank) { Label = label };
        }

        Superblock? newest = await ReadNewest(lane, disk, label);
        if (newest is null)
        {
            return new PoolScan(disk, ScanKind.Damaged, $"No superblock of {uri} is readable.") { Label = label };
        }

        string problem = label.Features.UnsupportedReason.Length > 0 ? label.Features.UnsupportedReason : newest.Features.UnsupportedReason;
        ScanKind kind = problem.Length > 0 ? ScanKind.Unsupported : newest.IsForming ? ScanKind.Forming : ScanKind.Member;
        string reason = problem.Length > 0 ? $"{uri}: {problem}" : $"{uri} is disk {label.Number} of pool {label.Pool}.";
        return new PoolScan(disk, kind, reason) { Label = label, Superblock = newest };
    }

    private static async LaneTask<Superblock?> ReadNewest(ILane lane, IDisk disk, DiskLabel label)
    {
        DiskLayout.TryCreate(label.DiskBytes, label.Slabs, out DiskLayout layout, out _);
        Superblock? newest = null;
        byte[] slots = ArrayPool<byte>.Shared.Rent(DiskLayout.SuperblockSlots * PoolBlock.Size);
        foreach (long ring in (long[])[DiskLayout.SuperblockRingA, layout.SuperblockRingB])
        {
            bool isWhole = await MetadataIo.Read(lane, disk, ring, slots.AsMemory(0, DiskLayout.SuperblockSlots * PoolBlock.Size)) == IoError.None;
            for (ulong slot = 0; slot < DiskLayout.SuperblockSlots; slot++)
            {
                long offset = DiskLayout.SuperblockSlot(ring, slot);
                Memory<byte> bytes = slots.AsMemory((int)slot * PoolBlock.Size, PoolBlock.Size);
                if (!isWhole && await MetadataIo.Read(lane, disk, offset, bytes) != IoError.None)
                {
                    continue;
                }

                Superblock.Decode(bytes.Span, label.Pool, label.Disk, offset, out Superblock? read);
                newest = read is not null && read.Epoch % DiskLayout.SuperblockSlots == slot && read.Epoch > (newest?.Epoch ?? 0)
                    ? read
                    : newest;
            }
        }

        ArrayPool<byte>.Shared.Return(slots);
        return newest;
    }
}
