using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.Verification;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Resiliency;

/// <summary>Rot, failed writes and disks that are away, together with a death of the process, a power cut or a move.</summary>
public sealed class EvidenceTests
{
    private const int Block = 4096;
    private const int At = 3 * Block;          // the block
    private const int Near = 2 * Block;        // another one of its region
    private const long Second = 1_000_000_000;

    // The bytes that recovery finds match nothing that was ever written: after a death of the process it knows what may be there.
    [Theory]
    [InlineData(1, true)]
    [InlineData(1, false)]
    [InlineData(2, true)]
    [InlineData(2, false)]
    [InlineData(3, true)]
    public void What_has_rotted_on_every_copy_is_an_error_after_a_death_of_the_process(int copies, bool isKnown)
    {
        ScrubWorld first = Settled(copies);
        Rot(first, Copies(copies));
        if (isKnown)
        {
            AssertError(first);
        }

        first.Put(Near, Block);
        ScrubWorld second = Killed(first);
        AssertError(second);
        second.AssertReads(Near, Block);
        AssertError(Killed(second));
    }

    // After a power cut nothing says what may be there; but that the block was lost is durable.
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public void A_block_that_is_known_to_be_lost_stays_so_over_a_power_cut(int copies)
    {
        ScrubWorld first = Settled(copies);
        Rot(first, Copies(copies));
        AssertError(first);
        first.Put(Near, Block);
        AssertError(Cut(first));
        ScrubWorld second = Killed(first);
        second.Put(Near, Block);
        AssertError(Cut(second));
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public void A_lost_block_is_good_again_once_it_is_written(int copies)
    {
        ScrubWorld first = Settled(copies);
        Rot(first, Copies(copies));
        AssertError(first);
        first.Put(Near, Block);
        ScrubWorld second = Killed(first);
        AssertError(second);
        second.Write(At, Block);
        second.AssertReads(At, Block);
        Cut(second).AssertReads(At, Block);
    }

    // A flushed block was overwritten, and one of the copies rots before the next start.
    [Theory]
    [InlineData(2, 0)]
    [InlineData(2, 1)]
    [InlineData(3, 0)]
    [InlineData(3, 1)]
    [InlineData(3, 2)]
    public void An_overwrite_that_one_copy_holds_goes_before_what_another_one_has_become(int copies, int rotten)
    {
        ScrubWorld first = Settled(copies);
        first.Put(At, Block);
        SpaceWorld killed = Kill(first);
        Flip(first, killed, rotten);
        ScrubWorld second = first.Opened(killed);
        second.AssertReads(At, Block);
        second.AssertCopy(rotten);
    }

    // The older value is still on a copy that missed the overwrite: it was acknowledged and is not undone.
    [Fact]
    public void An_acknowledged_overwrite_is_an_error_rather_than_undone()
    {
        ScrubWorld first = Settled(1);
        byte[] before = first.Model(At, Block).ToArray();
        first.Put(At, Block);
        SpaceWorld killed = Kill(first);
        (int disk, long offset) = first.DataPlace(0, At);
        for (int i = 0; i < Block; i += 512)
        {
            int sector = i;
            killed.Disks[disk].Media.Corrupt(offset + i, _ => before[sector..(sector + 512)]);
        }

        AssertError(first.Opened(killed));
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public void What_a_disk_that_is_away_holds_is_asked_for_before_it_is_written_over(int away)
    {
        ScrubWorld first = Without(Settled(2), away, out int gone);
        Rot(first, [1 - away]);
        AssertError(first);
        first.Put(Near, Block);
        ScrubWorld second = Killed(first, gone);
        AssertError(second);
        Return(second, gone);
        second.AssertReads(At, Block);
        second.AssertReads(Near, Block);
        second.AssertCopy(0);
        second.AssertCopy(1);
    }

    // A disk that does not answer may have the value.
    [Theory]
    [InlineData(1, false)]
    [InlineData(1, true)]
    [InlineData(2, false)]
    [InlineData(2, true)]
    public void Nothing_is_concluded_about_a_block_while_a_disk_with_a_copy_of_it_does_not_answer(int copies, bool isKilled)
    {
        const long hour = 3600 * Second;
        ScrubWorld world = Settled(copies);
        Rot(world, [.. Enumerable.Range(1, copies - 1)]);
        (int disk, long place) = world.DataPlace(0, At);
        SpaceWorld stopped = world.World;
        if (isKilled)
        {
            world.Put(Near, Block);
            stopped = Kill(world);
        }

        stopped.Disks[disk].ReadTakesLonger = (offset, length) => offset <= place && place < offset + length ? hour : 0;
        world = isKilled ? world.Opened(stopped) : world;
        AssertError(world);
        Assert.Empty(world.Space.LostBlocks);
        stopped.Disks[disk].ReadTakesLonger = null;
        world.Lane.Advance(2 * hour);
        world.AssertReads(At, Block);
    }

    // The same after a power cut, which leaves nothing but the mark.
    [Fact]
    public void A_block_in_doubt_stays_so_over_a_power_cut_until_the_disk_is_back()
    {
        ScrubWorld first = Without(Settled(2), 0, out int gone);
        Rot(first, [1]);
        AssertError(first);
        first.Put(Near, Block);
        ScrubWorld second = Killed(first, gone);
        AssertError(second);
        second.Put(Near, Block);
        ScrubWorld third = Cut(second, gone);
        AssertError(third);
        Return(third, gone);
        third.AssertReads(At, Block);
    }

    // The target of a move holds what a former owner wrote there.
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public void A_move_leaves_nothing_of_a_former_owner_where_a_block_is_lost(int copies)
    {
        ScrubWorld first = Settled(copies);
        Rot(first, Copies(copies));
        AssertError(first);
        (int, long)[] before = [.. Copies(copies).Select(copy => first.DataPlace(copy, At))];
        for (int i = 0; i < 200 && Copies(copies).Any(copy => first.DataPlace(copy, At) == before[copy]); i++)
        {
            first.Lane.Run(first.World.MoveSome(new SimPacer(first.Lane)));
        }

        Assert.DoesNotContain(Copies(copies), copy => first.DataPlace(copy, At) == before[copy]);
        AssertError(first);
        first.Put(Near, Block);
        AssertError(Cut(first));
        AssertError(Killed(first));
    }

    // The slab that is away may have the block: it is no source that may be dropped, until an administrator says that its disk is lost.
    [Fact]
    public void A_slab_that_a_block_in_doubt_waits_for_is_rebuilt_elsewhere_once_its_disk_is_given_up()
    {
        ScrubWorld world = Without(Settled(2), 0, out int gone);
        Rot(world, [1]);
        AssertError(world);
        world.Put(Near, Block);
        (int, long) before = world.DataPlace(0, At);
        MoveOften(world);
        Assert.Equal(before, world.DataPlace(0, At));
        world.Space.GiveUp([gone]);
        MoveOften(world);
        Assert.NotEqual(before, world.DataPlace(0, At));
        AssertError(world);
        world.AssertReads(Near, Block);
        world.Put(At, Block);
        world.AssertReads(At, Block);
        world.AssertCopy(0);
        world.AssertCopy(1);
    }

    // With parity a rotten strip and a disk that is away leave nothing that proves the block. Its place holds no unflushed write after a power cut.
    [Theory]
    [InlineData(false, false)]
    [InlineData(false, true)]
    [InlineData(true, false)]
    public void A_block_of_parity_in_doubt_stays_so_over_a_power_cut_until_the_disk_is_back(bool isRebuilt, bool isDirty)
    {
        ScrubWorld world = Without(SettledParity(), 1, out int gone);
        if (isDirty)
        {
            world.Put(Near, Block);
        }

        Rot(world, [0]);
        (int, long) before = world.DataPlace(0, At);
        for (int i = 0; i < 200 && isRebuilt && world.DataPlace(0, At) == before; i++)
        {
            world.Lane.Run(world.World.MoveSome(new SimPacer(world.Lane)));
        }

        Assert.Equal(isRebuilt, world.DataPlace(0, At) != before);
        if (!isRebuilt)
        {
            AssertError(world);
        }

        if (!isDirty)
        {
            world.Put(Near, Block);
        }

        world = Cut(world, gone);
        AssertError(world);
        world.Put(Near, Block);
        world = Killed(world, gone);
        AssertError(world);
        Return(world, gone);
        world.AssertReads(At, Block);
        Cut(world).AssertReads(At, Block);
    }

    private static ScrubWorld SettledParity()
    {
        ScrubWorld world = ScrubWorld.New(3, 1, checksums: true, parities: 1);
        world.Write(0, 64 * Block);
        world.Settle();
        return world;
    }

    private static void MoveOften(ScrubWorld world)
    {
        for (int i = 0; i < 50; i++)
        {
            world.Lane.Run(world.World.MoveSome(new SimPacer(world.Lane)));
        }
    }

    // One sector of the only checksum page that is there: what it said is unknown until the other one is back, and never lost for that.
    [Theory]
    [InlineData(false, false)]
    [InlineData(true, false)]
    [InlineData(true, true)]
    public void Entries_that_a_page_has_lost_are_those_of_the_page_that_was_away(bool writes, bool dies)
    {
        ScrubWorld whole = Settled(2);
        Assert.Equal(IoError.None, whole.Lane.Run(whole.World.Close()));   // the log has none of the entries
        SpaceWorld killed = (SpaceWorld)whole.World.Fork(7);
        (int page, long offset) = whole.PagePlace(1);
        killed.Disks[page].Media.Corrupt(offset, sector =>
        {
            sector[200] ^= 1;
            return sector;
        });
        int gone = whole.DataPlace(0, At).Disk;
        killed.Remove(gone);
        ScrubWorld first = whole.Opened(killed);
        AssertError(first);
        if (writes)
        {
            first.Write(Near, Block);
            first.AssertReads(Near, Block);
            first.Settle();
        }

        ScrubWorld second = dies ? Cut(first, gone) : first;
        AssertError(second);
        Return(second, gone);
        second.AssertReads(0, 16 * Block);
        second.Settle();
        Cut(second).AssertReads(0, 16 * Block);
    }

    // A block may be as before the failed write, or as written; bytes that the disk has made of it since are neither.
    [Fact]
    public void A_failed_write_does_not_make_whatever_lies_there_good()
    {
        ScrubWorld world = Without(Settled(2), 0, out int gone);
        (int disk, long offset) = world.DataPlace(1, At);
        world.Disks[disk].WriteFails = (at, length) => at <= offset && offset < at + length;
        Assert.Equal(IoError.Io, world.Lane.Run(world.Overwrite(At, 0x77)));
        world.Disks[disk].WriteFails = null;
        Flip(world, world.World, 1);
        world.Lane.Advance(3 * Second);
        AssertError(world);
        AssertError(Killed(world, gone));
        Return(world, gone);
        world.AssertReads(At, Block);
    }

    // The block of the log that says so has rotted on the disk that is there: the old bytes are no answer. The disk that is away has it too.
    [Fact]
    public void Zeroing_is_not_undone_by_a_log_that_has_lost_its_end()
    {
        ScrubWorld first = Settled(2);
        first.Unmap(At, Block);
        Assert.Equal(IoError.None, first.Lane.Run(first.Space.Flush()));
        SpaceWorld killed = Kill(first);
        RotNewestLogBlock(killed, disk: 1);
        SpaceWorld without = (SpaceWorld)killed.Fork(5);
        without.Remove(0);
        Assert.Contains("the end of the integrity log is damaged", without.Lane.Run(without.Open(isNew: false)), StringComparison.Ordinal);
        first.Opened((SpaceWorld)killed.Fork(6)).AssertFullOf(0, At);
    }

    // No copy of the log has its end. The records of the newest flush round are still there.
    [Fact]
    public void Zeroing_is_known_where_every_copy_of_the_log_has_lost_its_end()
    {
        ScrubWorld first = Settled(2);
        first.Put(At, Block);
        first.Unmap(At, Block);
        Assert.Equal(IoError.None, first.Lane.Run(first.Space.Flush()));
        SpaceWorld killed = Kill(first);
        RotNewestLogBlock(killed, disk: 0);
        RotNewestLogBlock(killed, disk: 1);
        first.Opened(killed).AssertFullOf(0, At);
    }

    // The mark of the region was in that block.
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public void First_writes_are_known_where_every_copy_of_the_log_has_lost_their_mark(int copies)
    {
        ScrubWorld first = Settled(copies);
        int place = 2 * first.RowLength;
        first.Put(place, Block);
        SpaceWorld killed = Kill(first);
        RotNewestLogBlock(killed, disk: 0);
        RotNewestLogBlock(killed, disk: 1);
        first.Opened(killed).AssertReads(place, Block);
    }

    // Nothing is in memory after a power cut: a second durable block says that the damaged one was durable.
    [Fact]
    public void After_a_power_cut_the_damaged_end_of_the_log_is_no_torn_tail()
    {
        ScrubWorld first = Settled(2);
        first.Unmap(At, Block);
        Assert.Equal(IoError.None, first.Lane.Run(first.Space.Flush()));
        first.Lane.Advance(Second);
        SpaceWorld cut = (SpaceWorld)first.World.Cut(3, (_, _, _) => true);
        RotNewestLogBlock(cut, disk: 1, hasPayload: true);
        SpaceWorld without = (SpaceWorld)cut.Fork(5);
        without.Remove(0);
        Assert.Contains("the integrity log is damaged", without.Lane.Run(without.Open(isNew: false)), StringComparison.Ordinal);
        first.Opened((SpaceWorld)cut.Fork(6)).AssertFullOf(0, At);
    }

    [Fact]
    public void Nothing_is_lost_or_in_doubt_without_a_fault()
    {
        ScrubWorld world = Settled(2);
        for (int i = 0; i < 8; i++)
        {
            world.Put((i % 4) * Block, Block);
            int chance = i;
            world = i % 2 == 0 ? world.Opened((SpaceWorld)world.World.Kill((ulong)i, () => (chance++ & 1) == 0)) : Killed(world);
            world.AssertReads(0, 16 * Block);
        }

        Assert.Equal(0, world.Reported(DiskFinding.Lost));
    }

    private static void RotNewestLogBlock(SpaceWorld world, int disk, bool hasPayload = false)
    {
        SlabPlace place = SimSpaceHost.Place(new SpaceScenario(1, 2, true, 512, 3).Shape, disk, 0);
        byte[] block = new byte[JournalBlock.Size];
        (ulong Sequence, long Offset) newest = default;
        foreach (long start in new[] { place.PagesOffset, place.DataOffset })
        {
            for (long at = start; at < start + (64 * JournalBlock.Size); at += JournalBlock.Size)
            {
                world.Disks[disk].Media.Read(at, block);
                if (JournalBlock.TryRead(block, new Guid(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11), out JournalBlock header, out uint _)
                    && header.Sequence > newest.Sequence && (!hasPayload || header.PayloadLength > 0))
                {
                    newest = (header.Sequence, at);
                }
            }
        }

        Assert.True(newest.Sequence > 0);
        world.Disks[disk].Media.Corrupt(newest.Offset + 512, static sector => [.. sector.Select(static value => (byte)~value)]);
    }

    private static int[] Copies(int copies) => [.. Enumerable.Range(0, copies)];

    /// <summary>A space whose blocks are flushed and whose regions are clean.</summary>
    private static ScrubWorld Settled(int copies)
    {
        ScrubWorld world = ScrubWorld.New(1, copies, checksums: true);
        world.Write(At, Block);
        world.Settle();
        return world;
    }

    private static void Rot(ScrubWorld world, int[] copies)
    {
        foreach (int copy in copies)
        {
            world.Flip(copy, At);
        }
    }

    private static void Flip(ScrubWorld world, SpaceWorld of, int copy)
    {
        (int disk, long offset) = world.DataPlace(copy, At);
        of.Disks[disk].Media.Corrupt(offset + 512, sector =>
        {
            sector[7] ^= 0x40;
            return sector;
        });
    }

    private static SpaceWorld Kill(ScrubWorld world) => (SpaceWorld)world.World.Kill(2, () => true);

    private static ScrubWorld Killed(ScrubWorld world, int gone = -1) => Opened(world, Kill(world), gone);

    private static ScrubWorld Cut(ScrubWorld world, int gone = -1) => Opened(world, (SpaceWorld)world.World.Cut(3, (_, _, _) => true), gone);

    private static ScrubWorld Opened(ScrubWorld world, SpaceWorld stopped, int gone)
    {
        if (gone >= 0)
        {
            stopped.Remove(gone);
        }

        return world.Opened(stopped);
    }

    /// <summary>The space, stopped in good order and opened without the disk of a copy of the block.</summary>
    private static ScrubWorld Without(ScrubWorld world, int copy, out int gone)
    {
        gone = world.DataPlace(copy, At).Disk;
        Assert.Equal(IoError.None, world.Lane.Run(world.World.Close()));
        return Opened(world, (SpaceWorld)world.World.Fork(9), gone);
    }

    private static void Return(ScrubWorld world, int gone)
    {
        Assert.Equal("", world.Lane.Run(world.World.Return(gone)));
        for (int i = 0; i < 20 && world.Space.BytesToResync > 0; i++)
        {
            world.Lane.Run(world.Space.Resync(new SimPacer(world.Lane)));
        }

        Assert.Equal(0, world.Space.BytesToResync);
    }

    private static void AssertError(ScrubWorld world)
    {
        for (int i = 0; i < 3; i++)
        {
            Assert.Equal(IoError.Io, world.Read(At, Block, out _));
        }
    }
}
