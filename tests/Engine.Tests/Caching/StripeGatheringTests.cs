using TierSpaces.Engine.Caching;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Caching;

/// <summary>Parts of stripes of parity that are under way at the same time, in front of a space with stripes of eight blocks.</summary>
public class StripeGatheringTests
{
    private const int Block = 4096;
    private const int Stripe = 8;   // blocks
    private static readonly SpaceScenario s_parity = new(3, 1, true, 4096, 2, CacheBlocks: 64) { Parities = 1, HasNoJournals = true };

    private readonly SpaceWorld _world = Open();
    private readonly byte[] _data = new byte[48 * Block];

    public StripeGatheringTests() => new Random(5).NextBytes(_data);

    [Fact]
    public void Parts_of_a_stripe_that_are_under_way_together_are_written_as_a_stripe()
    {
        // The first three requests begin while too little is under way: the parts of stripes 1 and 2 at 12 are cached. 4, at 36, is gathered.
        Write((0, 12), (12, 12), (24, 12), (36, 12));
        Assert.Equal(5, _world.Space.Counters.Parity.WholeStripes);
        Assert.Equal(0, _world.Space.Counters.Parity.PartialWrites);
        Assert.Equal(8 * Block, _world.Cache!.Counters.WriteBytes(WriteReason.Cache));
        Check(0, 48);
    }

    [Fact]
    public void Parts_may_come_in_any_order()
    {
        Write((0, 16), (24, 4), (20, 4), (28, 4), (16, 4));
        Assert.Equal(4, _world.Space.Counters.Parity.WholeStripes);
        Assert.Equal(0, _world.Cache!.Counters.WriteBytes(WriteReason.Cache));
        Check(0, 32);
    }

    [Fact]
    public void A_part_whose_rest_does_not_come_goes_into_the_ring()
    {
        long start = _world.Lane.NowNs;
        Write((0, 16), (16, 12));
        Assert.Equal(3, _world.Space.Counters.Parity.WholeStripes);
        Assert.Equal(4 * Block, _world.Cache!.Counters.WriteBytes(WriteReason.Cache));
        Assert.True(_world.Lane.NowNs - start < 100_000_000, $"{_world.Lane.NowNs - start} ns");
        Check(0, 28);
    }

    [Fact]
    public void A_part_does_not_wait_for_ever_while_others_go_on()
    {
        LaneTask<IoError> first = Begin(0, 16);
        LaneTask<IoError> part = Begin(16, 4);
        long start = _world.Lane.NowNs;
        for (int i = 0; !part.IsCompleted; i++)
        {
            Assert.Equal(IoError.None, _world.Lane.Run(Begin(40 + (i % 8), 1)));
        }

        Assert.True(_world.Lane.NowNs - start < 100_000_000, $"{_world.Lane.NowNs - start} ns");
        Assert.Equal(IoError.None, part.GetAwaiter().GetResult());
        Assert.Equal(IoError.None, _world.Lane.Run(first));
        Check(0, 20);
    }

    [Fact]
    public void Nothing_is_written_past_the_ring_that_has_a_part_of_the_stripe()
    {
        Write((18, 1));
        Write((0, 16), (16, 4), (20, 4));
        Assert.Equal(2, _world.Space.Counters.Parity.WholeStripes);
        Assert.Equal(9 * Block, _world.Cache!.Counters.WriteBytes(WriteReason.Cache));
        Check(0, 24);
    }

    [Theory]
    [InlineData(32, false)]
    [InlineData(16, true)]
    public void Only_what_continues_another_write_waits(int block, bool waits)
    {
        Write((0, 1), (47, 1));   // rows are made
        Array.ForEach(_world.Disks, disk => disk.WriteTakesLonger = (_, length) => length == 4 * Block ? 300_000_000 : 0);   // strips of stripes
        LaneTask<IoError> first = Begin(8, 8);
        long start = _world.Lane.NowNs;
        Assert.Equal(IoError.None, _world.Lane.Run(Begin(block, 2)));
        Assert.Equal(waits, _world.Lane.NowNs - start >= 20_000_000);
        Assert.False(first.IsCompleted);
        Assert.Equal(IoError.None, _world.Lane.Run(first));
    }

    [Fact]
    public void A_stripe_is_written_without_a_lost_disk()
    {
        _world.Disks[1].Pulled = true;
        Write((0, 16), (16, 4), (20, 4));
        Check(0, 24);
        Assert.Equal(IoError.None, _world.Lane.Run(_world.Store.Flush()));
        SpaceWorld after = (SpaceWorld)_world.Cut(9, (_, _, _) => true);
        Assert.Equal("", after.Lane.Run(after.Open(isNew: false)));
        Check(after, 0, 24);
    }

    private static SpaceWorld Open()
    {
        SpaceWorld world = (SpaceWorld)s_parity.NewWorld(1);
        Assert.Equal("", world.Lane.Run(world.Open(isNew: true)));
        world.Cache!.TakeSettings(new DestageSettings { Hold = true, StopPercent = 10 });
        Assert.Equal(Stripe * Block, world.Space.StripeSize);
        return world;
    }

    private void Write(params (int Block, int Count)[] requests)
    {
        LaneTask<IoError>[] writes = [.. requests.Select(request => Begin(request.Block, request.Count))];
        Array.ForEach(writes, write => Assert.Equal(IoError.None, _world.Lane.Run(write)));
    }

    private LaneTask<IoError> Begin(int block, int count)
    {
        IoBuffer buffer = _world.Lane.Buffers.Rent(count * Block);
        _data.AsSpan(block * Block, count * Block).CopyTo(buffer.Span);
        return _world.Store.Write(block * (long)Block, buffer, WriteFlags.None);
    }

    private void Check(int block, int count) => Check(_world, block, count);

    private void Check(SpaceWorld world, int block, int count)
    {
        IoBuffer target = world.Lane.Buffers.Rent(count * Block);
        Assert.Equal(IoError.None, world.Lane.Run(world.Store.Read(block * (long)Block, target)));
        Assert.Equal(_data.AsSpan(block * Block, count * Block), target.Span);
        world.Lane.Buffers.Return(target);
    }
}
