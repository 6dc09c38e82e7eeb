using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Pools;

public sealed class PoolTests
{
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(7)]
    public void What_is_committed_is_there_after_reopening(int disks)
    {
        PoolWorld world = new(1, disks);
        Pool pool = world.Create();
        Assert.Equal(CommitResult.Committed, world.Lane.Run(pool.Commit(PoolWorld.Job(1, 42))));
        world.Lane.Run(pool.Close());

        PoolWorld again = world.Killed(2);
        PoolOpenResult opened = again.Open(pool.Id);
        Assert.Equal(("", PoolOperationalStatus.OK), (opened.Reason, opened.Status));
        Assert.Equal(42, PoolWorld.ValueOf(opened.Pool!.State, 1));
        Assert.Equal(2UL, opened.Pool.Session);
        Assert.Equal(Math.Min(disks, 5), opened.Pool.View.MetadataDisks.Length);
    }

    [Fact]
    public void Journals_wrap_and_checkpoints_follow()
    {
        PoolWorld world = new(3, 3);
        Pool pool = world.Create();
        for (int i = 1; i <= 500; i++)
        {
            Assert.True(world.Lane.Run(pool.Commit(PoolWorld.Job(i % 7, i))).Succeeded);
        }

        PoolWorld again = world.Killed(4);
        PoolOpenResult opened = again.Open(pool.Id);
        Assert.Equal("", opened.Reason);
        Assert.Equal(500, PoolWorld.ValueOf(opened.Pool!.State, 500 % 7));
    }

    [Fact]
    public void A_pulled_disk_leaves_the_view_and_commits_go_on()
    {
        PoolWorld world = new(5, 2);
        Pool pool = world.Create();
        List<MembershipChange> changes = [];
        pool.MembershipChanged += changes.Add;
        world.Disks[1].Pulled = true;
        Assert.True(world.Lane.Run(pool.Commit(PoolWorld.Job(1, 1))).Succeeded);
        Assert.Equal([new DiskNumber(1)], pool.View.Members.Select(member => member.Disk));
        Assert.Equal((MembershipChangeKind.Left, new DiskNumber(2)), (changes.Single().Kind, changes.Single().Disk));
        Assert.Equal(PoolOperationalStatus.Degraded, pool.OperationalStatus);

        world.Lane.Run(pool.Close());
        PoolWorld again = world.Killed(6);
        Assert.Equal(PoolOperationalStatus.Incomplete, again.Open(pool.Id, 1).Status);   // the disk that left cannot go on alone
        PoolOpenResult opened = again.Killed(7).Open(pool.Id);
        Assert.Equal(1, PoolWorld.ValueOf(opened.Pool!.State, 1));
    }
}
