using System.Collections.Immutable;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Tests.Formats;
using TierSpaces.Engine.Tests.Lanes;
using TierSpaces.Engine.Tiering;

namespace TierSpaces.Engine.Tests.Tiering;

public sealed class PinTableTests
{
    private const long Mi = 1 << 20;

    [Fact]
    public void A_slice_that_a_pin_touches_is_pinned_whole()
    {
        PinTable table = Table([10, 10], Make(1, 1, (3 * Mi) - 1, 2));
        Assert.Equal([-1, -1, 1, 1, -1], Enumerable.Range(0, 5).Select(slice => table.TierOf(slice)));
        Assert.Equal((0, 2 * Mi), (Pinned(table, 0, 10), Pinned(table, 1, 10)));
        Assert.Equal(-1, table.TierOf(-1));
        Assert.Equal(2, table.Pins.Single().Bytes);
    }

    [Fact]
    public void Of_two_pins_the_faster_tier_wins()
    {
        PinTable table = Table([10, 10], Make(1, 1, 0, 5 * Mi), Make(2, 0, Mi, 2 * Mi));
        Assert.Equal([1, 0, 0, 1, 1, -1], Enumerable.Range(0, 6).Select(slice => table.TierOf(slice)));
        Assert.Equal((2 * Mi, 3 * Mi), (Pinned(table, 0, 10), Pinned(table, 1, 10)));
    }

    [Fact]
    public void More_than_a_tier_has_is_refused_with_what_would_fit()
    {
        PinTable table = Table([4, 10], Make(1, 0, 0, Mi));
        Assert.False(table.CanSet(Make(2, 0, 5 * Mi, (3 * Mi) + 1), out PinError? problem));
        Assert.Equal(3 * Mi, problem.FittingBytes);
        Assert.Contains($"At most {ByteText.Exact(3 * Mi)} more", problem.Reason, StringComparison.Ordinal);
        Assert.True(table.CanSet(Make(2, 0, 5 * Mi, 3 * Mi), out _));
        Assert.Single(table.Pins);
        table = Table([4, 10], Make(1, 0, 0, Mi), Make(2, 0, 5 * Mi, 3 * Mi));
        Assert.False(table.CanSet(Make(1, 0, 0, 2 * Mi), out problem));   // what it has now counts as free
        Assert.Equal(Mi, problem.FittingBytes);
        Assert.True(table.CanSet(Make(1, 1, 0, 2 * Mi), out _));
    }

    // Sending a pin elsewhere can bring back another one below it, for which there is no room any more.
    [Fact]
    public void What_comes_back_must_fit_as_well()
    {
        PinTable table = Table([4, 4, 9], Make(1, 0, 0, 4 * Mi), Make(2, 1, 0, 4 * Mi), Make(3, 1, 5 * Mi, 2 * Mi));
        Assert.False(table.CanSet(Make(1, 2, 0, 4 * Mi), out PinError? problem));
        Assert.Contains("would bring", problem.Reason, StringComparison.Ordinal);
    }

    [Fact]
    public void Impossible_pins_are_refused()
    {
        PinTable table = Table([4, 4]);
        Assert.False(table.CanSet(Make(1, 2, 0, 1), out PinError? problem));
        Assert.Contains("Tier 2", problem.Reason, StringComparison.Ordinal);
        Assert.False(table.CanSet(Make(1, -1, 0, 1), out _));
        Assert.False(table.CanSet(Make(1, 0, 0, 1) with { Ranges = [] }, out problem));
        Assert.Contains("0 pieces", problem.Reason, StringComparison.Ordinal);
    }

    [Fact]
    public void Pins_are_found_by_file_or_range_and_listed_in_order()
    {
        PinTable table = Table(
            [40, 4], Make(4, 0, 14 * Mi, Mi), Make(1, 0, 0, 1) with { Label = "/b" }, Make(2, 0, 9 * Mi, 1) with { Label = "/a" }, Make(3, 0, 12 * Mi, 1));
        Assert.Equal([IdOf(3), IdOf(4), IdOf(2), IdOf(1)], table.Pins.Select(static pin => pin.Id));
        Assert.Equal(IdOf(4), table.Find(new PinnedRange(14 * Mi, Mi))!.Id);
        Assert.Null(table.Find(new PinnedRange(14 * Mi, Mi + 1)));
        Assert.Null(table.Find(new PinnedRange(9 * Mi, 1)));   // a file's
        Assert.Equal(IdOf(1), table.Find("/b")!.Id);
        Assert.Null(table.Find(""));
        Assert.Null(table.Find("/c"));
        Assert.Equal("/a", table.Find(IdOf(2))!.Label);
    }

    // Against a table with one entry per slice.
    [Fact]
    public void Lookups_are_what_a_plain_table_says()
    {
        Random random = new(1);
        for (int round = 0; round < 3000; round++)
        {
            Pin[] pins = [.. Enumerable.Range(0, random.Next(7)).Select(number => Make(number, random.Next(3), 0, 1) with { Ranges = RandomRanges(random) })];
            PinTable table = Table([200, 200, 200], pins);
            int[] expected = [.. Enumerable.Range(0, 60).Select(slice => Expected(pins, slice))];
            Assert.Equal(expected, Enumerable.Range(0, 60).Select(slice => table.TierOf(slice)));
            Assert.All(new[] { 0, 1, 2 }, tier => Assert.Equal(expected.Count(one => one == tier) * Mi, Pinned(table, tier, 200)));
        }
    }

    [Fact]
    public void Pieces_are_joined_as_they_must_be()
    {
        Assert.Equal(
            [new PinnedRange(0, 30), new PinnedRange(40, 10)],
            Pin.Join([new PinnedRange(40, 10), new PinnedRange(10, 20), new PinnedRange(0, 10), new PinnedRange(5, 3)]));
        Assert.Empty(Pin.Join([]));
    }

    [Fact]
    public void A_pin_of_many_pieces_comes_back_from_its_records()
    {
        VirtualDiskDescription disk = RecordSamples.TieredDisk;
        PinnedRange[] pieces = [.. Enumerable.Range(0, 1000).Select(static i => new PinnedRange(i * 8192, 4096))];
        Pin pin = Make(1, 1, 0, 1) with { Label = "/file", Ranges = [.. pieces] };
        IReadOnlyList<PinSet> records = pin.ToRecords(disk.Id, disk.Tiers[1].Id);
        Assert.Equal(8, records.Count);
        Assert.All(records, static record => Assert.True(record.IsPossible));
        PinSet elsewhere = records[0] with { Id = IdOf(2), Disk = RecordSamples.VirtualDisk.Id };
        PinSet lost = records[0] with { Id = IdOf(3), Tier = Guid.Empty };
        PinTable table = PinTable.Load(disk, [.. records.Reverse(), elsewhere, lost]);
        Pin read = table.Pins.Single();
        Assert.Equal((pin.Id, 1, "/file", pin.Bytes), (read.Id, read.Tier, read.Label, read.Bytes));
        Assert.Equal(pieces, read.Ranges);
        Assert.Equal((1, 8 * Mi), (table.TierOf(7), Pinned(table, 1, disk.Tiers[1].SizeBytes / Mi)));
    }

    [Fact]
    public void A_lookup_allocates_nothing()
    {
        PinTable table = Table(
            [4000, 4], Make(1, 0, 0, 1) with { Ranges = [.. Enumerable.Range(0, 1000).Select(static i => new PinnedRange(i * 3 * Mi, 4096))] });
        AllocationMeter meter = new();
        for (int window = 0; window < 4; window++)
        {
            meter.Begin();
            for (int slice = 0; slice < 3000; slice++)
            {
                table.TierOf(slice);
            }

            meter.End();
        }

        Assert.Equal(0, meter.Least);
    }

    private static PinTable Table(int[] tierSlices, params Pin[] pins) => new((int)Mi, tierSlices.Select(static slices => slices * Mi), pins);

    // Bytes that are pinned to a tier: the part of a pin of the whole tier, elsewhere, that does not fit.
    private static long Pinned(PinTable table, int tier, long tierSlices) =>
        table.CanSet(Make(99, tier, 1L << 40, tierSlices * Mi), out PinError? problem) ? 0 : (tierSlices * Mi) - problem.FittingBytes;

    private static Guid IdOf(int number) => new(number, 0, 0, new byte[8]);

    private static Pin Make(int number, int tier, long offset, long length) => new(IdOf(number), tier, "", [new PinnedRange(offset, length)]);

    private static ImmutableArray<PinnedRange> RandomRanges(Random random) =>
        Pin.Join(Enumerable.Range(0, random.Next(1, 5)).Select(_ => new PinnedRange(random.NextInt64(50 * Mi), random.NextInt64(1, 8 * Mi))));

    private static int Expected(IEnumerable<Pin> pins, int slice) => pins
        .Where(pin => pin.Ranges.Any(range => range.Offset < (slice + 1) * Mi && range.End > slice * Mi))
        .Select(static pin => pin.Tier).DefaultIfEmpty(-1).Min();
}
