using System.Diagnostics;
using TierSpaces.Host.Health;

namespace TierSpaces.Host.Tests.Health;

/// <summary>Hooks of a host: what runs for a fault, how often, how long, and what is not run.</summary>
public sealed class HookTests : IDisposable
{
    private const UnixFileMode Runs = UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute;
    private readonly Scratch _scratch = new();

    private string Hooks => Path.Combine(_scratch.Paths.Home, HookFolder.DefaultName);

    private string Log => File.ReadAllText(_scratch.Paths.Log);

    private string Told => Path.Combine(_scratch.Root, "told");

    public void Dispose() => _scratch.Dispose();

    [Fact]
    public void A_fault_runs_each_hook_once_when_it_appears_and_once_when_it_is_cleared_over_restarts_of_the_host()
    {
        MakePool();
        AddHook("1-tell", $"""
            echo "$TIERSPACES_EVENT,$TIERSPACES_OBJECT_TYPE,$TIERSPACES_OBJECT_NAME,$TIERSPACES_POOL_NAME,$TIERSPACES_OLD_HEALTH,$TIERSPACES_NEW_HEALTH,$TIERSPACES_NEW_STATUS,$TIERSPACES_SEVERITY" >> {Told}
            test -n "$TIERSPACES_REASON" && test -n "$TIERSPACES_ACTION" && test -n "$TIERSPACES_OBJECT_ID" && test -n "$TIERSPACES_TIME" && echo whole
            echo "home $TIERSPACES_HOME"
            """);
        AddHook("2-fail", "echo bad >&2; exit 7");
        Pull("d1");
        Scratch.Eventually("all is reported", () => Lines().Length == 3 && Log.Split("2-fail, FaultAppeared").Length == 4, () => Log);
        Assert.Equal(
            [
                "FaultAppeared,PhysicalDisk,d1,P,Healthy,Warning,Lost Communication,Warning", "FaultAppeared,StoragePool,P,,Healthy,Warning,Degraded,Warning",
                "FaultAppeared,VirtualDisk,v,P,Healthy,Warning,",
            ],
            Sorted(Lines()));
        Assert.Contains($"1-tell, FaultAppeared of physical disk 'd1' of storage pool 'P': exit code 0, ", Log);
        Assert.Contains($": whole | home {_scratch.Paths.Home}", Log);
        Assert.Matches("2-fail, FaultAppeared of storage pool 'P': exit code 7, [0-9.]+ s: bad\n", Log);
        Assert.Contains(" Warning: physical disk 'd1' of storage pool 'P' is Warning (Lost Communication), was Healthy (OK). It is missing.", Log);

        Assert.Matches(" Warning: physical disk 'd1' has left storage pool 'P': .*d1.img.*\n", Log);

        // A restart: the image is away, so that the fault lasts.
        _scratch.Succeed("stop");
        File.Move($"{_scratch.Root}/d1.img", $"{_scratch.Root}/away");
        _scratch.Succeed("start");
        Scratch.Eventually("the health is a warning", () => _scratch.Run("status").ExitCode == 1);
        Thread.Sleep(13_000);   // longer than a host waits for its disks
        Assert.Equal(3, Lines().Length);

        File.Move($"{_scratch.Root}/away", $"{_scratch.Root}/d1.img");
        Scratch.Eventually("all is cleared", () => Lines().Length >= 6, () => Log);
        Assert.Equal(
            [
                "FaultCleared,PhysicalDisk,d1,P,Warning,Healthy,OK,Information", "FaultCleared,StoragePool,P,,Warning,Healthy,OK,Information",
                "FaultCleared,VirtualDisk,v,P,Warning,Healthy,",
            ],
            Sorted(Lines()[3..6]));
        Assert.Contains(" Information: virtual disk 'v' of storage pool 'P' is Healthy ", Log);
    }

    [Fact]
    public void A_hook_that_does_not_end_is_killed_with_what_it_has_started_and_holds_up_no_verb()
    {
        _scratch.Variables[HookFolder.LimitVariable] = "3";
        MakePool();
        AddHook("slow", $"sleep 600 & echo $! >> {Told}; sleep 600");
        Pull("d1");
        Scratch.Eventually("the hook runs", () => Lines().Length == 1);
        Stopwatch watch = Stopwatch.StartNew();
        _scratch.Succeed("Get-VirtualDisk", "-Json");
        _scratch.Succeed("Set-VirtualDisk", "v", "-NewFriendlyName", "w");
        Assert.InRange(watch.Elapsed, TimeSpan.Zero, TimeSpan.FromSeconds(3));
        Scratch.Eventually("it was killed", () => Log.Contains("was killed with its process group after 3 s", StringComparison.Ordinal));
        Scratch.Eventually("all is reported", () => Log.Split("was killed with").Length == 4);
        Assert.All(Lines(), static line => Assert.False(Scratch.IsAlive(int.Parse(line))));
    }

    [Fact]
    public void A_host_that_stops_kills_the_hook_and_its_change_is_reported_again()
    {
        MakePool();
        AddHook("slow", $"echo $$ >> {Told}; test -e {_scratch.Root}/quick || sleep 600");
        Pull("d1");
        Scratch.Eventually("the hook runs", () => Lines().Length == 1);
        File.Move($"{_scratch.Root}/d1.img", $"{_scratch.Root}/away");
        Stopwatch watch = Stopwatch.StartNew();
        _scratch.Succeed("stop");
        Assert.InRange(watch.Elapsed, TimeSpan.Zero, TimeSpan.FromSeconds(8));
        Assert.False(Scratch.IsAlive(int.Parse(Lines()[0])));
        File.WriteAllText($"{_scratch.Root}/quick", "");
        _scratch.Succeed("start");
        Scratch.Eventually("it is reported again", () => Lines().Length == 4, () => Log);
    }

    [Fact]
    public void What_others_may_write_to_or_nobody_may_execute_is_not_run_and_the_log_says_so()
    {
        MakePool();
        AddHook("good", $"echo good >> {Told}");
        AddHook("shared", $"echo shared >> {Told}", Runs | UnixFileMode.GroupWrite);
        AddHook("text", $"echo text >> {Told}", UnixFileMode.UserRead);
        File.CreateSymbolicLink(Path.Combine(Hooks, "link"), Path.Combine(Hooks, "good"));
        Directory.CreateDirectory(Path.Combine(Hooks, "folder"));
        Pull("d1");
        Scratch.Eventually("all is reported", () => Lines().Length == 3);
        Assert.All(Lines(), static line => Assert.Equal("good", line));
        Assert.Equal(2, Log.Split($"hook {Hooks}/shared is not run: it may be written to by other users").Length);
        Assert.Equal(2, Log.Split($"hook {Hooks}/text is not run: it is not executable").Length);
        Assert.Equal(2, Log.Split($"hook {Hooks}/link is not run: it is not a regular file").Length);
        Assert.Equal(2, Log.Split($"hook {Hooks}/folder is not run: it is not a regular file").Length);
    }

    [Fact]
    public void The_folder_is_where_the_variable_says_and_no_other_user_may_write_to_it()
    {
        string folder = Path.Combine(_scratch.Root, "elsewhere");
        _scratch.Variables[HookFolder.Variable] = folder;
        Directory.CreateDirectory(folder, Runs | UnixFileMode.GroupWrite | UnixFileMode.OtherWrite);
        File.SetUnixFileMode(folder, Runs | UnixFileMode.GroupWrite | UnixFileMode.OtherWrite);
        MakePool();
        AddHook("tell", $"echo told >> {Told}", folder: folder);
        Scratch.Eventually("it is logged", () => Log.Contains($"hook {folder} is not run: it may be written to by other users", StringComparison.Ordinal));
        Pull("d1");
        Scratch.Eventually("the fault is logged", () => Log.Contains("physical disk 'd1' of storage pool 'P' is Warning", StringComparison.Ordinal));
        Thread.Sleep(2000);
        Assert.Empty(Lines());
        File.SetUnixFileMode(folder, Runs);
        Clear("d1");
        Scratch.Eventually("the end of the fault is reported", () => Lines().Length >= 3);
    }

    [Theory]
    [InlineData(HookFolder.Variable, "hooks", "'hooks' is no absolute path.")]
    [InlineData(HookFolder.LimitVariable, "0", "'0' is not a number of seconds from 1 to 3600.")]
    [InlineData(HookFolder.LimitVariable, "3601", "'3601' is not a number of seconds from 1 to 3600.")]
    public void A_setting_that_cannot_be_read_is_logged(string variable, string value, string expected)
    {
        _scratch.Variables[variable] = value;
        _scratch.Succeed("start");
        Assert.Contains($"{variable}: {expected}", Log);
    }

    /// <summary>Lines in an order of their own; without the operational status of virtual disks, which says Detached of one that is not connected.</summary>
    private static IEnumerable<string> Sorted(string[] lines) => lines.Order(StringComparer.Ordinal)
        .Select(static line => line.Contains(",VirtualDisk,", StringComparison.Ordinal) ? string.Join(',', line.Split(',')[..6]) + "," : line);

    private void MakePool()
    {
        string disks = string.Join(',', Enumerable.Range(1, 4).Select(i => $"{_scratch.Root}/d{i}.img"));
        _scratch.Succeed("New-PhysicalDisk", "-Path", disks, "-Size", "512MB", "-LatencyProfile", "NVMe");
        _scratch.Succeed("New-StoragePool", "-FriendlyName", "P", "-PhysicalDisks", "*");
        _scratch.Succeed("New-VirtualDisk", "P", "-FriendlyName", "v", "-Size", "128MB", "-ResiliencySettingName", "Mirror", "-ProvisioningType", "Fixed");
        string seen = Path.Combine(_scratch.Paths.State, "health.json");
        Scratch.Eventually("the health was seen", () => File.Exists(seen) && File.ReadAllText(seen).Contains("\"v\"", StringComparison.Ordinal));
    }

    private void AddHook(string name, string script, UnixFileMode mode = Runs, string? folder = null)
    {
        string file = Path.Combine(Directory.CreateDirectory(folder ?? Hooks).FullName, name);
        File.WriteAllText(file, $"#!/bin/sh\n{script}\n");
        File.SetUnixFileMode(file, mode);
    }

    private void Pull(string disk) => _scratch.Succeed("Set-EmulatedDiskFault", disk, "-Pull");

    private void Clear(string disk) => _scratch.Succeed("Set-EmulatedDiskFault", disk, "-Clear");

    private string[] Lines() => File.Exists(Told) ? File.ReadAllLines(Told) : [];
}
