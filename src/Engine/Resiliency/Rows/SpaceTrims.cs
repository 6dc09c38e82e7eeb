using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

// Passes unmaps down: what clients give back is punched in image files and discarded on devices, within rows that stay where they are.
//
// An unmap is acknowledged first. Its range waits here, is gathered with others for a moment, and is then passed down in parts of one checksum page:
//
//  1. The log is made durable.
//  2. The lock of the part is taken: nothing writes there.
//  3. Of its blocks those that are durably never-written go to the disks.
//
// A punched block may read as anything. That is safe because nothing uses its content: a block whose entry says never-written is answered as zeros and
// counts as zeros in a parity, and a read that began before the unmap finds that the block does not match and reads again under the lock.
//
// Invariants
//  1. A block is punched only while its entry is never-written, in memory and in the durable part of the log, and no record of it is on its way there:
//     no crash brings an entry back that needs the bytes.
//  2. It is punched under the lock of its range, so it is not punched under a write that came after the unmap.
//  3. A trim that waits here is a hint. It is dropped where its row or region cannot be had, at a fault, and at a crash; nothing is wrong then but the room.
//     Zeroing that keeps its room takes its range away.

/// <summary>Passes unmaps of a space down to its disks.</summary>
internal sealed class SpaceTrims(SpaceContext space, SpaceLog log, IntegrityStore integrity, RegionMap regions, ILayoutEngine engine)
{
    private const int BlockSize = SpaceShape.BlockSize;
    private const long GatherNs = 100_000_000;
    private const long ClosingMaxNs = 2_000_000_000;
    private const int RangesMax = 1 << 16;   // a megabyte; more scattered ones are dropped

    private RangeSet _waiting = new();
    private RangeSet _going = new();   // their zeros are durable in the log
    private readonly ILayout _layout = space.Layout;
    private readonly int _slabSize = space.Shape.SlabSize;
    private readonly int _unit = Math.Min(space.Shape.RegionSize, space.Shape.PageSpan);

    /// <summary>Whether ranges are being passed down, or gathered for that.</summary>
    internal bool IsRunning { get; private set; }

    /// <summary>A piece has become zeros, which are appended to the log.</summary>
    /// <param name="piece">The piece; its lock is held.</param>
    /// <param name="keepsRoom">Whether what is under it is to stay.</param>
    internal void NoteZeroed(in StripPiece piece, bool keepsRoom)
    {
        if (keepsRoom)
        {
            Forget(piece);
            return;
        }

        for (int column = 0; column < _layout.Columns && _waiting.Count < RangesMax; column++)
        {
            if (_layout.GroupOf(column) == _layout.GroupOf(piece.Column))   // with parity all: what is empty now is seen from the entries
            {
                long start = KeyOf(piece.Row, column, piece.SlabOffset);
                _waiting.Add(start, start + _layout.DepthOf(piece));
            }
        }
    }

    /// <summary>A piece is to keep its room, or has been passed down.</summary>
    internal void Forget(in StripPiece piece)
    {
        for (int column = 0; column < _layout.Columns && _waiting.Count + _going.Count > 0; column++)
        {
            if (column == piece.Column || _layout.DepthOf(piece) != piece.Length)
            {
                long start = KeyOf(piece.Row, column, piece.SlabOffset);
                _waiting.Remove(start, start + _layout.DepthOf(piece));
                _going.Remove(start, start + _layout.DepthOf(piece));
            }
        }
    }

    /// <summary>Passes down, a moment later, what waits.</summary>
    internal void Start()
    {
        if (!IsRunning && _waiting.Count > 0 && !space.Status.IsStopping)
        {
            IsRunning = true;
            Run().Forget();
        }
    }

    /// <summary>Passes down what waits still, for two seconds at most. The log is durable.</summary>
    internal async LaneTask<Nothing> Finish()
    {
        long endNs = space.Lane.NowNs + ClosingMaxNs;
        while (space.Lane.NowNs < endNs && space.Status.Fault == IoError.None
            && (_going.TryTake(_unit, out long start, out int length) || _waiting.TryTake(_unit, out start, out length)))
        {
            await PassDown(start, length);
        }

        return default;
    }

    private async LaneTask Run()
    {
        while (_going.Count + _waiting.Count > 0 && !space.Status.IsStopping)
        {
            await space.Lane.Delay(GatherNs);
            (_waiting, _going) = (_going, _waiting);   // the latter is empty
            IoError error = space.Status.IsStopping ? IoError.Cancelled : await log.CommitAll();
            while (error == IoError.None && !space.Status.IsStopping && _going.TryTake(_unit, out long start, out int length))
            {
                await PassDown(start, length);
            }
        }

        IsRunning = false;
    }

    private async LaneTask<Nothing> PassDown(long start, int length)
    {
        StripPiece part = PieceOf(start, length);
        long key = _layout.LockKey(part.Row, _layout.GroupOf(part.Column), part.SlabOffset);
        await space.Locks.Acquire(key, key + length);
        if (space.Rows[part.Row] is { IsInitialized: true } row
            && !regions.IsUnresolved(row, row.RegionOf(part.Column, part.SlabOffset), part.SlabOffset, length))
        {
            int generation = row.Enter();   // a slab that moves away is another owner's only when this has ended
            await PunchUnwritten(row, part);
            row.Leave(generation);
        }

        space.Locks.Release(key, key + length);
        return default;
    }

    private async LaneTask<Nothing> PunchUnwritten(SpaceRow row, StripPiece part)
    {
        if ((integrity.Find(row, part) ?? await integrity.Load(row, part)) is not { } page)
        {
            return default;
        }

        page.Pin();
        int first = integrity.FirstBlock(part);
        for (int at = 0; at < part.Length / BlockSize;)
        {
            int count = page.CountDurablyUnwritten(first + at, (part.Length / BlockSize) - at);
            if (count > 0)
            {
                await engine.Punch(row, part.Column, part.SlabOffset + (at * BlockSize), count * BlockSize);
                space.Counters.Rows.NotePunched(count * BlockSize);
            }

            at += Math.Max(1, count);
        }

        page.Unpin();
        return default;
    }

    private long KeyOf(int row, int column, int slabOffset) => ((((long)row * _layout.Columns) + column) * _slabSize) + slabOffset;

    private StripPiece PieceOf(long key, int length)
    {
        (long slab, long slabOffset) = Math.DivRem(key, _slabSize);
        return new StripPiece((int)(slab / _layout.Columns), (int)(slab % _layout.Columns), (int)slabOffset, length);
    }
}
