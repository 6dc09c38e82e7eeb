using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.VirtualDisks;

/// <summary>A member disk whose requests are counted and timed. It changes nothing of them.</summary>
public sealed class MeteredDisk(ILane lane, IDisk below) : IDisk
{
    /// <summary>What passed through.</summary>
    public IoCounters Counters { get; } = new();

    /// <inheritdoc/>
    public DiskIdentity Identity => below.Identity;

    /// <inheritdoc/>
    public bool IsPresent => below.IsPresent;

    /// <inheritdoc/>
    public int InFlight => Counters.Queue;

    /// <inheritdoc/>
    public StoreGeometry Geometry => below.Geometry;

    /// <inheritdoc/>
    public async LaneTask<IoError> Read(long offset, IoBuffer target)
    {
        long startNs = lane.NowNs;
        Counters.Begin();
        IoError error = await below.Read(offset, target);
        Counters.ReadOperations++;
        Counters.ReadBytes += target.Length;
        Counters.EndRead(lane.NowNs - startNs, error != IoError.None);
        return error;
    }

    /// <inheritdoc/>
    public async LaneTask<IoError> Write(long offset, IoBuffer source, WriteFlags flags)
    {
        long startNs = lane.NowNs;
        Counters.Begin();
        IoError error = await below.Write(offset, source, flags);
        Counters.WriteOperations++;
        Counters.WriteBytes += source.Length;
        Counters.EndWrite(lane.NowNs - startNs, error != IoError.None);
        return error;
    }

    /// <inheritdoc/>
    public async LaneTask<IoError> Flush()
    {
        long startNs = lane.NowNs;
        Counters.Begin();
        IoError error = await below.Flush();
        Counters.FlushOperations++;
        Counters.EndFlush(lane.NowNs - startNs, error != IoError.None);
        return error;
    }

    /// <inheritdoc/>
    public async LaneTask<IoError> Unmap(long offset, long length)
    {
        long startNs = lane.NowNs;
        Counters.Begin();
        IoError error = await below.Unmap(offset, length);
        Counters.UnmapOperations++;
        Counters.UnmapBytes += length;
        Counters.EndWrite(lane.NowNs - startNs, error != IoError.None);
        return error;
    }

    /// <inheritdoc/>
    public async LaneTask<IoError> WriteZeroes(long offset, long length, WriteFlags flags)
    {
        long startNs = lane.NowNs;
        Counters.Begin();
        IoError error = await below.WriteZeroes(offset, length, flags);
        Counters.WriteOperations++;
        Counters.WriteBytes += length;
        Counters.EndWrite(lane.NowNs - startNs, error != IoError.None);
        return error;
    }

    /// <inheritdoc/>
    public LaneTask<IoError> Status(long offset, long length, List<StoreExtent> extents) => below.Status(offset, length, extents);

    /// <inheritdoc/>
    public LaneTask Close() => below.Close();
}
