using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Verbs.StorageTiers;

namespace TierSpaces.Host.Tests.Verbs;

/// <summary>Heat maps drawn in characters.</summary>
public sealed class HeatPictureTests
{
    [Fact]
    public void Each_character_is_twice_as_hot_as_the_one_before()
    {
        HeatPicture picture = new HeatPicture(first: 100, slices: 20, tiers: 2, width: 10, lines: 4);
        double[] heats = [0, 0.5, 1, 3, 7, 15, 31, 63, 127, 1e15];
        for (int i = 0; i < heats.Length; i++)
        {
            picture.Add(Slice(100 + i, heats[i], i % 2));
        }

        picture.Add(Slice(119, 2, -1));
        Assert.Equal(new (long, string, string)[] { (100, ".:-=+*#%@@", "1212121212"), (110, "         -", "          ") }, picture.Lines());
        Assert.Equal(1, picture.SlicesPerCharacter);
    }

    [Fact]
    public void A_large_disk_has_several_slices_behind_a_character()
    {
        const int slices = 1 << 30;
        HeatPicture picture = new HeatPicture(0, slices, tiers: 3, width: 8, lines: 2);
        Assert.Equal(slices / 16, picture.SlicesPerCharacter);
        Array.ForEach([Slice(0, 1, 0), Slice(1, 9, 2), Slice(2, 2, 2), Slice(slices - 1, 200, 1)], picture.Add);
        Assert.Equal(new (long, string, string)[] { (0, "+       ", "3       "), (slices / 2, "       @", "       2") }, picture.Lines());
    }

    [Theory]
    [InlineData(1, 1)]
    [InlineData(16, 1)]
    [InlineData(17, 2)]
    [InlineData(33, 3)]
    public void No_slice_is_left_out(int slices, int perCharacter)
    {
        HeatPicture picture = new HeatPicture(5, slices, tiers: 1, width: 8, lines: 2);
        Assert.Equal(perCharacter, picture.SlicesPerCharacter);
        for (int slice = 0; slice < slices; slice++)
        {
            picture.Add(Slice(5 + slice, 0, 0));
        }

        (long Slice, string Heat, string Tier)[] lines = picture.Lines().ToArray();
        Assert.InRange(lines.Length, 1, 2);
        Assert.Equal(new string('1', ((slices - 1) / perCharacter) + 1), string.Concat(lines.Select(line => line.Tier)));
    }

    private static SliceStatus Slice(int slice, double heat, int tier) =>
        new(slice, heat, tier < 0 ? SliceEntry.None : new SliceEntry(tier, 0, SliceReason.FirstWrite, 0), -1);
}
