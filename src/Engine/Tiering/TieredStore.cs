using System.Collections.Immutable;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Tiering;

// Slices of one address space placed on the spaces of several tiers.
//
// The store composes its parts and is their face. Rules of order are invariants of the parts, each with a simulated-crash test: TieredRequests (requests cut at
// slices), GracePeriods (requests under way), SliceTable (the map and its commits), SliceAllocator (first places), SlicesAhead (places before a write), SliceIo
// (writes while a slice moves), SliceMover (moves), SliceFreer (whole slices that are unmapped), SlotVacator (slots on their way to being free).
//
// The store is also the backing store of what is in front of it: slices are its units of room. The ring of a write cache follows the disks under the first
// tier that there was, which keeps number 0.

/// <summary>The tiers of a virtual disk as one store.</summary>
public sealed class TieredStore : IBackingStore
{
    private const int BlockSize = 4096;

    private readonly TierSet _tiers;
    private readonly TieredStatus _status;
    private readonly SliceTable _table;
    private readonly SlotVacator _vacator;
    private readonly SlicesAhead _ahead;
    private readonly SliceAllocator _allocator;
    private readonly SliceFreer _freer;
    private readonly SliceMover _mover;
    private readonly TieredRequests _requests;

    internal TieredStore(ILane lane, ISliceHost host, IReadOnlyList<StorageTierStore> tiers, IReadOnlyList<int> order, int sliceSize, long length)
    {
        _tiers = new TierSet(tiers, order, new SliceGrid(sliceSize));
        TieredContext context = new(lane, host, _tiers);
        (_status, _table) = (context.Status, context.Table);
        MovingSlices moves = new();
        GracePeriods periods = new();
        _vacator = new SlotVacator(context, periods);
        _ahead = new SlicesAhead(context);
        _allocator = new SliceAllocator(context, moves, _ahead, _vacator);
        _freer = new SliceFreer(context, moves, periods, _allocator, _ahead, _vacator);
        _ahead.TakeBackBy(_freer.FreeIfZero, ConfirmWritten);
        _mover = new SliceMover(context, moves, periods, _vacator, _allocator, _ahead, _freer);
        _requests = new TieredRequests(context, moves, periods, _allocator, _ahead, _freer);
        Grow(length);
        _tiers.Load(_table.Map);
    }

    /// <inheritdoc/>
    public long Length { get; private set; }

    /// <inheritdoc/>
    EndStatement? IBackingStore.RingEnd => ((IBackingStore)_tiers[0].Space).RingEnd;

    /// <summary>Bytes of a slice.</summary>
    public int SliceSize => _tiers.Grid.Size;

    /// <summary>Slices of the disk.</summary>
    public int Slices => _tiers.Grid.IndexOf(Length);

    /// <summary>Tiers there are.</summary>
    public int Tiers => _tiers.Count;

    /// <summary>Numbers of the tiers, that of the fastest first.</summary>
    public ImmutableArray<int> Order => _tiers.Order;

    /// <summary>The map in force.</summary>
    public SliceMapState Map => _table.Map;

    /// <summary>
    /// Place of a slice as users know it: one that has a place and was not written is nowhere, and one that was is there by its first write.
    /// </summary>
    public SliceEntry PlaceOf(int slice) => _ahead.Contains(slice) ? SliceEntry.None : _table[slice].Written;

    /// <summary>Slices moved since the store was opened.</summary>
    public long SlicesMoved => _mover.SlicesMoved;

    /// <inheritdoc/>
    public StoreGeometry Geometry => new(Length, BlockSize, BlockSize, BufferPool.LargestBuffer);

    /// <inheritdoc/>
    public IoError Fault => _status.Fault;

    /// <inheritdoc/>
    public string FaultReason => _status.FaultReason;

    /// <inheritdoc/>
    public long UnitSize => SliceSize;

    /// <inheritdoc/>
    public int MembersVersion => _tiers.MembersVersion;

    /// <summary>Whether slots are on their way to being free.</summary>
    internal bool IsVacating => _vacator.IsRunning;

    /// <summary>Called before each step of a move begins; see <see cref="SliceMover"/>.</summary>
    internal event Action<int>? StepBegins
    {
        add => _mover.StepBegins += value;
        remove => _mover.StepBegins -= value;
    }

    private IRingStorage First => _tiers[0].Space;

    /// <summary>Counters of a tier; null for one that is being added.</summary>
    public TierCounters? CountersOf(int tier) => tier < _tiers.Count ? _tiers[tier].Counters : null;

    /// <summary>Slices that a tier may hold.</summary>
    public long SizeOf(int tier) => _tiers[tier].SizeSlices;

    /// <summary>Slots of a tier beyond those, at least: room for slices while they move.</summary>
    public long SpareOf(int tier) => Math.Max(0, Math.Min(SliceMover.AtOnce, _tiers[tier].Slots.Count - _tiers[tier].SizeSlices));

    /// <inheritdoc/>
    public void Prefetch(long offset)
    {
        if ((ulong)offset < (ulong)Length && _table[_tiers.Grid.IndexOf(offset)] is { IsMapped: true } entry)
        {
            _tiers.SpaceOf(entry).Prefetch(_tiers.AddressOf(entry, offset));
        }
    }

    /// <inheritdoc/>
    public LaneTask<IoError> Read(long offset, IoBuffer target) =>
        RequestError(offset, target.Length) is not IoError.None and var rejected ? LaneTask.FromResult(rejected) : _requests.Read(offset, target);

    /// <inheritdoc/>
    public LaneTask<IoError> Write(long offset, IoBuffer source, WriteFlags flags) =>
        RequestError(offset, source.Length) is not IoError.None and var rejected ? LaneTask.FromResult(rejected) : _requests.Write(offset, source, flags);

    /// <inheritdoc/>
    public async LaneTask<IoError> Flush()
    {
        IoError error = await _tiers.Flush();
        return error == IoError.None ? Fault : error;
    }

    /// <inheritdoc/>
    public LaneTask<IoError> Unmap(long offset, long length) => Unmap(offset, length, WriteFlags.None);

    /// <inheritdoc/>
    public LaneTask<IoError> Unmap(long offset, long length, WriteFlags flags) => Zero(offset, length, flags, isUnmap: true);

    /// <inheritdoc/>
    public LaneTask<IoError> WriteZeroes(long offset, long length, WriteFlags flags) => Zero(offset, length, flags, isUnmap: false);

    /// <inheritdoc/>
    public LaneTask<IoError> Status(long offset, long length, List<StoreExtent> extents) =>
        RangeError(offset, length) is not IoError.None and var rejected ? LaneTask.FromResult(rejected) : _requests.Status(offset, length, extents);

    /// <inheritdoc/>
    public LaneTask<IoError> Poison(long offset, long length) =>
        RequestError(offset, length) is not IoError.None and var rejected ? LaneTask.FromResult(rejected) : _requests.Poison(offset, length);

    /// <summary>
    /// Moves slices, in order. Between two ranges it reports the bytes to <paramref name="pacer"/>. An order whose slice is unmapped, or is already in
    /// its tier, is skipped. One call runs at a time.
    /// </summary>
    public LaneTask<RepairEnd> Move(IReadOnlyList<SliceOrder> orders, IWorkPacer pacer) => _mover.Move(orders, pacer);

    /// <inheritdoc/>
    public void Grow(long length)
    {
        Length = Math.Max(Length, length);
        _allocator.SetSlices(Slices);
    }

    /// <inheritdoc/>
    public bool IsReserved(int unit) => _allocator.IsSettled(unit) && !_ahead.Contains(unit);

    /// <inheritdoc/>
    public LaneTask<IoError> Reserve(int unit) => _allocator.Reserve(unit);

    /// <inheritdoc/>
    public void UnitUnmapped(int unit) => _freer.NoteZeroed(unit, SliceSize, WriteFlags.None);

    /// <summary>Frees a slice that was unmapped while it was held. Another slice without data keeps its place.</summary>
    public void UnitReleased(int unit) => _freer.FreeDeferred(unit);

    /// <inheritdoc/>
    public int LowestRank(int unit, Func<int, int> rankOf) => _tiers.LowestRank(_table[unit], rankOf);

    /// <inheritdoc/>
    public void FailFront(IoError error, string reason) => _status.Fail(error, reason);

    /// <inheritdoc/>
    RingMedium IRingStorage.AddRing(RingOptions options) => First.AddRing(options);

    /// <inheritdoc/>
    LaneTask<Nothing> IRingStorage.RemoveRing(RingMedium ring) => First.RemoveRing(ring);

    /// <inheritdoc/>
    LaneTask<RepairEnd> IRingStorage.Move(RingMedium ring, int copy, SlabPlace[] places, Func<LaneTask<IoError>> commit, IWorkPacer pacer) =>
        First.Move(ring, copy, places, commit, pacer);

    /// <summary>Adds a tier that the pool knows already. Its number is the next.</summary>
    /// <param name="tier">The tier.</param>
    /// <param name="rank">Number of the other tiers that are faster.</param>
    internal void AddTier(StorageTierStore tier, int rank)
    {
        _tiers.Add(tier, rank);
        _status.PlaceChanged.NotifyAll();
    }

    /// <summary>Makes a tier longer whose space has its new length already.</summary>
    internal void GrowTier(int tier, long sizeBytes)
    {
        _tiers[tier].Grow(sizeBytes);
        _status.PlaceChanged.NotifyAll();
    }

    /// <summary>
    /// Starts giving back slices that were given a place and were not written, and rows of thin tiers without slices, that an earlier opening left. Called
    /// once, at the opening.
    /// </summary>
    internal void GiveLeftoversBack()
    {
        _ahead.ResolveLeftovers();
        _vacator.VacateLeftovers();
    }

    /// <summary>Takes slices out of the map that have a place and were not written.</summary>
    internal LaneTask<Nothing> GiveAheadBack() => _ahead.GiveBackAll();

    /// <summary>Ends moves and waits until slots that the map has left are free. The owner of the spaces closes them.</summary>
    internal async LaneTask<Nothing> Close()
    {
        _status.BeginClosing();
        while (_mover.IsRunning || _vacator.IsRunning)
        {
            await _status.SlotsFreed.Wait();
        }

        return default;
    }

    /// <summary>Reads from the slices that belong to the store itself; offsets count from the first of them.</summary>
    internal LaneTask<IoError> ReadSystem(long offset, IoBuffer target) => _requests.Read(_tiers.Grid.StartOf(SlicesMapped.SystemSlices) + offset, target);

    /// <summary>Writes there. Slots are taken for it as for slices of the disk.</summary>
    internal LaneTask<IoError> WriteSystem(long offset, IoBuffer source, WriteFlags flags) =>
        _requests.Write(_tiers.Grid.StartOf(SlicesMapped.SystemSlices) + offset, source, flags);

    /// <inheritdoc/>
    public void KeepUnits(Func<int, bool> isHeld) => _freer.KeepSlices(isHeld);

    private async LaneTask<Nothing> ConfirmWritten(List<int> slices)
    {
        _vacator.Begin();   // the store is closed after it
        await _allocator.Confirm(slices);
        _vacator.End();
        slices.ForEach(_freer.FreeDeferred);
        return default;
    }

    private async LaneTask<IoError> Zero(long offset, long length, WriteFlags flags, bool isUnmap)
    {
        IoError error = RangeError(offset, length);
        error = error == IoError.None ? await _requests.Zero(offset, length, flags, isUnmap) : error;
        return error == IoError.None && (flags & WriteFlags.ForceUnitAccess) != 0 ? await Flush() : error;
    }

    private IoError RequestError(long offset, long length) => length == 0 ? IoError.InvalidArgument : RangeError(offset, length);

    private IoError RangeError(long offset, long length) =>
        Fault is not IoError.None and var fault ? fault
        : offset < 0 || length < 0 || offset > Length - length || ((offset | length) & (BlockSize - 1)) != 0 ? IoError.InvalidArgument
        : IoError.None;
}
