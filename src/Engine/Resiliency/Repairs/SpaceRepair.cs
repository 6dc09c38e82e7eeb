using System.Numerics;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

// Online resync of stale positions, while reads and writes go on.
//
// A stale position whose disk is back in the view takes every new write; it is not read. The unit of repair is a region, or as many
// regions as share a checksum page; while no client is at work, more of them, so that the commit at its end is paid for fewer times:
//
//  1. Missed is cleared: from here on a write that the position misses begins the unit again.
//  2. Per chunk, under its range lock: read from good positions, verify by the entries, write to the stale one. Several chunks are in flight
//     while no client is at work.
//  3. With no writeback running: the unit's pages, as logged, to the position; flush; read back; the mark is taken off, durably.
//
// A crash anywhere leaves the mark, and the unit is done again.

/// <summary>Makes stale positions whole. One repair or move of a space runs at a time; a second one waits for the first.</summary>
internal sealed class SpaceRepair(
    SpaceContext space, StaleMap stale, IntegrityStore integrity, PageWriteback writeback, SpaceFlusher flusher, StretchCopier stretches, PageCopier pages)
{
    private const int UnitBytesMax = 64 << 20;   // a crash has so much of it done again

    private readonly ILayout _layout = space.Layout;
    private readonly SpaceShape _shape = space.Shape;
    private readonly SpaceMembers _members = space.Members;
    private readonly RowTable _rows = space.Rows;
    private UnitProgress _progress;   // of the unit that a stop left half copied: what was copied stays so while nothing is missed

    /// <summary>The lock of repairs and moves.</summary>
    internal LaneMutex Mutex { get; } = new();

    /// <summary>
    /// Bytes to go through that can be made whole now: of stale regions on disks that are there and that the others can give, what these can lack, and stale
    /// log copies.
    /// </summary>
    internal long BytesToResync
    {
        get
        {
            long bytes = 0;
            foreach (SpaceRow? row in _rows)
            {
                for (int position = 0; row is not null && position < row.Places.Length; position++)
                {
                    int regions = row.IsInitialized && row.Stale[position] != 0 && _members.IsLive(row.Places[position].Disk)
                        ? row.Stale[position] & space.Redundancy.GoodElsewhere(row, position) : 0;
                    bytes += stale.Lacks.BytesOf(row, position, (ushort)regions);
                }
            }

            return bytes + RingBytesToResync;
        }
    }

    /// <summary>Bytes of stale copies of the rings that can be made whole now.</summary>
    internal long RingBytesToResync => space.Rings.BytesToResync;

    /// <summary>Makes every stale position whole whose disk is there.</summary>
    internal async LaneTask<RepairEnd> Resync(IWorkPacer pacer)
    {
        if (!await Mutex.LockUnless(() => space.Status.IsStopping))
        {
            return RepairEnd.Stopped;
        }

        RepairEnd end = await ResyncAll(pacer);
        Mutex.Unlock();
        return end;
    }

    private async LaneTask<RepairEnd> ResyncAll(IWorkPacer pacer)
    {
        await integrity.LearnUnknown();
        long before = space.Rings.CopiesRepaired;
        RepairEnd end = await space.Rings.Resync(bytes => stretches.Pace(pacer, bytes));
        space.Counters.Repair.NoteLogCopies(space.Rings.CopiesRepaired - before);
        for (int index = 0; index < _rows.Count && end != RepairEnd.Stopped; index++)
        {
            for (int position = 0; position < _layout.Positions && end != RepairEnd.Stopped; position++)
            {
                if (_rows[index] is { IsInitialized: true } row && row.Stale[position] != 0)
                {
                    end = RingSet.Worse(end, await ResyncPosition(row, position, pacer));
                }
            }
        }

        return end;
    }

    private async LaneTask<RepairEnd> ResyncPosition(SpaceRow row, int position, IWorkPacer pacer)
    {
        RepairEnd end = RepairEnd.Done;
        for (int first = 0, count; first < SpaceShape.RegionsPerSlab && end != RepairEnd.Stopped; first += count)
        {
            count = RegionsOfUnit(first, pacer.IsYielding && pacer.Burst == 1);
            ushort unit = (ushort)(((1 << count) - 1) << first);
            while ((row.Stale[position] & unit) != 0 && _rows[row.Index] == row)
            {
                RepairEnd tried = await ResyncUnit(row, position, unit, pacer);
                end = RingSet.Worse(end, tried);
                if (tried != RepairEnd.Done)
                {
                    break;
                }
            }
        }

        return end;
    }

    /// <summary>Returns how many regions from one on are a unit. Units of either size begin and end between checksum pages.</summary>
    private int RegionsOfUnit(int first, bool isSmall)
    {
        int perPage = Math.Max(1, _shape.PageSpan / _shape.RegionSize);
        int most = Math.Max(perPage, UnitBytesMax / _shape.RegionSize / perPage * perPage);
        return Math.Min(SpaceShape.RegionsPerSlab - first, isSmall ? perPage : most);
    }

    /// <summary>One attempt at a unit; Done also when it has to begin again because the position missed something meanwhile.</summary>
    private async LaneTask<RepairEnd> ResyncUnit(SpaceRow row, int position, ushort unit, IWorkPacer pacer)
    {
        ushort regions = (ushort)(row.Stale[position] & unit & space.Redundancy.GoodElsewhere(row, position));
        if (regions == 0 || !_members.IsLive(row.Places[position].Disk))
        {
            return RepairEnd.Incomplete;
        }

        UnitProgress here = new(row, position, regions, _members.Version, 0);
        bool goesOn = _progress with { Bytes = 0 } == here && (row.Missed[position] & unit) == 0;
        int skip = goesOn ? _progress.Bytes : 0;
        row.Missed[position] &= (ushort)~unit;
        (RepairEnd end, int copied) = await stretches.Copy(row, position, regions, row.Places[position], skip, pacer);
        if (end != RepairEnd.Done)
        {
            _progress = here with { Bytes = copied };
            return end;
        }

        return await FinishUnit(row, position, unit, regions);
    }

    private async LaneTask<RepairEnd> FinishUnit(SpaceRow row, int position, ushort unit, ushort regions)
    {
        await writeback.HoldWriteback();
        RepairEnd end = RepairEnd.Done;
        if (_rows[row.Index] == row)
        {
            int generation = row.Enter();   // it is not given back before this ends
            SlabPlace target = row.Places[position];
            IoError error = _shape.Checksums ? await pages.WritePages(row, position, unit, target) : await flusher.FlushTarget(target);
            bool isWhole = error == IoError.None && (row.Missed[position] & regions) == 0;
            end = error != IoError.None ? RepairEnd.Incomplete : isWhole ? await stale.ClearStale(row, position, regions) : RepairEnd.Done;
            row.Leave(generation);
        }

        writeback.ReleaseWriteback();
        return end;
    }

    private readonly record struct UnitProgress(SpaceRow? Row, int Position, ushort Regions, int Version, int Bytes);
}
