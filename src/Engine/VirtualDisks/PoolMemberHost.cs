using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.VirtualDisks;

/// <summary>
/// Services of a pool to users of its disks. Before an eviction completes, the disk has left the view and its user is notified. Stale copies of
/// rings are marked in the pool's metadata. Findings on disks are kept until they are taken.
/// </summary>
internal abstract class PoolMemberHost(PoolLink link) : IMemberHost
{
    private readonly Dictionary<int, LaneSignal> _leaving = [];
    private Dictionary<(int Disk, DiskFinding Finding), long> _findings = [];

    public ILane Lane => link.Lane;

    public MemberTable Members => link.Members;

    public async LaneTask<IoError> Evict(int disk, string reason)
    {
        if (_leaving.TryGetValue(disk, out LaneSignal? others))
        {
            await others.Wait();
            return Fault;
        }

        LaneSignal done = new();
        _leaving[disk] = done;
        CommitResult result = await link.Evict(new DiskNumber((ushort)disk), reason);
        IoError error = ErrorOf(result);
        error = error == IoError.None ? await OnDiskLost(disk) : error;
        _leaving.Remove(disk);
        done.NotifyAll();
        return error;
    }

    public void Report(int disk, DiskFinding finding, int count, long offset)
    {
        _findings[(disk, finding)] = _findings.GetValueOrDefault((disk, finding)) + count;
        if (finding == DiskFinding.ChecksumMismatch && link.Members.Disk(disk) is MeteredDisk device)
        {
            device.BadPlaces.Add(offset);
        }
    }

    /// <summary>Returns the findings since the last call.</summary>
    internal Dictionary<(int Disk, DiskFinding Finding), long> TakeFindings()
    {
        Dictionary<(int Disk, DiskFinding Finding), long> taken = _findings;
        _findings = [];
        return taken;
    }

    /// <summary>Records that a copy of a ring misses something.</summary>
    internal LaneTask<IoError> MarkRingStale(SpaceId ring, int copy) => link.Ask(async pool => pool.State.Space(ring) is null ? IoError.Io
        : ErrorOf(await pool.Commit(new StaleMarked(ring, [new StaleEntry(0, (ushort)copy, ushort.MaxValue)]))));   // of a ring all rows or none are stale

    /// <summary>Records that it is whole again.</summary>
    internal LaneTask<IoError> ClearRingStale(SpaceId ring, int copy) => link.Ask(async pool => pool.State.Space(ring) is not { } space ? IoError.Io
        : ErrorOf(await pool.Commit(new StaleCleared(ring, StaleEntriesOf(space, copy)))));

    /// <summary>Returns the place of a slab of a pool.</summary>
    internal static SlabPlace PlaceOf(PoolState pool, SlabRef slab)
    {
        long start = Pool.Layout(pool, slab.Disk).SlabOffset(slab.Slab);
        return new SlabPlace(slab.Disk.Value, start, start + pool.Pool!.Slabs.ChecksumBytes);
    }

    /// <summary>Gives slabs that belong to no space back to the disks: a hole in an image, a discard on a device.</summary>
    internal static async LaneTask<Nothing> Punch(Pool pool, SlabRef[] slabs)
    {
        foreach (SlabRef slab in slabs)
        {
            if (pool.Disk(slab.Disk) is { } disk)
            {
                await disk.Unmap(pool.Layout(slab.Disk).SlabOffset(slab.Slab), pool.Slabs.Stride);
            }
        }

        return default;
    }

    internal static IoError ErrorOf(CommitResult result) => result.Status switch
    {
        CommitStatus.Committed => IoError.None,
        CommitStatus.NoSpace => IoError.NoSpace,
        _ => IoError.Io,
    };

    /// <summary>Error because of which its user takes no more requests.</summary>
    private protected abstract IoError Fault { get; }

    /// <summary>Tells its user that a disk has left the view.</summary>
    private protected abstract LaneTask<IoError> OnDiskLost(int disk);

    private static StaleEntry[] StaleEntriesOf(SpaceState ring, int copy) =>
        [.. ring.EnumerateRows().Where(row => row.Row.Stale(copy) != 0).Select(row => new StaleEntry(row.Index, (ushort)copy, ushort.MaxValue))];
}
