using System.Text.RegularExpressions;

namespace TierSpaces.Engine.Devices.Identity;

/// <summary>
/// Tells a volume of a RAID controller from a plain disk behind one. A volume hides its disks, their errors and their
/// order of writes, so it is not pooled; a disk that the controller passes through is.
/// </summary>
internal static partial class RaidControllers
{
    /// <summary>Drivers that show nothing but volumes.</summary>
    private static readonly HashSet<string> s_volumesOnly =
        ["megaraid", "megaraid_mbox", "3w-9xxx", "3w-sas", "3w-xxxx", "arcmsr", "ips", "cciss", "gdth", "dpt_i2o", "stex", "mvumi", "myrb", "myrs", "hptiop",
        "pmcraid", "ipr"];

    internal static bool IsVolume(SysfsNode node)
    {
        if (node.ScsiAddress is not { } address)
        {
            return false;
        }

        int channel = int.TryParse(address.Split(':')[1], out int number) ? number : int.MaxValue;
        string level = node.Read("device/raid_level");
        return Driver(node) switch
        {
            "megaraid_sas" => channel >= 2,                       // 0 and 1 are disks passed through
            "aacraid" => channel == 0,                            // containers; the others are disks
            "hpsa" or "smartpqi" => level is not ("" or "N/A"),   // disks have no level
            "mpt2sas" or "mpt3sas" or "mptsas" => IsIntegratedRaid(node),
            { } driver => s_volumesOnly.Contains(driver),
            null => false,
        };
    }

    /// <summary>Name of the driver of the SCSI host that a disk hangs from, or null.</summary>
    internal static string? Driver(SysfsNode node)
    {
        if (node.Ancestor(Host()) is not { } host)
        {
            return null;
        }

        string name = SysfsNode.ReadText(Path.Combine(host, "scsi_host", Path.GetFileName(host), "proc_name"));
        return name is "" or "(null)" or "<NULL>" ? DriverOfBus(host) : name;
    }

    private static string? DriverOfBus(string host)
    {
        string link = Path.Combine(Path.GetDirectoryName(host)!, "driver");
        return Directory.Exists(link) ? Path.GetFileName(Directory.ResolveLinkTarget(link, returnFinalTarget: true)?.FullName) : null;
    }

    private static bool IsIntegratedRaid(SysfsNode node) =>
        node.Read("device/vendor") == "LSILOGIC" || node.Read("device/model").Contains("Logical Volume", StringComparison.Ordinal);

    [GeneratedRegex(@"^host\d+$")]
    private static partial Regex Host();
}
