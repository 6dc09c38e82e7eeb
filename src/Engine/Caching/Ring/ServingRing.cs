using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Caching;

// The ring of a write cache: its copies on disks from the opening on, its records from the anchor of this session until it is given up. The ring may be
// on disks of a cache pool, where the backing store has nothing: a flush of the one never counts as a flush of the other.
//
// Invariants
//  1. There are records only while there is a medium, and after the anchor of this session is durable on every live copy.
//  2. A ring whose flush failed on every copy is lost: the flush is never repeated and believed.

/// <summary>The ring that a write cache serves from.</summary>
internal sealed class ServingRing(CacheContext cache)
{
    private const int BlockSize = CacheRecord.BlockSize;

    private readonly ILane _lane = cache.Lane;
    private readonly IBackingStore _backing = cache.Backing;
    private readonly WriteCacheOptions _options = cache.Options;
    private readonly CacheStatus _status = cache.Status;
    private readonly IRingStorage _storage = cache.Options.RingStorage ?? cache.Backing;

    /// <summary>The records; null: writes go to the backing store from the start, or the ring was given up.</summary>
    internal CacheRing? Records { get; private set; }

    /// <summary>The copies on disks; null: there are none.</summary>
    internal RingMedium? Medium { get; private set; }

    /// <summary>Length in bytes; 0 once the ring is given up.</summary>
    internal long SizeBytes => Records is null ? 0 : _options.Length;

    /// <summary>Bytes of records that are not destaged yet.</summary>
    internal long DirtyBytes => (Records?.Used ?? 0) * BlockSize;

    /// <summary>Bytes that records can be written to now.</summary>
    internal long AvailableBytes => Records is { Fault: IoError.None } ring ? Math.Max(0, ring.Length - ring.Used) * BlockSize : 0;

    /// <summary>Whether a disk holds the only good copy of data that is not destaged yet.</summary>
    internal bool IsDegraded => Records is not null && Medium is { } medium && Enumerable.Range(0, medium.Copies).Any(medium.IsStale);

    /// <summary>Grows with every change of the members under the ring.</summary>
    internal int MembersVersion => _storage.MembersVersion;

    /// <summary>Takes the copies on disks into use.</summary>
    internal RingMedium UseMedium()
    {
        Medium = _storage.AddRing(new RingOptions
        {
            Name = "the write cache",
            Copies = _options.Copies,
            Blocks = checked((int)(_options.Length / BlockSize)),
            StaleCopies = _options.StaleCopies,
            MarkStale = _options.MarkStale,
            ClearStale = _options.ClearStale,
            KeepsLastCopy = true,
            SourceLost = OnSourceLost,
        });
        return Medium;
    }

    /// <summary>Begins a session in the ring; false when no copy takes its anchor.</summary>
    internal async LaneTask<bool> TryStart(RingMedium medium, CacheChain chain, CacheChain.TakeRecord onRecord)
    {
        CacheRing ring = new(_lane, medium, _options.Owner, _lane.NextRandom(), chain) 
        {
            OnRecord = onRecord,
            End = _backing.RingEnd,
        };
        if (await ring.WriteAnchor() != IoError.None)
        {
            ring.Release();
            return false;
        }

        ring.StateEnd();
        Records = ring;
        return true;
    }

    /// <summary>Makes every complete record durable. The cache is lost if no copy can do that.</summary>
    internal async LaneTask<IoError> FlushRing(CacheRing ring)
    {
        IoError error = await ring.Flush();
        return error == IoError.None ? error : Lose(error, "a flush failed on every copy");
    }

    /// <summary>Fails the cache: what the ring holds cannot be kept. Returns the error.</summary>
    internal IoError Lose(IoError error, string reason) => _status.Lose(error, reason, DirtyBytes, awaitsDisks: Medium is { HasSource: false });

    /// <summary>Moves a copy to other places, one disk's. Readers of the former places have to be drained after it.</summary>
    internal LaneTask<RepairEnd> Move(int copy, SlabPlace[] places, Func<LaneTask<IoError>> commit, IWorkPacer pacer) =>
        Medium is { } medium && Records is not null ? _storage.Move(medium, copy, places, commit, pacer) : LaneTask.FromResult(RepairEnd.Incomplete);

    /// <summary>Lets no copy be made whole or moved any more, until <see cref="Resume"/>.</summary>
    internal LaneTask<Nothing> Suspend() => Medium is { } medium ? medium.Suspend() : LaneTask.FromResult(default(Nothing));

    internal void Resume() => Medium?.Resume();

    /// <summary>Completes when nothing is under way in the ring that no request waits for.</summary>
    internal LaneTask<Nothing> Settle() => Records is { } ring ? ring.Settle() : LaneTask.FromResult(default(Nothing));

    /// <summary>Gives the memory of records back. The ring keeps what it holds.</summary>
    internal void Release() => Records?.Release();

    /// <summary>Gives the records up: nothing reads or writes them any more.</summary>
    internal void Forget()
    {
        Records?.Release();
        Records = null;
    }

    /// <summary>Takes the ring, which holds nothing that anyone relies on, away from its members.</summary>
    internal LaneTask<Nothing> Remove() => Medium is { } medium ? _storage.RemoveRing(medium) : LaneTask.FromResult(default(Nothing));

    /// <summary>Returns the rank of the slowest disk of the ring.</summary>
    internal int LowestRank()
    {
        int lowest = int.MaxValue;
        for (int copy = 0; copy < Medium!.Copies; copy++)
        {
            lowest = Math.Min(lowest, (_options.RingRankOf ?? _options.RankOf)(Medium.DiskOf(copy)));
        }

        return lowest;
    }

    /// <summary>Fails the cache when the last disk of the ring has left with data that is not destaged: it cannot be read until a disk is back.</summary>
    private void OnSourceLost()
    {
        if (!_status.IsGone && !_status.IsClosing && Records is { Used: > 0 })
        {
            Lose(IoError.DeviceGone, "none of its disks is there; the virtual disk is attached again when one of them is back");
        }
    }
}
