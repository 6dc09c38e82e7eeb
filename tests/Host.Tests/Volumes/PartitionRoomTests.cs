using TierSpaces.Contracts;
using TierSpaces.Host.Volumes;

namespace TierSpaces.Host.Tests.Volumes;

public sealed class PartitionRoomTests
{
    private const long MiB = 1 << 20;

    [Theory]
    [InlineData(1, 1)]     // one column of 256 KiB: 1 MiB is a multiple
    [InlineData(3, 3)]     // 768 KiB: the common multiple is 3 MiB
    [InlineData(8, 2)]
    public void A_partition_begins_at_a_multiple_of_the_stripe(int columns, long expected)
    {
        StripeGeometry stripe = new StripeGeometry(256 << 10, columns);
        Assert.Equal(expected * MiB, stripe.AlignmentFor(1024 * MiB));
        Assert.Equal(0, stripe.AlignmentFor(1024 * MiB) % stripe.StripeBytes);
    }

    [Fact]
    public void A_small_disk_is_aligned_to_one_mebibyte() => Assert.Equal(MiB, new StripeGeometry(256 << 10, 7).AlignmentFor(32 * MiB));

    [Fact]
    public void The_first_free_extent_that_is_large_enough_is_taken()
    {
        DiskContents table = Table(100 * MiB, (1 * MiB, 9 * MiB), (20 * MiB, 10 * MiB));
        Assert.Equal((10 * MiB, 5 * MiB), PartitionRoom.Place(table, 512, MiB, 5 * MiB, null));
        Assert.Equal((30 * MiB, 20 * MiB), PartitionRoom.Place(table, 512, MiB, 20 * MiB, null));
        Assert.Equal((30 * MiB, 70 * MiB), PartitionRoom.Place(table, 512, MiB, null, null));
        Assert.Equal((12 * MiB, 8 * MiB), PartitionRoom.Place(table, 512, MiB, null, 12 * MiB));
        Assert.Equal(70 * MiB, PartitionRoom.LargestFree(table, MiB));
    }

    [Fact]
    public void A_partition_never_overlaps_another_one()
    {
        Random random = new Random(7);
        for (int round = 0; round < 200; round++)
        {
            List<(long, long)> partitions = [];
            for (int i = 0; i < 12; i++)
            {
                DiskContents table = Table(200 * MiB, [.. partitions]);
                long? size = random.Next(3) == 0 ? null : random.NextInt64(MiB, 60 * MiB);
                try
                {
                    (long offset, long length) = PartitionRoom.Place(table, 4096, MiB << random.Next(3), size, null);
                    Assert.True(offset >= MiB && offset + length <= 200 * MiB && offset % MiB == 0 && length % 4096 == 0 && (size is null || length >= size));
                    Assert.All(partitions, other => Assert.True(offset + length <= other.Item1 || offset >= other.Item1 + other.Item2));
                    partitions.Add((offset, length));
                }
                catch (StorageException e)
                {
                    Assert.Equal("NotEnoughCapacity", e.Error.Word);
                }
            }
        }
    }

    [Fact]
    public void What_does_not_fit_is_refused_with_what_does()
    {
        DiskContents table = Table(10 * MiB, (1 * MiB, 4 * MiB));
        Assert.Contains($"the largest free extent has {SizeText.Exact(5 * MiB)}", Refused(() => PartitionRoom.Place(table, 512, MiB, 6 * MiB, null),
            "NotEnoughCapacity"));
        Assert.Contains("5 MB to 10 MB (10485759 bytes)", Refused(() => PartitionRoom.Place(table, 512, MiB, null, 2 * MiB), "PartitionOffset"));
        Assert.Contains("no multiple of the sector size", Refused(() => PartitionRoom.Place(table, 512, MiB, null, (6 * MiB) + 1), "PartitionOffset"));
        Assert.Contains("at least", Refused(() => PartitionRoom.Place(table, 512, MiB, 4096, null), "SizeNotSupported"));
        Refused(() => PartitionRoom.Place(Table(10 * MiB, (MiB, 9 * MiB)), 512, MiB, null, null), "NotEnoughCapacity");
    }

    private static string Refused(Action action, string word)
    {
        StorageErrorInfo error = Assert.Throws<StorageException>(action).Error;
        Assert.Equal(word, error.Word);
        return error.ExtendedInformation;
    }

    private static DiskContents Table(long end, params (long Offset, long Size)[] partitions) => new()
    {
        Style = PartitionStyle.GPT,
        Usable = (MiB, end),
        Partitions = [.. partitions.OrderBy(one => one.Offset).Select((one, index) => new VolumePartition
        {
            Number = index + 1, Offset = one.Offset, Size = one.Size, Node = "", Key = $"{index}",
        })],
    };
}
