using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.Resiliency.Layouts;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Resiliency;

public sealed class SpaceScrubTests
{
    private const int Block = 4096;

    public static TheoryData<int, int> Mirrors => new() { { 1, 2 }, { 2, 2 }, { 1, 3 } };

    [Theory]
    [MemberData(nameof(Mirrors))]
    public void Flipped_blocks_and_checksum_sectors_of_one_copy_are_healed_and_counted(int columns, int copies)
    {
        ScrubWorld world = ScrubWorld.New(columns, copies, checksums: true);
        int blocks = world.FlipEverythingWritten(copy: 0);
        int sectors = world.FlipChecksumSectors(copy: copies - 1);

        ScrubFindings found = world.Scrub();

        Assert.Equal((blocks, 0L, (long)sectors, 0L), ((int)found.BlocksHealed, found.BlocksLost, found.MetadataHealed, found.MetadataLost));
        Assert.Equal(blocks, world.Reported(DiskFinding.Healed));
        Assert.Equal(blocks + sectors, world.Reported(DiskFinding.ChecksumMismatch));
        ScrubFindings again = world.Scrub();
        Assert.True(again.IsClean, again.ToString());
        for (int copy = 0; copy < copies; copy++)
        {
            world.AssertCopy(copy);
        }
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public void A_block_that_is_wrong_on_every_copy_is_lost_alone(int copies)
    {
        ScrubWorld world = ScrubWorld.New(1, copies, checksums: true);
        for (int copy = 0; copy < copies; copy++)
        {
            world.Flip(copy, 3 * Block);
        }

        ScrubFindings found = world.Scrub();

        Assert.Equal((1L, 0L), (found.BlocksLost, found.BlocksHealed));
        Assert.Equal(copies, world.Reported(DiskFinding.Lost));
        Assert.Equal(IoError.Io, world.Read(3 * Block, Block, out _));
        world.AssertReads(0, 3 * Block);
        world.AssertReads(4 * Block, 12 * Block);
        world.Write(3 * Block, Block);
        world.AssertReads(0, 16 * Block);
        Assert.True(world.Scrub().IsClean);
    }

    [Fact]
    public void A_block_that_cannot_be_read_is_rewritten_in_place()
    {
        ScrubWorld world = ScrubWorld.New(1, 2, checksums: true);
        (int disk, long offset) = world.DataPlace(1, 5 * Block);
        world.Disks[disk].ReadFails = (at, length) => at < offset + Block && offset < at + length;
        world.Disks[disk].OnRequest = (operation, at, _) => world.Disks[disk].ReadFails =
            operation == SimOperation.Write && at == offset ? null : world.Disks[disk].ReadFails;

        Assert.Equal(1, world.Scrub().BlocksHealed);
        Assert.Null(world.Disks[disk].ReadFails);
        Assert.True(world.Scrub().IsClean);
    }

    [Fact]
    public void Without_checksums_copies_are_compared_and_left_as_they_are()
    {
        ScrubWorld world = ScrubWorld.New(1, 2, checksums: false);
        Assert.Equal(0, world.Scrub().BlocksDiffering);
        world.Write(0, Block);
        world.Flip(0, 2 * Block);
        Assert.Equal(0, world.Scrub().BlocksDiffering);   // the region is dirty: a write might be behind it

        world.Settle();
        ScrubFindings found = world.Scrub();

        Assert.Equal((1L, 0L), (found.BlocksDiffering, found.BlocksHealed));
        Assert.Contains("cannot be known", found.ToString());
        Assert.Equal(1, world.Scrub().BlocksDiffering);
    }

    [Fact]
    public void Never_written_and_unmapped_blocks_are_not_read()
    {
        ScrubWorld world = ScrubWorld.New(1, 2, checksums: true);
        world.Unmap(0, 8 * Block);
        world.Flip(0, Block);
        world.Flip(1, Block);

        ScrubFindings found = world.Scrub();

        Assert.True(found.IsClean, found.ToString());
        world.Forget(0, 8 * Block);
        world.AssertReads(0, 32 * Block);
    }

    [Fact]
    public void A_copy_that_has_left_is_not_judged()
    {
        ScrubWorld world = ScrubWorld.New(1, 2, checksums: true);
        (int disk, _) = world.DataPlace(1, 0);
        world.Disks[disk].Pulled = true;
        world.Write(0, 4 * Block);

        ScrubFindings found = world.Scrub();

        Assert.True(found.IsClean, found.ToString());
        world.AssertReads(0, 16 * Block);
    }

    [Fact]
    public void The_cursor_of_a_pass_serves_another_opening()
    {
        ScrubWorld world = ScrubWorld.New(1, 2, checksums: true);
        ScrubFindings first = new();
        long cursor = 0;
        for (int i = 0; i < 3; i++)
        {
            cursor = world.Stride(cursor, first).Cursor;
        }

        ScrubWorld again = world.Reopen();
        int blocks = again.FlipEverythingWritten(copy: 1);
        ScrubFindings rest = again.Scrub(cursor);
        ScrubFindings whole = again.Scrub();

        Assert.InRange(rest.BlocksHealed, 1, blocks - 1);
        Assert.Equal(blocks, rest.BlocksHealed + whole.BlocksHealed);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(4)]
    public void Beside_writes_unmaps_and_writebacks_nothing_is_mistaken_for_damage(ulong seed)
    {
        ScrubWorld world = ScrubWorld.New(2, 2, checksums: true, seed);
        ScrubFindings found = new();
        bool isDone = false;
        Load().Forget();
        for (int pass = 0; pass < 6; pass++)
        {
            world.Lane.Run(world.Pass(0, found));
        }

        isDone = true;
        world.Lane.Advance(1_000_000_000);

        Assert.True(found.IsClean, found.ToString());
        Assert.Equal(0, world.Space.Counters.Damage.ChecksumMismatches);
        Assert.Equal(0, world.Space.Counters.Damage.PageSectorsWrong);
        Assert.Equal("", world.Space.FaultReason);

        async LaneTask Load()
        {
            while (!isDone)
            {
                await world.RandomRequest();
            }
        }
    }

    [Fact]
    public void The_pages_and_the_log_outlive_a_cut_in_the_middle_of_healing()
    {
        for (int at = 1; at < 60; at++)
        {
            ScrubWorld world = ScrubWorld.New(1, 2, checksums: true);
            world.FlipEverythingWritten(copy: 1);
            world.FlipChecksumSectors(copy: 0);
            int left = at;
            ISimWorld? cut = null;
            foreach (SimDisk disk in world.Disks)
            {
                disk.OnRequest = (operation, _, _) =>
                {
                    if (operation is SimOperation.Write or SimOperation.Flush && --left == 0)
                    {
                        cut = world.World.Cut((ulong)at, (number, write, sector) => ((number + write + sector + at) & 1) == 0);
                    }
                };
            }

            world.Scrub();
            if (cut is null)
            {
                Assert.True(at > 20, $"only {at} writes");
                return;
            }

            ScrubWorld after = world.Opened((SpaceWorld)cut);
            after.AssertReads(0, (int)after.Space.Length);
            after.Scrub();
            Assert.True(after.Scrub().IsClean);
            after.AssertCopy(0);
            after.AssertCopy(1);
        }
    }

    [Theory]
    [InlineData(2)]
    [InlineData(3)]
    public void Under_load_every_flip_of_one_copy_is_healed_and_a_cut_anywhere_loses_nothing(int copies)
    {
        for (ulong seed = 1; seed <= 40; seed++)
        {
            ScrubWorld world = ScrubWorld.New(1, copies, checksums: true, seed);
            world.FlipEverythingWritten(copy: (int)seed % copies);
            world.FlipChecksumSectors(copy: (int)(seed + 1) % copies);
            int left = 1 + world.Lane.Next(500);
            ISimWorld? cut = null;
            foreach (SimDisk disk in world.Disks)
            {
                disk.OnRequest = (_, _, _) =>
                {
                    if (--left == 0)
                    {
                        cut = world.World.Cut(seed + 900, (number, write, sector) => ((ulong)(number + write + sector) + seed) % 3 != 0);
                    }
                };
            }

            bool isDone = false;
            Load(world, () => isDone).Forget();
            Load(world, () => isDone).Forget();
            ScrubFindings found = world.Scrub();
            isDone = true;
            world.Lane.Advance(1_000_000_000);

            Assert.Equal((0L, 0L), (found.BlocksLost, found.MetadataLost));
            Check(world);
            if (cut is not null)
            {
                Check(world.Opened((SpaceWorld)cut));
            }
        }

        static async LaneTask Load(ScrubWorld world, Func<bool> isDone)
        {
            while (!isDone())
            {
                await world.RandomRequest(beyond: world.Space.Length * 2 / 3);
            }
        }

        void Check(ScrubWorld world)
        {
            world.AssertReads(0, (int)(world.Space.Length * 2 / 3));
            world.Scrub();
            ScrubFindings again = world.Scrub();
            Assert.True(again.IsClean, again.ToString());
            for (int copy = 0; copy < copies; copy++)
            {
                world.AssertCopy(copy);
            }
        }
    }
}
