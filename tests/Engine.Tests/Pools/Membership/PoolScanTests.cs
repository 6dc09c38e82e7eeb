using System.Text;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Pools;

public sealed class PoolScanTests
{
    [Fact]
    public void An_empty_disk_is_blank_and_a_member_is_a_member()
    {
        PoolWorld world = new(1, 2);
        Assert.All(world.Scan(), static scan => Assert.Equal((ScanKind.Blank, ""), (scan.Kind, scan.Reason)));
        Pool pool = world.Create();
        Assert.All(world.Scan(), scan => Assert.Equal((ScanKind.Member, pool.Id), (scan.Kind, scan.Label!.Pool)));
    }

    [Theory]
    [InlineData(true, false, ScanKind.Member)]
    [InlineData(false, true, ScanKind.Member)]
    [InlineData(true, true, ScanKind.Damaged)]
    public void One_label_is_enough(bool first, bool last, ScanKind kind)
    {
        PoolWorld world = new(1, 1);
        Pool pool = world.Create();
        world.Lane.Run(pool.Close());
        PoolWorld after = world.Killed(2);
        if (first)
        {
            Damage(after.Media[0], DiskLayout.LabelA);
        }

        if (last)
        {
            Damage(after.Media[0], pool.Layout(new DiskNumber(1)).LabelB);
        }

        Assert.Equal(kind, after.Scan()[0].Kind);
        Assert.Equal(kind == ScanKind.Member, after.Open(pool.Id).Pool is not null);
    }

    [Fact]
    public void Any_superblock_slot_may_be_damaged()
    {
        PoolWorld world = new(1, 1);
        Pool pool = world.Create();
        world.Lane.Run(pool.Commit(PoolWorld.Job(1, 5)));
        ulong epoch = world.Scan()[0].Superblock!.Epoch;
        foreach (long ring in (long[])[DiskLayout.SuperblockRingA, pool.Layout(new DiskNumber(1)).SuperblockRingB])
        {
            PoolWorld after = world.Killed(2);
            for (ulong slot = 0; slot < DiskLayout.SuperblockSlots; slot++)
            {
                Damage(after.Media[0], DiskLayout.SuperblockSlot(ring, slot));
            }

            Assert.Equal(epoch, after.Scan()[0].Superblock!.Epoch);
            Assert.Equal(5, PoolWorld.ValueOf(after.Open(pool.Id).Pool!.State, 1));
        }
    }

    [Fact]
    public void Foreign_data_is_named_and_not_pooled()
    {
        PoolWorld world = new(1, 2);
        world.Media[1].Corrupt(0x400, static sector => Put(sector, 0x38, [0x53, 0xEF]));
        PoolException problem = Assert.Throws<PoolException>(() => Throws(world));
        Assert.Contains("dev2 holds an ext2/3/4 file system", problem.Message);
        Assert.Equal(ScanKind.Blank, world.Scan()[0].Kind);
    }

    [Fact]
    public void A_member_of_a_pool_is_not_pooled_again()
    {
        PoolWorld world = new(1, 2);
        Pool pool = world.Create();
        world.Lane.Run(pool.Close());
        PoolException problem = Assert.Throws<PoolException>(() => Throws(world.Killed(2)));
        Assert.Contains(pool.Id.ToString(), problem.Message);
    }

    [Fact]
    public void A_disk_cut_short_is_named()
    {
        PoolWorld world = new(1, 1);
        Pool pool = world.Create();
        world.Lane.Run(pool.Close());
        SimMedia cut = new("dev1", PoolWorld.DiskBytes - (1 << 20), 512);
        Copy(world.Media[0], cut);
        PoolScan scan = world.Lane.Run(PoolScan.Scan(world.Lane, new SimDisk(world.Lane, cut)));
        Assert.Equal(ScanKind.Damaged, scan.Kind);
        Assert.Contains("cut short", scan.Reason);
    }

    [Fact]
    public void A_disk_that_grew_is_still_a_member()
    {
        PoolWorld world = new(1, 1);
        Pool pool = world.Create();
        world.Lane.Run(pool.Close());
        SimMedia grown = new("dev1", PoolWorld.DiskBytes * 2, 512);
        Copy(world.Media[0], grown);
        PoolScan scan = world.Lane.Run(PoolScan.Scan(world.Lane, new SimDisk(world.Lane, grown)));
        Assert.Equal(ScanKind.Member, scan.Kind);
        Assert.NotNull(world.Lane.Run(Pool.Open(world.Environment, pool.Id, [scan])).Pool);
    }

    [Fact]
    public void Clones_are_both_refused_and_both_named()
    {
        PoolWorld world = new(1, 3);
        Pool pool = world.Create();
        world.Lane.Run(pool.Close());
        PoolWorld after = world.Killed(2);
        PoolWorld cloned = new(after.Lane, [.. after.Media, after.Media[2].CloneAs("copy")], after.Host);
        PoolOpenResult opened = cloned.Open(pool.Id);
        Assert.Equal(2, opened.Refused.Count);
        Assert.All(opened.Refused, static rejected =>
            Assert.True(rejected.Reason.Contains("dev3", StringComparison.Ordinal) && rejected.Reason.Contains("copy", StringComparison.Ordinal)));
        Assert.Equal(PoolOperationalStatus.Degraded, opened.Status);   // two of three are a quorum without it
        Assert.Null(opened.Pool!.Disk(new DiskNumber(3)));
    }

    [Fact]
    public void A_pool_with_an_unknown_feature_is_left_alone()
    {
        PoolWorld world = new(1, 1);
        Pool pool = world.Create();
        world.Lane.Run(pool.Close());
        PoolWorld after = world.Killed(2);
        DiskLabel label = after.Scan()[0].Label!;
        foreach (long offset in (long[])[DiskLayout.LabelA, pool.Layout(new DiskNumber(1)).LabelB])
        {
            byte[] block = new byte[PoolBlock.Size];
            (label with { Features = new FeatureFlags(0, 0, 0x40) }).Encode(block, offset);
            after.Media[0].Write(offset, block);
        }

        ulong before = after.Media[0].Hash();
        PoolOpenResult opened = after.Open(pool.Id);
        Assert.Null(opened.Pool);
        Assert.Contains("0x00000040", opened.Refused.Single().Reason);
        Assert.Equal(before, after.Media[0].Hash());
    }

    [Fact]
    public void An_erased_disk_is_blank()
    {
        PoolWorld world = new(1, 1);
        world.Lane.Run(world.Create().Close());
        Assert.Equal(IoError.None, world.Lane.Run(PoolScan.Erase(world.Lane, world.Disks[0])));
        PoolWorld after = new(new SimLane(2), [world.Media[0].Cut((_, _) => false)], world.Host);   // the power goes at once
        Assert.Equal(ScanKind.Blank, after.Scan()[0].Kind);
    }

    [Fact]
    public void Signatures_that_were_erased_are_gone_when_the_power_goes_at_once()
    {
        PoolWorld world = new(1, 1);
        world.Media[0].Corrupt(0x400, static sector => Put(sector, 0x38, [0x53, 0xEF]));
        PoolScan foreign = world.Scan()[0];
        Assert.Equal(ScanKind.Foreign, foreign.Kind);
        Assert.Equal(IoError.None, world.Lane.Run(PoolScan.EraseSignatures(world.Lane, world.Disks[0], foreign.Signatures)));
        PoolWorld after = new(new SimLane(2), [world.Media[0].Cut((_, _) => false)], world.Host);
        Assert.Equal(ScanKind.Blank, after.Scan()[0].Kind);
    }

    internal static void Damage(SimMedia media, long offset) =>
        media.Corrupt(offset + 512, static sector => Put(sector, 100, Encoding.ASCII.GetBytes("rot")));

    private static byte[] Put(byte[] sector, int at, byte[] bytes)
    {
        bytes.CopyTo(sector, at);
        return sector;
    }

    private static void Throws(PoolWorld world)
    {
        try
        {
            world.Create();
        }
        catch (InvalidOperationException error) when (error.InnerException is PoolException problem)
        {
            throw problem;   // the simulated lane wraps what an operation throws
        }
    }

    private static void Copy(SimMedia from, SimMedia to)
    {
        byte[] piece = new byte[1 << 20];
        for (long at = 0; at < Math.Min(from.Length, to.Length); at += piece.Length)
        {
            from.Read(at, piece);
            to.Write(at, piece);
        }
    }
}
