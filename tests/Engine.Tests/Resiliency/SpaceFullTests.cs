using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tests.Resiliency;

/// <summary>Host file systems that are full for a while.</summary>
public sealed class SpaceFullTests
{
    private const long Second = 1_000_000_000;

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public void A_write_that_found_no_space_is_on_every_copy_when_it_is_acknowledged(int copies)
    {
        ScrubWorld world = ScrubWorld.New(1, copies, checksums: true);
        foreach (int copy in Enumerable.Range(0, copies))
        {
            Verification.SimDisk disk = world.Disks[world.DataPlace(copy, 0).Disk];
            world.Write(64 << 10, 4096);   // its region is dirty: nothing but the data is written next
            disk.Full = true;
            world.Lane.Schedule(3 * Second, () => disk.Full = false);
            world.Write(64 << 10, 8192);
            Assert.False(disk.Full);
        }

        Enumerable.Range(0, copies).ToList().ForEach(world.AssertCopy);
    }

    public static TheoryData<string> Requests => ["flush", "first write into a clean region", "unmap", "zero", "durable write"];

    [Theory]
    [MemberData(nameof(Requests))]
    public void A_request_whose_log_finds_no_space_waits_a_minute_and_the_space_serves_again_by_itself(string request)
    {
        ScrubWorld world = ScrubWorld.New(1, 2, checksums: true);
        world.Settle();   // every region is clean again
        world.Write(64 << 10, 4096);
        Assert.Equal(IoError.None, world.Lane.Run(world.Overwrite(64 << 10, 1)));   // not flushed yet
        SetFull(world, true);
        long startNs = world.Lane.NowNs;
        Assert.Equal(IoError.NoSpace, world.Lane.Run(Begin(world, request)));
        Assert.InRange(world.Lane.NowNs - startNs, 60 * Second, 64 * Second);
        Assert.Equal("", world.Space.FaultReason);
        Assert.True(world.Space.FullDisk >= 0 || request == "durable write", "The status does not say what is waited for.");
        world.Lane.Advance(300 * Second);
        Assert.Equal("", world.Space.FaultReason);

        SetFull(world, false);
        world.Lane.Advance(3 * Second);
        Assert.Equal(-1, world.Space.FullDisk);
        Assert.Equal(IoError.None, world.Lane.Run(Begin(world, request)));
        world.Write(64 << 10, 4096);
        Assert.Equal(IoError.None, world.Lane.Run(world.Space.Flush()));
        world.AssertReads(64 << 10, 4096);
        ScrubWorld after = world.Reopen();
        after.AssertReads(64 << 10, 4096);
    }

    [Fact]
    public void A_first_write_whose_mark_fails_is_an_error_and_breaks_no_rule()
    {
        ScrubWorld world = ScrubWorld.New(1, 1, checksums: true);
        world.Settle();
        foreach (Verification.SimDisk disk in world.Disks)
        {
            disk.WriteFails = static (_, _) => true;
        }

        Assert.NotEqual(IoError.None, world.Lane.Run(Begin(world, "first write into a clean region")));
        Assert.NotEqual("", world.Space.FaultReason);
    }

    [Fact]
    public void A_flush_that_waited_for_room_less_than_a_minute_succeeds()
    {
        ScrubWorld world = ScrubWorld.New(1, 2, checksums: true);
        world.Write(64 << 10, 4096);
        Assert.Equal(IoError.None, world.Lane.Run(world.Overwrite(64 << 10, 1)));   // not flushed yet
        SetFull(world, true);
        world.Lane.Schedule(20 * Second, () => SetFull(world, false));
        LaneTask<IoError> first = world.Space.Flush();
        world.Lane.Advance(30 * Second);
        Assert.Equal(IoError.None, world.Lane.Run(first));
        Assert.Equal("", world.Space.FaultReason);
    }

    // A file system may drop what it could not place and say so once: the next flush would succeed.
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public void A_flush_that_itself_finds_no_space_is_not_repeated_and_believed(int copies)
    {
        ScrubWorld world = ScrubWorld.New(1, copies, checksums: true);
        Verification.SimDisk disk = world.Disks[world.DataPlace(0, 0).Disk];
        Assert.Equal(IoError.None, world.Lane.Run(world.Overwrite(64 << 10, 1)));
        disk.FullAtFlush = true;
        IoError error = world.Lane.Run(world.Space.Flush());
        disk.FullAtFlush = false;
        Assert.Equal(copies > 1, error == IoError.None);
        Assert.Equal(copies > 1, world.Lane.Run(world.Space.Flush()) == IoError.None);
        Assert.Equal(copies > 1, world.World.MissingDisks == 1);
    }

    [Fact]
    public void A_space_that_waits_for_room_can_be_closed()
    {
        ScrubWorld world = ScrubWorld.New(1, 2, checksums: true);
        world.Write(64 << 10, 4096);
        Assert.Equal(IoError.None, world.Lane.Run(world.Overwrite(64 << 10, 1)));   // not flushed yet
        SetFull(world, true);
        LaneTask<IoError> flush = world.Space.Flush();
        world.Lane.Advance(10 * Second);
        Assert.NotEqual(IoError.None, world.Lane.Run(world.Space.Close()));
        Assert.NotEqual(IoError.None, world.Lane.Run(flush));
    }

    private static LaneTask<IoError> Begin(ScrubWorld world, string request)
    {
        IoBuffer block = world.Lane.Buffers.Rent(4096);
        return request switch
        {
            "flush" => world.Space.Flush(),
            "unmap" => world.Space.Unmap(128 << 10, 4096),
            "zero" => world.Space.WriteZeroes(128 << 10, 4096, WriteFlags.None),
            "durable write" => world.Space.Write(72 << 10, block, WriteFlags.ForceUnitAccess),
            _ => world.Space.Write(world.RowLength - 4096, block, WriteFlags.None),
        };
    }

    private static void SetFull(ScrubWorld world, bool isFull)
    {
        foreach (Verification.SimDisk disk in world.Disks)
        {
            disk.Full = isFull;
        }
    }
}
