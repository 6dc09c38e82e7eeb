using System.Diagnostics;
using System.Text;

namespace TierSpaces.Interop.Tests;

/// <summary>Runs the unmodified programs of others; a missing one skips the test and says how to get it.</summary>
internal static class Tool
{
    private static readonly TimeSpan s_limit = TimeSpan.FromMinutes(3);

    private static readonly Dictionary<string, string> s_packages = new()
    {
        ["nbdinfo"] = "libnbd-bin", ["nbdcopy"] = "libnbd-bin", ["nbdfuse"] = "nbdfuse",
        ["qemu-io"] = "qemu-utils", ["qemu-img"] = "qemu-utils", ["fio"] = "fio", ["nbdkit"] = "nbdkit", ["fusermount3"] = "fuse3",
    };

    /// <summary>Standard output of a run that succeeded.</summary>
    internal static string Run(string name, params string[] arguments)
    {
        (int code, string output, string errors) = TryRun(name, arguments);
        Assert.True(code == 0, $"{name} {string.Join(' ', arguments)}: exit code {code}\n{output}\n{errors}");
        return output;
    }

    internal static (int Code, string Output, string Errors) TryRun(string name, params string[] arguments)
    {
        using Process process = Start(name, arguments);
        StringBuilder errors = new();
        process.ErrorDataReceived += (_, line) => errors.AppendLine(line.Data);
        process.BeginErrorReadLine();
        Task<string> output = process.StandardOutput.ReadToEndAsync();
        if (!process.WaitForExit(s_limit))
        {
            process.Kill();
            Assert.Fail($"{name} {string.Join(' ', arguments)} did not end within {s_limit.TotalMinutes} minutes.");
        }

        process.WaitForExit();
        return (process.ExitCode, output.GetAwaiter().GetResult(), errors.ToString());
    }

    /// <summary>Starts a program that stays.</summary>
    internal static Process Start(string name, params string[] arguments)
    {
        ProcessStartInfo start = new(Find(name), arguments)
        {
            RedirectStandardOutput = true,
            RedirectStandardError = true,
            RedirectStandardInput = true,
        };
        Process process = Process.Start(start)!;
        process.StandardInput.Close();
        return process;
    }

    internal static string Find(string name)
    {
        string path = $"{Environment.GetEnvironmentVariable("PATH")}:/usr/sbin:/sbin";
        string? found = path.Split(':').Select(folder => Path.Combine(folder, name)).FirstOrDefault(File.Exists);
        Assert.SkipWhen(found is null, $"{name} is not installed: sudo apt-get install -y {s_packages[name]}");
        return found!;
    }
}
