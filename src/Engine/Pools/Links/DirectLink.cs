using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

/// <summary>The link of virtual disks on the lane of their pool: tables are the pool's own, and orders are calls.</summary>
internal sealed class DirectLink : PoolLink
{
    internal DirectLink(Pool pool)
        : base(pool, pool.Environment.Lane)
    {
        pool.MembershipChanged += OnMembershipChanged;
        pool.DiskMarkedStale += TellMarkedStale;
    }

    public override PoolState State => Owner.State;

    public override MemberTable Members => Owner.Members;

    public override PoolView View => Owner.View;

    internal override LaneTask<T> Ask<T>(Func<Pool, LaneTask<T>> order) => order(Owner);

    internal override void Tell(Action<Pool> order) => order(Owner);

    internal override LaneTask<T> Call<T>(Func<LaneTask<T>> action) => action();

    internal override LaneTask<CommitResult> Evict(DiskNumber disk, string reason) => Owner.Evict(disk, reason);

    private void OnMembershipChanged(MembershipChange change)
    {
        if (change.Kind == MembershipChangeKind.Left)
        {
            foreach (IMemberFollower follower in Followers.ToArray())
            {
                Note(follower, change.Disk).Forget();
            }
        }
        else if (change.Kind == MembershipChangeKind.Joined)
        {
            TellJoined();
        }
        else
        {
            TellPoolLost(change.Reason);
        }
    }
}
