using System.Diagnostics;
using System.Globalization;
using System.Net.Sockets;
using System.Text.Json;

namespace TierSpaces.Acceptance;

/// <summary>
/// A home of its own for one test, driven through the command line alone. At the end nothing of it is left. First file systems are
/// unmounted, disks disconnected and the host stopped. Then everything that still names the folder is removed by force: mounts, loop
/// devices, processes, files, shared memory.
/// </summary>
internal sealed class Home : IDisposable
{
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(90);

    private readonly List<string> _mounts = [];

    internal Home()
    {
        Root = Directory.CreateTempSubdirectory("ta").FullName;
        Folder = Path.Combine(Root, "h");
    }

    /// <summary>Folder that vanishes with the test.</summary>
    internal string Root { get; }

    /// <summary>Value of TIERSPACES_HOME.</summary>
    internal string Folder { get; }

    /// <summary>Further variables in the environment of every command, and so of the host that the first one starts.</summary>
    internal Dictionary<string, string> Variables { get; } = [];

    /// <summary>Process number of the host, as it wrote it into its lock.</summary>
    internal int Host => ProcessIn("host.lock");

    /// <summary>Process number of the supervisor.</summary>
    internal int Supervisor => ProcessIn("supervisor.lock");

    internal string PathOf(string name) => Path.Combine(Root, name);

    /// <summary>A program and its arguments that start every command, which it gets behind them; empty: none.</summary>
    internal string[] Prefix { get; init; } = [];

    internal ProcessStartInfo CommandLine(params string[] words)
    {
        string[] line = [.. Prefix, Executable.Path, .. words];
        ProcessStartInfo start = new(line[0], line[1..]);
        start.Environment["TIERSPACES_HOME"] = Folder;
        foreach ((string name, string value) in Variables)
        {
            start.Environment[name] = value;
        }

        return start;
    }

    /// <summary>A command line that may fail.</summary>
    internal Answer Try(params string[] words)
    {
        using Process process = Tool.Start(CommandLine(words));
        return Tool.End(process);
    }

    /// <summary>A command line that succeeds; returns its standard output.</summary>
    internal string Run(params string[] words)
    {
        Answer answer = Try(words);
        Assert.True(answer.ExitCode == 0, $"tierspaces {string.Join(' ', words)}: exit code {answer.ExitCode}\n{answer.Text}\n{Log()}");
        return answer.Output;
    }

    /// <summary>The objects that a command line prints.</summary>
    internal JsonElement[] Objects(params string[] words)
    {
        using JsonDocument document = JsonDocument.Parse(Run([.. words, "-Json"]));
        return [.. document.RootElement.EnumerateArray().Select(element => element.Clone())];
    }

    /// <summary>Four image files, 512 MB each unless said otherwise, in the pool "p".</summary>
    internal void NewPool(string size = "512MB")
    {
        string paths = string.Join(',', Enumerable.Range(1, 4).Select(i => PathOf($"d{i}.img")));
        Run("New-PhysicalDisk", "-Path", paths, "-Size", size, "-MediaType", "SSD");
        Run("New-StoragePool", "-FriendlyName", "p", "-StorageSubSystemFriendlyName", "*", "-PhysicalDisks", "d*");
    }

    /// <summary>A two-way mirror of two columns in the pool "p", connected.</summary>
    internal void NewMirror(string name, string size, params string[] more)
    {
        Run([
            "New-VirtualDisk", "-StoragePoolFriendlyName", "p", "-FriendlyName", name, "-ResiliencySettingName", "Mirror",
            "-NumberOfDataCopies", "2", "-NumberOfColumns", "2", "-Size", size, .. more]);
        Run("Connect-VirtualDisk", "-FriendlyName", name);
    }

    /// <summary>Verifies a virtual disk: nothing of it is wrong, and it is healthy.</summary>
    internal void AssertSound(string name)
    {
        Run("Repair-VirtualDisk", "-FriendlyName", name);
        JsonElement job = Objects("Get-StorageJob", "-Name", "Repair").MaxBy(static job => job.GetProperty("StartTime").GetDateTime());
        Assert.NotEqual(0ul, job.GetProperty("BlocksVerified").GetUInt64());
        Assert.Equal((0ul, 0ul), (job.GetProperty("BlocksHealed").GetUInt64(), job.GetProperty("BlocksLost").GetUInt64()));
        Assert.Equal("Healthy", VirtualDisk(name).GetProperty("HealthStatus").GetString());
    }

    internal JsonElement VirtualDisk(string name) => Assert.Single(Objects("Get-VirtualDisk", "-FriendlyName", name));

    internal string UriOf(string name) => VirtualDisk(name).GetProperty("NbdUri").GetString()!;

    internal string DeviceOf(string name)
    {
        JsonElement disk = VirtualDisk(name);
        string? device = disk.GetProperty("DevicePath").GetString();
        Assert.True(device is not null, $"{name} has no device: {disk.GetProperty("AttachReason")}");
        return device;
    }

    /// <summary>Mounts a device in a folder of its own and returns the folder.</summary>
    internal string Mount(string device)
    {
        string folder = Directory.CreateDirectory(PathOf("mnt")).FullName;
        Tool.Run("mount", device, folder);
        _mounts.Add(folder);
        return folder;
    }

    internal void Unmount(string folder, params string[] options)
    {
        Tool.Run("umount", [.. options, folder]);
        _mounts.Remove(folder);
    }

    /// <summary>kill -9 for one process.</summary>
    internal static void Kill(int process)
    {
        using Process victim = Process.GetProcessById(process);
        victim.Kill();
        victim.WaitForExit();
    }

    /// <summary>kill -9 for everything this home runs, as a power cut does: supervisor, host, and what carries its devices.</summary>
    internal void KillEverything()
    {
        for (int round = 0; round < 5 && Processes() is { Length: > 0 } processes; round++)
        {
            foreach (int process in processes)
            {
                TryKill(process);
            }

            Thread.Sleep(20);
        }
    }

    /// <summary>kill -9 for the host, and the time from there until its supervisor has started another one that answers.</summary>
    internal TimeSpan KillHost(int victim)
    {
        Stopwatch watch = Stopwatch.StartNew();   // before the kill: waiting for the end of a process that is no child takes a while itself
        Kill(victim);
        while (!Answers() || Host == victim)   // the ring of a killed host keeps its socket for an instant longer than the process is there
        {
            Assert.True(watch.Elapsed < TimeSpan.FromSeconds(60), $"The host is not back after 60 s.\n{Log()}");
            Thread.Sleep(10);
        }

        return watch.Elapsed;
    }

    /// <summary>Waits until a condition holds. Promised times are measured by the tests of them.</summary>
    internal void Eventually(string what, Func<bool> holds, int pollMilliseconds = 50)
    {
        for (Stopwatch watch = Stopwatch.StartNew(); !holds(); Thread.Sleep(pollMilliseconds))
        {
            Assert.True(watch.Elapsed < s_patience, $"Not within {s_patience.TotalSeconds} s: {what}.\n{Log()}");
        }
    }

    internal string Log() => File.Exists(Path.Combine(Folder, "host.log")) ? File.ReadAllText(Path.Combine(Folder, "host.log")) : "";

    public void Dispose()
    {
        foreach (string mount in _mounts)
        {
            Tool.TryRun("umount", "-l", mount);
        }

        Try("Disconnect-VirtualDisk", "-FriendlyName", "*");
        Try("stop", "-Force");
        KillEverything();
        ReleaseMounts();
        ReleaseLoops();
        string record = Path.Combine(Folder, "state", "runtime");
        string memory = File.Exists(record) ? File.ReadAllText(record) : "";
        Directory.Delete(Root, recursive: true);
        if (Directory.Exists(memory))
        {
            Directory.Delete(memory, recursive: true);
        }
    }

    private bool Answers()
    {
        try
        {
            using Socket socket = new(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
            socket.Connect(new UnixDomainSocketEndPoint(Path.Combine(Folder, "host.sock")));
            return true;
        }
        catch (SocketException)
        {
            return false;
        }
    }

    /// <summary>
    /// The files are locked by who wrote them, and .NET does not read a locked file; other programs do. A file that is just being written is empty.
    /// </summary>
    private int ProcessIn(string file)
    {
        int process = 0;
        Eventually($"{file} names a process", () => int.TryParse(Tool.Run("cat", Path.Combine(Folder, file)), CultureInfo.InvariantCulture, out process),
            pollMilliseconds: 5);
        return process;
    }

    /// <summary>Processes that carry the folder's name in their arguments or their environment.</summary>
    private int[] Processes() =>
    [
        .. Directory.GetDirectories("/proc").Select(Path.GetFileName)
            .Where(name => int.TryParse(name, out int process) && process != Environment.ProcessId)
            .Select(name => int.Parse(name!, CultureInfo.InvariantCulture))
            .Where(process => Names(process, "cmdline") || Names(process, "environ")),
    ];

    private bool Names(int process, string file)
    {
        try
        {
            return File.ReadAllText($"/proc/{process}/{file}").Contains(Folder, StringComparison.Ordinal);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return false;
        }
    }

    private static void TryKill(int process)
    {
        try
        {
            Kill(process);
        }
        catch (Exception e) when (e is ArgumentException or InvalidOperationException)
        {
            // It has ended by itself.
        }
    }

    private void ReleaseMounts()
    {
        string[] mounts = [.. File.ReadLines("/proc/mounts").Select(line => line.Split(' ')[1])];
        foreach (string mount in mounts.Where(mount => mount.StartsWith(Root + "/", StringComparison.Ordinal)).Reverse())
        {
            Tool.TryRun("umount", "-l", mount);
        }
    }

    private void ReleaseLoops()
    {
        foreach (string line in Tool.TryRun("losetup", "--list", "--noheadings", "--output", "NAME,BACK-FILE").Output.Split('\n'))
        {
            if (line.Contains($" {Root}/", StringComparison.Ordinal))
            {
                Tool.TryRun("losetup", "--detach", line.Split(' ')[0]);
            }
        }
    }
}
