using System.Text.RegularExpressions;

namespace TierSpaces.Engine.Devices.Identity;

/// <summary>
/// A block device in sysfs: its folder, the folder of the whole disk when it is a partition, and the chain of devices it
/// hangs from. The root is a parameter so that tests can build one.
/// </summary>
internal sealed partial class SysfsNode
{
    private SysfsNode(string folder, string root)
    {
        Folder = folder;
        IsPartition = Exists(Path.Combine(folder, "partition"));
        DiskFolder = IsPartition ? Path.GetDirectoryName(folder)! : folder;
        DevicePath = DiskFolder[root.Length..];
    }

    /// <summary>Folder of the device itself.</summary>
    internal string Folder { get; }

    /// <summary>Folder of the whole disk.</summary>
    internal string DiskFolder { get; }

    /// <summary>Path of the whole disk below the sysfs root, which names every bus it hangs from.</summary>
    internal string DevicePath { get; }

    internal bool IsPartition { get; }

    /// <summary>Kernel name of the device itself.</summary>
    internal string Name => Path.GetFileName(Folder);

    /// <summary>Kernel name of the whole disk.</summary>
    internal string DiskName => Path.GetFileName(DiskFolder);

    /// <summary>Folders of this device and, when it is a whole disk, of its partitions.</summary>
    internal IEnumerable<string> FamilyFolders => Partitions.Prepend(Folder);

    /// <summary>Folders of the partitions on a whole disk.</summary>
    internal IEnumerable<string> Partitions => IsPartition
        ? []
        : Directory.EnumerateDirectories(Folder).Where(child => Exists(Path.Combine(child, "partition"))).Order();

    /// <summary>The SCSI address (host:channel:target:unit) on its path, or null.</summary>
    internal string? ScsiAddress => ScsiAddressPattern().Match(DevicePath) is { Success: true } match ? match.Groups[1].Value : null;

    /// <summary>Finds a device by number; null where sysfs does not know it.</summary>
    internal static SysfsNode? Find(string root, uint major, uint minor)
    {
        string link = Path.Combine(root, "dev", "block", $"{major}:{minor}");
        string? target = Directory.Exists(link) ? Directory.ResolveLinkTarget(link, returnFinalTarget: true)?.FullName : null;
        return target is null ? null : new SysfsNode(target.TrimEnd('/'), root);
    }

    /// <summary>An attribute of the whole disk, trimmed; empty when absent.</summary>
    internal string Read(string attribute) => ReadText(Path.Combine(DiskFolder, attribute));

    /// <summary>A whole number among the disk's attributes, or <paramref name="otherwise"/>.</summary>
    internal long ReadNumber(string attribute, long otherwise) => long.TryParse(Read(attribute), out long value) ? value : otherwise;

    /// <summary>A binary attribute of the whole disk, empty when absent.</summary>
    internal byte[] ReadBytes(string attribute)
    {
        try
        {
            return ReadAll(Path.Combine(DiskFolder, attribute));
        }
        catch (Exception error) when (error is IOException or UnauthorizedAccessException)
        {
            return [];
        }
    }

    internal static string ReadText(string path)
    {
        try
        {
            return System.Text.Encoding.ASCII.GetString(ReadAll(path)).Trim('\0', ' ', '\n', '\t');
        }
        catch (Exception error) when (error is IOException or UnauthorizedAccessException)
        {
            return string.Empty;
        }
    }

    /// <summary>The lines of a file of proc; none when it cannot be read.</summary>
    internal static string[] ReadLines(string path)
    {
        try
        {
            using StreamReader reader = new(path);
            return reader.ReadToEnd().Split('\n', StringSplitOptions.RemoveEmptyEntries);
        }
        catch (Exception error) when (error is IOException or UnauthorizedAccessException)
        {
            return [];
        }
    }

    internal static bool Exists(string path) => new FileInfo(path).Exists;

    /// <summary>The nearest folder above the disk whose name matches, or null.</summary>
    internal string? Ancestor(Regex name)
    {
        for (string? folder = DiskFolder; folder is { Length: > 1 }; folder = Path.GetDirectoryName(folder))
        {
            if (name.IsMatch(Path.GetFileName(folder)))
            {
                return folder;
            }
        }

        return null;
    }

    private static byte[] ReadAll(string path)
    {
        // Attributes claim a size of one page whatever they hold: read to the end.
        using FileStream stream = new(path, FileMode.Open, FileAccess.Read, FileShare.ReadWrite, bufferSize: 0);
        byte[] buffer = new byte[4096];
        int length = 0;
        for (int count; length < buffer.Length && (count = stream.Read(buffer, length, buffer.Length - length)) > 0;)
        {
            length += count;
        }

        return buffer[..length];
    }

    [GeneratedRegex(@"/(\d+:\d+:\d+:\d+)(/|$)")]
    private static partial Regex ScsiAddressPattern();
}
