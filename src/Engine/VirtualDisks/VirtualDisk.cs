using TierSpaces.Engine.Caching;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.Tiering;

namespace TierSpaces.Engine.VirtualDisks;

// A virtual disk as clients address it: bounds, access, counters, heat. Requests that cover a block in part and long requests are the task of
// BlockLimits, which lies between this layer and the store: write cache, tiers or space.
//
// A client that sends requests smaller than a sector is served, too. The first change of a part of a sector waits until no request is under way, and
// makes BlockLimits lock the blocks of every change from then on. So a disk whose clients keep to its sectors takes no lock.
//
// Invariants
//  1. Every request is checked against size, smallest request and access before anything is done.
//  2. A request is counted once and heats its slices once, however many transfers it becomes below.
//  3. Nothing is acknowledged that the store has not acknowledged.
//  4. A request that ends with an exception is counted as failed: the queue counts requests under way, and a pause waits for it.
//  5. An exception before the store has been given the request ends that request alone (RequestException).
//  6. Pauses are counted: a request goes on when every pause that began has ended.
//  7. A change of a part of a sector reaches the store only after every change under way holds its blocks.
//  8. Changes that wait for the end of a pause reach the store in the order in which they came.

/// <summary>The layer that clients talk to.</summary>
public sealed class VirtualDisk : IBlockStore
{
    /// <summary>Unit of the requests that are served, in bytes. One smaller than a sector costs a read and a write of its block.</summary>
    public const int SmallestRequest = 512;

    private const int BlockSize = 4096;
    private const long PausePollNs = 100_000;

    private readonly ILane _lane;
    private readonly BlockLimits _below;
    private readonly LaneSignal _resumed = new();
    private readonly IBackingStore _home;
    private int _pauses;      // Pause without its Resume: new requests wait
    private long _unlocked;   // bits of offset and length that no change may have before blocks are locked

    internal VirtualDisk(ILane lane, IBackingStore owner, WriteCache? cache, long sizeBytes, int logicalSectorSize, bool isReadOnly)
    {
        _lane = lane;
        _home = owner;
        Cache = cache;
        _below = new BlockLimits(lane.Buffers, cache is null ? owner : cache, SmallestRequest) { HasPartChanges = logicalSectorSize < BlockSize };
        _unlocked = _below.HasPartChanges ? 0 : logicalSectorSize - 1;
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
    public bool IsReadOnly { get; private set; }

    /// <summary>Counters of the traffic.</summary>
    public IoCounters Counters { get; } = new();

    /// <summary>Heat of its slices, recorded here only, so that destaging and moves heat nothing; null for a disk without tiers.</summary>
    internal HeatMap? Heat { get; init; }

    /// <inheritdoc/>
    public StoreGeometry Geometry => new(SizeBytes, LogicalSectorSize, BlockSize, _below.Geometry.MaxTransfer) { SmallestRequest = SmallestRequest };

    /// <summary>The pool has committed another description of the disk: writes are refused or taken as that says.</summary>
    internal void Redescribe(VirtualDiskDescription description) => IsReadOnly = description.IsReadOnly;

    /// <summary>Makes the disk longer; clients that connect from now on see it.</summary>
    internal void Grow(long sizeBytes)
    {
        _home.Grow(sizeBytes);
        Heat?.Grow(sizeBytes / Heat.Settings.SliceBytes);
        SizeBytes = sizeBytes;
    }

    /// <summary>Holds new requests back and waits for those under way. Pauses nest: each needs its <see cref="Resume"/>.</summary>
    internal async LaneTask<Nothing> Pause()
    {
        _pauses++;
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
        _below.TakeStore(cache is null ? _home : cache);
        EndPause();
    }

    /// <inheritdoc/>
    public void Prefetch(long offset) => _below.Prefetch(offset);

    /// <inheritdoc/>
    public async LaneTask<IoError> Read(long offset, IoBuffer target)
    {
        if (IsOutside(offset, target.Length) || target.Length == 0)
        {
            return IoError.InvalidArgument;
        }

        long startNs = _lane.NowNs;
        while (_pauses > 0)
        {
            await _resumed.Wait();
        }

        Counters.Begin();
        IoError error = IoError.Io;   // unless the store says otherwise
        try
        {
            error = await BeginRead(offset, target);
        }
        finally
        {
            Counters.EndRead(target.Length, _lane.RecentNs - startNs, error != IoError.None);
        }

        return error;
    }

    /// <inheritdoc/>
    public async LaneTask<IoError> Write(long offset, IoBuffer source, WriteFlags flags)
    {
        if (IsOutside(offset, source.Length) || source.Length == 0 || IsReadOnly)
        {
            return IsReadOnly ? IoError.NotPermitted : IoError.InvalidArgument;
        }

        long startNs = _lane.NowNs;
        if (MustWait(offset, source.Length) && await AwaitTurn(offset, source.Length, flags) is not IoError.None and var ended)
        {
            return ended;
        }

        Counters.Begin();
        IoError error = IoError.Io;
        try
        {
            error = await BeginWrite(offset, source, flags);
        }
        finally
        {
            EndWrite(source.Length, startNs, error);
        }

        return error;
    }

    /// <inheritdoc/>
    public async LaneTask<IoError> Flush()
    {
        long startNs = _lane.NowNs;
        while (_pauses > 0)
        {
            await _resumed.Wait();
        }

        Counters.Begin();
        IoError error = IoError.Io;
        try
        {
            error = await _below.Flush();
        }
        finally
        {
            Counters.EndFlush(_lane.RecentNs - startNs, error != IoError.None);
        }

        return error;
    }

    /// <summary>Gives back the whole blocks of a range. A block that is covered in part keeps its bytes.</summary>
    public LaneTask<IoError> Unmap(long offset, long length) => Unmap(offset, length, WriteFlags.None);

    /// <inheritdoc/>
    public async LaneTask<IoError> Unmap(long offset, long length, WriteFlags flags)
    {
        if (IsOutside(offset, length) || IsReadOnly)
        {
            return IsReadOnly ? IoError.NotPermitted : IoError.InvalidArgument;
        }

        long startNs = _lane.NowNs;
        if (MustWait(offset, length) && await AwaitTurn(offset, length, flags) is not IoError.None and var ended)
        {
            return ended;
        }

        Counters.Begin();
        IoError error = IoError.Io;
        try
        {
            error = await _below.Unmap(offset, length, flags);
        }
        finally
        {
            Counters.EndUnmap(length, _lane.RecentNs - startNs, error != IoError.None);
        }

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
        if (MustWait(offset, length) && await AwaitTurn(offset, length, flags) is not IoError.None and var ended)
        {
            return ended;
        }

        Counters.Begin();
        IoError error = IoError.Io;
        try
        {
            error = await _below.WriteZeroes(offset, length, flags);
        }
        finally
        {
            EndWrite(length, startNs, error);
        }

        return error;
    }

    /// <inheritdoc/>
    public LaneTask<IoError> Status(long offset, long length, List<StoreExtent> extents) =>
        IsOutside(offset, length) ? LaneTask.FromResult(IoError.InvalidArgument) : _below.Status(offset, length, extents);

    private LaneTask<IoError> BeginRead(long offset, IoBuffer target)
    {
        try
        {
            Heat?.Record(offset, target.Length, isWrite: false, _lane.RecentNs);
            return _below.Read(offset, target);
        }
        catch (Exception failure) when (RequestException.MayContain(failure))
        {
            throw new RequestException(failure);
        }
    }

    private LaneTask<IoError> BeginWrite(long offset, IoBuffer source, WriteFlags flags)
    {
        try
        {
            Heat?.Record(offset, source.Length, isWrite: true, _lane.RecentNs);
            return _below.Write(offset, source, flags);
        }
        catch (Exception failure) when (RequestException.MayContain(failure))
        {
            throw new RequestException(failure);
        }
    }

    /// <summary>Whether a change has to wait: the disk is paused, or part of a sector changes and blocks are not locked.</summary>
    private bool MustWait(long offset, long length) => _pauses > 0 || ((offset | length) & _unlocked) != 0;

    /// <summary>Waits until a change may begin, behind the changes that wait already. Cancelled: its client is gone.</summary>
    private async LaneTask<IoError> AwaitTurn(long offset, long length, WriteFlags flags)
    {
        while (MustWait(offset, length))
        {
            LaneTask<Nothing> resumed = _resumed.Wait();   // before the pause: changes that come meanwhile wait behind this one
            if (_pauses == 0)
            {
                LockBlocks().Forget();
            }

            await resumed;
        }

        return StoreClients.AfterWait(hasWaited: true, flags);
    }

    private async LaneTask<Nothing> LockBlocks()
    {
        await Pause();
        _below.AllowPartChanges();
        _unlocked = 0;
        EndPause();
        return default;
    }

    private void EndPause()
    {
        if (--_pauses == 0)
        {
            _resumed.NotifyAll();
        }
    }

    private void EndWrite(long length, long startNs, IoError error) =>
        Counters.EndWrite(length, _lane.RecentNs - startNs, error != IoError.None, _below.ReadModifyWrites);

    private bool IsOutside(long offset, long length) =>
        offset < 0 || length < 0 || offset > SizeBytes - length || ((offset | length) & (SmallestRequest - 1)) != 0;
}
