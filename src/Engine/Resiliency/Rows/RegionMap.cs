using System.Numerics;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

// Dirty regions of a space: which may differ between positions after a crash.
//
// Invariants
//  1. A region is durably marked dirty before the first write into it while it is clean, and marks of lost blocks are durable before that.
//  2. A region is cleaned only if no write was admitted into it since the flush that covers them was submitted, and while no departure of a disk
//     is being recorded. From the moment the clean mark is appended a write marks the region again.
//  3. A region that was dirty at an unclean stop is unresolved, and resynced part by part: a part before anything is answered from it or written to it.
//     Its mark stays in the log meanwhile, so that writes to parts that are resynced need no other.
//  4. Where marks are slow, one covers clean neighbours too (SpaceOptions.RegionsPerMark), and a row has one such mark at a time. They are dirty without a
//     write, which is always allowed, and cleaned like others.
//  5. Marks are in force for so many regions at most that the log can write all of them again while it is emptied (SpaceLog.MarksMax), beside as many that
//     are unresolved: before one more, the regions that have been idle longest are cleaned.
//  6. A clean mark is durable by the commit that follows it, whatever that is for, and some seconds after it was appended at the latest.
//  7. A row with a region that has a mark in the log, or is dirty, is in the list of marked rows, once. A search for such regions goes over these rows
//     alone, whatever the size of the disk; a row without any leaves the list then.

/// <summary>Dirty regions: marking, cleaning, and resync after an unclean stop.</summary>
internal sealed class RegionMap(SpaceContext space, SpaceLog log, StaleMap stale, FlushClock clock, SpaceFlusher flusher, ILayoutEngine engine)
{
    private const long FullPollNs = 1_000_000;
    private const long CleanMarkMaxNs = 10_000_000_000;   // for which a clean mark waits for another reason to commit

    private readonly SpaceStatus _status = space.Status;
    private readonly RowTable _rows = space.Rows;
    private readonly int _regionSize = space.Shape.RegionSize;
    private readonly int _regionsPerMark = space.Options.RegionsPerMark;
    private readonly List<SpaceRow> _marked = [];
    private readonly Dictionary<(int Row, int Region), Resyncing> _resyncing = [];   // unresolved regions of which a part was asked for
    private int _marking;       // regions in state Marking
    private bool _isThinning;
    private ulong _cleanMark;   // block of the newest clean mark
    private long _cleanMarkNs;  // time of the oldest one that is not durable

    /// <summary>Regions that may not be answered from yet.</summary>
    internal int Unresolved { get; private set; }

    /// <summary>Regions marked dirty.</summary>
    internal int Dirty { get; private set; }

    internal static bool HasUnresolved(SpaceRow row) => Array.Exists(row.Regions, static region => region.IsUnresolved);

    /// <summary>Whether a row has a change that is not in place: under its lock, one that waits for room to be done again.</summary>
    internal static bool HasUnsettled(SpaceRow row) => Array.Exists(row.Regions, static region => region.InFlight > 0);

    /// <summary>Ends a write. One whose region could not be marked has written nothing.</summary>
    internal void Leave(ref Region region, bool isMarked)
    {
        Invariant.That(!log.Exists || !isMarked || region.State >= RegionState.Dirty, "A write ends in a region that has been dirty all the time.");
        region.End(clock.Next, space.Lane.RecentNs);
    }

    /// <summary>Makes the dirty mark of a region durable; writers that come meanwhile share it.</summary>
    internal LaneTask<IoError> MarkDirty(SpaceRow row, int region) => RequestTrace.IsOn
        ? space.Lane.Trace(TraceLayer.Region, space.Lane.NowNs, Mark(row, region)) : Mark(row, region);

    private async LaneTask<IoError> Mark(SpaceRow row, int region)
    {
        while (row.Regions[region].State < RegionState.Dirty)
        {
            if (_status.Fault != IoError.None)
            {
                return _status.Fault;
            }

            if (row.Regions[region].State == RegionState.Marking || row.IsBeingMarked)
            {
                await _status.Changed.Wait();
                continue;
            }

            if (flusher.HasMarks)
            {
                IoError flushed = await flusher.Flush();   // in a dirty region a stop may lead to another verdict
                if (flushed != IoError.None)
                {
                    return flushed;
                }

                continue;
            }

            if (Dirty + _marking >= log.MarksMax)
            {
                IoError thinned = await Thin();
                if (thinned != IoError.None)
                {
                    return thinned;
                }

                continue;
            }

            int width = BeginMarks(row, region);
            IoError error = await log.Room(SpaceLog.BlocksForMarks(width == 1 ? 1 : row.Regions.Length));
            error = error == IoError.None ? await log.Commit(AppendMarks(row, region, width)) : error;
            EndMarks(row, region, width, error == IoError.None);
            _status.Changed.NotifyAll();
            if (error != IoError.None)
            {
                return _status.Fail(error, "a region could not be marked dirty");
            }
        }

        return IoError.None;
    }

    /// <summary>Resyncs the parts of an unresolved region that some bytes are in; everyone who needs one of them waits here.</summary>
    internal async LaneTask<IoError> Resolve(SpaceRow row, int region, int slabOffset, int length)
    {
        while (IsUnresolved(row, region, slabOffset, length))
        {
            if (_status.Fault != IoError.None)
            {
                return _status.Fault;
            }

            if (!_resyncing.TryGetValue((row.Index, region), out Resyncing? resyncing))
            {
                _resyncing[(row.Index, region)] = resyncing = new Resyncing();
            }

            ulong free = PartsOf(slabOffset, length) & ~resyncing.Done & ~resyncing.UnderWay;
            if (free == 0)
            {
                await _status.Changed.Wait();
                continue;
            }

            int first = BitOperations.TrailingZeroCount(free);
            int count = BitOperations.TrailingZeroCount(~(free >> first));
            ulong parts = (ulong.MaxValue >> (64 - count)) << first;
            resyncing.UnderWay |= parts;
            int start = (region % SpaceShape.RegionsPerSlab * _regionSize) + (first * engine.ResyncSize);
            IoError error = await engine.Resync(row, region, start, count * engine.ResyncSize);
            resyncing.UnderWay &= ~parts;
            if (error == IoError.None)
            {
                resyncing.Done |= parts;
                EndWhenWhole(row, region, resyncing);
            }

            _status.Changed.NotifyAll();
            if (error != IoError.None)
            {
                return error;
            }
        }

        return IoError.None;
    }

    /// <summary>Whether nothing may be answered from some bytes of a region before they are resynced.</summary>
    internal bool IsUnresolved(SpaceRow row, int region, int slabOffset, int length) =>
        row.Regions[region].IsUnresolved
        && (!_resyncing.TryGetValue((row.Index, region), out Resyncing? resyncing) || (PartsOf(slabOffset, length) & ~resyncing.Done) != 0);

    /// <summary>Cleans the regions that have been idle for a time.</summary>
    internal void CleanIdle(long idleNs)
    {
        if (stale.IsRecordingDeparture)
        {
            return;   // what was dirty when a disk left is recorded as stale there first
        }

        for (int at = _marked.Count - 1; at >= 0; at--)
        {
            SpaceRow row = _marked[at];
            for (int i = 0; IsCurrent(row) && i < row.Regions.Length; i++)
            {
                ref Region region = ref row.RegionAt(i);
                if (IsIdle(region, idleNs) && region.ActiveRound <= clock.Covered && log.HasRoom(1))
                {
                    Clean(row, i);
                }
            }

            DropUnmarked(at);
        }
    }

    /// <summary>Makes clean marks durable that nothing else has made durable for a while: what is idle is not resynced after a crash.</summary>
    internal async LaneTask<Nothing> CommitCleanMarks()
    {
        if (_cleanMark > log.Journal.Durable && space.Lane.NowNs - _cleanMarkNs >= CleanMarkMaxNs)
        {
            await log.CommitAll();   // one that fails is seen by the next request that needs the log
        }

        return default;
    }

    /// <summary>Whether a region has been idle for a time and only a flush is missing to clean it.</summary>
    internal bool HasIdleUncovered(long idleNs)
    {
        foreach (SpaceRow row in _marked)
        {
            for (int i = 0; IsCurrent(row) && i < row.Regions.Length; i++)
            {
                ref Region region = ref row.RegionAt(i);
                if (IsIdle(region, idleNs) && region.ActiveRound > clock.Covered)
                {
                    return true;
                }
            }
        }

        return false;
    }

    /// <summary>Cleans all regions of a row that is given back. The caller has made room in the log.</summary>
    internal void CleanAll(SpaceRow row)
    {
        for (int i = 0; i < row.Regions.Length; i++)
        {
            if (row.Regions[i].MarkSequence != 0)
            {
                Clean(row, i);
            }
        }
    }

    /// <summary>Replays a mark of the log.</summary>
    internal void Replay(ulong sequence, SpaceRow row, in IntegrityItem item)
    {
        if (item.Region >= SpaceShape.RegionsPerSlab)
        {
            throw new InvalidDataException($"region {item.Region} outside the slab");
        }

        int number = (item.Column * SpaceShape.RegionsPerSlab) + item.Region;
        if (item.Kind == IntegrityKind.Dirty)
        {
            Replay(row, number, sequence);
            return;
        }

        ref Region region = ref row.RegionAt(number);
        Unresolved -= region.IsUnresolved ? 1 : 0;
        region.Replay(isDirty: false, sequence);
    }

    /// <summary>Replays the dirty mark of a region, numbered in its row, that a block of the log has.</summary>
    internal void Replay(SpaceRow row, int number, ulong sequence)
    {
        ref Region region = ref row.RegionAt(number);
        Unresolved += region.IsUnresolved ? 0 : 1;
        region.Replay(isDirty: true, sequence);
        List(row);
    }

    /// <summary>Writes the marks of dirty regions again that are in the log up to a block.</summary>
    internal void MarkAgainUpTo(ulong last)
    {
        for (int at = _marked.Count - 1; at >= 0; at--)
        {
            SpaceRow row = _marked[at];
            for (int i = 0; IsCurrent(row) && i < row.Regions.Length; i++)
            {
                if (row.Regions[i].MarkSequence is not 0 and var sequence && sequence <= last)
                {
                    NoteMark(row, i, log.AppendMark(IntegrityKind.Dirty, row, i));
                }
            }
        }
    }

    /// <summary>Log block of the oldest mark that the log must keep, or the given one.</summary>
    internal ulong OldestMark(ulong otherwise)
    {
        ulong oldest = otherwise;
        foreach (SpaceRow row in _marked)
        {
            for (int i = 0; IsCurrent(row) && i < row.Regions.Length; i++)
            {
                oldest = row.Regions[i].MarkSequence is not 0 and var sequence ? Math.Min(oldest, sequence) : oldest;
            }
        }

        return oldest;
    }

    /// <summary>
    /// Begins the mark of a region and of its clean neighbours: as many again as are dirty of the row, in all groups, because a load that goes through the
    /// address space, or over much of it, comes to all columns. Returns the width of the mark.
    /// </summary>
    private int BeginMarks(SpaceRow row, int region)
    {
        int width = WidthOfMark(row);
        for (int i = 0; i < row.Regions.Length; i++)
        {
            if (IsCovered(i, region, width) && row.Regions[i].State == RegionState.Clean)
            {
                row.RegionAt(i).BeginMark();
                _marking++;
            }
        }

        row.BeginMarking(isWide: width > 1);
        return width;
    }

    /// <summary>Cleans a quarter of the dirty regions, those that have been idle longest, after a flush; who comes meanwhile waits for that.</summary>
    private async LaneTask<IoError> Thin()
    {
        if (_isThinning)
        {
            await _status.Changed.Wait();
            return IoError.None;
        }

        _isThinning = true;
        IoError error = await flusher.Flush();
        int most = log.MarksMax / 4 * 3;
        for (long idleNs = space.Options.CleanAfterNs / 2; error == IoError.None && Dirty > most; idleNs /= 2)
        {
            CleanIdle(idleNs);
            if (idleNs == 0)
            {
                break;
            }
        }

        _isThinning = false;
        _status.Changed.NotifyAll();
        if (error == IoError.None && Dirty + _marking >= log.MarksMax)
        {
            await space.Lane.Delay(FullPollNs);   // the log is full, or a departure is being recorded, or writes are in flight everywhere
        }

        return error;
    }

    private int WidthOfMark(SpaceRow row)
    {
        if (_regionsPerMark == 1 || Dirty + _marking + row.Regions.Length > log.MarksMax)
        {
            return 1;
        }

        int dirty = 0;   // bit per region of a group
        for (int i = 0; i < row.Regions.Length; i++)
        {
            dirty |= row.Regions[i].State == RegionState.Clean ? 0 : 1 << (i % SpaceShape.RegionsPerSlab);
        }

        int wanted = Math.Max(_regionsPerMark, 2 * BitOperations.PopCount((uint)dirty));
        return Math.Min((int)BitOperations.RoundUpToPowerOf2((uint)wanted), SpaceShape.RegionsPerSlab);
    }

    /// <summary>Appends the marks that were begun; returns the log block of the last.</summary>
    private ulong AppendMarks(SpaceRow row, int region, int width)
    {
        ulong sequence = 0;
        for (int i = 0; i < row.Regions.Length; i++)
        {
            if (IsCovered(i, region, width) && row.Regions[i].State == RegionState.Marking)
            {
                sequence = log.AppendMark(IntegrityKind.Dirty, row, i);
                NoteMark(row, i, sequence);
            }
        }

        return sequence;
    }

    private void EndMarks(SpaceRow row, int region, int width, bool areDurable)
    {
        for (int i = 0; i < row.Regions.Length; i++)
        {
            if (IsCovered(i, region, width) && row.Regions[i].State == RegionState.Marking)
            {
                row.RegionAt(i).EndMark(areDurable, space.Lane.RecentNs);
                Dirty += areDurable ? 1 : 0;
                _marking--;
            }
        }

        row.EndMarking();
    }

    /// <summary>Whether a mark of a region covers another one.</summary>
    private static bool IsCovered(int other, int region, int width) => width == 1
        ? other == region
        : other % SpaceShape.RegionsPerSlab / width == region % SpaceShape.RegionsPerSlab / width;

    private void EndWhenWhole(SpaceRow row, int region, Resyncing resyncing)
    {
        if (resyncing.Done != PartsOf(0, _regionSize))
        {
            return;
        }

        _resyncing.Remove((row.Index, region));
        row.RegionAt(region).EndResync();
        Unresolved--;
        Dirty++;
        space.Counters.Repair.NoteResynced();
        row.RegionAt(region).Touch(clock.Next, space.Lane.NowNs);
    }

    /// <summary>Returns the parts of a region that bytes of a slab are in, bit per part.</summary>
    private ulong PartsOf(int slabOffset, int length)
    {
        int first = slabOffset % _regionSize / engine.ResyncSize;
        int last = Math.Min((slabOffset % _regionSize) + length - 1, _regionSize - 1) / engine.ResyncSize;
        return (ulong.MaxValue >> (63 - last)) & (ulong.MaxValue << first);
    }

    private bool IsIdle(in Region region, long idleNs) =>
        region.State == RegionState.Dirty && region.InFlight == 0 && space.Lane.NowNs - region.ActiveNs >= idleNs;

    private bool IsCurrent(SpaceRow row) => row.Index < _rows.Count && _rows[row.Index] == row;

    private void NoteMark(SpaceRow row, int region, ulong sequence)
    {
        row.RegionAt(region).NoteMark(sequence);
        List(row);
    }

    private void List(SpaceRow row)
    {
        if (row.TryList())
        {
            _marked.Add(row);
        }
    }

    /// <summary>Takes the row at a place of the list out of it unless it has a mark or a region that is not clean.</summary>
    private void DropUnmarked(int at)
    {
        SpaceRow row = _marked[at];
        if (!Array.Exists(row.Regions, static region => region.MarkSequence != 0 || region.State != RegionState.Clean))
        {
            row.Unlist();
            _marked[at] = _marked[^1];
            _marked.RemoveAt(_marked.Count - 1);
        }
    }

    private void Clean(SpaceRow row, int region)
    {
        _cleanMarkNs = _cleanMark > log.Journal.Durable ? _cleanMarkNs : space.Lane.NowNs;
        _cleanMark = log.AppendMark(IntegrityKind.Clean, row, region);
        row.RegionAt(region).Clean();
        Dirty--;
    }

    /// <summary>Parts of an unresolved region, bit per part.</summary>
    private sealed class Resyncing
    {
        internal ulong Done { get; set; }

        internal ulong UnderWay { get; set; }
    }
}
