using System.Numerics;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

// Tracks which blocks of a stale region a position can lack. The stale marks are by region and durable; this is in memory. So a disk that
// comes back while the space is open is given what it lacks, and not the regions around that.
//
// A position can lack, since it was last whole:
//
//   what the disk took before it left and had not flushed     UnflushedWrites
//   what was on its way then                                   the ranges that are locked
//   what was written while it was away, or failed on it        each mark of it says what it lacks
//
// Invariants
//  1. A block that differs on a position from what the others hold, in a region that is stale there, is noted or its region is unknown.
//  2. Of a mark that an earlier process left, of an unresolved region, of a disk that failed a flush, and where memory for the notes does not suffice, the
//     whole region is unknown.
//  3. The notes of a region go when its mark is about to be taken off: what is noted from then on belongs to the next mark.
//  4. A write holds its lock until it is noted, and notes are looked at under the lock.

/// <summary>Blocks that stale positions can lack.</summary>
/// <param name="space">State that the parts of the space share.</param>
/// <param name="clock">Numbers of the flush rounds.</param>
internal sealed class LackedBlocks(SpaceContext space, FlushClock clock)
{
    private const int BlockSize = SpaceShape.BlockSize;
    private const int MemoryMax = 16 << 20;      // for the notes of the space
    private const long CopiedMax = 48L << 20;    // of what a disk took before it left: more is compared, where there are checksums

    private readonly ILayout _layout = space.Layout;
    private readonly RowTable _rows = space.Rows;
    private readonly int _regionSize = space.Shape.RegionSize;
    private readonly int _words = ((Math.Max(BlockSize, space.Shape.RegionSize) / BlockSize) + 63) / 64;
    private int _regions;   // that have notes, or had some before their rows went

    /// <summary>Writes that a disk which leaves now may lose.</summary>
    internal UnflushedWrites Unflushed { get; init; } = new(clock);

    /// <summary>Most regions with notes.</summary>
    internal int RegionsMax { get; init; } = MemoryMax / ((((Math.Max(BlockSize, space.Shape.RegionSize) / BlockSize) + 63) / 64 * sizeof(ulong)) + 32);

    /// <summary>A write of lines of a group has ended, however it has. Its range is locked.</summary>
    internal void NoteWritten(SpaceRow row, int group, int slabOffset, int length)
    {
        if (_layout.LossesMax > 0)
        {
            Unflushed.Note(row, group, slabOffset, length);
        }
    }

    /// <summary>
    /// A disk has left the view: what it took and had not flushed, and what is on its way, is noted for each of its positions. False: that is not all that it
    /// can lack.
    /// </summary>
    internal bool NoteDeparture(int disk)
    {
        bool isKnown = Unflushed.IsComplete && !space.Members.HasFailedFlush(disk);
        bool isDoubtful = space.Shape.Checksums && Unflushed.Bytes > CopiedMax;
        foreach (WrittenLines lines in Unflushed.Uncovered)
        {
            NoteOn(disk, lines, isDoubtful);
        }

        foreach ((long start, long end) in space.Locks.HeldRanges)
        {
            NoteLocked(disk, start, end);
        }

        return isKnown;
    }

    /// <summary>The good copies have come to agree about a block: positions that are not among them lack it, and a repair of these begins again.</summary>
    internal void NoteSettled(SpaceRow row, in StripPiece block)
    {
        int first = _layout.GroupOf(block.Column) * _layout.GroupSize;
        int region = row.RegionOf(block.Column, block.SlabOffset);
        for (int position = first; position < first + _layout.GroupSize; position++)
        {
            if (!space.Redundancy.IsGood(row, position, region))
            {
                row.Missed[position] |= (ushort)(1 << (region % SpaceShape.RegionsPerSlab));
                Add(row, position, block.SlabOffset, block.Length);
            }
        }
    }

    /// <summary>A position lacks a range of its slab.</summary>
    internal void Add(SpaceRow row, int position, int slabOffset, int length) => Add(row, position, slabOffset, length, isDoubtful: false);

    /// <summary>It is not known what a position lacks of some regions.</summary>
    internal void AddUnknown(SpaceRow row, int position, ushort regions)
    {
        if (regions == 0)
        {
            return;
        }

        _regions -= row.LacksAt(position).NoteUnknown(regions);
    }

    /// <summary>The marks of some regions of a position are about to be taken off.</summary>
    internal void Forget(SpaceRow row, int position, ushort regions)
    {
        _regions -= row.FindLacks(position)?.Forget(regions) ?? 0;
    }

    /// <summary>Whether blocks that a position can lack of a region need not differ there: it is not known, or too much to be copied on suspicion.</summary>
    internal static bool IsDoubtful(SpaceRow row, int position, int region) =>
        row.FindLacks(position) is { } lacks && ((lacks.Unknown | lacks.Doubtful) >> region & 1) != 0;

    /// <summary>Returns the blocks of a range, 64 at most in one region, that a position can lack: bit per block.</summary>
    internal ulong BlocksOf(SpaceRow row, int position, int slabOffset, int length)
    {
        int count = length / BlockSize;
        Invariant.That(count is > 0 and <= 64, "Notes are looked at for a stretch of 64 blocks at most.");
        int region = slabOffset / _regionSize;
        ulong all = ulong.MaxValue >> (64 - count);
        if (row.FindLacks(position) is not { } lacks)
        {
            return 0;
        }

        if ((lacks.Unknown >> region & 1) != 0)
        {
            return all;
        }

        if (lacks.Notes[region] is not { } notes)
        {
            return 0;
        }

        int first = slabOffset % _regionSize / BlockSize;
        ulong blocks = notes[first / 64] >> (first % 64);
        blocks |= first % 64 != 0 && (first / 64) + 1 < notes.Length ? notes[(first / 64) + 1] << (64 - (first % 64)) : 0;
        return blocks & all;
    }

    /// <summary>Returns the bytes that a position can lack of some regions, a block more for each region of which it is known.</summary>
    internal long BytesOf(SpaceRow row, int position, ushort regions)
    {
        long bytes = 0;
        for (int rest = regions; rest != 0; rest &= rest - 1)
        {
            bytes += BytesOfRegion(row.FindLacks(position), BitOperations.TrailingZeroCount(rest));
        }

        return bytes;
    }

    private long BytesOfRegion(RegionLacks? lacks, int region)
    {
        if (lacks is not null && (lacks.Unknown >> region & 1) != 0)
        {
            return _regionSize;
        }

        long bytes = BlockSize;   // the checksum page, or the commit alone
        foreach (ulong word in lacks?.Notes[region] ?? [])
        {
            bytes += (long)BitOperations.PopCount(word) * BlockSize;
        }

        return Math.Min(bytes, _regionSize);
    }

    private void NoteOn(int disk, in WrittenLines lines, bool isDoubtful)
    {
        int first = lines.Group * _layout.GroupSize;
        for (int position = first; position < first + _layout.GroupSize; position++)
        {
            if (lines.Row.Places[position].Disk == disk)
            {
                Add(lines.Row, position, lines.SlabOffset, lines.Length, isDoubtful);
            }
        }
    }

    /// <summary>Notes what a locked range is about, which may be of several groups and rows.</summary>
    private void NoteLocked(int disk, long start, long end)
    {
        int slabSize = space.Shape.SlabSize;
        for (long at = start; at < end;)
        {
            (long slab, int slabOffset) = Math.DivRem(at, slabSize) is var (quotient, rest) ? (quotient, (int)rest) : default;
            int length = (int)Math.Min(end - at, slabSize - slabOffset);
            int index = (int)(slab / _layout.Groups);
            if (index < _rows.Count && _rows[index] is { } row)
            {
                NoteOn(disk, new WrittenLines(row, (int)(slab % _layout.Groups), slabOffset, length), isDoubtful: false);
            }

            at += length;
        }
    }

    private void Add(SpaceRow row, int position, int slabOffset, int length, bool isDoubtful)
    {
        RegionLacks lacks = row.LacksAt(position);
        for (int at = slabOffset; at < slabOffset + length;)
        {
            int region = at / _regionSize;
            int end = Math.Min(slabOffset + length, (region + 1) * _regionSize);
            if ((lacks.Unknown >> region & 1) == 0)
            {
                AddInRegion(row, position, lacks, region, at % _regionSize / BlockSize, (end - (region * _regionSize) + BlockSize - 1) / BlockSize, isDoubtful);
            }

            at = end;
        }
    }

    private void AddInRegion(SpaceRow row, int position, RegionLacks lacks, int region, int first, int end, bool isDoubtful)
    {
        if (lacks.Notes[region] is null && !HasRoom())
        {
            AddUnknown(row, position, (ushort)(1 << region));
            return;
        }

        _regions += lacks.Notes[region] is null ? 1 : 0;
        ulong[] notes = lacks.NotesOf(region, _words, isDoubtful);
        for (int block = first; block < end;)
        {
            int count = Math.Min(end - block, 64 - (block % 64));
            notes[block / 64] |= (ulong.MaxValue >> (64 - count)) << (block % 64);
            block += count;
        }
    }

    /// <summary>Whether one region more may have notes. Rows that have gone took theirs along: then the regions are counted again.</summary>
    private bool HasRoom()
    {
        if (_regions >= RegionsMax)
        {
            _regions = 0;
            foreach (SpaceRow? row in _rows)
            {
                _regions += row?.RegionsWithNotes ?? 0;
            }
        }

        return _regions < RegionsMax;
    }
}

/// <summary>Blocks that one position of a row can lack of each region of its slab.</summary>
internal sealed class RegionLacks
{
    /// <summary>Regions of which that is not known.</summary>
    internal ushort Unknown { get; private set; }

    /// <summary>Regions of which the blocks noted may well not differ.</summary>
    internal ushort Doubtful { get; private set; }

    /// <summary>Per region, the blocks that it can lack, bit per block; null: none.</summary>
    internal ulong[]?[] Notes { get; } = new ulong[SpaceShape.RegionsPerSlab][];

    /// <summary>It is not known what is lacking of some regions. Returns how many of them had notes, which go.</summary>
    internal int NoteUnknown(ushort regions)
    {
        Unknown |= regions;
        return DropNotes(regions);
    }

    /// <summary>Nothing is lacking of some regions. Returns how many of them had notes, which go.</summary>
    internal int Forget(ushort regions)
    {
        Unknown &= (ushort)~regions;
        Doubtful &= (ushort)~regions;
        return DropNotes(regions);
    }

    /// <summary>Returns the notes of a region, to which blocks are added.</summary>
    /// <param name="region">Number of the region in the slab.</param>
    /// <param name="words">Words of the notes of a region.</param>
    /// <param name="isDoubtful">Whether the blocks that are added may well not differ.</param>
    internal ulong[] NotesOf(int region, int words, bool isDoubtful)
    {
        Doubtful |= isDoubtful ? (ushort)(1 << region) : (ushort)0;
        return Notes[region] ??= new ulong[words];
    }

    private int DropNotes(ushort regions)
    {
        int dropped = 0;
        for (int rest = regions; rest != 0; rest &= rest - 1)
        {
            int region = BitOperations.TrailingZeroCount(rest);
            dropped += Notes[region] is null ? 0 : 1;
            Notes[region] = null;
        }

        return dropped;
    }
}

/// <summary>Blocks that the position lacks by a stale mark.</summary>
/// <param name="SlabOffset">First byte in the slab.</param>
/// <param name="Length">Bytes; 0: nothing more than is noted already.</param>
internal readonly record struct Lack(int SlabOffset, int Length)
{
    private const int AllOfIt = -1;

    /// <summary>Checksum pages alone, or what is noted already.</summary>
    internal static Lack NothingMore => default;

    /// <summary>It is not known.</summary>
    internal static Lack Unknown => new(0, AllOfIt);

    /// <summary>Notes what the mark says.</summary>
    internal void NoteIn(LackedBlocks lacks, SpaceRow row, int position, ushort regions)
    {
        if (Length == AllOfIt)
        {
            lacks.AddUnknown(row, position, regions);
        }
        else if (Length > 0)
        {
            lacks.Add(row, position, SlabOffset, Length);
        }
    }
}
