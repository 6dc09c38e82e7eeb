using System.Diagnostics;

namespace TierSpaces.Acceptance;

/// <summary>End of a program.</summary>
internal sealed record Answer(int ExitCode, string Output, string Error)
{
    /// <summary>Everything it printed.</summary>
    internal string Text => $"{Output}\n{Error}";
}

/// <summary>Runs the unmodified programs of others; a missing one skips the test and says how to get it.</summary>
internal static class Tool
{
    private static readonly TimeSpan s_limit = TimeSpan.FromMinutes(3);

    private static readonly Dictionary<string, string> s_packages = new()
    {
        ["nbdcopy"] = "libnbd-bin", ["nbdfuse"] = "nbdfuse", ["nbdkit"] = "nbdkit", ["fusermount3"] = "fuse3", ["fio"] = "fio",
        ["qemu-io"] = "qemu-utils", ["qemu-img"] = "qemu-utils", ["mkfs.ext4"] = "e2fsprogs", ["e2fsck"] = "e2fsprogs",
        ["debugfs"] = "e2fsprogs", ["mkfs.xfs"] = "xfsprogs", ["xfs_repair"] = "xfsprogs",
    };

    /// <summary>Standard output of a run that succeeded.</summary>
    internal static string Run(string name, params string[] arguments)
    {
        Answer answer = TryRun(name, arguments);
        Assert.True(answer.ExitCode == 0, $"{name} {string.Join(' ', arguments)}: exit code {answer.ExitCode}\n{answer.Text}");
        return answer.Output;
    }

    internal static Answer TryRun(string name, params string[] arguments)
    {
        using Process process = Start(name, arguments);
        return End(process);
    }

    /// <summary>Starts a program that goes on beside the test.</summary>
    internal static Process Start(string name, params string[] arguments) => Start(new ProcessStartInfo(Find(name), arguments));

    internal static Process Start(ProcessStartInfo start)
    {
        start.RedirectStandardInput = start.RedirectStandardOutput = start.RedirectStandardError = true;
        Process process = Process.Start(start)!;
        process.StandardInput.Close();
        return process;
    }

    /// <summary>Waits for the end of a program and collects what it printed.</summary>
    internal static Answer End(Process process)
    {
        Task<string> output = process.StandardOutput.ReadToEndAsync();
        Task<string> error = process.StandardError.ReadToEndAsync();
        if (!process.WaitForExit(s_limit))
        {
            process.Kill();
            Assert.Fail($"{process.StartInfo.FileName} {string.Join(' ', process.StartInfo.ArgumentList)} did not end in {s_limit.TotalMinutes} minutes.");
        }

        return new Answer(process.ExitCode, output.GetAwaiter().GetResult(), error.GetAwaiter().GetResult());
    }

    /// <summary>Path of a program. Skips the test where it is not installed.</summary>
    internal static string Find(string name)
    {
        string path = $"{Environment.GetEnvironmentVariable("PATH")}:/usr/sbin:/sbin";
        string? found = path.Split(':').Select(folder => Path.Combine(folder, name)).FirstOrDefault(File.Exists);
        string package = s_packages.GetValueOrDefault(name, "util-linux");
        Assert.SkipWhen(found is null, $"{name} is not installed: sudo apt-get install -y {package}");
        return found!;
    }

    /// <summary>Skips the test unless virtual disks become block devices here.</summary>
    internal static void NeedDevices()
    {
        foreach (string name in (string[])["nbdkit", "nbdfuse", "fusermount3"])
        {
            Find(name);
        }

        Assert.SkipUnless(
            Environment.IsPrivilegedProcess && File.Exists("/dev/fuse") && File.Exists("/dev/loop-control"),
            "mounting needs root, /dev/fuse and /dev/loop-control (docker: --privileged)");
    }
}
