using System.Diagnostics;
using System.Text.Json;
using TierSpaces.Contracts;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Supervision;
using TierSpaces.Host.Volumes;

namespace TierSpaces.Host.Tests;

/// <summary>A home of its own for one test, with the real executable. Processes that still run in it at the end are killed.</summary>
internal sealed class Scratch : IDisposable
{
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(90);   // promised times are measured by the tests of them

    private readonly string _root = Directory.CreateTempSubdirectory("ts").FullName;

    public Scratch(string name = "h") => Paths = new HostPaths(Path.Combine(_root, name));

    public static string Executable { get; } = Path.Combine(AppContext.BaseDirectory, "tierspaces");

    public HostPaths Paths { get; }

    public string Root => _root;

    /// <summary>Folder of drive letters and labels.</summary>
    public string VolumeRoot => Path.Combine(_root, "vol");

    /// <summary>
    /// Further variables in the environment of every command, and so of the host that the first one starts. New virtual disks stay detached, unless a test
    /// changes that.
    /// </summary>
    public Dictionary<string, string> Variables { get; } = new() { [HostSettings.AttachNewVariable] = "no" };

    /// <summary>File of the rules by which system calls of the host fail, for TIERSPACES_CALL_FAULTS.</summary>
    public string CallFaultRules => Path.Combine(_root, "rules");

    /// <summary>Replaces those rules at once: the host never reads half of them.</summary>
    public void OrderFaults(params string[] rules)
    {
        File.WriteAllLines(CallFaultRules + ".new", rules);
        File.Move(CallFaultRules + ".new", CallFaultRules, overwrite: true);
    }

    /// <summary>Runs a command line to its end.</summary>
    public Answer Run(params string[] words) => RunAs(Executable, words);

    /// <summary>Runs a command line that must succeed.</summary>
    public void Succeed(params string[] words)
    {
        Answer answer = Run(words);
        Assert.True(answer.ExitCode == 0, $"{string.Join(' ', words)}: {answer.Error}");
    }

    /// <summary>The only object that a command line prints.</summary>
    public JsonElement One(params string[] words) => Assert.Single(JsonDocument.Parse(Run([.. words, "-Json"]).Output).RootElement.EnumerateArray());

    public Answer RunAs(string file, string[] words)
    {
        using Process process = StartAs(file, words);
        Task<string> output = process.StandardOutput.ReadToEndAsync();
        Task<string> error = process.StandardError.ReadToEndAsync();
        Assert.True(process.WaitForExit(TimeSpan.FromSeconds(60)), $"{file} {string.Join(' ', words)} does not end.");
        return new Answer(process.ExitCode, output.Result, error.Result);
    }

    /// <summary>Starts a command line, which may be killed.</summary>
    public Process Start(params string[] words) => StartAs(Executable, words);

    /// <summary>Starts a program in the environment of this home.</summary>
    public Process StartAs(string file, string[] words)
    {
        ProcessStartInfo start = new ProcessStartInfo(file, words) { RedirectStandardOutput = true, RedirectStandardError = true };
        start.Environment[HostPaths.HomeVariable] = Paths.Home;
        start.Environment[MountService.RootVariable] = VolumeRoot;
        foreach ((string? name, string? value) in Variables)
        {
            start.Environment[name] = value;
        }

        return Process.Start(start)!;
    }

    /// <summary>Processes of host and supervisor, once both are there.</summary>
    public (int Host, int Supervisor) Pair()
    {
        (int Host, int Supervisor)? pair = null;
        Eventually("host and supervisor run", () => (pair = TryPair()) is not null);
        return pair!.Value;
    }

    public static void Kill(int process) => Process.GetProcessById(process).Kill();

    public static bool IsAlive(int process)
    {
        try
        {
            return File.ReadAllText($"/proc/{process}/stat").Split(')')[^1].TrimStart()[0] != 'Z';
        }
        catch (IOException)
        {
            return false;
        }
    }

    /// <summary>Waits until something holds.</summary>
    /// <param name="what">Its name.</param>
    /// <param name="holds">Whether it holds.</param>
    /// <param name="state">Text to print if it does not; null for none.</param>
    public static void Eventually(string what, Func<bool> holds, Func<string>? state = null)
    {
        for (Stopwatch watch = Stopwatch.StartNew(); !holds(); Thread.Sleep(20))
        {
            if (watch.Elapsed > s_patience)
            {
                Assert.Fail($"Not within {s_patience.TotalSeconds} s: {what}. {state?.Invoke()}");
            }
        }
    }

    public void Dispose()
    {
        string attached = Path.Combine(Paths.Home, "att");
        if (Directory.Exists(attached) && Directory.GetFileSystemEntries(attached).Length > 0)
        {
            if (Run("Get-Partition", "-Json").Output.Trim() is { Length: > 2 })
            {
                foreach (string number in JsonDocument.Parse(Run("Get-Disk",
                    "-Json").Output).RootElement.EnumerateArray().Select(disk => disk.GetProperty("Number").ToString()))
                {
                    foreach (JsonElement partition in JsonDocument.Parse(Run("Get-Partition", number, "-Json").Output).RootElement.EnumerateArray())
                    {
                        Run("Remove-PartitionAccessPath", number, partition.GetProperty("PartitionNumber").ToString());
                    }
                }
            }

            Run("Disconnect-VirtualDisk", "*");   // a device outlives its host
        }

        Run("stop", "-Force");
        foreach (string? file in new[] { Paths.SupervisorLock, Paths.HostLock }.Where(File.Exists))
        {
            if (int.TryParse(LockFile.Read(file), out int process) && IsAlive(process) && IsOurs(process))
            {
                Kill(process);
                Eventually("the process has ended", () => !IsAlive(process));
            }
        }

        string memory = File.Exists(RuntimeFolder.RecordOf(Paths)) ? File.ReadAllText(RuntimeFolder.RecordOf(Paths)) : "";
        Eventually("the home is deleted", TryDeleteHome);   // a host that stops writes its state last
        if (Directory.Exists(memory))
        {
            Directory.Delete(memory, recursive: true);
        }
    }

    private bool TryDeleteHome()
    {
        try
        {
            Directory.Delete(_root, recursive: true);
            return true;
        }
        catch (IOException)
        {
            return false;
        }
    }

    private (int Host, int Supervisor)? TryPair()
    {
        Answer answer = Run("status", "-Json");
        if (answer.ExitCode > 2)   // not known
        {
            return null;
        }

        JsonElement status = JsonDocument.Parse(answer.Output).RootElement[0];
        JsonElement supervisor = status.GetProperty("SupervisorProcessId");
        return supervisor.ValueKind == JsonValueKind.Number && IsAlive(supervisor.GetInt32())
            ? (status.GetProperty("ProcessId").GetInt32(), supervisor.GetInt32())
            : null;
    }

    private static bool IsOurs(int process) => File.ReadAllText($"/proc/{process}/cmdline").StartsWith(Executable, StringComparison.Ordinal);

    internal sealed record Answer(int ExitCode, string Output, string Error);
}
