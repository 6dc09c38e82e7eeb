using System.Diagnostics;

namespace TierSpaces.Bench.Tables;

/// <summary>Programs of others: where they are, which version, and how to get one that is missing.</summary>
internal static class Programs
{
    private static readonly Dictionary<string, string> s_packages = new()
    {
        ["nbdkit"] = "nbdkit", ["qemu-nbd"] = "qemu-utils", ["fio"] = "fio",
    };

    internal static IEnumerable<string> Missing => s_packages.Keys.Where(name => Find(name) is null);

    internal static bool IsThere(string name) => Find(name) is not null;

    internal static string InstallCommand(string name) => $"sudo apt-get install -y {s_packages[name]}";

    /// <summary>First line that a program prints of its version.</summary>
    internal static string Version(string name) => Run(name, ["--version"]).Split('\n')[0].Trim()
        .Replace($"{Find(name)} ", $"{name} ", StringComparison.Ordinal);

    /// <summary>Standard output of a program that succeeded.</summary>
    /// <exception cref="IOException">It failed; the message holds what it said.</exception>
    internal static string Run(string name, string[] arguments, params (string Name, string Value)[] environment)
    {
        using Process process = Start(name, arguments, environment);
        Task<string> errors = process.StandardError.ReadToEndAsync();
        string output = process.StandardOutput.ReadToEnd();
        process.WaitForExit();
        return process.ExitCode == 0
            ? output
            : throw new IOException($"{Path.GetFileName(name)} {string.Join(' ', arguments)}: exit code {process.ExitCode}: {errors.Result.Trim()}");
    }

    /// <summary>Starts a program with its output to be read.</summary>
    internal static Process Start(string name, string[] arguments, params (string Name, string Value)[] environment)
    {
        string path = Find(name) ?? throw new IOException($"{name} is not installed: {InstallCommand(name)}");
        ProcessStartInfo start = new(path, arguments) { RedirectStandardOutput = true, RedirectStandardError = true, RedirectStandardInput = true };
        foreach ((string variable, string value) in environment)
        {
            start.Environment[variable] = value;
        }

        Process process = Process.Start(start)!;
        process.StandardInput.Close();
        return process;
    }

    private static string? Find(string name)
    {
        string path = $"{Environment.GetEnvironmentVariable("PATH")}:/usr/sbin:/sbin";
        return name.Contains('/', StringComparison.Ordinal)
            ? name
            : path.Split(':').Select(folder => Path.Combine(folder, name)).FirstOrDefault(File.Exists);
    }
}
