using System.Text;
using TierSpaces.Host.Native;

namespace TierSpaces.Host.Volumes;

/// <summary>A mount of the kernel.</summary>
/// <param name="Device">Number of the device, major and minor.</param>
/// <param name="Source">Its source as it was given to mount.</param>
/// <param name="Root">Folder of the file system that is mounted, / for all of it.</param>
/// <param name="Path">Mount point.</param>
/// <param name="Type">Type of the file system.</param>
internal sealed record Mount(string Device, string Source, string Root, string Path, string Type);

/// <summary>The kernel's table of mounts. Reading it never waits for a disk.</summary>
internal static class MountTable
{
    /// <summary>Returns the current mounts.</summary>
    public static List<Mount> Read() => Parse(File.ReadLines("/proc/self/mountinfo"));

    /// <summary>Reads lines of /proc/self/mountinfo.</summary>
    public static List<Mount> Parse(IEnumerable<string> lines)
    {
        List<Mount> mounts = [];
        foreach (string[] fields in lines.Select(static line => line.Split(' ')))
        {
            int end = Array.IndexOf(fields, "-");   // optional fields end there
            if (end >= 6 && fields.Length > end + 2)
            {
                mounts.Add(new Mount(fields[2], Unescaped(fields[end + 2]), Unescaped(fields[3]), Unescaped(fields[4]), fields[end + 1]));
            }
        }

        return mounts;
    }

    /// <summary>Mount point of the file system that a path is on, with links resolved; null for a path that is not there. May wait for a disk.</summary>
    public static string? PointOf(string path)
    {
        string? real = FileSystemCalls.RealPath(path);
        return real is null ? null : Read().Select(static mount => mount.Path)
            .Where(point => point == "/" || real == point || real.StartsWith(point + "/", StringComparison.Ordinal)).MaxBy(static point => point.Length);
    }

    /// <summary>Mounts of a block device: by its name, or by its number where the file system shows that.</summary>
    public static List<Mount> Of(IEnumerable<Mount> mounts, string node)
    {
        string path = $"/sys/class/block/{Path.GetFileName(node)}/dev";
        string number = File.Exists(path) ? File.ReadAllText(path).Trim() : "";
        return [.. mounts.Where(mount => mount.Source == node || (number.Length > 0 && mount.Device == number))];
    }

    /// <summary>Blanks and backslashes are written as a backslash with three octal digits.</summary>
    private static string Unescaped(string text)
    {
        if (!text.Contains('\\', StringComparison.Ordinal))
        {
            return text;
        }

        List<byte> bytes = [];
        byte[] written = Encoding.UTF8.GetBytes(text);
        for (int i = 0; i < written.Length; i++)
        {
            bool isEscape = written[i] == '\\' && i + 3 < written.Length;
            bytes.Add(isEscape ? (byte)(((written[i + 1] - '0') * 64) + ((written[i + 2] - '0') * 8) + (written[i + 3] - '0')) : written[i]);
            i += isEscape ? 3 : 0;
        }

        return Encoding.UTF8.GetString([.. bytes]);
    }
}
