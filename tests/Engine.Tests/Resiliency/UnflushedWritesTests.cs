using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Tests.Resiliency;

/// <summary>Writes that a disk that leaves may lose: those since the last flush that has completed.</summary>
public sealed class UnflushedWritesTests
{
    private readonly FlushClock _clock = new();
    private readonly SpaceRow _row;

    public UnflushedWritesTests()
    {
        SpaceShape shape = new(1, 2, 64 << 10, 1 << 20, Checksums: true);
        _row = new SpaceRow(LayoutDescriptor.Mirror.Layout(shape), shape, new SpaceRowMap(0, new SlabPlace[2], true, new ushort[2]));
    }

    [Fact]
    public void A_write_counts_until_a_round_that_began_after_it_has_completed()
    {
        UnflushedWrites writes = new(_clock);
        writes.Note(_row, 0, 0, 4096);
        ulong first = _clock.Begin();
        writes.Note(_row, 0, 8192, 4096);   // ended while the round runs: it may have missed it
        Assert.Equal([8192, 0], Offsets(writes));
        _clock.Complete(first);
        Assert.Equal([8192], Offsets(writes));
        ulong second = _clock.Begin();
        Assert.Equal([8192], Offsets(writes));
        _clock.Complete(second);
        Assert.Empty(Offsets(writes));
        writes.Note(_row, 0, 16384, 4096);
        Assert.Equal([16384], Offsets(writes));
    }

    [Fact]
    public void A_write_that_met_two_rounds_without_another_write_counts_once_and_then_no_more()
    {
        UnflushedWrites writes = new(_clock);
        writes.Note(_row, 0, 0, 4096);
        _clock.Complete(_clock.Begin());
        ulong second = _clock.Begin();
        writes.Note(_row, 0, 8192, 4096);
        Assert.Equal([8192], Offsets(writes));
        _clock.Complete(second);
        Assert.Equal([8192], Offsets(writes));
    }

    [Fact]
    public void Writes_that_follow_each_other_are_one_and_others_stay_apart()
    {
        UnflushedWrites writes = new(_clock);
        writes.Note(_row, 0, 0, 4096);
        writes.Note(_row, 0, 4096, 8192);
        writes.Note(_row, 0, 4096, 4096);
        writes.Note(_row, 1, 12288, 4096);
        writes.Note(_row, 0, 12288, 4096);
        writes.Note(_row, 0, 0, 4096);
        Assert.Equal(
            [(0, 0, 12288), (1, 12288, 4096), (0, 12288, 4096), (0, 0, 4096)],
            writes.Uncovered.Select(static lines => (lines.Group, lines.SlabOffset, lines.Length)));
        Assert.Equal(24576, writes.Bytes);
    }

    [Fact]
    public void Where_there_is_no_room_it_says_so_until_a_round_covers_what_it_lacks()
    {
        UnflushedWrites writes = new(_clock, max: 2);
        writes.Note(_row, 0, 0, 4096);
        writes.Note(_row, 0, 8192, 4096);
        Assert.True(writes.IsComplete);
        writes.Note(_row, 0, 16384, 4096);
        Assert.False(writes.IsComplete);
        ulong round = _clock.Begin();
        writes.Note(_row, 0, 24576, 4096);
        Assert.False(writes.IsComplete);
        _clock.Complete(round);
        Assert.True(writes.IsComplete);
        Assert.Equal([24576], Offsets(writes));
    }

    private static IEnumerable<int> Offsets(UnflushedWrites writes) => writes.Uncovered.Select(static lines => lines.SlabOffset);
}
