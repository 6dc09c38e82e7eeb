using System.Globalization;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Resiliency;

/// <summary>
/// One byte flipped anywhere in what a mirror keeps on one of its disks, data or checksum pages: it reads right, a scrub
/// makes it whole on the disk and counts it. Many positions are flipped on one fork, each in a block of its own, so that every one of
/// them is as alone as in the promise; TIERSPACES_LONG_TESTS=1 flips twenty times as many.
/// </summary>
public sealed class AnyByteTests
{
    private const int Block = 4096;
    private const int Positions = 10_000;

    private static readonly int s_positions =
        Environment.GetEnvironmentVariable("TIERSPACES_LONG_TESTS") == "1" ? 20 * Positions : Positions;

    [Theory]
    [InlineData(1, 2)]
    [InlineData(1, 3)]
    public void A_flipped_byte_on_one_disk_reads_right_and_is_healed_and_counted(int columns, int copies)
    {
        ScrubWorld origin = ScrubWorld.New(columns, copies, checksums: true, seed: 5);
        Random random = new(columns + (10 * copies));
        int done = 0;
        for (int round = 0; done < s_positions / 2; round++)
        {
            ScrubWorld world = origin.Opened((SpaceWorld)origin.World.Fork((ulong)round + 100));
            int blocks = 0;
            foreach (int block in world.Written)
            {
                // A third of the blocks, each on one copy: the data itself, or one sector of the page that describes 64 of them.
                if (random.Next(3) == 0)
                {
                    world.Flip(random.Next(copies), (long)block * Block);
                    blocks++;
                }
            }

            int sectors = world.FlipChecksumSectors(random.Next(copies));
            world.AssertReads(0, (int)world.Space.Length);
            ScrubFindings found = world.Scrub();
            Assert.Equal(blocks, world.Space.Counters.Damage.BlocksHealed);
            Assert.Equal(blocks, world.Reported(DiskFinding.Healed));
            Assert.Equal((sectors, 0L, 0L), ((int)found.MetadataHealed, found.BlocksLost, found.MetadataLost));
            Assert.True(world.Scrub().IsClean);
            for (int copy = 0; copy < copies; copy++)
            {
                world.AssertCopy(copy);
            }

            done += blocks + sectors;
            world.World.Release();
        }

        TestContext.Current.SendDiagnosticMessage(string.Create(CultureInfo.InvariantCulture, $"{done} bytes flipped"));
        Assert.True(done >= s_positions / 2);
    }

    [Theory]
    [InlineData(1, 2)]
    [InlineData(1, 3)]
    public void Flipped_on_every_copy_a_block_alone_is_lost(int columns, int copies)
    {
        ScrubWorld origin = ScrubWorld.New(columns, copies, checksums: true, seed: 6);
        Random random = new(copies);
        for (int round = 0; round < 20; round++)
        {
            ScrubWorld world = origin.Opened((SpaceWorld)origin.World.Fork((ulong)round + 100));
            HashSet<int> lost = [];
            foreach (int block in world.Written)
            {
                if (random.Next(8) == 0)
                {
                    lost.Add(block);
                    for (int copy = 0; copy < copies; copy++)
                    {
                        world.Flip(copy, (long)block * Block);
                    }
                }
            }

            Assert.Equal(lost.Count, world.Scrub().BlocksLost);
            foreach (int block in world.Written)
            {
                if (lost.Contains(block))
                {
                    Assert.Equal(IoError.Io, world.Read(block * Block, Block, out byte[] _));
                }
                else
                {
                    world.AssertReads(block * Block, Block);
                }
            }

            world.World.Release();
        }
    }
}
