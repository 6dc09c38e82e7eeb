using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Jobs;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.VirtualDisks;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.VirtualDisks;

/// <summary>Slabs move: off retired and lost disks, onto hot spares, and from full disks to empty ones.</summary>
public class SlabMoverTests
{
    private const int Mebibyte = 1 << 20;

    [Theory]
    [InlineData(1, true, ProvisioningType.Thin)]
    [InlineData(1, false, ProvisioningType.Thin)]
    [InlineData(2, true, ProvisioningType.Fixed)]
    [InlineData(2, false, ProvisioningType.Thin)]
    [InlineData(3, true, ProvisioningType.Thin)]
    public void A_retired_disk_is_drained_and_can_be_removed(int copies, bool checksums, ProvisioningType provisioning)
    {
        PoolWorld world = Create(copies, checksums, provisioning, disks: 5);
        byte[] data = Write(world, 6 * Mebibyte);
        DiskNumber disk = new(1);
        Assert.True(world.Pool!.State.Disks[disk].UsedSlabs > 0);
        Assert.Equal(CommitStatus.Refused, world.Lane.Run(world.Pool.RemoveDisk(disk)).Status);
        SetUsage(world, disk, DiskUsage.Retired);
        Regenerate(world);
        Assert.Equal(0u, world.Pool.State.Disks[disk].UsedSlabs);
        Assert.True(world.Lane.Run(world.Pool.RemoveDisk(disk)).Succeeded);
        Assert.Equal(data, Read(world, data.Length));
        CheckRows(world);
        ReadsAgain(world, data, without: copies > 1 ? 1 : -1);
    }

    [Theory]
    [InlineData(2, true)]
    [InlineData(3, false)]
    public void A_lost_disk_is_regenerated_on_a_hot_spare_and_another_may_go(int copies, bool checksums)
    {
        PoolWorld world = Create(copies, checksums, ProvisioningType.Thin, disks: copies + 2);
        DiskNumber spare = new((ushort)(copies + 2));
        SetUsage(world, spare, DiskUsage.HotSpare);
        byte[] data = Write(world, 4 * Mebibyte);
        uint before = world.Pool!.State.Disks[spare].UsedSlabs;
        world.Disks[0].Pulled = true;
        data = Write(world, data.Length);
        Assert.NotEmpty(new SlabMover(world.Pool, world.VirtualDisk!).Plan(givesUpMissing: true));
        Regenerate(world);
        Assert.Equal(0u, world.Pool.State.Disks[new DiskNumber(1)].UsedSlabs);
        Assert.False(world.IsDegraded);
        Assert.True(copies > 2 || world.Pool.State.Disks[spare].UsedSlabs >= before);
        CheckRows(world);
        ReadsAgain(world, data, without: 1);
        ReadsAgain(world, data, without: 2);
    }

    [Fact]
    public void Without_a_spare_a_missing_disk_is_waited_for_and_a_policy_decides()
    {
        PoolWorld world = Create(2, checksums: true, ProvisioningType.Thin, disks: 4);
        Write(world, 2 * Mebibyte);
        world.Disks[0].Pulled = true;
        Write(world, 2 * Mebibyte);
        SlabMover mover = new(world.Pool!, world.VirtualDisk!);
        Assert.Empty(mover.Plan(givesUpMissing: true));
        PoolDescription pool = world.Pool!.State.Pool! with { RetireMissingPhysicalDisks = RetireMissingPhysicalDisks.Always };
        Assert.True(world.Lane.Run(world.Pool.Commit(new PoolChanged(pool))).Succeeded);
        Assert.NotEmpty(mover.Plan(givesUpMissing: true));
    }

    [Fact]
    public void What_does_not_fit_anywhere_stays_and_nothing_is_lost()
    {
        PoolWorld world = Create(2, checksums: true, ProvisioningType.Thin, disks: 2);
        byte[] data = Write(world, 2 * Mebibyte);
        SetUsage(world, new DiskNumber(1), DiskUsage.Retired);
        RegenerateStep step = Regenerate(world);
        Assert.Contains("could not", step.Outcome);
        Assert.Equal(data, Read(world, data.Length));
        ReadsAgain(world, data, without: -1);
    }

    [Fact]
    public void Rebalance_fills_a_new_disk_and_then_has_nothing_to_do()
    {
        PoolWorld world = Create(2, checksums: true, ProvisioningType.Thin, disks: 5);
        SetUsage(world, new DiskNumber(5), DiskUsage.Retired);
        byte[] data = Write(world, 24 * Mebibyte);
        SetUsage(world, new DiskNumber(5), DiskUsage.AutoSelect);
        VirtualDiskDescription[] disks = [world.VirtualDisk!.Description];
        int moves = 0;
        while (RebalancePlanner.Next(world.Pool!, disks) is { } next)
        {
            Assert.Equal(RepairEnd.Done, world.Lane.Run(new SlabMover(world.Pool!, world.VirtualDisk!).Move(next.Move, [next.To], new SimPacer(world.Lane))));
            Assert.True(++moves < 100, "never ends");
        }

        Assert.True(moves > 3);
        uint[] used = [.. world.Pool!.State.Disks.Values.Select(disk => disk.UsedSlabs)];
        Assert.True(used.Max() - used.Min() <= 1, string.Join(',', used));
        Assert.Equal(moves, world.VirtualDisk!.Space.Counters.Rows.SlabsMoved);
        CheckRows(world);
        ReadsAgain(world, data, without: 4);
    }

    // Both copies of a row move, one after the other; the commit of the first names the place that the second is about to leave.
    [Fact]
    public void A_slab_that_was_left_is_given_to_nobody_before_it_is_punched()
    {
        PoolWorld world = Create(2, true, ProvisioningType.Thin, disks: 5);
        Write(world, Mebibyte);
        Pool pool = world.Pool!;
        SlabRef[] row = pool.State.Space(world.VirtualDisk!.Description.DataSpace)!.Row(0)!.Mapping.Sources.ToArray();
        DiskNumber[] targets = [.. pool.State.Disks.Keys.Where(disk => Array.TrueForAll(row, slab => slab.Disk != disk))];
        SimDisk left = world.Disks[row[1].Disk.Value - 1];
        long start = pool.Layout(row[1].Disk).SlabOffset(row[1].Slab);
        bool isPunching = false;
        SlabMover mover = new(pool, world.VirtualDisk);
        LaneTask<RepairEnd> first = mover.Move(new SlabMove(0, 0, row[0].Disk), [targets[0]], new SimPacer(world.Lane));
        LaneTask<RepairEnd> second = mover.Move(new SlabMove(0, 1, row[1].Disk), [targets[1]], new SimPacer(world.Lane));
        Assert.Equal(RepairEnd.Done, world.Lane.Run(first));
        left.WriteTakesLonger = (offset, _) => offset == start && (isPunching = true) ? 3_000_000_000 : 0;
        world.Lane.PumpWhile(() => !isPunching, 10_000_000_000);
        List<SlabRef> given = [];
        while (pool.Allocator.TryReserveRow(1, 1, new AllocationPreferences { AllowedDisks = [row[1].Disk] }, out SlabRef[] slab, out _))
        {
            given.AddRange(slab);
        }

        Assert.DoesNotContain(row[1], given);
        Assert.Equal(RepairEnd.Done, world.Lane.Run(second));
        Assert.True(pool.Allocator.TryReserveRow(1, 1, new AllocationPreferences { AllowedDisks = [row[1].Disk] }, out SlabRef[] next, out _));
        Assert.Equal(row[1], Assert.Single(next));
    }

    private static PoolWorld Create(int copies, bool checksums, ProvisioningType provisioning, int disks)
    {
        PoolWorld world = PoolWorld.New(disks, 96 * Mebibyte, 4096, seed: (ulong)((disks * 8) + (copies * 2) + (checksums ? 1 : 0)));
        Assert.Equal("", world.Lane.Run(world.Create(new VirtualDiskDescription
        {
            FriendlyName = "d",
            ResiliencySettingName = copies == 1 ? "Simple" : "Mirror",
            SizeBytes = 32 * Mebibyte,
            NumberOfColumns = 1,
            NumberOfDataCopies = (ushort)copies,
            Interleave = 64 << 10,
            LogicalSectorSize = 4096,
            ProvisioningType = provisioning,
            Checksum = checksums ? ChecksumKind.CRC32C : ChecksumKind.None,
        })));
        return world;
    }

    private static void SetUsage(PoolWorld world, DiskNumber disk, DiskUsage usage) => Assert.True(
        world.Lane.Run(world.Pool!.Commit(new DiskChanged(world.Pool.State.Disks[disk].Description with { Usage = usage }))).Succeeded);

    private static RegenerateStep Regenerate(PoolWorld world)
    {
        OpenVirtualDisk disk = world.VirtualDisk!;
        RegenerateStep step = new(new SlabMover(world.Pool!, disk), () => (disk.Fault, disk.FaultReason), world.Pool!.Slabs.DataBytes)
        {
            GivesUpMissing = true,
        };
        for (long cursor = 0; ;)
        {
            JobAdvance advance = world.Lane.Run(step.Advance(cursor));
            Assert.Equal(IoError.None, advance.Error);
            cursor = advance.Cursor;
            if (advance.IsDone)
            {
                return step;
            }
        }
    }

    /// <summary>The copies of every column lie on distinct disks.</summary>
    private static void CheckRows(PoolWorld world) => Assert.All(
        world.Pool!.State.Spaces.Values.SelectMany(space => space.EnumerateRows()),
        row => Assert.Equal(row.Row.Mapping.Sources.Length, row.Row.Mapping.Sources.ToArray().Select(slab => slab.Disk).Distinct().Count()));

    private static void ReadsAgain(PoolWorld world, byte[] expected, int without)
    {
        Assert.Equal(IoError.None, world.Lane.Run(world.VirtualDisk!.Disk.Flush()));
        PoolWorld again = world.Cut(77, (_, _, _) => false);
        if (without >= 0)
        {
            again.Disks[without].Pulled = true;
        }

        Assert.Equal("", again.Lane.Run(again.Open()));
        Assert.Equal(expected, Read(again, expected.Length));
    }

    private static byte[] Write(PoolWorld world, int length)
    {
        byte[] data = new byte[length];
        new Random(length ^ (int)world.Lane.Steps).NextBytes(data);
        IoBuffer buffer = world.Lane.Buffers.Rent(length);
        data.CopyTo(buffer.Span);
        Assert.Equal(IoError.None, world.Lane.Run(world.VirtualDisk!.Disk.Write(0, buffer, WriteFlags.None)));
        world.Lane.Buffers.Return(buffer);
        Assert.Equal(IoError.None, world.Lane.Run(world.VirtualDisk.Disk.Flush()));
        return data;
    }

    private static byte[] Read(PoolWorld world, int length)
    {
        IoBuffer buffer = world.Lane.Buffers.Rent(length);
        Assert.Equal(IoError.None, world.Lane.Run(world.VirtualDisk!.Disk.Read(0, buffer)));
        byte[] data = buffer.Span.ToArray();
        world.Lane.Buffers.Return(buffer);
        return data;
    }
}
