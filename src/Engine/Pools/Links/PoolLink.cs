using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

// The view of a pool on the lane of a virtual disk. The pool itself lives on the control lane; what a request needs of it is a table of the lane, and what
// changes it is an order that runs on the pool's lane and is answered on the lane of the link.
//
// Invariants
//  1. State, view and table are as of the last message from the pool. They are immutable, and a later one is never older than an earlier one.
//  2. An order decides by the state of the pool at the time at which it runs, never by what the link knew when it was given.
//  3. Orders run in the order in which they were given. Users of the disks are notified of what they cause at the members before they are answered.

/// <summary>A pool as the lane of a virtual disk knows it, and the way of its orders to it. Used on that lane but for <see cref="Call"/>.</summary>
public abstract class PoolLink
{
    private const long DrainPollNs = 1_000_000;

    private readonly List<IMemberFollower> _followers = [];

    private protected PoolLink(Pool pool, ILane lane)
    {
        Owner = pool;
        Id = pool.Id;
        Lane = lane;
    }

    /// <summary>Lane of the users of this link.</summary>
    public ILane Lane { get; }

    /// <summary>Identity of the pool.</summary>
    public PoolId Id { get; }

    /// <summary>State of the pool.</summary>
    public abstract PoolState State { get; }

    /// <summary>The member disks, as handles of this lane.</summary>
    public abstract MemberTable Members { get; }

    /// <summary>The members in force.</summary>
    public abstract PoolView View { get; }

    /// <summary>Shape of every slab.</summary>
    public SlabGeometry Slabs => State.Pool!.Slabs;

    /// <summary>Time after which a read is sent to another copy too, in nanoseconds.</summary>
    internal long HedgeNs => (Owner.Environment.Deadlines ?? Devices.IoDeadlines.Default).HedgeNs;

    /// <summary>Clients and background work on the disks of the pool.</summary>
    internal PoolLoad Load => Owner.Load;

    /// <inheritdoc cref="PoolEnvironment.RecordMemoryBytes"/>
    internal int RecordMemoryBytes => Owner.Environment.RecordMemoryBytes;

    /// <summary>Blocks in the ring of a write cache after which a summary of them is written; 0: the pool is of an older version.</summary>
    internal int CacheSummaryBlocks => State.Pool!.HasCacheSummaries ? Owner.Environment.CacheSummaryBlocks : 0;

    /// <inheritdoc cref="PoolEnvironment.FirstWriteWindow"/>
    internal int FirstWriteWindow => Owner.Environment.FirstWriteWindow;

    /// <summary>Disks of the pool that are not in the view.</summary>
    internal DiskNumber[] MissingDisks => [.. State.Disks.Keys.Where(disk => !View.Contains(disk))];

    /// <summary>The pool, which is used on its own lane but for what never changes of it.</summary>
    private protected Pool Owner { get; }

    /// <summary>Parts of the lane that are notified of changes of the members.</summary>
    private protected IReadOnlyList<IMemberFollower> Followers => _followers;

    /// <summary>Whether the lane has not taken the newest view yet. Called on the pool's lane, by tests.</summary>
    internal bool IsBehind => View.Rank != Owner.View.Rank;

    /// <summary>Returns whether this is a link to an open pool, and not to an earlier opening of it. Called on any lane.</summary>
    internal bool IsOf(Pool? pool) => Owner == pool;

    /// <summary>Runs an order on the pool's lane and returns its result on this lane. It uses nothing of this lane but immutable values.</summary>
    internal abstract LaneTask<T> Ask<T>(Func<Pool, LaneTask<T>> order);

    /// <summary>Runs an order on the pool's lane. Nothing is answered.</summary>
    internal abstract void Tell(Action<Pool> order);

    /// <summary>Called on the pool's lane: runs an action on the lane of the link and returns its result on the pool's lane.</summary>
    internal abstract LaneTask<T> Call<T>(Func<LaneTask<T>> action);

    /// <summary>
    /// Takes a failed disk out of the view, see <see cref="Pool.Evict"/>. From now on the lane does not use it; requests to it end with DeviceGone.
    /// </summary>
    internal abstract LaneTask<CommitResult> Evict(DiskNumber disk, string reason);

    /// <summary>A virtual disk is being opened on this lane, which records at its end what missing disks miss: none of them joins before.</summary>
    internal virtual void BeginOpening()
    {
    }

    /// <summary>The opening has ended.</summary>
    internal virtual void EndOpening()
    {
    }

    /// <summary>
    /// Waits until this lane has the table and the state of the pool as they are now. Messages of two pools to a lane overtake each other, so a virtual disk
    /// that is opened by a message of its pool waits for those of its cache pool.
    /// </summary>
    internal LaneTask<Nothing> Update() => Ask(static _ => LaneTask.FromResult(default(Nothing)));

    /// <summary>Makes records durable and applies them, see <see cref="Pool.Commit"/>.</summary>
    internal LaneTask<CommitResult> Commit(params MetadataRecord[] records) => Ask(pool => pool.Commit(records));

    /// <summary>Tells a user of the disks of every change of the members from now on, and of the disks that are missing now.</summary>
    internal void Follow(IMemberFollower follower)
    {
        _followers.Add(follower);
        foreach (DiskNumber disk in MissingDisks)
        {
            Note(follower, disk).Forget();
        }
    }

    /// <summary>Tells a user nothing more.</summary>
    internal void Unfollow(IMemberFollower follower) => _followers.Remove(follower);

    /// <summary>
    /// Waits until the disks of slabs have answered every request of this lane that was given up. A disk that has left the table needs no wait: no other
    /// user gets a slab of it before it is back, and it comes back only when it has answered.
    /// </summary>
    internal async LaneTask<Nothing> AwaitGivenUp(SlabRef[] slabs)
    {
        while (Array.Exists(slabs, slab => Members.Disk(slab.Disk.Value) is Devices.MeteredDisk { IsHung: true }))
        {
            await Lane.Delay(DrainPollNs);
        }

        return default;
    }

    private protected void TellMarkedStale(DiskNumber disk)
    {
        foreach (IMemberFollower follower in _followers.ToArray())
        {
            follower.OnDiskMarkedStale(disk);
        }
    }

    private protected void TellJoined()
    {
        foreach (IMemberFollower follower in _followers.ToArray())
        {
            follower.OnDiskJoined();
        }
    }

    private protected void TellPoolLost(string reason)
    {
        foreach (IMemberFollower follower in _followers.ToArray())
        {
            follower.OnPoolLost(reason);
        }
    }

    /// <summary>Tells one follower that a disk has left.</summary>
    private protected virtual async LaneTask<IoError> Note(IMemberFollower follower, DiskNumber disk) => await follower.OnDiskLost(disk);
}
