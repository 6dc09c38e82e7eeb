using System.Diagnostics;
using System.Globalization;
using System.Reflection;
using TierSpaces.Contracts;

namespace TierSpaces.PowerCuts;

/// <summary>
/// User-mode Linux: a kernel as a process, whose root is that of this machine. Its end is that of its processes, all of which name the folder of the run
/// among their words.
/// <para>
/// Its disks are loop devices on files of this machine that it sees through its root. Its own kind of disk is not used: the driver drops flushes, so nothing
/// would ever be durable. (The thread that makes the requests goes through the segments of each, and a flush has none.)
/// </para>
/// </summary>
internal sealed class Machine : IDisposable
{
    private const string Kernel = "linux.uml";
    private const string Path = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";

    private static readonly Version s_kernelMin = new(6, 9);   // as every server of the engine's FUSE

    private readonly RunFolder _folder;
    private readonly string _mark;
    private readonly Process _process;
    private readonly Task _console;

    /// <summary>Starts the machine.</summary>
    /// <param name="folder">Folder of the run.</param>
    /// <param name="boot">Number of the start.</param>
    /// <param name="disks">Paths of its disks; the first one is its own.</param>
    /// <param name="isFuse">Whether its kernel has FUSE and loop devices for virtual disks, else the nbd driver.</param>
    internal Machine(RunFolder folder, int boot, string[] disks, bool isFuse)
    {
        _folder = folder;
        _mark = $"work={folder.Path}";
        File.WriteAllLines(folder["modules"], [Module("drivers/block/loop"), Module(isFuse ? "fs/fuse/fuse" : "drivers/block/nbd")]);
        File.WriteAllLines(folder["disklist"], disks);
        File.Delete(folder["progress"]);
        ProcessStartInfo start = new(Find(Kernel)!)
        {
            RedirectStandardOutput = true, RedirectStandardError = true, RedirectStandardInput = true,
            ArgumentList =
            {
                "mem=1500M", "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "rw", "loglevel=4", $"uml_dir={folder.Path}",
                "con0=null,fd:1", "con=null",
                $"init={System.IO.Path.Combine(AppContext.BaseDirectory, "machine.sh")}", $"boot={boot.ToString(CultureInfo.InvariantCulture)}", _mark,
            },
        };
        start.Environment.Clear();
        start.Environment["TMPDIR"] = "/dev/shm";   // the memory of the machine is a file there, already deleted
        _process = Process.Start(start)!;
        _process.StandardInput.Close();
        _ = _process.StandardError.ReadToEndAsync();
        _console = CopyConsole();
    }

    internal bool HasEnded => _process.HasExited;

    /// <summary>Why no machine can be started here; null: it can.</summary>
    internal static string? WhyNot()
    {
        string[] tools = [Kernel, "mkfs.ext4", "e2fsck", "mkfs.xfs", "xfs_repair", "perl", "dmesg", "losetup"];
        string? missing = tools.FirstOrDefault(static tool => Find(tool) is null);
        return missing is not null ? $"{missing} is not installed: sudo apt-get install -y user-mode-linux e2fsprogs xfsprogs perl-base util-linux mount"
            : !File.Exists(Module("drivers/block/nbd")) ? $"there is no {Module("drivers/block/nbd")}"
            : !Environment.IsPrivilegedProcess || !File.Exists("/dev/fuse") ? "the disks of the machine need root and /dev/fuse"
            : Environment.OSVersion.Version < s_kernelMin ? $"the disks of the machine need Linux {s_kernelMin}"
            : null;
    }

    /// <summary>Writes what every start of a machine reads.</summary>
    internal static void WriteEnvironment(RunFolder folder)
    {
        string dotnet = Environment.GetEnvironmentVariable("DOTNET_ROOT")
            ?? System.IO.Path.GetFullPath(System.IO.Path.Combine(System.Runtime.InteropServices.RuntimeEnvironment.GetRuntimeDirectory(), "../../.."));
        string? forced = Environment.GetEnvironmentVariable("TIERSPACES_IO_BACKEND");
        string backend = forced is { Length: > 0 } ? $"export TIERSPACES_IO_BACKEND='{forced}'\n" : "";
        File.WriteAllText(
            folder["environment"],
            $"export PATH={Path} DOTNET_ROOT='{dotnet}' TIERSPACES_HOST='{Executable()}' DOTNET_gcServer=0 LC_ALL=C\n{backend}"
            + $"work='{folder.Path}' program='{System.IO.Path.Combine(AppContext.BaseDirectory, "TierSpaces.PowerCuts")}'\n");
    }

    /// <summary>Ends every process of the machine at once.</summary>
    internal void Kill()
    {
        for (int[] left = Processes(); left.Length > 0; left = Processes())
        {
            foreach (int process in left)
            {
                Kill(process);
            }

            Thread.Sleep(5);
        }
    }

    /// <summary>Kills the machine, and returns when nothing is left of it. Requests of its disks have to be answered meanwhile.</summary>
    public void Dispose()
    {
        Kill();
        _process.WaitForExit();
        _console.Wait(TimeSpan.FromSeconds(5));
        _process.Dispose();
    }

    private static string? Find(string tool) => Path.Split(':').Select(folder => System.IO.Path.Combine(folder, tool)).FirstOrDefault(File.Exists);

    private static string Module(string name)
    {
        string modules = "/usr/lib/uml/modules";
        string? version = Directory.Exists(modules) ? Directory.GetDirectories(modules).Order(StringComparer.Ordinal).LastOrDefault() : null;
        return System.IO.Path.Combine(version ?? modules, "kernel", name + ".ko");
    }

    /// <summary>
    /// The host under test: what the environment names, else what the build leaves for users, unless the one built beside the tests is newer.
    /// </summary>
    private static string Executable()
    {
        if (Environment.GetEnvironmentVariable(ProcessHostLauncher.ExecutableVariable) is { Length: > 0 } named)
        {
            return named;
        }

        string root = typeof(Machine).Assembly.GetCustomAttributes<AssemblyMetadataAttribute>()
            .First(static attribute => attribute.Key == "RepositoryRoot").Value!;
        string shipped = System.IO.Path.Combine(root, "bin", "host");
        return System.IO.Path.Combine(WhenBuilt(shipped) >= WhenBuilt(AppContext.BaseDirectory) ? shipped : AppContext.BaseDirectory, "tierspaces");
    }

    private static DateTime WhenBuilt(string folder) =>
        new[] { "tierspaces.dll", "TierSpaces.Engine.dll", "TierSpaces.Contracts.dll" }
            .Min(file => File.GetLastWriteTimeUtc(System.IO.Path.Combine(folder, file)));

    private async Task CopyConsole()
    {
        await using FileStream log = new(_folder["console"], FileMode.Append, FileAccess.Write, FileShare.ReadWrite);
        await _process.StandardOutput.BaseStream.CopyToAsync(log);
    }

    private int[] Processes() =>
    [
        .. Directory.GetDirectories("/proc").Select(System.IO.Path.GetFileName)
            .Where(static name => int.TryParse(name, out int process) && process != Environment.ProcessId)
            .Select(static name => int.Parse(name!, CultureInfo.InvariantCulture)).Where(IsOfMachine),
    ];

    private bool IsOfMachine(int process)
    {
        try
        {
            return File.ReadAllText($"/proc/{process}/cmdline").Split('\0').Contains(_mark);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return false;
        }
    }

    private static void Kill(int process)
    {
        try
        {
            using Process victim = Process.GetProcessById(process);
            victim.Kill();
        }
        catch (Exception e) when (e is ArgumentException or InvalidOperationException)
        {
            // It has ended by itself.
        }
    }
}
