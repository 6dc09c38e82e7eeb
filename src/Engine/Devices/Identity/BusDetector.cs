using System.Text.RegularExpressions;

namespace TierSpaces.Engine.Devices.Identity;

/// <summary>Detects the bus of a disk from the chain of devices in its sysfs path.</summary>
internal static partial class BusDetector
{
    /// <summary>Rules in order: the first whose pattern is on the path decides.</summary>
    private static readonly (Regex Pattern, BusType Bus)[] s_rules =
    [
        (Session(), BusType.iSCSI),
        (RemotePort(), BusType.FibreChannel),
        (Usb(), BusType.USB),
        (Ata(), BusType.SATA),
        (Sas(), BusType.SAS),
        (Nvme(), BusType.NVMe),
        (Pmem(), BusType.SCM),
        (StackedDevice(), BusType.Spaces),
        (Mmc(), BusType.MMC),
        (Virtio(), BusType.Virtual),
        (ScsiHost(), BusType.SCSI),
        (VirtualDevice(), BusType.Virtual),
    ];

    internal static BusType Detect(SysfsNode node)
    {
        if (RaidControllers.IsVolume(node))
        {
            return BusType.RAID;
        }

        BusType bus = s_rules.FirstOrDefault(rule => rule.Pattern.IsMatch(node.DevicePath)).Bus;
        return bus == BusType.MMC && node.Read("device/type") == "SD" ? BusType.SD : bus;
    }

    [GeneratedRegex(@"/session\d+/")]
    private static partial Regex Session();

    [GeneratedRegex(@"/rport-")]
    private static partial Regex RemotePort();

    [GeneratedRegex(@"/usb\d+/")]
    private static partial Regex Usb();

    [GeneratedRegex(@"/ata\d+/")]
    private static partial Regex Ata();

    [GeneratedRegex(@"/(end_device-|port-)\d+:")]
    private static partial Regex Sas();

    [GeneratedRegex(@"/nvme\d+n\d+$|/nvme\d+c\d+n\d+$")]
    private static partial Regex Nvme();

    [GeneratedRegex(@"/pmem\d+(\.\d+)?s?$")]
    private static partial Regex Pmem();

    [GeneratedRegex(@"/virtual/block/(md|dm-)")]
    private static partial Regex StackedDevice();

    [GeneratedRegex(@"/mmc_host/")]
    private static partial Regex Mmc();

    [GeneratedRegex(@"/(virtio\d+|vbd-\d+)/")]
    private static partial Regex Virtio();

    [GeneratedRegex(@"/host\d+/")]
    private static partial Regex ScsiHost();

    [GeneratedRegex(@"^/devices/virtual/")]
    private static partial Regex VirtualDevice();
}
