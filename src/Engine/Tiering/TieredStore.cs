using System.Collections.Immutable;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Tiering;

// Slices of one address space placed on the spaces of several tiers.
//
// Tiers have numbers, which the map names them by and which stay as they are when a tier is added; how fast they are, one beside the other, the
// order says. Whoever plans counts tiers from the fastest instead (DiskTiering).
//
// A request is cut at slices; the map says in which slot of which tier each of them is. A slice that was never written is nowhere and reads
// as zeros; its first write gives it a slot of the fastest tier that has room. Requests take no lock: whoever changes where a slice is
// waits until the requests that began before have ended.
//
// Invariants (each has a simulated-crash test)
//  1. A slot is entered in the map only when it reads as zeros, durably, or (a move) holds all of its slice, flushed.
//  2. Nothing is acknowledged in a slice before the map that says where it is is durable.
//  3. A slot is given to another slice only after the map has left it, every request that knew it has ended, and it reads as zeros, durably.
//  4. While a slice moves, every write goes to both places, under the lock that copying takes; either place may become the true one.
//  5. The map in memory is one that was committed; it changes only where a change was committed.
//
// Files: slices (allocation, giving back), moves, home (what a write cache needs).

/// <summary>The tiers of a virtual disk as one store.</summary>
public sealed partial class TieredStore : IHomeStore
{
    private const int BlockSize = 4096;

    private readonly ILane _lane;
    private readonly ISliceHost _host;
    private StorageTierStore[] _tiers;                               // by number; a tier that is added is a longer array
    private readonly int _sliceSize;
    private readonly int _sliceShift;
    private readonly RangeLock _locks = new();                       // ranges of slices that move
    private readonly Dictionary<int, SliceMove> _moves = [];         // slices whose place is being changed
    private readonly LaneSignal _changed = new();                    // a slice has got a place, has lost it, or has moved
    private readonly int[] _requests = new int[2];                   // under way, by the turn they began in
    private readonly LaneSignal _requestEnded = new();
    private SliceMapState _map;
    private int _turn;
    private bool _closing;

    internal TieredStore(ILane lane, ISliceHost host, IReadOnlyList<StorageTierStore> tiers, IReadOnlyList<int> order, int sliceSize, long length)
    {
        _lane = lane;
        _host = host;
        _tiers = [.. tiers];
        Order = [.. order];
        _sliceSize = sliceSize;
        _sliceShift = System.Numerics.BitOperations.Log2((uint)sliceSize);
        _map = host.Map;
        Length = length;
        for (int tier = 0; tier < _tiers.Length; tier++)
        {
            LoadSlots(tier);
        }
    }

    /// <inheritdoc/>
    public long Length { get; private set; }

    /// <summary>Bytes of a slice.</summary>
    public int SliceSize => _sliceSize;

    /// <summary>Slices of the disk.</summary>
    public int Slices => (int)(Length >> _sliceShift);

    /// <summary>Tiers there are.</summary>
    public int Tiers => _tiers.Length;

    /// <summary>Numbers of the tiers, that of the fastest first.</summary>
    public ImmutableArray<int> Order { get; private set; }

    /// <summary>The map in force.</summary>
    public SliceMapState Map => _map;

    /// <inheritdoc/>
    public StoreGeometry Geometry => new(Length, BlockSize, BlockSize, BufferPool.LargestBuffer);

    /// <summary>What passed through a tier; null for one that is being added.</summary>
    public TierCounters? CountersOf(int tier) => tier < _tiers.Length ? _tiers[tier].Counters : null;

    /// <summary>Slots of a tier beyond those, at least: room for slices while they move.</summary>
    public long SpareOf(int tier) => Math.Max(0, Math.Min(MovesAtOnce, _tiers[tier].Slots.Count - _tiers[tier].SizeSlices));

    /// <summary>Slices that a tier may hold.</summary>
    public long SizeOf(int tier) => _tiers[tier].SizeSlices;

    /// <inheritdoc/>
    public void Expect(long offset)
    {
        if ((ulong)offset < (ulong)Length && _map[(int)(offset >> _sliceShift)] is { IsMapped: true } entry)
        {
            _tiers[entry.Tier].Space.Expect(AddressOf(entry, offset));
        }
    }

    /// <inheritdoc/>
    public LaneTask<IoError> Read(long offset, IoBuffer target) =>
        Refusal(offset, target.Length) is not IoError.None and var refused ? LaneTask.FromResult(refused) : ReadAt(offset, target);

    /// <inheritdoc/>
    public LaneTask<IoError> Write(long offset, IoBuffer source, WriteFlags flags) =>
        Refusal(offset, source.Length) is not IoError.None and var refused ? LaneTask.FromResult(refused) : WriteAt(offset, source, flags);

    /// <inheritdoc/>
    public async LaneTask<IoError> Flush()
    {
        Fan fan = Fan.Rent();
        foreach (StorageTierStore tier in _tiers)
        {
            fan.Add(tier.Space.Flush());
        }

        IoError error = await fan.Wait();
        return error == IoError.None ? Fault : error;
    }

    /// <inheritdoc/>
    public async LaneTask<IoError> Status(long offset, long length, List<StoreExtent> extents)
    {
        IoError error = RefusalOfRange(offset, length);
        for (long at = offset; at < offset + length && error == IoError.None;)
        {
            int slice = (int)(at >> _sliceShift);
            long end = Math.Min((slice + 1L) << _sliceShift, offset + length);
            SliceEntry entry = _map[slice];
            if (!entry.IsMapped)
            {
                StoreExtent.Append(extents, end - at, ExtentState.Zero | ExtentState.Hole);
            }
            else
            {
                List<StoreExtent> below = [];
                int turn = Enter();
                error = await _tiers[entry.Tier].Space.Status(AddressOf(entry, at), end - at, below);
                Leave(turn);
                below.ForEach(extent => StoreExtent.Append(extents, extent.Length, extent.State));
            }

            at = end;
        }

        return error;
    }

    /// <summary>Offset in the disk of an address in a tier; -1 where no slice of the disk is.</summary>
    internal long OffsetOf(int tier, long address)
    {
        uint slot = (uint)(address >> _sliceShift);
        for (int slice = 0; slice < Slices; slice++)
        {
            if (_map[slice] is { IsMapped: true } entry && entry.Tier == tier && entry.Slot == slot)
            {
                return ((long)slice << _sliceShift) + (address & (_sliceSize - 1));
            }
        }

        return -1;
    }

    private LaneTask<IoError> ReadAt(long offset, IoBuffer target)
    {
        int slice = (int)(offset >> _sliceShift);
        return (offset + target.Length - 1) >> _sliceShift == slice ? ReadSlice(slice, offset, target) : ReadMany(offset, target);
    }

    private LaneTask<IoError> WriteAt(long offset, IoBuffer source, WriteFlags flags)
    {
        int slice = (int)(offset >> _sliceShift);
        return (offset + source.Length - 1) >> _sliceShift == slice ? WriteSlice(slice, offset, source, flags) : WriteMany(offset, source, flags);
    }

    private async LaneTask<IoError> ReadMany(long offset, IoBuffer target)
    {
        Fan fan = Fan.Rent();
        for (int at = 0; at < target.Length;)
        {
            int length = LengthInSlice(offset + at, target.Length - at);
            fan.Add(ReadSlice((int)((offset + at) >> _sliceShift), offset + at, target.Slice(at, length)));
            at += length;
        }

        return await fan.Wait();
    }

    private async LaneTask<IoError> WriteMany(long offset, IoBuffer source, WriteFlags flags)
    {
        Fan fan = Fan.Rent();
        for (int at = 0; at < source.Length;)
        {
            int length = LengthInSlice(offset + at, source.Length - at);
            fan.Add(WriteSlice((int)((offset + at) >> _sliceShift), offset + at, source.Slice(at, length), flags));
            at += length;
        }

        return await fan.Wait();
    }

    private async LaneTask<IoError> ReadSlice(int slice, long offset, IoBuffer target)
    {
        SliceEntry entry = _map[slice];
        if (!entry.IsMapped)
        {
            target.Span.Clear();
            return IoError.None;
        }

        StorageTierStore tier = _tiers[entry.Tier];
        int turn = Enter();
        IoError error = await tier.Space.Read(AddressOf(entry, offset), target);
        Leave(turn);
        tier.Counters.NoteRead(slice, target.Length);
        return error;
    }

    private async LaneTask<IoError> WriteSlice(int slice, long offset, IoBuffer source, WriteFlags flags)
    {
        IoError error = IoError.None;
        while (!IsSettled(slice))
        {
            error = await Settle(slice);
            if (error != IoError.None)
            {
                return error;
            }
        }

        SliceEntry entry = _map[slice];
        StorageTierStore tier = _tiers[entry.Tier];
        int turn = Enter();
        error = MoveOf(slice) is { } move
            ? await WriteBoth(move, offset, source, flags) : await tier.Space.Write(AddressOf(entry, offset), source, flags);
        Leave(turn);
        tier.Counters.NoteWrite(slice, source.Length);
        return error;
    }

    /// <summary>A request that uses a place has begun; what it gives is for <see cref="Leave(int)"/>.</summary>
    private int Enter()
    {
        _requests[_turn]++;
        return _turn;
    }

    private void Leave(int turn)
    {
        int left = --_requests[turn];
        Invariant.That(left >= 0, "A request ends once, in the turn in which it began.");
        if (left == 0)
        {
            _requestEnded.NotifyAll();
        }
    }

    private long AddressOf(SliceEntry entry, long offset) => _tiers[entry.Tier].Address(entry.Slot) + (offset & (_sliceSize - 1));

    private int LengthInSlice(long offset, int length) => (int)Math.Min(length, _sliceSize - (offset & (_sliceSize - 1)));

    private SliceMove? MoveOf(int slice) => _moves.Count > 0 && _moves.TryGetValue(slice, out SliceMove? move) ? move : null;

    private IoError Refusal(long offset, long length) => length == 0 ? IoError.InvalidArgument : RefusalOfRange(offset, length);

    private IoError RefusalOfRange(long offset, long length) =>
        Fault is not IoError.None and var fault ? fault
        : offset < 0 || length < 0 || offset > Length - length || ((offset | length) & (BlockSize - 1)) != 0 ? IoError.InvalidArgument
        : IoError.None;
}
