using TierSpaces.Engine.Caching;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.Tiering;

namespace TierSpaces.Engine.VirtualDisks;

// A virtual disk as clients address it: bounds, sectors smaller than a block, counters.
//
// Invariants
//  1. The storey below, write cache, tiers or space, sees whole 4 KiB blocks only: a smaller write reads the rest under the range lock and writes it all.
//  2. On a disk with small sectors every write holds its blocks, so that two writes into one block never lose each other.
//  3. Nothing is acknowledged that the storey below has not acknowledged.

/// <summary>The storey that clients talk to.</summary>
public sealed class VirtualDisk : IBlockStore
{
    private const int BlockSize = 4096;
    private const long PausePollNs = 100_000;

    private readonly ILane _lane;
    private readonly RangeLock _blocks = new();
    private readonly LaneSignal _resumed = new();
    private readonly IHomeStore _home;
    private IBlockStore _below;
    private bool _isPaused;   // new requests wait, so that the storey below can be exchanged

    internal VirtualDisk(ILane lane, IHomeStore home, WriteCache? cache, long sizeBytes, int logicalSectorSize, bool isReadOnly)
    {
        _lane = lane;
        _home = home;
        Cache = cache;
        _below = cache is null ? home : cache;
        SizeBytes = sizeBytes;
        LogicalSectorSize = logicalSectorSize;
        IsReadOnly = isReadOnly;
    }

    /// <summary>The write cache in front of it, or null.</summary>
    public WriteCache? Cache { get; private set; }

    /// <summary>Size that clients see, in bytes.</summary>
    public long SizeBytes { get; private set; }

    /// <summary>Unit that clients address: 512 or 4096 bytes.</summary>
    public int LogicalSectorSize { get; }

    /// <summary>Whether writes are refused.</summary>
    public bool IsReadOnly { get; set; }

    /// <summary>What passed through.</summary>
    public IoCounters Counters { get; } = new();

    /// <summary>Heat of its slices, recorded here only, so that destaging and moves heat nothing; null for a disk without tiers.</summary>
    internal HeatMap? Heat { get; set; }

    /// <inheritdoc/>
    public StoreGeometry Geometry => new(SizeBytes, LogicalSectorSize, BlockSize, 32 << 20);

    /// <summary>Makes the disk longer; clients that connect from now on see it.</summary>
    internal void Grow(long sizeBytes)
    {
        _home.Grow(sizeBytes);
        Heat?.Grow(sizeBytes / Heat.Settings.SliceBytes);
        SizeBytes = sizeBytes;
    }

    /// <summary>Holds new requests back and waits for those under way.</summary>
    internal async LaneTask<Nothing> Pause()
    {
        _isPaused = true;
        while (Counters.Queue > 0)
        {
            await _lane.Delay(PausePollNs);
        }

        return default;
    }

    /// <summary>Lets requests go on after <see cref="Pause"/>, through this cache or none.</summary>
    internal void Resume(WriteCache? cache)
    {
        Cache = cache;
        _below = cache is null ? _home : cache;
        _isPaused = false;
        _resumed.NotifyAll();
    }

    /// <inheritdoc/>
    public void Expect(long offset) => _below.Expect(offset);

    /// <inheritdoc/>
    public async LaneTask<IoError> Read(long offset, IoBuffer target)
    {
        if (IsOutside(offset, target.Length))
        {
            return IoError.InvalidArgument;
        }

        long startNs = _lane.NowNs;
        while (_isPaused)
        {
            await _resumed.Wait();
        }

        Counters.Begin();
        Heat?.Record(offset, target.Length, isWrite: false, _lane.RecentNs);
        IoError error = IsWhole(offset, target.Length) && target.IsAligned(BlockSize)
            ? await _below.Read(offset, target) : await ReadPart(offset, target);
        Counters.ReadOperations++;
        Counters.ReadBytes += target.Length;
        Counters.EndRead(_lane.RecentNs - startNs, error != IoError.None);
        return error;
    }

    /// <inheritdoc/>
    public async LaneTask<IoError> Write(long offset, IoBuffer source, WriteFlags flags)
    {
        if (IsOutside(offset, source.Length) || IsReadOnly)
        {
            return IsReadOnly ? IoError.NotPermitted : IoError.InvalidArgument;
        }

        long startNs = _lane.NowNs;
        while (_isPaused)
        {
            await _resumed.Wait();
        }

        Counters.Begin();
        Heat?.Record(offset, source.Length, isWrite: true, _lane.RecentNs);
        IoError error = LogicalSectorSize == BlockSize && source.IsAligned(BlockSize)
            ? await _below.Write(offset, source, flags) : await WriteLocked(offset, source, flags);
        Counters.WriteOperations++;
        Counters.WriteBytes += source.Length;
        Counters.EndWrite(_lane.RecentNs - startNs, error != IoError.None);
        return error;
    }

    /// <inheritdoc/>
    public async LaneTask<IoError> Flush()
    {
        long startNs = _lane.NowNs;
        while (_isPaused)
        {
            await _resumed.Wait();
        }

        Counters.Begin();
        IoError error = await _below.Flush();
        Counters.FlushOperations++;
        Counters.EndFlush(_lane.RecentNs - startNs, error != IoError.None);
        return error;
    }

    /// <summary>Gives back the whole blocks of a range; parts of blocks at its ends stay as they are.</summary>
    public async LaneTask<IoError> Unmap(long offset, long length)
    {
        if (IsOutside(offset, length) || IsReadOnly)
        {
            return IsReadOnly ? IoError.NotPermitted : IoError.InvalidArgument;
        }

        long startNs = _lane.NowNs;
        while (_isPaused)
        {
            await _resumed.Wait();
        }

        Counters.Begin();
        long first = RoundUp(offset);
        long end = RoundDown(offset + length);
        IoError error = IoError.None;
        if (end > first)
        {
            await _blocks.Acquire(first, end);
            error = await _below.Unmap(first, end - first);
            _blocks.Release(first, end);
        }

        Counters.UnmapOperations++;
        Counters.UnmapBytes += length;
        Counters.EndWrite(_lane.RecentNs - startNs, error != IoError.None);
        return error;
    }

    /// <inheritdoc/>
    public async LaneTask<IoError> WriteZeroes(long offset, long length, WriteFlags flags)
    {
        if (IsOutside(offset, length) || IsReadOnly)
        {
            return IsReadOnly ? IoError.NotPermitted : IoError.InvalidArgument;
        }

        long startNs = _lane.NowNs;
        while (_isPaused)
        {
            await _resumed.Wait();
        }

        Counters.Begin();
        IoError error = await ZeroParts(offset, length, flags);
        Counters.WriteOperations++;
        Counters.WriteBytes += length;
        Counters.EndWrite(_lane.RecentNs - startNs, error != IoError.None);
        return error;
    }

    /// <inheritdoc/>
    public async LaneTask<IoError> Status(long offset, long length, List<StoreExtent> extents)
    {
        if (IsOutside(offset, length))
        {
            return IoError.InvalidArgument;
        }

        long first = RoundDown(offset);
        List<StoreExtent> whole = [];
        IoError error = await _below.Status(first, RoundUp(offset + length) - first, whole);
        long skip = offset - first;
        foreach (StoreExtent extent in whole)
        {
            long part = Math.Min(extent.Length - Math.Min(skip, extent.Length), length);
            skip -= Math.Min(skip, extent.Length);
            length -= part;
            if (part > 0)
            {
                extents.Add(extent with { Length = part });
            }
        }

        return error;
    }

    private async LaneTask<IoError> ReadPart(long offset, IoBuffer target)
    {
        long first = RoundDown(offset);
        IoBuffer whole = _lane.Buffers.Rent((int)(RoundUp(offset + target.Length) - first)).AllowKeeping();
        IoError error = await _below.Read(first, whole);
        whole = _lane.Buffers.Settle(whole);
        whole.Span.Slice((int)(offset - first), target.Length).CopyTo(target.Span);
        _lane.Buffers.Return(whole);
        return error;
    }

    private async LaneTask<IoError> WriteLocked(long offset, IoBuffer source, WriteFlags flags)
    {
        long first = RoundDown(offset);
        long end = RoundUp(offset + source.Length);
        await _blocks.Acquire(first, end);
        IoError error = IsWhole(offset, source.Length) && source.IsAligned(BlockSize)
            ? await _below.Write(offset, source, flags) : await ReadModifyWrite(offset, source, first, end, flags);
        _blocks.Release(first, end);
        return error;
    }

    private async LaneTask<IoError> ReadModifyWrite(long offset, IoBuffer source, long first, long end, WriteFlags flags)
    {
        IoBuffer whole = _lane.Buffers.Rent((int)(end - first));
        IoError error = IoError.None;
        if (!IsWhole(offset, source.Length))
        {
            Counters.ReadModifyWrites++;
            error = await ReadEnds(offset, source.Length, first, end, whole);
        }

        if (error == IoError.None)
        {
            source.Span.CopyTo(whole.Span.Slice((int)(offset - first), source.Length));
            error = await _below.Write(first, whole, flags);
        }

        _lane.Buffers.Return(whole);
        return error;
    }

    private async LaneTask<IoError> ReadEnds(long offset, int length, long first, long end, IoBuffer whole)
    {
        IoError error = offset != first ? await _below.Read(first, whole.Slice(0, BlockSize)) : IoError.None;
        bool hasTail = offset + length != end && (end - first > BlockSize || offset == first);
        return error == IoError.None && hasTail
            ? await _below.Read(end - BlockSize, whole.Slice(whole.Length - BlockSize, BlockSize)) : error;
    }

    private async LaneTask<IoError> ZeroParts(long offset, long length, WriteFlags flags)
    {
        long first = Math.Min(RoundUp(offset), offset + length);
        long end = Math.Max(RoundDown(offset + length), first);
        IoError error = first > offset ? await ZeroPart(offset, (int)(first - offset), WriteFlags.None) : IoError.None;
        if (error == IoError.None && offset + length > end)
        {
            error = await ZeroPart(end, (int)(offset + length - end), WriteFlags.None);
        }

        if (error == IoError.None && end > first)
        {
            await _blocks.Acquire(first, end);
            error = await _below.WriteZeroes(first, end - first, flags & ~WriteFlags.ForceUnitAccess);
            _blocks.Release(first, end);
        }

        return error == IoError.None && (flags & WriteFlags.ForceUnitAccess) != 0 ? await _below.Flush() : error;
    }

    private async LaneTask<IoError> ZeroPart(long offset, int length, WriteFlags flags)
    {
        IoBuffer zeros = _lane.Buffers.Rent(length);
        zeros.Span.Clear();
        IoError error = await WriteLocked(offset, zeros, flags);
        _lane.Buffers.Return(zeros);
        return error;
    }

    private bool IsOutside(long offset, long length) =>
        offset < 0 || length <= 0 || offset > SizeBytes - length || ((offset | length) & (LogicalSectorSize - 1)) != 0;

    private static bool IsWhole(long offset, long length) => ((offset | length) & (BlockSize - 1)) == 0;

    private static long RoundDown(long offset) => offset & ~(BlockSize - 1L);

    private static long RoundUp(long offset) => (offset + BlockSize - 1) & ~(BlockSize - 1L);
}
