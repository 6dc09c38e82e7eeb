using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

/// <summary>Both label blocks of a disk as they are, so that they can be written back after <see cref="PoolScan.Erase"/>.</summary>
public sealed class DiskLabels
{
    private readonly byte[] _first;
    private readonly byte[] _last;

    private DiskLabels(byte[] first, byte[] last) => (_first, _last) = (first, last);

    /// <summary>Reads both labels. If one cannot be read and the other can, the unreadable one stays zeros.</summary>
    public static async LaneTask<(IoError Error, DiskLabels Labels)> Read(ILane lane, IDisk disk)
    {
        DiskLabels labels = new(new byte[PoolBlock.Size], new byte[PoolBlock.Size]);
        IoError first = await MetadataIo.Read(lane, disk, DiskLayout.LabelA, labels._first);
        IoError last = await MetadataIo.Read(lane, disk, PlaceOfLast(disk), labels._last);
        return (first != IoError.None ? last : IoError.None, labels);
    }

    /// <summary>Writes both back, durably.</summary>
    public async LaneTask<IoError> Write(ILane lane, IDisk disk)
    {
        IoError first = await MetadataIo.Write(lane, disk, DiskLayout.LabelA, _first);
        IoError last = await MetadataIo.Write(lane, disk, PlaceOfLast(disk), _last);
        IoError flushed = await disk.Flush();
        return first != IoError.None ? first : last != IoError.None ? last : flushed;
    }

    private static long PlaceOfLast(IDisk disk) => (disk.Geometry.Length / DiskLayout.BlockBytes * DiskLayout.BlockBytes) - PoolBlock.Size;
}
