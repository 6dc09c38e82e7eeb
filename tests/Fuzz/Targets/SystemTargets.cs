using System.Text;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Devices.Identity;

namespace TierSpaces.Fuzz.Targets;

/// <summary>
/// Facts of the system on block devices: a sysfs and a proc in a folder of their own, whose files hold the parts of the input. Files,
/// so it is the one target that touches the machine, and a slow one.
/// </summary>
internal sealed class SystemTargets : IDisposable
{
    private const char Separator = '\x1F';

    private static readonly string[] s_files =
    [
        "size", "ro", "removable", "dev", "queue/rotational", "queue/logical_block_size", "queue/physical_block_size", "queue/write_cache",
        "device/model", "device/vendor", "device/rev", "device/vpd_pgb1", "device/vpd_pg80", "device/serial", "device/type", "device/raid_level", "dm/name",
    ];

    private static readonly string[] s_paths =
    [
        "/pci0000:00/ata1/host0/target0:0:0/0:0:0:0/block/sda", "/pci0000:00/nvme/nvme0/nvme0n1", "/virtual/block/dm-0", "/virtual/block/loop3",
        "/pci0000:00/host1/target1:99999999999:0/1:99999999999:0:0/block/sdb",
    ];

    private readonly string _root = Path.Combine(Directory.Exists("/dev/shm") ? "/dev/shm" : Path.GetTempPath(), $"tierspaces-fuzz-{Environment.ProcessId}");
    private readonly HashSet<string> _made = [];

    internal SystemTargets()
    {
        string values = string.Join(
            Separator, "2097152", "0", "0", "8:0", "1", "512", "4096", "write back", "Disk", "ACME", "1.0", "\0\0\0\0\x1C\x20", "\0\0\0\x4ABCD", "S", "SD",
            "N/A", "lv");
        string system = string.Join(Separator, "25 1 8:0 / / rw - ext4 /dev/sda rw", "Filename Type\n/dev/sda2 partition 1 0 -2");
        All =
        [
            TextTargets.Text("system-files", Describe, [.. Enumerable.Range(0, s_paths.Length).Select(i => $"{i}{Separator}{values}{Separator}{system}")]) with
            {
                Weight = 1, AllocationBase = 2 << 20,
            },
        ];
    }

    internal IReadOnlyList<FuzzTarget> All { get; }

    /// <inheritdoc/>
    public void Dispose()
    {
        if (Directory.Exists(_root))
        {
            Directory.Delete(_root, recursive: true);
        }
    }

    private string Describe(string text)
    {
        string[] parts = text.Split(Separator);
        string device = s_paths[parts[0].Length > 0 ? parts[0][0] % s_paths.Length : 0];
        string folder = Path.Combine(_root, "sys/devices", device[1..]);
        for (int i = 0; i < s_files.Length; i++)
        {
            Write(Path.Combine(folder, s_files[i]), parts.ElementAtOrDefault(i + 1));
        }

        Write(Path.Combine(_root, "proc/self/mountinfo"), parts.ElementAtOrDefault(s_files.Length + 1));
        Write(Path.Combine(_root, "proc/swaps"), parts.ElementAtOrDefault(s_files.Length + 2));
        string link = Path.Combine(_root, "sys/dev/block/8:0");
        Write(Path.Combine(_root, "sys/dev/block/none"), "");
        if (new FileInfo(link).LinkTarget is not null)
        {
            File.Delete(link);
        }

        File.CreateSymbolicLink(link, folder);
        DiskIdentity facts = new BlockDevices(Path.Combine(_root, "sys"), Path.Combine(_root, "proc")).Describe(8, 0).Identity;
        string reason = facts.CannotPoolReason;
        return $"{facts.BusType} {facts.MediaType} {facts.SpindleSpeed > 0} {facts.SerialNumber.Length > 0} {reason[..Math.Min(20, reason.Length)]}";
    }

    private void Write(string path, string? text)
    {
        string folder = Path.GetDirectoryName(path)!;
        if (_made.Add(folder))
        {
            Directory.CreateDirectory(folder);
        }

        if (text is null)
        {
            File.Delete(path);
        }
        else
        {
            File.WriteAllBytes(path, Encoding.Latin1.GetBytes(text));
        }
    }
}
