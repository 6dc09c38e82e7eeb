using System.Runtime.InteropServices;

namespace TierSpaces.Bench.Tables;

/// <summary>Facts of the machine that a reader needs, and its load before anything was measured.</summary>
internal sealed record MachineFacts(string Processor, int Cores, string Kernel, string LoadAverage, IReadOnlyList<string> Peers)
{
    internal static MachineFacts Now() => new(
        ProcessorName(),
        Environment.ProcessorCount,
        File.ReadAllText("/proc/sys/kernel/osrelease").Trim(),
        File.ReadAllText("/proc/loadavg").Split(' ')[0],
        [
            .. new[] { "nbdkit", "qemu-nbd", "fio" }.Select(name =>
                Programs.IsThere(name) ? Programs.Version(name) : $"{name}: not installed (`{Programs.InstallCommand(name)}`)"),
        ]);

    /// <summary>Type of the file system that holds a folder.</summary>
    internal static string FileSystemOf(string folder) => File.ReadLines("/proc/mounts")
        .Select(line => line.Split(' '))
        .Where(mount => folder == mount[1] || mount[1] == "/" || folder.StartsWith(mount[1] + "/", StringComparison.Ordinal))
        .MaxBy(mount => mount[1].Length)![2];

    private static string ProcessorName() =>
        File.ReadLines("/proc/cpuinfo").FirstOrDefault(line => line.StartsWith("model name", StringComparison.Ordinal)) is { } line
            ? line[(line.IndexOf(':', StringComparison.Ordinal) + 2)..]
            : RuntimeInformation.ProcessArchitecture.ToString();
}
