using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Devices.Emulated;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Verification;

namespace TierSpaces.Engine.Tests.Management;

/// <summary>Pools whose disks are declared to keep what they have acknowledged.</summary>
public sealed class PowerProtectionTests(ITestOutputHelper output)
{
    private const int Block = 4096;

    private SubsystemWorld? _watched;
    private long _flushes;

    [Theory]
    [InlineData("Mirror", 0)]
    [InlineData("Mirror", 1 << 20)]
    [InlineData("Parity", 1 << 20)]
    [InlineData("Simple", 0)]
    public void No_flush_reaches_a_disk_and_flushes_are_answered(string layout, long cache)
    {
        SubsystemWorld world = new();
        world.NewPool(4);
        Guid id = NewDisk(world, layout, cache);
        Protect(world, true);
        long before = Flushes(world);
        for (int i = 0; i < 50; i++)
        {
            Write(world, id, i, (byte)(i + 1));
            Assert.Equal(IoError.None, world.Lane.Run(world.Disk(id).Flush()));
        }

        world.Run(world.Subsystem.Pools.SetAsync(world.Pool, static settings => settings with { ThinProvisioningAlertThreshold = 50 }));
        Assert.Equal(before, Flushes(world));
        Protect(world, false);
        Assert.True(Flushes(world) >= before + 4, "every disk");
        Write(world, id, 1, 1);
        before = Flushes(world);
        Assert.Equal(IoError.None, world.Lane.Run(world.Disk(id).Flush()));
        Assert.True(Flushes(world) > before);
        Assert.Equal(2, world.Notices.Count(static notice => notice.Contains("power-protected", StringComparison.Ordinal)));
    }

    [Fact]
    public void The_declaration_holds_after_a_restart_and_for_disks_that_come_later()
    {
        SubsystemWorld world = new();
        world.NewPool(4);
        Guid id = NewDisk(world, "Mirror", 0);
        Protect(world, true);
        world.Restart();
        world.AddDisk(DiskUsage.AutoSelect);
        long before = Flushes(world);
        Write(world, id, 3, 1);
        Assert.Equal(IoError.None, world.Lane.Run(world.Disk(id).Flush()));
        Assert.Equal(before, Flushes(world));
    }

    /// <summary>Disks that keep the declaration lose nothing at a power cut; after its end, disks that keep nothing unflushed lose nothing either.</summary>
    [Theory]
    [InlineData("Mirror", 0, true)]
    [InlineData("Mirror", 1 << 20, true)]
    [InlineData("Parity", 1 << 20, true)]
    [InlineData("Mirror", 0, false)]
    [InlineData("Mirror", 1 << 20, false)]
    [InlineData("Parity", 1 << 20, false)]
    public void A_power_cut_loses_what_the_declaration_says_and_no_more(string layout, long cache, bool isProtected)
    {
        SubsystemWorld world = new();
        world.NewPool(4);
        Guid id = NewDisk(world, layout, cache);
        Protect(world, true);
        for (int i = 0; i < 200; i++)
        {
            Write(world, id, i * 7 % 64, (byte)(i + 1));
        }

        Assert.Equal(IoError.None, world.Lane.Run(world.Disk(id).Flush()));
        if (!isProtected)
        {
            Protect(world, false);
        }

        world = world.AfterPowerCut(keepsAcknowledged: isProtected);
        IoBuffer buffer = world.Lane.Buffers.Rent(Block);
        for (int i = 200 - 64; i < 200; i++)
        {
            Assert.Equal(IoError.None, world.Lane.Run(world.Disk(id).Read(i * 7 % 64 * Block, buffer)));
            Assert.Equal((byte)(i + 1), buffer.Span[0]);
            Assert.Equal(-1, buffer.Span.IndexOfAnyExcept((byte)(i + 1)));
        }
    }

    [Fact]
    public void A_disk_that_cannot_be_flushed_keeps_the_declaration_and_is_named()
    {
        SubsystemWorld world = new();
        world.NewPool(4);
        Protect(world, true);
        world.Disks[2].FailFlushes = 1;
        ManagementException refused = Assert.Throws<ManagementException>(() => Protect(world, false));
        Assert.Contains("could not be flushed", refused.Message);
        Assert.True(Assert.Single(world.Run(world.Subsystem.Pools.ListAsync())).Description.IsPowerProtected);
        Protect(world, false);
        Assert.False(Assert.Single(world.Run(world.Subsystem.Pools.ListAsync())).Description.IsPowerProtected);
    }

    [Fact]
    public void A_load_that_flushes_is_faster_on_rotating_disks()
    {
        SubsystemWorld world = new() { Profiles = static _ => LatencyProfile.Find("HDD7200")!, SlabSize = 16 << 20 };
        world.NewPool([.. Enumerable.Repeat((4L << 30, MediaType.HDD), 4)]);
        Guid id = NewDisk(world, "Mirror", 0, 1L << 30);
        double without = Rate();
        Protect(world, true);
        double with = Rate();
        output.WriteLine($"4 KiB at random, FLUSH after each: {with / without:f2} times");
        Assert.True(with >= 1.5 * without, $"{with / without:f2}");

        double Rate()
        {
            Random random = new(3);
            long startNs = world.Lane.NowNs;
            for (int i = 0; i < 300; i++)
            {
                Write(world, id, random.Next(200_000), 1);
                Assert.Equal(IoError.None, world.Lane.Run(world.Disk(id).Flush()));
            }

            return 300e9 / (world.Lane.NowNs - startNs);
        }
    }

    private long Flushes(SubsystemWorld world)
    {
        if (_watched != world)
        {
            _watched = world;
            Array.ForEach(world.Disks, disk => disk.OnRequest += (operation, _, _) => _flushes += operation == SimOperation.Flush ? 1 : 0);
        }

        return _flushes;
    }

    private static void Protect(SubsystemWorld world, bool isProtected) =>
        world.Run(world.Subsystem.Pools.SetAsync(world.Pool, settings => settings with { IsPowerProtected = isProtected }));

    private static Guid NewDisk(SubsystemWorld world, string layout, long cache, long bytes = 4 << 20) =>
        world.Run(world.Subsystem.VirtualDisks.CreateAsync(world.Pool, new VirtualDiskRequest
        {
            FriendlyName = "d", SizeBytes = bytes, ResiliencySettingName = layout, WriteCacheSize = cache,
        })).Description.Id.Value;

    private static void Write(SubsystemWorld world, Guid id, int block, byte value)
    {
        IoBuffer buffer = world.Lane.Buffers.Rent(Block);
        buffer.Span.Fill(value);
        Assert.Equal(IoError.None, world.Lane.Run(world.Disk(id).Write(block * (long)Block, buffer, WriteFlags.None)));
        world.Lane.Buffers.Return(buffer);
    }
}
