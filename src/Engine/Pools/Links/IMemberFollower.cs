using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

/// <summary>A user of the member disks of a pool, notified of their changes on the lane of its <see cref="PoolLink"/>.</summary>
internal interface IMemberFollower
{
    /// <summary>A disk has left the view. Completes when everything that it misses of this user's is durably recorded.</summary>
    LaneTask<IoError> OnDiskLost(DiskNumber disk);

    /// <summary>Everything on a disk outside the view has durably been marked stale; called before the disk joins.</summary>
    void OnDiskMarkedStale(DiskNumber disk);

    /// <summary>A disk has come back into the view.</summary>
    void OnDiskJoined();

    /// <summary>The pool has lost the majority of its votes: nothing more can be recorded, and no request is held back in the hope of it.</summary>
    void OnPoolLost(string reason);
}
