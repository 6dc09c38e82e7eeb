using System.Text;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Devices.Identity;

namespace TierSpaces.Engine.Tests.Devices;

public sealed class BlockDevicesTests : IDisposable
{
    private const string SataPath = "pci0000:00/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0/block/sda";
    private const string SasPath = "pci0000:00/0000:03:00.0/host1/port-1:0/end_device-1:0/target1:0:0/1:0:0:0/block/sdb";

    private readonly FakeSystem _system = new();

    public void Dispose() => _system.Dispose();

    [Fact]
    public void A_SATA_disk_reports_all_its_properties()
    {
        _system.Disk("8:16", SataPath, "queue/rotational=1", "device/vendor=ATA     ", "device/model=ST4000VN008-2DR1", "device/rev=SC60");
        byte[] rate = new byte[64];
        rate[4] = 0x17;
        rate[5] = 0x5c;   // 5980
        _system.Bytes(SataPath, "device/vpd_pgb1", rate);
        _system.Bytes(SataPath, "device/vpd_pg80", [0, 0x80, 0, 8, .. Encoding.ASCII.GetBytes("  ZDH1AB")]);
        BlockDeviceFacts disk = _system.Describe(8, 16);
        Assert.Equal(
            new BlockDeviceFacts("sda", new DiskIdentity(
                "", "", 0, 512, 4096, MediaType.HDD, BusType.SATA, 5980, true, "ZDH1AB", "ST4000VN008-2DR1", "ATA", "SC60", "")),
            disk);
    }

    [Fact]
    public void An_NVMe_disk_is_flash_whatever_else_is_stated()
    {
        string path = "pci0000:00/0000:01:00.0/nvme/nvme0/nvme0n1";
        _system.Disk("259:0", path, "queue/physical_block_size=512", "queue/write_cache=write through", "device/model=Samsung SSD 990", "device/serial=S6Z",
            "device/firmware_rev=4B2Q", "device/transport=pcie");
        _system.Set("pci0000:00/0000:01:00.0/nvme/nvme0", "transport=pcie");
        Assert.Equal(
            new BlockDeviceFacts("nvme0n1", new DiskIdentity(
                "", "", 0, 512, 512, MediaType.SSD, BusType.NVMe, 0, false, "S6Z", "Samsung SSD 990", "", "4B2Q", "")),
            _system.Describe(259, 0));
    }

    [Fact]
    public void An_enclosure_tells_the_slots_of_its_disks()
    {
        const string enclosure = "pci0000:00/0000:03:00.0/host1/target1:0:9/1:0:9:0/enclosure/1:0:9:0";
        _system.Set("../class/enclosure/0:0:8:0", "of=another");
        _system.Set("../class/enclosure/1:0:9:0", "of=this");
        _system.Disk("8:32", SasPath, $"device/enclosure_device:Slot 05=@devices/{enclosure}/Slot 05");
        _system.Set(enclosure, "id=0x500304801f3a", "Slot 05/slot=5");
        Assert.Equal(new EnclosureSlot("0x500304801f3a", 1, 5), _system.Describe(8, 32).Identity.Slot);
        _system.Disk("8:48", SasPath.Replace("sdb", "sdx", StringComparison.Ordinal).Replace("1:0:0:0", "1:0:1:0", StringComparison.Ordinal), "device/model=X");
        Assert.Null(_system.Describe(8, 48).Identity.Slot);
    }

    [Theory]
    [InlineData("pci0000:00/0000:00:02.0/virtio1/block/vda", BusType.Virtual)]
    [InlineData("pci0000:00/0000:00:14.0/usb2/2-1/2-1:1.0/host4/target4:0:0/4:0:0:0/block/sdc", BusType.USB)]
    [InlineData(SasPath, BusType.SAS)]
    [InlineData("pci0000:00/0000:00:05.0/host3/target3:0:0/3:0:0:0/block/sdd", BusType.SCSI)]
    [InlineData("platform/LNXSYSTM:00/ndbus0/region0/namespace0.0/block/pmem0", BusType.SCM)]
    [InlineData("virtual/block/loop3", BusType.Virtual)]
    [InlineData("virtual/nvme-subsystem/nvme-subsys0/nvme0n1", BusType.NVMe)]
    [InlineData("pci0000:00/0000:00:1a.0/mmc_host/mmc0/mmc0:0001/block/mmcblk0", BusType.MMC)]
    public void Local_buses_are_reported(string path, BusType bus)
    {
        _system.Disk("8:32", path);
        DiskIdentity disk = _system.Describe(8, 32).Identity;
        Assert.Equal(bus, disk.BusType);
        Assert.Empty(disk.CannotPoolReason);
    }

    [Fact]
    public void Sector_sizes_are_those_of_the_system_and_at_most_4096()
    {
        _system.Disk("8:0", SataPath, "queue/logical_block_size=4096", "queue/physical_block_size=16384");
        DiskIdentity disk = _system.Describe(8, 0).Identity;
        Assert.Equal((4096, 4096), (disk.LogicalSectorSize, disk.PhysicalSectorSize));
    }

    [Theory]
    [InlineData("virtual/block/md127", "md127 is a Linux software RAID")]
    [InlineData("virtual/block/dm-3", "dm-3 is a device-mapper volume")]
    [InlineData("platform/host5/session2/target5:0:0/5:0:0:1/block/sde", "sde is reached over iSCSI")]
    [InlineData("pci0000:00/0000:05:00.0/host6/rport-6:0-2/target6:0:0/6:0:0:0/block/sdf", "sdf is reached over Fibre Channel")]
    [InlineData("virtual/block/nbd0", "nbd0 is a network block device")]
    [InlineData("virtual/block/zram0", "zram0 is memory")]
    public void A_device_that_is_no_local_disk_is_not_pooled(string path, string reason)
    {
        _system.Disk("8:48", path);
        Assert.StartsWith(reason, _system.Describe(8, 48).Identity.CannotPoolReason);
    }

    [Fact]
    public void NVMe_over_fabrics_is_not_pooled_also_behind_a_multipath_head()
    {
        _system.Disk("259:1", "virtual/nvme-subsystem/nvme-subsys1/nvme1n1");
        _system.Set("virtual/nvme-subsystem/nvme-subsys1/nvme1", "transport=tcp");
        Assert.Contains("NVMe over Fabrics (tcp)", _system.Describe(259, 1).Identity.CannotPoolReason);
    }

    [Theory]
    [InlineData("megaraid_sas", "0:2:0:0", "", true)]
    [InlineData("megaraid_sas", "0:0:5:0", "", false)]
    [InlineData("megaraid_sas", "0:99999999999:5:0", "", true)]
    [InlineData("hpsa", "0:1:0:0", "RAID 1(+0)", true)]
    [InlineData("hpsa", "0:0:0:0", "N/A", false)]
    [InlineData("smartpqi", "0:1:0:0", "RAID-5", true)]
    [InlineData("aacraid", "0:0:0:0", "", true)]
    [InlineData("aacraid", "0:1:4:0", "", false)]
    [InlineData("3w-9xxx", "0:0:0:0", "", true)]
    [InlineData("ahci", "0:0:0:0", "", false)]
    public void Volumes_of_RAID_controllers_are_not_pooled_and_their_plain_disks_are(string driver, string address, string level, bool isVolume)
    {
        string host = "pci0000:00/0000:02:00.0/host0";
        string path = $"{host}/target{address[..5]}/{address}/block/sda";
        _system.Disk("8:0", path, $"device/raid_level={level}");
        _system.Set(host, $"scsi_host/host0/proc_name={driver}");
        DiskIdentity disk = _system.Describe(8, 0).Identity;
        Assert.Equal(isVolume ? BusType.RAID : BusType.SCSI, disk.BusType);
        Assert.Equal(isVolume, disk.CannotPoolReason.Contains($"volume of a RAID controller ({driver})"));
        Assert.Equal(isVolume, disk.CannotPoolReason.Length > 0);
    }

    [Fact]
    public void The_driver_is_found_on_the_bus_where_the_host_does_not_name_it()
    {
        string path = "pci0000:00/0000:02:00.0/host0/target0:2:0/0:2:0:0/block/sda";
        _system.Disk("8:0", path);
        _system.Set("pci0000:00/0000:02:00.0", "driver=@bus/pci/drivers/megaraid_sas");
        Assert.Contains("megaraid_sas", _system.Describe(8, 0).Identity.CannotPoolReason);
    }

    [Fact]
    public void A_mounted_disk_or_partition_is_not_pooled()
    {
        _system.Disk("8:16", SataPath).Partition("8:17", SataPath, "sda1");
        Assert.Equal("sda has partitions (sda1); remove them first", _system.Describe(8, 16).Identity.CannotPoolReason);
        _system.Mounts("30 1 8:17 / /data rw,relatime shared:1 - ext4 /dev/sda1 rw");
        Assert.Equal("sda1 is mounted at /data", _system.Describe(8, 16).Identity.CannotPoolReason);
        Assert.Equal("sda1 is mounted at /data", _system.Describe(8, 17).Identity.CannotPoolReason);
        _system.Mounts("31 1 0:44 / /pool rw - btrfs /dev/sda rw");
        Assert.Equal("sda is mounted at /pool", _system.Describe(8, 16).Identity.CannotPoolReason);
        _system.Mounts("x - btrfs /dev/sda");
        Assert.Equal("sda is mounted at a place the system does not name", _system.Describe(8, 16).Identity.CannotPoolReason);
    }

    [Fact]
    public void A_free_partition_may_be_pooled_and_has_the_properties_of_its_disk()
    {
        _system.Disk("8:16", SataPath, "queue/rotational=1", "device/model=X").Partition("8:17", SataPath, "sda1");
        BlockDeviceFacts part = _system.Describe(8, 17);
        Assert.Equal(("sda1", MediaType.HDD, "X", ""), (part.Name, part.Identity.MediaType, part.Identity.Model, part.Identity.CannotPoolReason));
    }

    [Fact]
    public void Other_uses_are_named()
    {
        _system.Disk("8:16", SataPath).Partition("8:17", SataPath, "sda1").Swaps("/dev/sda1 partition 100 0 -2");
        Assert.Equal("sda1 is used for swapping", _system.Describe(8, 16).Identity.CannotPoolReason);
        _system.Swaps().Set(SataPath, "sda1/holders/dm-0=");
        Assert.Equal("sda1 is used by dm-0", _system.Describe(8, 16).Identity.CannotPoolReason);
    }

    [Theory]
    [InlineData("ro=1", "read-only", CannotPoolKind.Offline)]
    [InlineData("removable=1", "removable", CannotPoolKind.RemovableMedia)]
    [InlineData("size=0", "no medium", CannotPoolKind.RemovableMedia)]
    public void Unfit_disks_are_not_pooled(string attribute, string reason, CannotPoolKind kind)
    {
        _system.Disk("8:16", SataPath, attribute);
        Assert.Contains(reason, _system.Describe(8, 16).Identity.CannotPoolReason);
        Assert.Equal(kind, _system.Describe(8, 16).Identity.CannotPoolKind);
    }

    [Fact]
    public void Uses_have_the_documented_kinds()
    {
        _system.Disk("8:16", SataPath).Partition("8:17", SataPath, "sda1");
        Assert.Equal(CannotPoolKind.InsufficientCapacity, _system.Describe(8, 16).Identity.CannotPoolKind);
        _system.Set(SataPath, "sda1/holders/dm-0=");
        Assert.Equal(CannotPoolKind.ReservedBySubsystem, _system.Describe(8, 16).Identity.CannotPoolKind);
        _system.Mounts("30 1 8:17 / /data rw,relatime shared:1 - ext4 /dev/sda1 rw");
        Assert.Equal(CannotPoolKind.InsufficientCapacity, _system.Describe(8, 16).Identity.CannotPoolKind);
    }

    [Fact]
    public void An_accepted_RAID_is_pooled_unless_it_has_another_use()
    {
        _system.Disk("9:0", "virtual/block/md0");
        Assert.Equal(PoolingObstacle.None, _system.Describe(9, 0).Identity.IfForced);
        _system.Mounts("30 1 9:0 / /data rw,relatime shared:1 - ext4 /dev/md0 rw");
        Assert.Equal(new PoolingObstacle("md0 is mounted at /data", CannotPoolKind.InsufficientCapacity), _system.Describe(9, 0).Identity.IfForced);
        _system.Disk("8:16", SataPath);
        Assert.Null(_system.Describe(8, 16).Identity.IfForced);
    }

    [Fact]
    public void An_unknown_device_is_not_pooled() =>
        Assert.Contains("tells nothing of device 8:99", _system.Describe(8, 99).Identity.CannotPoolReason);
}
