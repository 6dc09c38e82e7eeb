using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Pools;

/// <summary>
/// Pools in which every member votes and a few disks hold the metadata: losses at once, slow metadata disks, and pools of the first format version.
/// </summary>
public sealed class MemberVotesTests
{
    private const long Second = 1_000_000_000;

    [Fact]
    public void Three_of_five_metadata_disks_lost_at_once_end_no_pool_of_twelve()
    {
        (PoolWorld world, Pool pool) = NewPool(12);
        Pull(world, [.. pool.View.MetadataDisks.Take(3)]);
        Assert.True(world.Lane.Run(pool.Commit(PoolWorld.Job(1, 7))).Succeeded);
        world.Lane.Run(pool.Commit(PoolWorld.Job(2, 8)));   // after the election
        Assert.Equal(5, pool.View.MetadataDisks.Length);
        Assert.Equal(9, pool.View.Members.Length);
        Assert.Equal(7, PoolWorld.ValueOf(world.Killed(2).Open(pool.Id, Present(world)).Pool!.State, 1));
    }

    [Fact]
    public void Every_metadata_disk_lost_at_once_is_replaced_from_memory()
    {
        (PoolWorld world, Pool pool) = NewPool(12);
        Assert.True(world.Lane.Run(pool.Commit(PoolWorld.Job(1, 7))).Succeeded);
        DiskNumber[] before = [.. pool.View.MetadataDisks];
        Pull(world, before);
        Assert.True(world.Lane.Run(pool.Commit(PoolWorld.Job(2, 8))).Succeeded);
        Assert.Equal(5, pool.View.MetadataDisks.Length);
        Assert.Empty(pool.View.MetadataDisks.Intersect(before));

        PoolOpenResult opened = world.Killed(2).Open(pool.Id, Present(world));
        Assert.Equal((7, 8), (PoolWorld.ValueOf(opened.Pool!.State, 1), PoolWorld.ValueOf(opened.Pool.State, 2)));
        PoolWorld all = world.Cut(3);
        PoolOpenResult whole = all.Open(pool.Id);   // the old ones are back, and know of nothing
        Assert.Equal(8, PoolWorld.ValueOf(whole.Pool!.State, 2));
        Assert.Equal(PoolOperationalStatus.Incomplete, world.Killed(4).Open(pool.Id, [.. before.Select(static disk => disk.Value - 1)]).Status);
    }

    [Theory]
    [InlineData(12, 6, true)]     // the witness decides
    [InlineData(12, 7, false)]
    [InlineData(11, 5, true)]
    [InlineData(11, 6, false)]
    [InlineData(48, 24, true)]
    [InlineData(48, 25, false)]
    public void More_than_half_of_the_votes_go_on(int disks, int lost, bool serves)
    {
        (PoolWorld world, Pool pool) = NewPool(disks);
        Pull(world, [.. Enumerable.Range(1, lost).Select(static disk => new DiskNumber((ushort)disk))]);
        CommitResult result = world.Lane.Run(pool.Commit(PoolWorld.Job(1, 7)));
        Assert.Equal(serves ? CommitStatus.Committed : CommitStatus.NoQuorum, result.Status);
        PoolWorld back = world.Killed(2);
        Pool? opened = back.Open(pool.Id).Pool;
        Assert.Equal(serves ? 7 : 0, PoolWorld.ValueOf(opened!.State, 1));
    }

    [Fact]
    public void A_start_needs_more_than_half_of_the_votes_and_one_metadata_disk()
    {
        (PoolWorld world, Pool pool) = NewPool(12);
        Assert.True(world.Lane.Run(pool.Commit(PoolWorld.Job(1, 7))).Succeeded);
        int[] metadata = [.. pool.View.MetadataDisks.Select(static disk => disk.Value - 1)];
        int[] others = [.. Enumerable.Range(0, 12).Except(metadata)];
        PoolWorld without = world.Killed(2);
        PoolOpenResult none = without.Open(pool.Id, others);
        Assert.Null(none.Pool);
        Assert.StartsWith("no disk that holds the pool's metadata is there; one of these is needed: disk ", none.Reason, StringComparison.Ordinal);
        for (int seed = 0; seed < metadata.Length; seed++)
        {
            int[] present = [metadata[seed], .. others.Take(5)];
            PoolOpenResult one = world.Killed((ulong)seed).Open(pool.Id, present);
            Assert.True(one.Pool is not null, one.Reason);
            Assert.Equal(7, PoolWorld.ValueOf(one.Pool.State, 1));
            Assert.Null(world.Killed((ulong)seed).Open(pool.Id, [.. present.Skip(1)]).Pool);
        }
    }

    // A group is acknowledged when every metadata disk holds it: each of them alone is enough afterwards.
    [Fact]
    public void Every_metadata_disk_holds_what_has_been_acknowledged()
    {
        for (ulong seed = 1; seed <= 40; seed++)
        {
            (PoolWorld world, Pool pool) = NewPool(12, seed);
            for (int number = 1; number <= 1 + ((int)seed % 5); number++)
            {
                Assert.True(world.Lane.Run(pool.Commit(PoolWorld.Job(number, 7))).Succeeded);
            }

            foreach (DiskNumber disk in pool.View.MetadataDisks)
            {
                int[] present = [disk.Value - 1, .. Enumerable.Range(0, 12).Where(other => !pool.View.IsMetadata(new DiskNumber((ushort)(other + 1))))];
                PoolOpenResult opened = world.Cut(seed).Open(pool.Id, present);
                Assert.Equal(7, PoolWorld.ValueOf(opened.Pool!.State, 1 + ((int)seed % 5)));
            }
        }
    }

    [Theory]
    [InlineData(MediaType.SSD, 1)]
    [InlineData(MediaType.HDD, 2)]
    public void A_slow_metadata_disk_loses_the_metadata_and_nothing_else(MediaType mediaType, int seconds)
    {
        (PoolWorld world, Pool pool) = NewPool(12, mediaType: mediaType);
        DiskNumber slow = pool.View.MetadataDisks[2];
        SlowJournal(world, pool, slow, 5 * Second);
        long before = world.Lane.NowNs;
        Assert.True(world.Lane.Run(pool.Commit(PoolWorld.Job(1, 7))).Succeeded);
        Assert.InRange(world.Lane.NowNs - before, seconds * Second, (seconds * Second) + (Second / 2));
        Assert.True(pool.View.Contains(slow));
        Assert.False(pool.View.IsMetadata(slow));
        world.Lane.Run(pool.Commit(PoolWorld.Job(2, 8)));
        Assert.Equal(5, pool.View.MetadataDisks.Length);   // another one has taken its place
        PoolOpenResult opened = world.Killed(2).Open(pool.Id);
        Assert.Equal((7, 8), (PoolWorld.ValueOf(opened.Pool!.State, 1), PoolWorld.ValueOf(opened.Pool.State, 2)));
    }

    [Fact]
    public void A_disk_that_was_slow_gets_the_metadata_again_after_a_minute()
    {
        (PoolWorld world, Pool pool) = NewPool(5, mediaType: MediaType.SSD);
        DiskNumber slow = pool.View.MetadataDisks[2];
        SlowJournal(world, pool, slow, 5 * Second);
        Assert.True(world.Lane.Run(pool.Commit(PoolWorld.Job(1, 7))).Succeeded);
        world.Disks[slow.Value - 1].WriteTakesLonger = null;
        world.Lane.Advance(30 * Second);
        world.Lane.Run(pool.Commit(PoolWorld.Job(2, 8)));
        Assert.Equal(4, pool.View.MetadataDisks.Length);
        world.Lane.Advance(40 * Second);
        Assert.Equal(5, pool.View.MetadataDisks.Length);
        int[] alone = [slow.Value - 1, .. Enumerable.Range(0, 5).Where(disk => disk != slow.Value - 1).Take(2)];
        Assert.Equal(8, PoolWorld.ValueOf(world.Killed(2).Open(pool.Id, alone).Pool!.State, 2));
    }

    [Fact]
    public void A_metadata_disk_that_hangs_leaves_after_the_same_time_again()
    {
        (PoolWorld world, Pool pool) = NewPool(12, mediaType: MediaType.SSD);
        DiskNumber hung = pool.View.MetadataDisks[2];
        world.Disks[hung.Value - 1].WriteTakesLonger = static (_, _) => 10 * Second;
        CommitResult? committed = null;
        Watch(pool.Commit(PoolWorld.Job(1, 7)), result => committed = result);
        world.Lane.Advance(Second + (Second / 2));
        Assert.NotNull(pool.Disk(hung));
        world.Lane.Advance(Second);
        Assert.Null(pool.Disk(hung));   // it has failed: a device that has a deadline is disconnected now
        world.Lane.Advance(40 * Second);
        Assert.True(committed!.Value.Succeeded);
        Assert.False(pool.View.Contains(hung));
    }

    [Fact]
    public void Two_copies_of_the_metadata_are_kept_where_a_disk_is_slow()
    {
        (PoolWorld world, Pool pool) = NewPool(2, mediaType: MediaType.SSD);
        SlowJournal(world, pool, new DiskNumber(2), 5 * Second);
        long before = world.Lane.NowNs;
        Assert.True(world.Lane.Run(pool.Commit(PoolWorld.Job(1, 7))).Succeeded);
        Assert.True(world.Lane.NowNs - before >= 5 * Second);
        Assert.Equal(2, pool.View.MetadataDisks.Length);
    }

    // A disk that joins may not hold the view yet that names it: it has no vote before the next one.
    [Fact]
    public void A_disk_that_joins_votes_when_it_is_known_to_hold_the_view()
    {
        (PoolWorld world, Pool pool) = NewPool(3);
        world.Disks[2].Pulled = true;
        Assert.True(world.Lane.Run(pool.Evict(new DiskNumber(3), "pulled")).Succeeded);
        SimDisk back = new(world.Lane, world.Media[2]);
        Assert.Equal("", pool.Offer(world.Lane.Run(PoolScan.Scan(world.Lane, back))));
        LaneTask<CommitResult> rejoined = pool.Rejoin(new DiskNumber(3));
        List<int> votes = [];
        pool.MembershipChanged += _ => votes.Add(pool.View.Votes.Disks.Length);
        Assert.True(world.Lane.Run(rejoined).Succeeded);
        Assert.Equal([2], votes);
        Assert.True(world.Lane.Run(pool.Commit(PoolWorld.Job(1, 7))).Succeeded);
        Assert.Equal(3, pool.View.Votes.Disks.Length);
    }

    [Fact]
    public void A_pool_of_the_first_version_keeps_its_rules_until_it_is_raised()
    {
        PoolWorld world = new(1, 12);
        Pool pool = world.Lane.Run(Pool.Create(world.Environment, new NewPoolSpec { FriendlyName = "p", FormatVersion = 1 }, Specs(world, MediaType.SSD)));
        Assert.False(pool.View.MembersVote);
        Assert.Equal(0u, world.Scan(0)[0].Superblock!.Features.Incompatible);
        PoolWorld again = world.Killed(2);
        pool = again.Open(pool.Id).Pool!;
        Assert.False(pool.View.MembersVote);
        Assert.Equal(1, pool.State.Pool!.FormatVersion);
        Assert.True(again.Lane.Run(pool.Raise()).Succeeded);
        Assert.True(pool.View.MembersVote);
        Assert.Equal(
            FeatureFlags.MemberVotesFeature | FeatureFlags.LeaseFeature | FeatureFlags.CacheSummariesFeature,
            again.Scan(11)[0].Superblock!.Features.Incompatible);
        Assert.True(again.Lane.Run(pool.Raise()).Succeeded);   // again: nothing to do
        Pull(again, [.. pool.View.MetadataDisks.Take(3)]);
        Assert.True(again.Lane.Run(pool.Commit(PoolWorld.Job(1, 7))).Succeeded);
        PoolOpenResult opened = again.Killed(3).Open(pool.Id, Present(again));
        Assert.Equal((4, 7), (opened.Pool!.State.Pool!.FormatVersion, PoolWorld.ValueOf(opened.Pool.State, 1)));
    }

    private static (PoolWorld World, Pool Pool) NewPool(int disks, ulong seed = 1, MediaType mediaType = MediaType.SSD)
    {
        PoolWorld world = new(seed, disks);
        Pool pool = world.Lane.Run(Pool.Create(world.Environment, new NewPoolSpec { FriendlyName = "p" }, Specs(world, mediaType)));
        Assert.True(pool.View.MembersVote);
        return (world, pool);
    }

    private static NewDiskSpec[] Specs(PoolWorld world, MediaType mediaType) =>
        [.. world.Disks.Select((disk, i) => new NewDiskSpec(disk, $"d{i + 1}") { MediaType = mediaType })];

    private static async void Watch(LaneTask<CommitResult> task, Action<CommitResult> ended) => ended(await task);

    private static void Pull(PoolWorld world, DiskNumber[] disks) => Array.ForEach(disks, disk => world.Disks[disk.Value - 1].Pulled = true);

    private static int[] Present(PoolWorld world) => [.. Enumerable.Range(0, world.Disks.Count).Where(disk => !world.Disks[disk].Pulled)];

    private static void SlowJournal(PoolWorld world, Pool pool, DiskNumber disk, long nanoseconds)
    {
        long end = DiskLayout.Journal + pool.Layout(disk).JournalBytes;
        world.Disks[disk.Value - 1].WriteTakesLonger = (offset, _) => offset >= DiskLayout.Journal && offset < end ? nanoseconds : 0;
    }
}
