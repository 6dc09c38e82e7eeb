using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Resiliency;

// The ring of a write cache on the disks of another pool than its home's. Disks that fail leave the view of that pool, marks of stale copies are
// records of that pool, and a flush of the ring reaches those disks alone; whoever relies on data that is home flushes the home itself.

/// <summary>Room for the ring of a write cache in a pool that lends it.</summary>
public sealed class LentRings : IRingStand, IRepairable
{
    private const long DrainPollNs = 1_000_000;

    private readonly IMemberHost _host;
    private readonly IHomeStore _home;
    private readonly int _slabSize;
    private readonly SpaceMembers _members;
    private readonly RingSet _rings;
    private readonly RepairTurn _repairs = new();
    private bool _closing;

    /// <param name="host">The pool that lends.</param>
    /// <param name="home">What the cache is in front of: what the ring cannot keep is its fault.</param>
    /// <param name="slabSize">Bytes of data in a slab of the pool that lends.</param>
    internal LentRings(IMemberHost host, IHomeStore home, int slabSize)
    {
        _host = host;
        _home = home;
        _slabSize = slabSize;
        _members = new SpaceMembers(host) { Fail = Fail };
        _rings = new RingSet(_members, host.Lane.Buffers, Fail);
    }

    /// <inheritdoc/>
    public IoError Fault => _home.Fault;

    /// <inheritdoc/>
    public string FaultReason => _home.FaultReason;

    /// <inheritdoc/>
    public long BytesToResync => _rings.BytesToResync;

    /// <summary>Number of a disk whose host file system is full, so that writes wait; −1: none.</summary>
    public int FullDisk => _members.Full;

    /// <inheritdoc/>
    int IRingStand.MembersVersion => _members.Version;

    /// <summary>Whether everything that a disk of the lending pool holds of it stands on another one too.</summary>
    public bool SurvivesWithout(int disk) => _rings.SurvivesWithout(disk);

    /// <inheritdoc/>
    public async LaneTask<RepairEnd> Resync(IWorkPacer pacer)
    {
        if (!await _repairs.Begin(IsStopping))
        {
            return RepairEnd.Stopped;
        }

        RepairEnd end = await _rings.Resync(bytes => Pace(pacer, bytes));
        _repairs.End();
        return end;
    }

    /// <inheritdoc/>
    RingMedium IRingStand.AddRing(
        IReadOnlyList<IReadOnlyList<SlabPlace>> copies, long length, int staleCopies, Func<int, LaneTask<IoError>> mark, Func<int, LaneTask<IoError>> clear) =>
        _rings.AddWriteCache(_host, copies, _slabSize, length, staleCopies, mark, clear);

    /// <inheritdoc/>
    LaneTask<Nothing> IRingStand.RemoveRing(RingMedium ring) => _rings.Remove(ring);

    /// <inheritdoc/>
    async LaneTask<RepairEnd> IRingStand.Move(RingMedium ring, int copy, SlabPlace[] places, Func<LaneTask<IoError>> commit, IWorkPacer pacer)
    {
        if (!ring.HasSource || !await _repairs.Begin(IsStopping))
        {
            return RepairEnd.Stopped;
        }

        RepairEnd end = await _rings.Move(ring, copy, places, commit, bytes => Pace(pacer, bytes));
        _repairs.End();
        return end;
    }

    /// <summary>A disk of the lending pool has left its view.</summary>
    internal void OnDiskLost(int disk)
    {
        _members.Version++;
        _rings.OnDiskLost(disk);
    }

    /// <summary>A disk of the lending pool has come back into its view; what it missed waits for <see cref="Resync"/>.</summary>
    internal void OnDiskJoined() => _members.Version++;

    /// <summary>Ends what makes copies whole or moves them.</summary>
    internal async LaneTask<Nothing> Close()
    {
        _closing = true;
        while (_repairs.IsTaken)
        {
            await _host.Lane.Delay(DrainPollNs);
        }

        return default;
    }

    private bool IsStopping() => _closing || Fault != IoError.None;

    private async LaneTask<bool> Pace(IWorkPacer pacer, long bytes) => await pacer.Done(bytes) && !IsStopping();

    private IoError Fail(IoError error, string reason)
    {
        _home.FailFront(error, reason);
        return error;
    }
}
