using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Caching;

// The ring of a remote write cache: its disks belong to the cache pool, its backing store to the owner pool.
//
// Invariants
//  1. Disks that fail leave the view of the cache pool; marks of stale copies are records of that pool.
//  2. A flush of the ring reaches those disks alone: it never counts as a flush of the backing store.
//  3. One repair or move runs at a time.

/// <summary>Storage in a cache pool for the ring of a remote write cache.</summary>
public sealed class RemoteRings : IRingStorage, IRepairable
{
    private const long DrainPollNs = 1_000_000;

    private readonly IMemberHost _host;
    private readonly IBackingStore _backing;
    private readonly SpaceMembers _members;
    private readonly RingSet _rings;
    private readonly LaneMutex _repairs = new();
    private bool _closing;

    /// <param name="host">The cache pool.</param>
    /// <param name="backing">The backing store of the cache. It fails if the ring loses data.</param>
    /// <param name="slabSize">Bytes of data in a slab of the cache pool.</param>
    internal RemoteRings(IMemberHost host, IBackingStore backing, int slabSize)
    {
        _host = host;
        _backing = backing;
        _members = new SpaceMembers(host) { Fail = Fail };
        _rings = new RingSet(host, _members, slabSize, Fail);
    }

    /// <inheritdoc/>
    public IoError Fault => _backing.Fault;

    /// <inheritdoc/>
    public string FaultReason => _backing.FaultReason;

    /// <inheritdoc/>
    public long BytesToResync => _rings.BytesToResync;

    /// <summary>Number of a disk whose host file system is full, so that writes wait; −1: none.</summary>
    public int FullDisk => _members.Full;

    /// <inheritdoc/>
    int IRingStorage.MembersVersion => _members.Version;

    /// <summary>Whether another disk also holds everything that a disk of the cache pool holds of the ring.</summary>
    public bool SurvivesWithout(int disk) => _rings.SurvivesWithout(disk);

    /// <inheritdoc/>
    public async LaneTask<RepairEnd> Resync(IWorkPacer pacer)
    {
        if (!await _repairs.LockUnless(IsStopping))
        {
            return RepairEnd.Stopped;
        }

        RepairEnd end = await _rings.Resync(bytes => Pace(pacer, bytes));
        _repairs.Unlock();
        return end;
    }

    /// <inheritdoc/>
    RingMedium IRingStorage.AddRing(RingOptions options) => _rings.Add(options);

    /// <inheritdoc/>
    LaneTask<Nothing> IRingStorage.RemoveRing(RingMedium ring) => _rings.Remove(ring);

    /// <inheritdoc/>
    async LaneTask<RepairEnd> IRingStorage.Move(RingMedium ring, int copy, SlabPlace[] places, Func<LaneTask<IoError>> commit, IWorkPacer pacer)
    {
        if (!ring.HasSource || !await _repairs.LockUnless(IsStopping))
        {
            return RepairEnd.Stopped;
        }

        RepairEnd end = await _rings.Move(ring, copy, places, commit, bytes => Pace(pacer, bytes));
        _repairs.Unlock();
        return end;
    }

    /// <summary>A disk of the cache pool has left its view.</summary>
    internal void OnDiskLost(int disk)
    {
        _members.NoteChange();
        _rings.OnDiskLost(disk);
    }

    /// <summary>A disk of the cache pool is back in its view; <see cref="Resync"/> copies the writes that it missed.</summary>
    internal void OnDiskJoined() => _members.NoteChange();

    /// <summary>Ends repairs and moves of copies.</summary>
    internal async LaneTask<Nothing> Close()
    {
        _closing = true;
        while (_repairs.IsHeld)
        {
            await _host.Lane.Delay(DrainPollNs);
        }

        return default;
    }

    private bool IsStopping() => _closing || Fault != IoError.None;

    private async LaneTask<bool> Pace(IWorkPacer pacer, long bytes) => await pacer.Done(bytes) && !IsStopping();

    private IoError Fail(IoError error, string reason)
    {
        _backing.FailFront(error, reason);
        return error;
    }
}
