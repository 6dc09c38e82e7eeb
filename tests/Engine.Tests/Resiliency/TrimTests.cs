using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Verification;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Resiliency;

/// <summary>Unmaps of parts of rows are passed down to the disks.</summary>
public sealed class TrimTests
{
    private const int Block = 4096;
    private const long Second = 1_000_000_000;

    // Disks of the simulator give garbage for what was unmapped.
    [Theory]
    [InlineData(1, 1, true)]
    [InlineData(2, 1, true)]
    [InlineData(1, 2, true)]
    [InlineData(2, 3, true)]
    [InlineData(1, 2, false)]
    public void What_is_unmapped_within_a_row_is_given_back_to_every_disk_of_it(int columns, int copies, bool checksums)
    {
        ScrubWorld world = ScrubWorld.New(columns, copies, checksums);
        world.Write(0, 64 << 10);
        world.Unmap(8 * Block, 8 * Block);
        world.Forget(8 * Block, 8 * Block);
        Assert.Equal(0, world.Space.Counters.Rows.RowsFreed);
        world.Lane.Advance(Second);

        Assert.Equal(8 * Block, world.Space.Counters.Rows.BytesPunched);
        for (int at = 8 * Block; at < 16 * Block && checksums; at += Block)
        {
            for (int copy = 0; copy < copies; copy++)
            {
                (int disk, long offset) = world.DataPlace(copy, at);
                byte[] bytes = new byte[Block];
                world.Disks[disk].Media.Read(offset, bytes);
                Assert.DoesNotContain(bytes, value => value != SimDisk.Unmapped);
            }
        }

        world.AssertReads(0, world.RowLength);
        world.Reopen().AssertReads(0, world.RowLength);
    }

    [Fact]
    public void Blocks_written_since_they_were_unmapped_are_not_punched()
    {
        ScrubWorld world = ScrubWorld.New(1, 2, checksums: true);
        world.Write(0, 64 << 10);
        world.Unmap(0, 8 * Block);
        world.Forget(0, 8 * Block);
        world.Write(2 * Block, 2 * Block);
        world.Lane.Advance(Second);
        Assert.Equal(6 * Block, world.Space.Counters.Rows.BytesPunched);
        world.AssertReads(0, world.RowLength);
    }

    [Fact]
    public void Zeroing_that_keeps_its_room_punches_nothing()
    {
        ScrubWorld world = ScrubWorld.New(1, 2, checksums: true);
        world.Write(0, 64 << 10);
        world.Unmap(0, 4 * Block);
        Assert.Equal(IoError.None, world.Lane.Run(world.Space.WriteZeroes(0, 8 * Block, WriteFlags.NoHole)));
        world.Forget(0, 8 * Block);
        world.Lane.Advance(Second);
        Assert.Equal(0, world.Space.Counters.Rows.BytesPunched);
        world.AssertReads(0, world.RowLength);
    }

    [Fact]
    public void What_waits_at_a_stop_is_passed_down_before_it()
    {
        ScrubWorld world = ScrubWorld.New(1, 2, checksums: true);
        world.Write(0, 64 << 10);
        world.Unmap(0, 8 * Block);
        world.Forget(0, 8 * Block);
        ScrubWorld after = world.Reopen();
        Assert.Equal(8 * Block, world.Space.Counters.Rows.BytesPunched);
        after.AssertReads(0, world.RowLength);
    }

    // Whenever the power goes, and whatever the caches keep: nothing is on the disks that an entry of the log needs.
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public void At_no_instant_has_a_disk_lost_what_the_log_may_still_ask_for(int copies)
    {
        ScrubWorld world = ScrubWorld.New(1, copies, checksums: true);
        world.Write(0, 64 << 10);
        List<SpaceWorld> cuts = [];
        Random random = new(copies);
        Func<int, int, int, bool>[] caches = [(_, _, _) => false, (_, _, _) => true, (_, _, _) => random.Next(2) == 0, (_, write, _) => write % 2 == 0];
        foreach (SimDisk disk in world.Disks)
        {
            disk.OnRequest = (_, _, _) => cuts.AddRange(
                caches.Select(keeps => (SpaceWorld)world.World.Cut(50 + (ulong)cuts.Count, keeps)));
        }

        world.Unmap(0, 8 * Block);
        world.Lane.Advance(Second);
        foreach (SimDisk disk in world.Disks)
        {
            disk.OnRequest = null;
        }

        Assert.Equal(8 * Block, world.Space.Counters.Rows.BytesPunched);
        foreach (SpaceWorld cut in cuts)
        {
            ScrubWorld after = world.Opened(cut);
            Assert.Equal(IoError.None, after.Read(0, 8 * Block, out byte[] data));
            Assert.True(!data.AsSpan().ContainsAnyExcept((byte)0) || data.AsSpan().SequenceEqual(world.Model(0, 8 * Block)), "neither old nor zeros");
        }
    }
}
