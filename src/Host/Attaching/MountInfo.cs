using System.Globalization;
using TierSpaces.Engine.Lanes.Native;

namespace TierSpaces.Host.Attaching;

/// <summary>The kernel's list of mounts.</summary>
internal static class MountInfo
{
    /// <summary>Type of the file system of a file, and its options; by the number of the mount, or of the device where the kernel does not tell that.</summary>
    public static (string Type, string Options) Of(FileStatus status) =>
        Of(File.ReadLines("/proc/self/mountinfo"), status.Mount, string.Create(CultureInfo.InvariantCulture, $"{status.Volume.Major}:{status.Volume.Minor}"));

    /// <summary>The same, of given lines.</summary>
    internal static (string Type, string Options) Of(IEnumerable<string> lines, ulong mount, string device)
    {
        string[][] mounts = lines.Select(line => line.Split(' ')).ToArray();
        string number = mount.ToString(CultureInfo.InvariantCulture);
        string[]? fields = mounts.FirstOrDefault(fields => fields[0] == number) ?? mounts.FirstOrDefault(fields => fields[2] == device);
        int end = fields is null ? -1 : Array.IndexOf(fields, "-");   // optional fields end there
        return end > 0 ? (fields![end + 1], fields[^1]) : ("an unknown file system", "");
    }
}
