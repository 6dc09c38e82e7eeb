using System.Globalization;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Tests.Formats;

namespace TierSpaces.Engine.Tests.Pools;

public sealed class MetadataElectionTests
{
    // Enclosure of each disk of the pool, -1 unknown; disks that hold metadata already; disks that are away; the number in each enclosure afterwards.
    [Theory]
    [InlineData("0 0 0 0 0 0", "", "", "5")]
    [InlineData("-1 -1 -1 -1 -1 -1", "", "", "5")]
    [InlineData("1 1 1 2 2 2", "", "", "2 2")]
    [InlineData("1 1 1 1 1 2", "", "", "1 1")]
    [InlineData("1 1 2 2 3 3", "", "", "2 2 1")]
    [InlineData("1 1 1 1 2 3", "", "", "1 1 1")]
    [InlineData("1 1 1 2 2 2", "4 5", "1 2 3", "0 2")]
    [InlineData("1 1 1 2 2 2", "4", "1 2 3", "0 2")]
    [InlineData("1 1 1 2 2 2", "4 5", "", "2 2")]
    [InlineData("1 1 1 2 2 2", "1 2 3", "", "3 2")]
    [InlineData("1 1 1 2 2 2", "1 2 3 4 5", "", "3 2")]
    public void The_loss_of_an_enclosure_leaves_a_majority_where_that_can_be(string enclosures, string current, string away, string expected)
    {
        DiskDescription[] disks = [.. Numbers(enclosures).Select(static (enclosure, i) =>
            RecordSamples.MakeDisk((ushort)(i + 1), 64 << 20) with { EnclosureNumber = enclosure, FaultDomainPath = "", Usage = DiskUsage.AutoSelect })];
        DiskNumber[] held = [.. Numbers(current).Select(static number => new DiskNumber((ushort)number))];
        List<DiskNumber> chosen = MetadataElection.Choose(disks.Where(disk => !Numbers(away).Contains(disk.Number.Value)), disks, held);
        int[] counts = [.. disks.GroupBy(static disk => disk.EnclosureNumber).Select(group => group.Count(disk => held.Concat(chosen).Contains(disk.Number)))];
        Assert.Equal(Numbers(expected), counts);
    }

    private static int[] Numbers(string text) =>
        [.. text.Split(' ', StringSplitOptions.RemoveEmptyEntries).Select(static number => int.Parse(number, CultureInfo.InvariantCulture))];
}
