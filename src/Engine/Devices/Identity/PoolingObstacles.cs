namespace TierSpaces.Engine.Devices.Identity;

/// <summary>Finds the reason why a block device may not be pooled, from the system's data about it. The most telling reason comes first.</summary>
internal sealed class PoolingObstacles(string procRoot)
{
    /// <summary>Returns the reason, or <see cref="PoolingObstacle.None"/>.</summary>
    internal PoolingObstacle Find(SysfsNode node, BusType bus) => Of(Stacked(node), CannotPoolKind.Other) ?? FindBesidesRaid(node, bus);

    /// <summary>Returns the reason that is left if the user accepts that the disk is a RAID itself.</summary>
    internal PoolingObstacle FindBesidesRaid(SysfsNode node, BusType bus) =>
        Of(Remote(node, bus), CannotPoolKind.Other) ?? Unfit(node) ?? Used(node) ?? PoolingObstacle.None;

    /// <summary>Whether the disk is a volume of a RAID controller, of md or of device-mapper.</summary>
    internal static bool IsRaid(SysfsNode node) => Stacked(node) is not null;

    private static PoolingObstacle? Of(string? reason, CannotPoolKind kind) => reason is null ? null : new PoolingObstacle(reason, kind);

    private static string? Stacked(SysfsNode node)
    {
        string name = node.DiskName;
        if (name.StartsWith("md", StringComparison.Ordinal))
        {
            return $"{name} is a Linux software RAID (md); pool its member disks instead";
        }

        if (name.StartsWith("dm-", StringComparison.Ordinal))
        {
            string mapped = node.Read("dm/name");
            return $"{name} is a device-mapper volume{(mapped.Length > 0 ? $" ({mapped})" : "")}; pool the disks below it instead";
        }

        return RaidControllers.IsVolume(node)
            ? $"{name} is a volume of a RAID controller ({RaidControllers.Driver(node)}); set the controller to pass its disks through"
            : null;
    }

    private static string? Remote(SysfsNode node, BusType bus)
    {
        string name = node.DiskName;
        if (bus is BusType.iSCSI or BusType.FibreChannel)
        {
            return $"{name} is reached over {(bus == BusType.iSCSI ? "iSCSI" : "Fibre Channel")}; only local disks are pooled";
        }

        if (NvmeTransport(node) is { Length: > 0 } transport and not ("pcie" or "apple-nvme"))
        {
            return $"{name} is reached over NVMe over Fabrics ({transport}); only local disks are pooled";
        }

        return name.StartsWith("nbd", StringComparison.Ordinal)
            || name.StartsWith("rbd", StringComparison.Ordinal)
            || name.StartsWith("drbd", StringComparison.Ordinal)
            ? $"{name} is a network block device; only local disks are pooled"
            : null;
    }

    private static PoolingObstacle? Unfit(SysfsNode node)
    {
        string name = node.Name;
        if (name.StartsWith("zram", StringComparison.Ordinal) || name.StartsWith("ram", StringComparison.Ordinal))
        {
            return new PoolingObstacle($"{name} is memory and forgets everything at a restart", CannotPoolKind.Other);
        }

        if (SysfsNode.ReadText(Path.Combine(node.Folder, "size")) is "0" or "")
        {
            return new PoolingObstacle($"{name} has no medium", CannotPoolKind.RemovableMedia);
        }

        if (node.Read("ro") == "1")
        {
            return new PoolingObstacle($"{name} is read-only", CannotPoolKind.Offline);
        }

        return node.Read("removable") == "1" ? new PoolingObstacle($"{name} is a removable medium", CannotPoolKind.RemovableMedia) : null;
    }

    private PoolingObstacle? Used(SysfsNode node)
    {
        Dictionary<string, string> family = [];
        foreach (string folder in node.FamilyFolders)
        {
            family[SysfsNode.ReadText(Path.Combine(folder, "dev"))] = Path.GetFileName(folder);
        }

        foreach (string line in SysfsNode.ReadLines(Path.Combine(procRoot, "self/mountinfo")))
        {
            string[] fields = line.Split(' ');
            int dash = Array.IndexOf(fields, "-");
            string source = dash > 0 && dash + 2 < fields.Length ? fields[dash + 2] : string.Empty;
            string? used = fields.Length > 4 && family.TryGetValue(fields[2], out string? name) ? name : Named(family, source);
            if (used is not null)
            {
                return new PoolingObstacle(
                    $"{used} is mounted at {(fields.Length > 4 ? fields[4] : "a place the system does not name")}", CannotPoolKind.InsufficientCapacity);
            }
        }

        return SysfsNode.ReadLines(Path.Combine(procRoot, "swaps")).Select(line => Named(family, line.Split(' ', '\t')[0]))
            .FirstOrDefault(name => name is not null) is { } swap
            ? new PoolingObstacle($"{swap} is used for swapping", CannotPoolKind.InsufficientCapacity)
            : Of(Held(node), CannotPoolKind.ReservedBySubsystem) ?? Of(Partitioned(node), CannotPoolKind.InsufficientCapacity);
    }

    private static string? Held(SysfsNode node)
    {
        foreach (string folder in node.FamilyFolders)
        {
            string holders = Path.Combine(folder, "holders");
            if (Directory.Exists(holders) && Directory.EnumerateFileSystemEntries(holders).Order().FirstOrDefault() is { } holder)
            {
                return $"{Path.GetFileName(folder)} is used by {Path.GetFileName(holder)}";
            }
        }

        return null;
    }

    private static string? Partitioned(SysfsNode node)
    {
        string names = string.Join(", ", node.Partitions.Select(Path.GetFileName));
        return names.Length > 0 ? $"{node.Name} has partitions ({names}); remove them first" : null;
    }

    /// <summary>Transport of the controller behind an NVMe disk, also where the kernel joins several paths to it.</summary>
    private static string NvmeTransport(SysfsNode node)
    {
        if (!node.DiskName.StartsWith("nvme", StringComparison.Ordinal))
        {
            return string.Empty;
        }

        string parent = Path.GetDirectoryName(node.DiskFolder)!;
        string own = SysfsNode.ReadText(Path.Combine(parent, "transport"));
        return own.Length > 0
            ? own
            : Directory.EnumerateDirectories(parent, "nvme*")
                .Select(controller => SysfsNode.ReadText(Path.Combine(controller, "transport")))
                .FirstOrDefault(transport => transport.Length > 0) ?? string.Empty;
    }

    private static string? Named(Dictionary<string, string> family, string path) =>
        path.StartsWith("/dev/", StringComparison.Ordinal) && family.ContainsValue(path[5..]) ? path[5..] : null;
}
