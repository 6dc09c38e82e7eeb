using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Tiering;

namespace TierSpaces.Engine.Tests.Tiering;

public sealed class HeatComparisonTests
{
    private const int Mi = 1 << 20;
    private const long Hour = 3_600_000_000_000;

    [Fact]
    public void The_greatest_changes_come_first_in_both_directions()
    {
        HeatFileContents before = FileOf(4000, (3, 5), (7, 9), (2500, 4), (3999, 1));
        HeatFileContents after = FileOf(4000, (3, 5), (7, 2), (11, 3), (2500, 24));
        Assert.Equal(
            [(2500, 20), (7, -7), (11, 3), (3999, -1)],
            before.DifferencesTo(after, 10).Select(static one => (one.Slice, Math.Round(one.Change))));
        Assert.Equal([2500, 7], before.DifferencesTo(after, 2).Select(static one => one.Slice));
        Assert.Empty(before.DifferencesTo(before, 10));
    }

    [Fact]
    public void Equal_changes_are_in_the_order_of_their_slices()
    {
        HeatDifference[] differences = FileOf(100).DifferencesTo(FileOf(100, (9, 1), (4, 1), (70, 1)), 2);
        Assert.Equal([4, 9], differences.Select(static one => one.Slice));
    }

    [Fact]
    public void Heat_is_counted_with_the_half_life_of_the_first()
    {
        HeatFileContents day = FileOf(new HeatSettings { SliceBytes = Mi, HalfLifeNs = 24 * Hour }, 8, (2, 48));
        HeatFileContents twoDays = FileOf(new HeatSettings { SliceBytes = Mi, HalfLifeNs = 48 * Hour }, 8, (2, 96));
        Assert.All(day.DifferencesTo(twoDays, 1), static one => Assert.InRange(Math.Abs(one.Change), 0, 1e-3));
    }

    [Fact]
    public void Slices_of_another_size_are_refused()
    {
        HeatFileContents small = FileOf(new HeatSettings { SliceBytes = Mi / 4 }, 8, (2, 1));
        Assert.Throws<ArgumentException>(() => FileOf(8).DifferencesTo(small, 1));
    }

    [Fact]
    public void A_block_that_is_missing_or_comes_twice_is_damage()
    {
        List<byte[]> blocks = BlocksOf(new HeatSettings { SliceBytes = Mi }, 4000, [(3, 1), (3500, 1)]);
        Assert.True(blocks.Count >= 2);
        HeatFileContents contents = new();
        Assert.Null(contents.Add(blocks[0]));
        Assert.False(contents.IsWhole);
        Assert.Contains("It is damaged in its 4 KB at offset 4 KB", contents.Add(blocks[0]), StringComparison.Ordinal);
        Assert.Contains("It is damaged", contents.Add(blocks[1]), StringComparison.Ordinal);
        Assert.Equal("It is no heat map.", new HeatFileContents().Add(new byte[HeatSnapshot.BlockSize]));
    }

    private static HeatFileContents FileOf(int slices, params (int Slice, int Requests)[] used) => FileOf(new HeatSettings { SliceBytes = Mi }, slices, used);

    private static HeatFileContents FileOf(HeatSettings settings, int slices, params (int Slice, int Requests)[] used)
    {
        HeatFileContents contents = new();
        foreach (byte[] block in BlocksOf(settings, slices, used))
        {
            Assert.Null(contents.Add(block));
        }

        Assert.True(contents.IsWhole);
        Assert.Equal(settings.SliceBytes, contents.SliceBytes);
        return contents;
    }

    private static List<byte[]> BlocksOf(HeatSettings settings, int slices, (int Slice, int Requests)[] used)
    {
        HeatMap map = new(settings, slices);
        foreach ((int slice, int requests) in used)
        {
            for (int i = 0; i < requests; i++)
            {
                map.Record((long)slice * settings.SliceBytes, 4096, isWrite: true, nowNs: 0);
            }
        }

        HeatSnapshotWriter writer = new(map, Guid.NewGuid(), 1, 638_000_000_000_000_000, 0);
        List<byte[]> blocks = [];
        for (byte[] block = new byte[HeatSnapshot.BlockSize]; writer.Next(block); block = new byte[HeatSnapshot.BlockSize])
        {
            blocks.Add(block);
        }

        return blocks;
    }
}
