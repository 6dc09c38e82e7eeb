using TierSpaces.Engine.Journals;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Resiliency;

// A mirrored ring over slabs of a pool: that of an integrity log, or of a write cache. It has no checksums, regions or rows of its own: its records are
// checked by their owner, and a copy is stale as a whole.
//
// Invariants
//  1. A copy that misses a write or a flush is durably marked stale before the owner goes on; nothing is recovered from it until all of it
//     has been copied again. The last good copy is never marked (RingCopies).
//  2. Writes of the owner and steps of a rebuild do not overlap (LaneMutex, RingRebuild).

/// <summary>The medium of an integrity log or of a write cache.</summary>
internal sealed class RingMedium : IJournalMedium
{
    private readonly IMemberHost _host;
    private readonly SpaceMembers _members;
    private readonly RingOptions _options;
    private readonly RingCopies _copies;
    private readonly LaneMutex _mutex = new();
    private readonly RingRebuild _rebuild;

    internal RingMedium(IMemberHost host, SpaceMembers members, int slabSize, RingOptions options)
    {
        _host = host;
        _members = members;
        _options = options;
        _copies = new RingCopies(members, slabSize, options);
        _rebuild = new RingRebuild(members, _copies, _mutex, options.Name, options.Blocks);
    }

    /// <inheritdoc/>
    public int Copies => _copies.Count;

    /// <inheritdoc/>
    public int Blocks => _options.Blocks;

    /// <summary>Name of the ring, for messages.</summary>
    internal string Name => _options.Name;

    /// <summary>Bytes written, for the counters.</summary>
    internal long BytesWritten => _copies.BytesWritten;

    /// <summary>Writes to copies, for the counters.</summary>
    internal long Writes => _copies.Writes;

    /// <summary>Whether any copy takes part.</summary>
    internal bool HasSource => _copies.HasSource;

    /// <summary>Whether no copy takes part, and a disk is back that holds all of the ring; see <see cref="RingCopies.HasReturned"/>.</summary>
    internal bool HasReturned => _copies.HasReturned;

    /// <inheritdoc/>
    public bool IsCopyAway => _copies.IsCopyAway;

    /// <inheritdoc/>
    public LaneTask<IoError> Read(int copy, long offset, IoBuffer target) => _copies.ReadCopy(offset, copy, target);

    /// <inheritdoc/>
    public async LaneTask<IoError> Write(long offset, IoBuffer source)
    {
        await _mutex.Lock();
        LaneTask<CopyOutcome> writes = CopyIo.WriteAll(_copies, offset, source, _members.Version);
        LaneTask<IoError> joining = _rebuild.WriteJoining(offset, source);
        CopyOutcome outcome = await writes;
        _rebuild.NoteWritten(await joining);
        IoError error = await Settle(outcome);
        _mutex.Unlock();
        return error;
    }

    /// <inheritdoc/>
    public async LaneTask<IoError> Flush()
    {
        int version = _members.Version;
        IoError error0 = await _copies.FlushCopy(0);
        IoError error1 = await _copies.FlushCopy(1);
        IoError error2 = await _copies.FlushCopy(2);
        return await Settle(new CopyOutcome(Copies, version, error0, error1, error2));
    }

    /// <summary>Flushes the copies that are there. One that is away is not marked for it: it may have what the others have lost.</summary>
    internal async LaneTask<IoError> FlushThere()
    {
        IoError error = IoError.None;
        for (int copy = 0; copy < Copies && error == IoError.None; copy++)
        {
            error = await _copies.FlushCopy(copy);
        }

        return error == IoError.None ? error : await Flush();
    }

    /// <summary>Marks the copies that missed something, durably: what was flushed counts as durable only then.</summary>
    internal LaneTask<IoError> MarkDropped() => _copies.MarkDropped();

    /// <summary>Records durably that a copy is stale.</summary>
    internal LaneTask<IoError> MarkStale(int copy) => _options.MarkStale(copy);

    /// <summary>Records durably that a copy is whole again.</summary>
    internal LaneTask<IoError> ClearStale(int copy) => _options.ClearStale(copy);

    /// <summary>A disk has left the view: its copy takes no part any more, whatever it still holds.</summary>
    internal void OnDiskLost(int disk)
    {
        _copies.DropOn(disk);
        _rebuild.OnDiskLost(disk);
        if (!HasSource)
        {
            _options.SourceLost?.Invoke();
        }
    }

    /// <summary>Whether a good copy is on another disk.</summary>
    internal bool SurvivesWithout(int disk) => _copies.SurvivesWithout(disk);

    /// <summary>Whether a copy takes no part and is to be marked, or made whole.</summary>
    internal bool IsStale(int copy) => !_copies.IsLive(copy);

    /// <summary>Number of the disk that a copy is on.</summary>
    internal int DiskOf(int copy) => _copies.DiskOf(copy);

    /// <summary>Places of a copy.</summary>
    internal IReadOnlyList<SlabPlace> PlacesOf(int copy) => _copies.PlacesOf(copy);

    /// <summary>Returns the copy on the least busy disk; the first one if none takes part.</summary>
    internal int LeastBusy() => Math.Max(0, CopyIo.LeastBusy(_copies, range: 0, first: 0));

    /// <summary>Writes to one copy alone what the others hold already.</summary>
    internal LaneTask<IoError> Heal(int copy, long offset, IoBuffer source) => _copies.WriteCopy(offset, copy, source);

    /// <summary>Reports that a block is lost: no copy that takes part could give it. Only the owner knows which.</summary>
    internal void ReportLost()
    {
        for (int copy = 0; copy < Copies; copy++)
        {
            if (_copies.IsLive(copy))
            {
                _host.Report(DiskOf(copy), DiskFinding.Lost, 1, offset: -1);
            }
        }
    }

    /// <summary>Counts every copy as unflushed: what it holds may be in the cache of its disk.</summary>
    internal void NoteUnflushed() => _copies.NoteUnflushed();

    /// <summary>Makes a copy whole again, in its own places or in others; see <see cref="RingRebuild"/>.</summary>
    internal LaneTask<IoError> Rebuild(int copy, SlabPlace[] places, Func<LaneTask<IoError>> commit, Func<int, LaneTask<bool>> pace, IoBuffer buffer) =>
        _rebuild.Rebuild(copy, places, commit, pace, buffer);

    /// <summary>Ends a rebuild that runs, and lets none begin until <see cref="Resume"/>.</summary>
    internal LaneTask<Nothing> Suspend() => _rebuild.Suspend();

    /// <summary>Lets copies be made whole again.</summary>
    internal void Resume() => _rebuild.Resume();

    private LaneTask<IoError> Settle(CopyOutcome outcome) => outcome.IsWhole ? MarkDropped() : SettleFailed(outcome);

    /// <summary>Drops copies that failed, if another is left, and marks them before anyone relies on the others.</summary>
    private async LaneTask<IoError> SettleFailed(CopyOutcome outcome)
    {
        for (int copy = 0; copy < Copies; copy++)
        {
            if (outcome[copy] != IoError.None && _copies.IsLive(copy))
            {
                int disk = DiskOf(copy);
                bool survives = SurvivesWithout(disk);
                await _members.EvictSince(outcome.Version, disk, outcome[copy], survives, Name);
                if (survives || !_options.KeepsLastCopy)
                {
                    _copies.Drop(copy);
                }
                else if (!_copies.IsDropped(copy))
                {
                    return outcome[copy];
                }
            }
        }

        IoError marked = await MarkDropped();
        return marked == IoError.None || outcome.Error0 == IoError.None ? marked : outcome.Error0;
    }
}
