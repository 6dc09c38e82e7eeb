using System.Buffers.Binary;
using System.Text;

namespace TierSpaces.Engine.Devices.Identity;

/// <summary>Reads what the system knows of block devices (sysfs, mounts). The roots are parameters for tests.</summary>
internal sealed class BlockDevices(string sysRoot = "/sys", string procRoot = "/proc")
{
    private const int SectorMax = 4096;

    /// <summary>Returns the properties of a device. A device that sysfs does not know cannot be pooled.</summary>
    internal BlockDeviceFacts Describe(uint major, uint minor)
    {
        if (SysfsNode.Find(sysRoot, major, minor) is not { } node)
        {
            return Unknown($"{major}:{minor}");
        }

        BusType bus = BusDetector.Detect(node);
        MediaType media = Media(node, bus);
        PoolingObstacles obstacles = new(procRoot);
        PoolingObstacle obstacle = obstacles.Find(node, bus);
        DiskIdentity identity = new(
            Uri: "",
            DeviceKey: "",
            SizeBytes: 0,
            Sector(node, "queue/logical_block_size"),
            Sector(node, "queue/physical_block_size"),
            media,
            bus,
            SpindleSpeed(node, media),
            node.Read("queue/write_cache") != "write through",
            Serial(node),
            node.Read("device/model"),
            node.Read("device/vendor") is { } vendor && !vendor.StartsWith("0x", StringComparison.Ordinal) ? vendor : string.Empty,
            FirstOf(node, "device/rev", "device/firmware_rev", "device/fwrev"),
            obstacle.Reason)
        {
            Hardware = Hardware.OfNode(node),
            Incarnation = IncarnationOf(node),
            Slot = EnclosureFinder.Find(node, sysRoot),
            CannotPoolKind = obstacle.Kind,
            IfForced = PoolingObstacles.IsRaid(node) ? obstacles.FindBesidesRaid(node, bus) : null,
        };
        return new BlockDeviceFacts(node.Name, identity) { Range = Hardware.RangeOf(node) };
    }

    /// <summary>
    /// Incarnation of the disk below a file: the number that the kernel gives a disk each time it is attached. 0 when unknown, as for a file system in memory.
    /// </summary>
    internal ulong IncarnationBelow(uint major, uint minor) => SysfsNode.Find(sysRoot, major, minor) is { } node ? IncarnationOf(node) : 0;

    /// <summary>Unit that the disk below a file writes at once, 512 or 4096; 0 when unknown.</summary>
    internal int PhysicalSectorBelow(uint major, uint minor) =>
        SysfsNode.Find(sysRoot, major, minor) is { } node ? Sector(node, "queue/physical_block_size") : 0;

    private static BlockDeviceFacts Unknown(string number) => new(number, new DiskIdentity(
        "", "", 0, 512, 512, MediaType.Unspecified, BusType.Unknown, BlockDeviceFacts.UnknownSpindleSpeed, true, "", "", "", "",
        $"the system tells nothing of device {number}"));

    private static ulong IncarnationOf(SysfsNode node) => (ulong)Math.Max(0, node.ReadNumber("diskseq", 0));

    private static MediaType Media(SysfsNode node, BusType bus) => bus switch
    {
        BusType.SCM => MediaType.SCM,
        BusType.NVMe => MediaType.SSD,
        _ => node.Read("queue/rotational") switch
        {
            "1" => MediaType.HDD,
            "0" => MediaType.SSD,
            _ => MediaType.Unspecified,
        },
    };

    private static int Sector(SysfsNode node, string attribute) => node.ReadNumber(attribute, 512) >= SectorMax ? SectorMax : 512;

    /// <summary>From the SCSI block device characteristics page, where the disk has one.</summary>
    private static uint SpindleSpeed(SysfsNode node, MediaType media)
    {
        const int rateOffset = 4;
        if (media is MediaType.SSD or MediaType.SCM)
        {
            return 0;
        }

        byte[] page = node.ReadBytes("device/vpd_pgb1");
        ushort rate = page.Length >= rateOffset + 2 ? BinaryPrimitives.ReadUInt16BigEndian(page.AsSpan(rateOffset)) : (ushort)0;
        return rate is > 0x400 and < 0xffff ? rate : BlockDeviceFacts.UnknownSpindleSpeed;
    }

    private static string Serial(SysfsNode node)
    {
        const int headerLength = 4;
        byte[] page = node.ReadBytes("device/vpd_pg80");   // SCSI unit serial number
        string fromPage = page.Length > headerLength ? Encoding.ASCII.GetString(page, headerLength, page.Length - headerLength).Trim('\0', ' ') : "";
        return fromPage.Length > 0 ? fromPage : FirstOf(node, "device/serial", "serial", "device/wwid", "wwid");
    }

    private static string FirstOf(SysfsNode node, params string[] attributes) =>
        attributes.Select(node.Read).FirstOrDefault(text => text.Length > 0) ?? string.Empty;
}
