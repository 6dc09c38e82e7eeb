using System.Numerics;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

// Regions of a position are copied as one stream of chunks, each under its range lock, while reads and writes go on. While no client is at work several
// chunks are in flight (WorkWindow); their order does not matter, because each is copied under its own lock to a place that takes every write already.
//
// Invariants
//  1. A chunk is resolved before it is copied.
//  2. The copy is whole only if every chunk was copied after the target had begun to take writes.
//  3. Of a position that is made whole in its place only the blocks are copied that it can lack. Where these need not differ, or it is not known which they
//     are, what is there is compared with the checksum entries first; without checksums all of them are copied.

/// <summary>Copies the data of regions of a position to a slab, chunk by chunk.</summary>
internal sealed class StretchCopier(SpaceContext space, RegionMap regions, IntegrityStore integrity, LackedBlocks lacks, ILayoutEngine engine)
{
    private const int ChunkMax = 256 << 10;
    private const int BlockSize = SpaceShape.BlockSize;
    private const int MemoryMax = 32 << 20;   // of the chunks in flight
    private const int PagesAhead = 32;   // checksum pages of each column

    private readonly ILayout _layout = space.Layout;
    private readonly SpaceShape _shape = space.Shape;

    internal async LaneTask<bool> Pace(IWorkPacer pacer, long bytes) => await pacer.Done(bytes) && !space.Status.IsStopping;

    /// <summary>
    /// Copies regions of a position to a place that takes every write of them already. Returns the bytes copied of them, in their order, those that are
    /// skipped included; 0 when something could not be copied.
    /// </summary>
    /// <param name="row">The row.</param>
    /// <param name="position">The position.</param>
    /// <param name="mask">The regions, bit per region of the slab.</param>
    /// <param name="target">The place.</param>
    /// <param name="skip">Bytes of the regions that were copied before.</param>
    /// <param name="pacer">Paces the chunks.</param>
    internal async LaneTask<(RepairEnd End, int Copied)> Copy(SpaceRow row, int position, ushort mask, SlabPlace target, int skip, IWorkPacer pacer)
    {
        bool isInPlace = target == row.Places[position];
        int chunk = Math.Min(ChunkMax, Math.Min(_shape.RegionSize, _shape.PageSpan));
        int memory = chunk * engine.RebuildBuffers;
        WorkWindow window = new(pacer, () => space.Status.IsStopping, Math.Clamp(MemoryMax / memory, 1, WorkWindow.DepthMax));
        int end = BitOperations.PopCount(mask) * _shape.RegionSize;
        IoError error = IoError.None;
        int loaded = 0;   // checksum pages of the slab that were read ahead, or need not be
        for (int at = skip; at < end && error == IoError.None && await window.Room(); at += chunk)
        {
            int region = RegionAt(mask, at / _shape.RegionSize);
            int slabOffset = (region * _shape.RegionSize) + (at % _shape.RegionSize);
            error = await Resolve(row, position, region, slabOffset, chunk);
            if (slabOffset / _shape.PageSpan >= loaded && (!pacer.IsYielding || pacer.Burst > 1))
            {
                loaded = await LoadAhead(row, position, slabOffset / _shape.PageSpan);
            }

            if (error == IoError.None)
            {
                int bytes = isInPlace ? LackedBytes(row, position, slabOffset, chunk) : chunk;
                window.Add(CopyChunk(row, position, slabOffset, chunk, target, isInPlace), bytes, chunk);
            }
        }

        await window.Drain();
        bool isIncomplete = error != IoError.None || window.Error != IoError.None;
        return isIncomplete ? (RepairEnd.Incomplete, 0) : (window.IsStopped ? RepairEnd.Stopped : RepairEnd.Done, skip + (int)window.Bytes);
    }

    /// <summary>Returns the region of a set that has so many others of the set before it.</summary>
    private static int RegionAt(ushort mask, int index)
    {
        int left = mask;
        for (; index > 0; index--)
        {
            left &= left - 1;
        }

        return BitOperations.TrailingZeroCount(left);
    }

    private LaneTask<IoError> Resolve(SpaceRow row, int position, int region, int slabOffset, int length)
    {
        int number = (position / _layout.GroupSize * SpaceShape.RegionsPerSlab) + region;
        return row.Regions[number].IsUnresolved ? regions.Resolve(row, number, slabOffset, length) : LaneTask.FromResult(IoError.None);
    }

    /// <summary>Reads the next checksum pages from one on, as many as memory takes well. Returns the first page behind them.</summary>
    private async LaneTask<int> LoadAhead(SpaceRow row, int position, int first)
    {
        int most = Math.Clamp(space.Options.CachedPagesMax / 4 / _layout.Columns, 1, PagesAhead);
        int count = Math.Min(most, _shape.PagesPerSlab - first);
        if (_shape.Checksums && space.Rows[row.Index] == row)
        {
            int generation = row.Enter();
            await integrity.LoadAhead(row, position / _layout.GroupSize, first, count);
            row.Leave(generation);
        }

        return first + count;
    }

    /// <summary>Work that a chunk counts for: the blocks that the position can lack, and with the first chunk of a region the page of the region.</summary>
    private int LackedBytes(SpaceRow row, int position, int slabOffset, int length) => Math.Min(
        length, (BitOperations.PopCount(lacks.BlocksOf(row, position, slabOffset, length)) + (slabOffset % _shape.RegionSize == 0 ? 1 : 0)) * BlockSize);

    private async LaneTask<IoError> CopyChunk(SpaceRow row, int position, int slabOffset, int length, SlabPlace target, bool isInPlace)
    {
        int group = position / _layout.GroupSize;
        long key = _layout.LockKey(row.Index, group, slabOffset);
        await space.Locks.Acquire(key, key + length);
        IoError error = IoError.None;   // the row may have been given back meanwhile: then nothing is left to copy
        if (row.JoiningPosition == position && row.JoiningFailed)
        {
            error = IoError.Io;
        }
        else if (space.Rows[row.Index] == row)
        {
            int generation = row.Enter();
            StripPiece chunk = new(row.Index, _layout.ColumnOf(position), slabOffset, length);
            error = isInPlace ? await CopyLacked(row, position, chunk, target) : await engine.Rebuild(row, position, chunk, target);
            row.Leave(generation);
        }

        space.Locks.Release(key, key + length);
        return error;
    }

    private async LaneTask<IoError> CopyLacked(SpaceRow row, int position, StripPiece chunk, SlabPlace target)
    {
        ulong blocks = lacks.BlocksOf(row, position, chunk.SlabOffset, chunk.Length);
        if (blocks != 0 && _shape.Checksums && LackedBlocks.IsDoubtful(row, position, chunk.SlabOffset / _shape.RegionSize))
        {
            blocks = await Differing(row, chunk, blocks, target);
        }

        blocks |= engine.RebuildMendsPoisoned ? await PoisonedLines(row, chunk) : 0;
        IoError error = IoError.None;
        while (blocks != 0 && error == IoError.None)
        {
            int first = BitOperations.TrailingZeroCount(blocks);
            int count = BitOperations.TrailingZeroCount(~(blocks >> first));
            blocks &= ~((ulong.MaxValue >> (64 - count)) << first);
            StripPiece run = chunk with { SlabOffset = chunk.SlabOffset + (first * BlockSize), Length = count * BlockSize };
            error = await engine.Rebuild(row, position, run, target);
        }

        return error;
    }

    /// <summary>Returns those of some blocks of a chunk that are not at the target as their entries say. One that was never written needs nothing.</summary>
    private async LaneTask<ulong> Differing(SpaceRow row, StripPiece chunk, ulong blocks, SlabPlace target)
    {
        if ((integrity.Find(row, chunk) ?? await integrity.Load(row, chunk)) is not { } page)
        {
            return blocks;
        }

        page.Pin();
        IoBuffer there = space.Lane.Buffers.Rent(chunk.Length);
        int first = integrity.FirstBlock(chunk);
        bool isRead = !page.IsNeverWritten(first, chunk.Length / BlockSize)
            && await space.Members.Read(target.Disk, target.DataOffset + chunk.SlabOffset, there) == IoError.None;
        ulong differing = 0;
        for (ulong rest = blocks; rest != 0; rest &= rest - 1)
        {
            int block = BitOperations.TrailingZeroCount(rest);
            bool isRight = page.Generations[first + block] switch
            {
                ChecksumSector.NeverWritten => true,
                ChecksumSector.Poisoned or ChecksumSector.Unknown => false,
                _ => isRead && Crc32c.Compute(there.Span.Slice(block * BlockSize, BlockSize)) == page.Checksums[first + block],
            };
            differing |= isRight ? 0 : 1UL << block;
        }

        space.Counters.Repair.NoteCompared(BitOperations.PopCount(blocks) * BlockSize);
        space.Lane.Buffers.Return(there);
        page.Unpin();
        return differing;
    }

    /// <summary>Returns the lines of a chunk in which a block is poisoned: a rebuild gives these their redundancy back, whatever the position lacks.</summary>
    private async LaneTask<ulong> PoisonedLines(SpaceRow row, StripPiece chunk)
    {
        ulong poisoned = 0;
        for (int column = 0; column < _layout.Columns; column++)
        {
            StripPiece piece = chunk with { Column = column };
            if ((integrity.Find(row, piece) ?? await integrity.Load(row, piece)) is not { } page)
            {
                return 0;   // what needs the page says so
            }

            poisoned |= PoisonedBlocks(page.Generations.Slice(integrity.FirstBlock(piece), piece.Length / BlockSize));
        }

        return poisoned;
    }

    private static ulong PoisonedBlocks(ReadOnlySpan<ushort> generations)
    {
        ulong poisoned = 0;
        int block = generations.IndexOfAnyInRange(ChecksumSector.Unknown, ChecksumSector.Poisoned);
        for (; block >= 0 && block < generations.Length; block++)
        {
            poisoned |= ChecksumSector.IsMark(generations[block]) ? 1UL << block : 0;
        }

        return poisoned;
    }
}
