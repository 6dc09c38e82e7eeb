using TierSpaces.Engine.Devices.Identity;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tests.Management;

public sealed class ReliabilityTests
{
    private const long Mebibyte = 1 << 20;
    private readonly SubsystemWorld _world = new(seed: 3);
    private readonly Guid _disk;

    public ReliabilityTests()
    {
        _world.NewPool(3);
        _disk = _world.NewMirror("d", 4 * Mebibyte);
        _world.Restart();
    }

    [Fact]
    public void What_a_disk_did_wrong_is_counted_for_that_disk_and_kept_over_a_restart()
    {
        (int number, Guid id) = Damage(3);
        _world.Run(_world.Subsystem.Repairs.RepairAsync(_disk));

        DiskReliability counted = Of(id);
        Assert.Equal((3L, 3L, 0L), (counted.ChecksumMismatches, counted.BlocksHealed, counted.BlocksLost));
        Assert.All(Disks().Where((_, i) => i != number), other => Assert.Equal(0, Of(other.UniqueId).ChecksumMismatches));
        _world.Restart();
        Assert.Equal(counted, Of(id) with { ReadNsMax = counted.ReadNsMax, WriteNsMax = counted.WriteNsMax, FlushNsMax = counted.FlushNsMax });
        Assert.True(Of(id).ReadNsMax >= counted.ReadNsMax && counted.ReadNsMax > 0);
    }

    [Fact]
    public void Rot_in_the_records_of_the_pool_is_healed_by_a_repair_and_counted_for_its_disk()
    {
        PhysicalDiskStatus victim = Disks()[1];
        _world.Disks[1].Media.Corrupt(DiskLayout.LabelA + 20, sector =>
        {
            sector[20] ^= 1;
            return sector;
        });
        Assert.Equal(1, _world.Run(_world.Subsystem.Repairs.RepairAsync(_disk)).Found!.Healed);

        Assert.Equal((1L, 1L), (Of(victim.UniqueId).ChecksumMismatches, Of(victim.UniqueId).BlocksHealed));
        Assert.Equal(0, _world.Run(_world.Subsystem.Repairs.RepairAsync(_disk)).Found!.Healed);
    }

    [Fact]
    public void Failed_reads_are_counted_and_end_with_a_reset()
    {
        (int number, Guid id) = Damage(0);
        _world.Disks[number].ReadFails = (_, length) => length == 65536;   // a stride of the repair
        _world.Run(_world.Subsystem.Repairs.RepairAsync(_disk));
        long errors = Of(id).ReadErrors;
        Assert.True(errors > 0);
        _world.Disks[number].ReadFails = null;

        Assert.Equal(new DiskReliability(), _world.Run(_world.Subsystem.Reliability.ResetAsync(id)));
        Assert.Equal(0, Of(id).ReadErrors);
        _world.Disks[number].ReadFails = (_, length) => length == 65536;
        _world.Run(_world.Subsystem.Repairs.RepairAsync(_disk));
        Assert.Equal(errors, Of(id).ReadErrors);
        _world.Restart();
        Assert.Equal(errors, Of(id).ReadErrors);
    }

    [Fact]
    public void A_disk_that_is_not_there_is_refused() => Assert.Equal(
        ManagementError.ObjectNotFound, Assert.Throws<ManagementException>(() => _world.Run(_world.Subsystem.Reliability.GetAsync(Guid.Empty))).Error);

    [Theory]
    [InlineData("hwmon/hwmon3")]
    [InlineData("hwmon1")]
    public void The_temperature_is_what_the_hardware_monitor_says(string monitor)
    {
        string root = Directory.CreateTempSubdirectory("sysfs").FullName;
        string folder = Path.Combine(root, "class/block/sdz/device", monitor);
        Directory.CreateDirectory(folder);
        File.WriteAllText(Path.Combine(folder, "temp1_input"), "41850\n");

        Assert.Equal(((byte?)41, (byte?)null), DiskSensors.Temperature("/dev/sdz", root));
        Assert.Equal(((byte?)null, (byte?)null), DiskSensors.Temperature("/dev/sdy", root));
        Directory.Delete(root, recursive: true);
    }

    /// <summary>Flips so many blocks of the second copy; the disk it is on.</summary>
    private (int Number, Guid Id) Damage(int blocks)
    {
        PhysicalExtent extent = _world.Run(_world.Subsystem.Placements.ExtentsAsync(_disk, null)).First(extent => extent.Copy == 1);
        int number = Array.FindIndex(Disks(), disk => disk.UniqueId == extent.PhysicalDisk);
        for (int i = 0; i < blocks; i++)
        {
            _world.Disks[number].Media.Corrupt(extent.PhysicalOffset + (i * 8192), sector =>
            {
                sector[77] ^= 4;
                return sector;
            });
        }

        return (number, extent.PhysicalDisk);
    }

    private PhysicalDiskStatus[] Disks() => _world.Run(_world.Subsystem.PhysicalDisks.ListAsync());

    private DiskReliability Of(Guid disk) => _world.Run(_world.Subsystem.Reliability.GetAsync(disk));
}
