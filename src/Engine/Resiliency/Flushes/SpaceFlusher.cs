using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Resiliency;

// Flushes of a space: rounds that make every completed write durable with its entries.
//
// Invariants
//  1. Rounds do not overlap; a caller that asks during a round shares the next one.
//  2. An entry that turns a never-written block into a written one is logged only after the data of the block was flushed.
//  3. A disk whose flush failed leaves the view if the space keeps its data without it; else the space fails: a flush is never repeated and believed.
//     So it does if such a disk has left before the flush.

/// <summary>Makes writes durable.</summary>
internal sealed class SpaceFlusher(
    SpaceContext space, SpaceLog log, ChangedEntries changes, WriteRecords records, FoundWrites found, FlushClock clock)
{
    private const long RoomPollNs = 100_000;

    internal const string LastCopyUnflushed = "a flush failed and no redundancy is left";

    private readonly SpaceStatus _status = space.Status;
    private readonly SpaceMembers _members = space.Members;
    private readonly LaneSignal _flushed = new();
    private IFlushFollower? _follower;
    private bool _isStarting;   // a round that no caller waits for is under way or about to begin

    /// <summary>Whether a round is running.</summary>
    internal bool IsRunning { get; private set; }

    /// <summary>Whether a mark of a block that is lost or in doubt is not durable yet.</summary>
    internal bool HasMarks => changes.HasMarks;

    /// <summary>Number of the next round: it covers what has ended before it begins.</summary>
    internal ulong NextRound => clock.Next;

    /// <summary>Lets one part of the space follow the rounds.</summary>
    internal void FollowBy(IFlushFollower follower) => _follower = follower;

    /// <summary>
    /// Makes every completed write durable. A round that waits for room on a full host file system goes on; its callers get NoSpace after
    /// a minute.
    /// </summary>
    internal LaneTask<IoError> Flush() => RequestTrace.IsOn
        ? space.Lane.Trace(TraceLayer.Flush, space.Lane.NowNs, _members.OrNoSpace(FlushRounds())) : _members.OrNoSpace(FlushRounds());

    /// <summary>Flushes every disk that was written since its last flush. A disk that fails leaves the view if it can be spared.</summary>
    internal async LaneTask<IoError> FlushDisks()
    {
        int failed;
        while ((failed = await _members.FlushUnflushed()) >= 0 || (failed = _members.Leaving()) >= 0)
        {
            bool survives = space.Redundancy.HasOtherCopies(failed);
            if (!await _members.Evict(failed, IoError.Io, survives, "a flush") || !survives)
            {
                return IoError.Io;
            }
        }

        return IoError.None;
    }

    /// <summary>Flushes the disk of a slab that is being made whole; it leaves the view when that fails.</summary>
    internal async LaneTask<IoError> FlushTarget(SlabPlace target)
    {
        if (!await _members.FlushDisk(target.Disk))
        {
            await _members.Evict(target.Disk, IoError.Io, hasOtherCopy: true, "a flush");
        }

        return _members.IsLive(target.Disk) ? IoError.None : IoError.DeviceGone;
    }

    /// <summary>
    /// Flushes until the memory for records has so many slots. The caller, which continues inline, appends before its next await: others
    /// that waited for the same flush look again then.
    /// </summary>
    internal async LaneTask<IoError> FlushForRecords(int slots)
    {
        while (!records.HasRoom(slots))
        {
            IoError error = await Flush();
            if (error != IoError.None)
            {
                return error;
            }

            if (!records.HasRoom(slots))
            {
                await space.Lane.Delay(RoomPollNs);   // open records fill the half: their writes end
            }
        }

        return IoError.None;
    }

    /// <summary>Starts a round if half of the room for records is used and none is running or about to: writers then rarely wait for one.</summary>
    internal void StartWhenHalfFull()
    {
        if (records.IsHalfFull && !IsRunning && !_isStarting && !_status.IsOpening)
        {
            _isStarting = true;
            FlushStarted().Forget();
        }
    }

    /// <summary>Enters what a resync concluded about blocks, and flushes: the data of first writes before their entries.</summary>
    internal async LaneTask<IoError> LogTaken(List<CapturedEntry> taken)
    {
        changes.Take(taken);
        return taken.Count > 0 ? await Flush() : IoError.None;
    }

    private async LaneTask<IoError> FlushStarted()
    {
        await space.Lane.Yield();   // the write that found it half full is submitted first
        IoError error = _status.IsStopping ? IoError.None : await Flush();
        _isStarting = false;
        return error;
    }

    private async LaneTask<IoError> FlushRounds()
    {
        ulong needed = clock.Next;
        while (clock.Covered < needed && _status.Fault == IoError.None)
        {
            if (IsRunning)
            {
                await _flushed.Wait();
                continue;
            }

            IsRunning = true;
            ulong round = clock.Begin();
            space.Counters.Io.NoteFlush();
            IoError error = await FlushRound();
            IsRunning = false;
            if (error == IoError.None)
            {
                clock.Complete(round);
            }
            else
            {
                _status.Fail(error, LastCopyUnflushed);
            }

            _flushed.NotifyAll();
        }

        log.StartWritebackWhenFull();
        return _status.Fault;
    }

    /// <summary>The outcome of a flush; an error when a disk has left that alone held writes which were not flushed.</summary>
    private IoError OrMissed(IoError flushed) => flushed == IoError.None && _members.HasMissedFlush ? IoError.Io : flushed;

    // 1. Capture the entries changed so far; records of writes go to the other half from here on.
    // 2. If one of them turns a never-written block into a written one: flush the data first.
    // 3. Append what is still captured (an unmap in between wins) and write the log.
    // 4. One round of flushes over every disk written since the last: data and log.
    private async LaneTask<IoError> FlushRound()
    {
        if (!log.Exists)
        {
            return OrMissed(await FlushDisks());
        }

        bool anyFirst = changes.Capture();
        _follower?.OnRoundBegun();
        records.Switch();
        IoError error = anyFirst ? OrMissed(await FlushDisks()) : IoError.None;
        error = error == IoError.None ? await log.Room(changes.CapturedBlocks) : error;
        if (error == IoError.None)
        {
            found.NoteEntered(changes.Captured);
            log.AppendEntries(changes);
            error = await log.Journal.Write();
        }

        ulong written = log.Journal.Written;
        error = error == IoError.None ? OrMissed(await FlushDisks()) : error;
        error = error == IoError.None ? await log.Medium!.MarkDropped() : error;
        if (error == IoError.None)
        {
            log.Journal.NoteDurable(written);
            log.NoteCommitted();
            changes.NoteLogged();
            _follower?.OnRoundEnded();
        }

        return error;
    }
}
