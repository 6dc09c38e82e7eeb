using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.VirtualDisks;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.VirtualDisks;

/// <summary>Virtual disks on members of 10 TB. Work is counted in requests to the members, which depend on what is written and not on the sizes.</summary>
public sealed class LargeDiskTests
{
    private const long MemberBytes = 10L << 40;
    private const long RequestsMax = 60_000;

    [Theory]
    [InlineData(ProvisioningType.Thin, 9L << 40, true, false)]
    [InlineData(ProvisioningType.Thin, 9L << 40, false, false)]
    [InlineData(ProvisioningType.Fixed, 8L << 40, true, false)]
    [InlineData(ProvisioningType.Thin, 16L << 40, true, true)]
    public void A_mirror_is_written_at_its_ends_and_at_odd_offsets_cut_repaired_and_unmapped(ProvisioningType provisioning, long bytes, bool checksums,
        bool isTiered)
    {
        PoolWorld world = PoolWorld.New(isTiered ? 4 : 3, MemberBytes, 4096, seed: 1);
        world.Lane.Run(world.CreatePool());
        Assert.Equal("", world.Lane.Run(world.CreateVirtualDisk(Spec(provisioning, bytes, checksums, isTiered))));
        Assert.Equal(bytes, world.Store.Geometry.Length);
        int most = world.Store.Geometry.MaxTransfer;
        long[] offsets = [512, (bytes / 3 / 4096 * 4096) + 1536, bytes - most - 512, bytes - 512];
        int[] lengths = [most, most, most, 512];
        for (int i = 0; i < offsets.Length; i++)
        {
            Write(world, offsets[i], lengths[i], i);
        }

        Assert.Equal(IoError.None, world.Lane.Run(world.Store.Flush()));
        world = world.Cut(2, static (_, _, _) => false);
        Assert.Equal("", world.Lane.Run(world.Open()));
        for (int i = 0; i < offsets.Length; i++)
        {
            Holds(world, offsets[i], lengths[i], i);
        }

        int[] disks = [.. world.Pool!.State.Space(world.VirtualDisk!.Description.Parts[0].DataSpace)!.EnumerateRows().First().Row.Mapping.Sources.ToArray()
            .Select(static slab => slab.Disk.Value - 1)];
        world.Disks[disks[1]].Pulled = true;
        Write(world, offsets[0], 4096, 7);
        Assert.Equal("", world.Lane.Run(world.Return(disks[1])));
        long before = world.Disks.Sum(static disk => disk.Requests);
        Assert.Equal(RepairEnd.Done, world.Lane.Run(world.Spaces.Resync(new SimPacer(world.Lane))));
        Assert.InRange(world.Disks.Sum(static disk => disk.Requests) - before, 1, RequestsMax);
        Assert.False(world.IsDegraded);
        Assert.Equal(IoError.None, world.Lane.Run(world.Store.Flush()));
        PoolWorld without = world.Cut(3, static (_, _, _) => false);
        without.Disks[disks[0]].Pulled = true;
        Assert.Equal("", without.Lane.Run(without.Open()));
        Holds(without, offsets[0], 4096, 7);

        Assert.Equal(IoError.None, world.Lane.Run(world.Store.Unmap(0, 1 << 20)));
        Assert.Equal(IoError.None, world.Lane.Run(world.Store.Flush()));
        IoBuffer zeros = Read(world, 0, 4096);
        Assert.False(zeros.Span.ContainsAnyExcept((byte)0));
        world.Lane.Buffers.Return(zeros);
        Holds(world, offsets[3], lengths[3], 3);
        Assert.InRange(world.Disks.Sum(static disk => disk.Requests), 1, RequestsMax);
    }

    private static VirtualDiskDescription Spec(ProvisioningType provisioning, long bytes, bool checksums, bool isTiered) => new()
    {
        FriendlyName = "d",
        ResiliencySettingName = "Mirror",
        SizeBytes = bytes,
        NumberOfColumns = 1,
        NumberOfDataCopies = 2,
        Interleave = 256 << 10,
        LogicalSectorSize = 512,
        ProvisioningType = provisioning,
        Checksum = checksums ? ChecksumKind.CRC32C : ChecksumKind.None,
        SliceSize = 1 << 20,
        Tiers = isTiered ? [Tier("fast", bytes / 4), Tier("slow", bytes / 4 * 3)] : [],
    };

    private static TierDescription Tier(string name, long bytes) => new()
    {
        FriendlyName = name,
        MediaTypeCode = 0,
        ResiliencySettingName = "Mirror",
        SizeBytes = bytes,
        NumberOfColumns = 1,
        NumberOfDataCopies = 2,
        Interleave = 256 << 10,
    };

    private static void Write(PoolWorld world, long offset, int length, int seed)
    {
        IoBuffer buffer = world.Lane.Buffers.Rent(length);
        new Random(seed).NextBytes(buffer.Span);
        Assert.Equal(IoError.None, world.Lane.Run(world.Store.Write(offset, buffer, WriteFlags.None)));
        world.Lane.Buffers.Return(buffer);
    }

    private static IoBuffer Read(PoolWorld world, long offset, int length)
    {
        IoBuffer buffer = world.Lane.Buffers.Rent(length);
        Assert.Equal(IoError.None, world.Lane.Run(world.Store.Read(offset, buffer)));
        return buffer;
    }

    private static void Holds(PoolWorld world, long offset, int length, int seed)
    {
        byte[] expected = new byte[length];
        new Random(seed).NextBytes(expected);
        IoBuffer buffer = Read(world, offset, length);
        Assert.True(buffer.Span.SequenceEqual(expected), $"at {offset}");
        world.Lane.Buffers.Return(buffer);
    }
}
