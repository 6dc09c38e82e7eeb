using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.VirtualDisks;
using TierSpaces.Simulation;

namespace TierSpaces.Fuzz;

/// <summary>Area of a block, by its use.</summary>
internal enum ImageArea
{
    Labels,
    Superblocks,
    Journal,
    Heap,
    Log,
    ChecksumPages,
    Data,
    Host,
}

/// <summary>
/// A pool of two disks with a mirror on them, as it was at one moment: the disks' blocks, the host's files and memory, and where
/// everything is. Made by the engine itself, once; every execution works on a copy.
/// </summary>
internal sealed class PoolImage
{
    private const int DiskBlocks = (16 << 20) / ImageDisk.BlockSize;
    private const long Mebibyte = 1 << 20;

    private readonly byte[]?[][] _disks;
    private readonly MemoryState _state;

    private PoolImage(IEnumerable<ImageDisk> disks, MemoryState state, PoolId id, PoolState known)
    {
        _disks = [.. disks.Select(static disk => disk.Image())];
        _state = state;
        Id = id;
        DiskLayout.TryCreate((long)DiskBlocks * ImageDisk.BlockSize, known.Pool!.Slabs, out DiskLayout layout, out _);
        Layout = layout;
        Areas = [.. Enum.GetValues<ImageArea>().Select(area => _disks.Select((disk, i) => BlocksOf(area, disk, (ushort)(i + 1), known).ToArray()).ToArray())];
    }

    /// <summary>The pool after a process died in the middle of its work, and after it was closed in order.</summary>
    internal static IReadOnlyList<PoolImage> Both { get; } = Make();

    /// <summary>The pool's id.</summary>
    internal PoolId Id { get; }

    /// <summary>Where areas are; both disks are the same in size.</summary>
    internal DiskLayout Layout { get; }

    /// <summary>By area and disk, the numbers of the blocks that hold something.</summary>
    internal long[][][] Areas { get; }

    /// <summary>Disks that may be changed.</summary>
    internal ImageDisk[] Disks() => [.. _disks.Select(static (image, i) => new ImageDisk($"disk{i + 1}", image))];

    /// <summary>Files and memory that may be changed.</summary>
    internal MemoryState State() => _state.Copy();

    private static PoolImage[] Make()
    {
        SimLane lane = new(1);
        MemoryState state = new();
        ImageDisk[] disks = [.. Enumerable.Range(1, 2).Select(static i => new ImageDisk($"disk{i}", new byte[]?[DiskBlocks]))];
        PoolEnvironment environment = new(lane, new StateFolder(lane, state), Samples.Id);
        Pool pool = lane.Run(Pool.Create(
            environment, new NewPoolSpec { FriendlyName = "pool" }, [.. disks.Select(static disk => new NewDiskSpec(disk, disk.Identity.DeviceKey))]));
        OpenVirtualDisk open = lane.Run(VirtualDiskBuilder.Create(pool, new VirtualDiskDescription
        {
            FriendlyName = "mirror", ResiliencySettingName = "Mirror", SizeBytes = 3 * Mebibyte, NumberOfColumns = 1, NumberOfDataCopies = 2,
            Interleave = 64 << 10, ProvisioningType = ProvisioningType.Thin,
        })).Disk!;
        for (int i = 0; i < 6; i++)
        {
            Write(lane, open, i * 400 << 10, i % 2 == 0);
            lane.Run(pool.Commit(new JobRecord(new Guid(i, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), [1, 2, 3])));
        }

        lane.Run(pool.Commit(new StaleMarked(new SpaceId(1), [new StaleEntry(1, 1, 4)])));
        PoolImage killed = new(disks, state.Copy(), pool.Id, pool.State);
        lane.Run(open.Close());
        lane.Run(pool.Close());
        return [killed, new PoolImage(disks, state.Copy(), pool.Id, pool.State)];
    }

    private static void Write(SimLane lane, OpenVirtualDisk open, long offset, bool flushes)
    {
        IoBuffer data = lane.Buffers.Rent(8192);
        data.Span.Fill((byte)(offset >> 12));
        lane.Run(open.Disk.Write(offset & -4096, data, WriteFlags.None));
        lane.Buffers.Return(data);
        if (flushes)
        {
            lane.Run(open.Disk.Flush());
        }
    }

    private IEnumerable<long> BlocksOf(ImageArea area, byte[]?[] disk, ushort number, PoolState state) => area switch
    {
        ImageArea.Labels => Range(disk, DiskLayout.LabelA, 1).Concat(Range(disk, Layout.LabelB, 1)),
        ImageArea.Superblocks => Newest(Range(disk, DiskLayout.SuperblockRingA, DiskLayout.SuperblockSlots), disk)
            .Concat(Newest(Range(disk, Layout.SuperblockRingB, DiskLayout.SuperblockSlots), disk)),
        ImageArea.Journal => Range(disk, DiskLayout.Journal, Layout.JournalBlocks),
        ImageArea.Heap => Range(disk, Layout.Heap, Layout.HeapPages),
        ImageArea.Log => SlabsOf(state, SpaceKind.IntegrityLog, number)
            .SelectMany(slab => Range(disk, Layout.SlabDataOffset(slab), (int)(Layout.Slabs.DataBytes / ImageDisk.BlockSize))),
        ImageArea.ChecksumPages => SlabsOf(state, SpaceKind.Data, number).SelectMany(slab => Range(disk, Layout.SlabOffset(slab), Layout.Slabs.ChecksumPages)),
        ImageArea.Data => SlabsOf(state, SpaceKind.Data, number)
            .SelectMany(slab => Range(disk, Layout.SlabDataOffset(slab), (int)(Layout.Slabs.DataBytes / ImageDisk.BlockSize))),
        _ => [],
    };

    private static IEnumerable<long> Range(byte[]?[] disk, long offset, int blocks) => Enumerable.Range(0, blocks)
        .Select(i => (offset / ImageDisk.BlockSize) + i).Where(number => disk[number].AsSpan().ContainsAnyExcept((byte)0));

    // Older ones are not looked at.
    private static IEnumerable<long> Newest(IEnumerable<long> slots, byte[]?[] disk) =>
        slots.OrderByDescending(number => BitConverter.ToUInt64(disk[number]!, 68)).Take(2);

    private static IEnumerable<uint> SlabsOf(PoolState state, SpaceKind kind, ushort disk) => state.Spaces.Values
        .Where(space => space.Description.Kind == kind).SelectMany(static space => space.EnumerateRows())
        .SelectMany(static row => row.Row.Mapping.Sources.ToArray()).Where(slab => slab.Disk.Value == disk).Select(static slab => slab.Slab);
}
