using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Resiliency;

public sealed partial class Space
{
    private const string LastCopyUnflushed = "a flush failed and no redundancy is left";

    private readonly List<ChecksumPage> _changedPages = [];
    private readonly List<CapturedEntry> _captured = [];
    private readonly LaneSignal _flushed = new();
    private long _changedBytes;          // what logging all changed entries would take
    private long _changedBytesMax = long.MaxValue;
    private ulong _nextRound = 1;        // number of the next flush round
    private ulong _coveredRound;         // latest round that has completed
    private bool _roundRunning;

    /// <summary>
    /// Makes every completed write durable. Rounds do not overlap; a caller that asks during a round shares the next one. A round that waits for room
    /// on a full host file system goes on; its callers get NoSpace after a minute.
    /// </summary>
    public LaneTask<IoError> Flush() => _members.OrNoSpace(FlushRounds());

    private async LaneTask<IoError> FlushRounds()
    {
        ulong needed = _nextRound;
        while (_coveredRound < needed && Fault == IoError.None)
        {
            if (_roundRunning)
            {
                await _flushed.Wait();
                continue;
            }

            _roundRunning = true;
            ulong round = _nextRound++;
            Counters.Flushes++;
            IoError error = await FlushRound();
            _roundRunning = false;
            if (error == IoError.None)
            {
                _coveredRound = round;
            }
            else
            {
                Fail(error, LastCopyUnflushed);
            }

            _flushed.NotifyAll();
        }

        StartWritebackWhenFull();
        return Fault;
    }

    // 1. Capture the entries changed so far; notes of first writes go to the other half from here on.
    // 2. Where one of them turns a never-written block into a written one: flush the data first.
    // 3. Append what is still captured (an unmap in between wins) and write the log.
    // 4. One round of flushes over every disk written since the last: homes and log.
    private async LaneTask<IoError> FlushRound()
    {
        if (_log is null)
        {
            return await FlushDisks();
        }

        bool anyFirst = Capture();
        ActiveNotes?.Switch();
        IoError error = anyFirst ? await FlushDisks() : IoError.None;
        error = error == IoError.None ? await LogRoom(BlocksFor(_captured.Count)) : error;
        if (error == IoError.None)
        {
            _log.AppendEntries(_captured);
            _captured.Clear();
            error = await _log.Journal.Write();
        }

        ulong written = _log.Journal.Written;
        error = error == IoError.None ? await FlushDisks() : error;
        error = error == IoError.None ? await _logMedium!.MarkDropped() : error;
        if (error == IoError.None)
        {
            _log.Journal.NoteDurable(written);
            AfterLogCommit();
            ActiveNotes?.ClearOlder();
        }

        return error;
    }

    /// <summary>The notes, once those of a former process have been judged.</summary>
    private CrashNotes? ActiveNotes => _opening ? null : _notes;

    private bool Capture()
    {
        foreach (ChecksumPage page in _changedPages)
        {
            page.IsListed = false;
            page.Capture(_captured);
        }

        _changedPages.Clear();
        _changedBytes = 0;
        foreach (CapturedEntry entry in _captured)
        {
            if (entry.Page.IsUnlogged(entry.Block))
            {
                return true;
            }
        }

        return false;
    }

    private void NoteChanged(ChecksumPage page, int count)
    {
        if (!page.IsListed)
        {
            page.IsListed = true;
            _changedPages.Add(page);
            _changedBytes += IntegrityRecord.EntriesHeaderSize;
        }

        _changedBytes += count * IntegrityRecord.EntrySize;
    }

    private static int BlocksFor(int entries) =>
        2 + (entries * (IntegrityRecord.EntrySize + IntegrityRecord.EntriesHeaderSize) / (JournalBlock.PayloadCapacity - 512));

    private LaneTask<IoError> FlushForRoom() => Flush();

    /// <summary>
    /// Flushes until the first-write journal has so many slots. The caller, which continues inline, appends before its next await: others
    /// that waited for the same flush look again then.
    /// </summary>
    private async LaneTask<IoError> FlushForNotes(int slots)
    {
        while (_notes is { } notes && notes.Room < slots)
        {
            IoError error = await Flush();
            if (error != IoError.None)
            {
                return error;
            }
        }

        return IoError.None;
    }

    private async LaneTask<IoError> FlushDisks()
    {
        int failed;
        while ((failed = await _members.FlushUnflushed()) >= 0 || (failed = _members.Leaving()) >= 0)
        {
            bool survives = HasOtherCopies(failed);
            if (!await PutOut(failed, IoError.Io, survives, "a flush") || !survives)
            {
                return IoError.Io;
            }
        }

        return IoError.None;
    }

    /// <summary>Whether everything this disk holds of the space, its rings included, stands on another live disk too.</summary>
    public bool SurvivesWithout(int disk) => HasOtherCopies(disk);

    private bool HasOtherCopies(int disk)
    {
        foreach (SpaceRow? row in _rows)
        {
            for (int position = 0; row is not null && position < row.Places.Length; position++)
            {
                if (row.Places[position].Disk == disk && row.IsInitialized && !HasOther(row, position))
                {
                    return false;
                }
            }
        }

        return _rings.SurvivesWithout(disk);
    }

    private bool HasOther(SpaceRow row, int position)
    {
        int column = position / _shape.Copies;
        for (int copy = 0; copy < _shape.Copies; copy++)
        {
            int other = (column * _shape.Copies) + copy;
            if (other != position && row.Stale[other] == 0 && _members.IsLive(row.Places[other].Disk))
            {
                return true;
            }
        }

        return false;
    }
}
