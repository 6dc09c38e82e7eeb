using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Tiering;

// Requests within one slice, to the place that its entry names.
//
// Invariants
//  1. While a slice moves, every write goes to both places, under the lock that copying takes; either place may become the true one.
//  2. A write that the target of a move misses ends the move, or fails if the target may be the true place already.
//  3. While any range is locked, a change of a slice that does not move takes the lock too: it does not pass one that waits since the slice moved.

/// <summary>Writes, zeroes, poisons and copies slices in the spaces of their tiers.</summary>
internal sealed class SliceIo(TierSet tiers)
{
    private readonly RangeLock _locks = new();   // ranges of slices that move

    /// <summary>Writes into a slice.</summary>
    /// <param name="entry">Place of the slice.</param>
    /// <param name="move">Its move; null: it does not move.</param>
    /// <param name="offset">Address in the disk.</param>
    /// <param name="source">Data to write.</param>
    /// <param name="flags">Flags of the request.</param>
    internal LaneTask<IoError> Write(SliceEntry entry, SliceMove? move, long offset, IoBuffer source, WriteFlags flags) =>
        move is null && _locks.Held == 0 ? WriteAt(entry, offset, source, flags) : WriteLocked(entry, move, offset, source, flags);

    /// <summary>Zeroes or unmaps a range of a slice.</summary>
    internal LaneTask<IoError> Zero(SliceEntry entry, SliceMove? move, long offset, long length, WriteFlags flags, bool isUnmap) =>
        move is null && _locks.Held == 0 ? ZeroAt(entry, offset, length, flags, isUnmap) : ZeroLocked(entry, move, offset, length, flags, isUnmap);

    /// <summary>Makes reads of a range of a slice fail until it is written.</summary>
    internal LaneTask<IoError> Poison(SliceEntry entry, SliceMove? move, long offset, long length) =>
        move is null ? PoisonAt(entry, offset, length) : PoisonBoth(move, offset, length);

    /// <summary>Unmaps all of a place.</summary>
    internal LaneTask<IoError> Unmap(SliceEntry entry) => ZeroAt(entry, 0, tiers.Grid.Size, WriteFlags.None, isUnmap: true);

    /// <summary>Whether a slot reads as zeros.</summary>
    internal async LaneTask<bool> IsZero(StorageTierStore tier, uint slot)
    {
        List<StoreExtent> extents = [];
        IoError error = await tier.Space.Status(tier.Address(slot), tiers.Grid.Size, extents);
        return error == IoError.None && extents.TrueForAll(static extent => (extent.State & ExtentState.Zero) != 0);
    }

    /// <summary>
    /// Copies a range of a moving slice to its target, under the lock of the range. Never-written blocks are not copied; a target that may hold something
    /// is zeroed there.
    /// </summary>
    /// <param name="move">The move.</param>
    /// <param name="at">First byte within the slice.</param>
    /// <param name="buffer">Memory as long as the range.</param>
    internal async LaneTask<IoError> Copy(SliceMove move, int at, IoBuffer buffer)
    {
        long start = tiers.Grid.StartOf(move.Slice) + at;
        await _locks.Acquire(start, start + buffer.Length);
        IoError error = await CopyRange(move, at, buffer);
        _locks.Release(start, start + buffer.Length);
        return error;
    }

    /// <summary>
    /// Reads the entries of moving slices side by side, so that a rotating disk goes to them once. The copy itself handles entries that cannot be read.
    /// </summary>
    internal async LaneTask<Nothing> LoadEntries(List<SliceMove> moves)
    {
        WaitGroup group = WaitGroup.Rent();
        foreach (SliceMove move in moves)
        {
            group.Add(tiers.SpaceOf(move.Source).Status(tiers.AddressOf(move.Source, 0), tiers.Grid.Size, []));
            group.Add(tiers.SpaceOf(move.Target).Status(tiers.AddressOf(move.Target, 0), tiers.Grid.Size, []));
        }

        await group.Wait();
        return default;
    }

    private async LaneTask<IoError> CopyRange(SliceMove move, int at, IoBuffer buffer)
    {
        Space source = tiers.SpaceOf(move.Source);
        Space target = tiers.SpaceOf(move.Target);
        long from = tiers.AddressOf(move.Source, at);
        long to = tiers.AddressOf(move.Target, at);
        List<StoreExtent> extents = [];
        IoError error = await source.Status(from, buffer.Length, extents);
        long done = 0;
        foreach (StoreExtent extent in extents)
        {
            if (error == IoError.None && (extent.State & ExtentState.Zero) == 0)
            {
                IoBuffer part = buffer.Slice((int)done, (int)extent.Length);
                error = await source.Read(from + done, part);
                error = error == IoError.None ? await target.Write(to + done, part, WriteFlags.None) : error;
            }
            else if (error == IoError.None && !move.IsTargetClean)
            {
                error = await target.Unmap(to + done, extent.Length);
            }

            done += extent.Length;
        }

        return error;
    }

    private async LaneTask<IoError> WriteLocked(SliceEntry entry, SliceMove? move, long offset, IoBuffer source, WriteFlags flags)
    {
        LaneTask<Nothing> turn = _locks.Acquire(offset, offset + source.Length);
        bool hasWaited = !turn.IsCompleted;
        await turn;
        IoError error = StoreClients.AfterWait(hasWaited, flags);
        if (error == IoError.None)
        {
            error = move is null ? await WriteAt(entry, offset, source, flags) : await WriteBoth(move, offset, source, flags.WithoutClient());
        }

        _locks.Release(offset, offset + source.Length);
        return error;
    }

    /// <summary>Writes to both places of a slice that moves, whatever becomes of the client: the places stay equal.</summary>
    private async LaneTask<IoError> WriteBoth(SliceMove move, long offset, IoBuffer source, WriteFlags flags)
    {
        LaneTask<IoError> first = WriteAt(move.Source, offset, source, flags);
        LaneTask<IoError> second = WriteAt(move.Target, offset, source, flags);
        return Outcome(move, await first, await second);
    }

    private async LaneTask<IoError> ZeroLocked(SliceEntry entry, SliceMove? move, long offset, long length, WriteFlags flags, bool isUnmap)
    {
        LaneTask<Nothing> turn = _locks.Acquire(offset, offset + length);
        bool hasWaited = !turn.IsCompleted;
        await turn;
        IoError error = StoreClients.AfterWait(hasWaited, flags);
        if (error == IoError.None)
        {
            error = move is null ? await ZeroAt(entry, offset, length, flags, isUnmap) : await ZeroBoth(move, offset, length, flags.WithoutClient(), isUnmap);
        }

        _locks.Release(offset, offset + length);
        return error;
    }

    private async LaneTask<IoError> ZeroBoth(SliceMove move, long offset, long length, WriteFlags flags, bool isUnmap)
    {
        IoError first = await ZeroAt(move.Source, offset, length, flags, isUnmap);
        return Outcome(move, first, await ZeroAt(move.Target, offset, length, flags, isUnmap));
    }

    private async LaneTask<IoError> PoisonBoth(SliceMove move, long offset, long length)
    {
        await _locks.Acquire(offset, offset + length);
        IoError first = await PoisonAt(move.Source, offset, length);
        IoError error = Outcome(move, first, await PoisonAt(move.Target, offset, length));
        _locks.Release(offset, offset + length);
        return error;
    }

    private LaneTask<IoError> WriteAt(SliceEntry entry, long offset, IoBuffer source, WriteFlags flags) =>
        tiers.SpaceOf(entry).Write(tiers.AddressOf(entry, offset), source, flags);

    private LaneTask<IoError> ZeroAt(SliceEntry entry, long offset, long length, WriteFlags flags, bool isUnmap)
    {
        long address = tiers.AddressOf(entry, offset);
        return isUnmap ? tiers.SpaceOf(entry).Unmap(address, length, flags)
            : tiers.SpaceOf(entry).WriteZeroes(address, length, flags & ~WriteFlags.ForceUnitAccess);
    }

    private LaneTask<IoError> PoisonAt(SliceEntry entry, long offset, long length) => tiers.SpaceOf(entry).Poison(tiers.AddressOf(entry, offset), length);

    private static IoError Outcome(SliceMove move, IoError source, IoError target)
    {
        if (target == IoError.None || move.IsCommitting)
        {
            return source == IoError.None ? target : source;
        }

        move.Fail();
        return source;
    }
}
