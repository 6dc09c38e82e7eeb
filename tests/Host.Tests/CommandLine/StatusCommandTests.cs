using System.Diagnostics;
using System.Text.Json;

namespace TierSpaces.Host.Tests.CommandLine;

/// <summary>The commands <c>status</c> and <c>wait</c>, whose exit code is a health.</summary>
public sealed class StatusCommandTests : IDisposable
{
    private readonly Scratch _scratch = new();

    public void Dispose() => _scratch.Dispose();

    [Fact]
    public void The_exit_code_is_the_worst_health_of_all_and_the_lines_say_what_is_wrong()
    {
        MakePool(slow: false);
        Scratch.Answer healthy = _scratch.Run("status");
        Assert.Equal((0, ""), (healthy.ExitCode, healthy.Error));
        Assert.DoesNotContain("Warning:", healthy.Output);
        Assert.Equal("Healthy", _scratch.One("status").GetProperty("HealthStatus").GetString());

        _scratch.Succeed("Set-EmulatedDiskFault", "d1", "-Pull");
        Scratch.Eventually("the health is a warning", () => _scratch.Run("status").ExitCode == 1);
        string degraded = _scratch.Run("status").Output;
        Assert.Contains("Warning: storage pool 'P': Degraded.", degraded);
        Assert.Contains("Warning: physical disk 'd1' of storage pool 'P': Lost Communication. It is missing.", degraded);
        Assert.Equal(3, _scratch.One("status").GetProperty("Faults").GetArrayLength());   // and the virtual disk

        _scratch.Succeed("Set-EmulatedDiskFault", "d[23]", "-Pull");
        Scratch.Answer bad = healthy;   // the virtual disk is bad at once, the pool when it has ended
        Scratch.Eventually("the health is bad", () => (bad = _scratch.Run("status")).ExitCode == 2 && bad.Output.Contains("Incomplete"));
        Assert.StartsWith("Critical: storage pool 'P': Incomplete.", bad.Output.Split('\n').First(line => line.Contains("Incomplete")));
    }

    [Theory]
    [InlineData(80)]
    [InlineData(60)]
    public void The_table_is_no_wider_than_the_terminal(int columns)
    {
        Assert.SkipUnless(File.Exists("/usr/bin/script"), "script (bsdutils) is not installed.");
        MakePool(slow: false);

        Scratch.Answer shown = _scratch.RunAs("script", ["-qec", $"stty cols {columns}; '{Scratch.Executable}' status", "/dev/null"]);

        Assert.Contains("Healthy", shown.Output);
        Assert.All(shown.Output.Split('\n'), line => Assert.InRange(line.TrimEnd('\r').Length, 0, columns));
    }

    [Fact]
    public void Quiet_prints_nothing()
    {
        Assert.Equal(new Scratch.Answer(3, "", ""), _scratch.Run("status", "-Quiet"));
        Assert.Equal(new Scratch.Answer(3, "", ""), _scratch.Run("status", "-Quiet", "-Foo"));
        Assert.Equal(new Scratch.Answer(3, "", ""), _scratch.Run("status", "word", "--quiet"));
        Assert.Equal(new Scratch.Answer(3, "", ""), _scratch.Run("status", "-Quiet:perhaps"));
        Assert.Contains("-Foo", _scratch.Run("status", "-Quiet:false", "-Foo").Error);
        _scratch.Succeed("start");
        Assert.Equal(new Scratch.Answer(0, "", ""), _scratch.Run("status", "-Quiet"));
        Assert.Equal(new Scratch.Answer(0, "", ""), _scratch.Run("status", "--quiet", "-Json"));
    }

    [Fact]
    public void Without_an_answer_the_health_is_unknown()
    {
        Assert.Equal(3, _scratch.Run("status").ExitCode);
        Assert.Contains("No host runs in", _scratch.Run("status").Error);
        Assert.Equal(3, _scratch.Run("status", "-Nonsense").ExitCode);
        _scratch.Succeed("start");
        int host = _scratch.Pair().Host;
        Process.Start("kill", ["-STOP", $"{host}"]).WaitForExit();
        try
        {
            Scratch.Answer silent = _scratch.Run("status");
            Assert.Equal(3, silent.ExitCode);
            Assert.Contains("does not answer within 10 s", silent.Error);
        }
        finally
        {
            Process.Start("kill", ["-CONT", $"{host}"]).WaitForExit();
        }

        Assert.Equal(0, _scratch.Run("status").ExitCode);
    }

    /// <summary>Of a pool of which too few members are here nothing but its identity is known.</summary>
    [Fact]
    public void A_pool_that_does_not_open_is_unhealthy()
    {
        MakePool(slow: false);
        _scratch.Succeed("stop");
        Directory.CreateDirectory($"{_scratch.Root}/away");
        foreach (string disk in new[] { "d2", "d3", "d4" })
        {
            File.Move($"{_scratch.Root}/{disk}.img", $"{_scratch.Root}/away/{disk}.img");
        }

        _scratch.Succeed("start");
        Scratch.Answer answer = _scratch.Run("status");
        Assert.Equal(2, answer.ExitCode);
        Assert.Contains("Critical: storage pool '", answer.Output);
        Assert.Contains("Incomplete", answer.Output);
    }

    [Fact]
    public void Wait_returns_when_the_job_has_ended_and_when_all_is_healthy()
    {
        MakePool(slow: true);
        _scratch.Succeed("Set-EmulatedDiskFault", "*", "-SlowFactor", "10");
        using Process repair = _scratch.Start("Repair-VirtualDisk", "v");
        Scratch.Eventually("the repair runs", () => Jobs() is [{ } one] && one.GetProperty("JobState").GetString() == "Running");
        string id = Jobs()[0].GetProperty("UniqueId").GetString()!;

        Scratch.Answer early = _scratch.Run("wait", "-StorageJob", "Repair", "-Timeout", "1");
        Assert.Equal(4, early.ExitCode);
        Assert.Contains("wait: not within 1 s.", early.Error);
        Assert.Contains("storage job 'Repair' (Repairs virtual disk v): Running", early.Error);

        using Process waiting = _scratch.Start("wait", "--storage-job", id, "-VirtualDisk", "v", "-StoragePool", "P");
        Assert.False(waiting.WaitForExit(TimeSpan.FromSeconds(1)));
        _scratch.Succeed("Set-EmulatedDiskFault", "*", "-Clear");
        string printed = waiting.StandardOutput.ReadToEnd();
        waiting.WaitForExit();
        Assert.Equal((0, 0), (waiting.ExitCode, End(repair)));
        Assert.Contains("storage job 'Repair' (Repairs virtual disk v): Completed.", printed);
        Assert.Contains("storage pool 'P': Healthy.", printed);
        Assert.Contains("virtual disk 'v': Healthy.", printed);
        Assert.Equal(0, _scratch.Run("wait", "-StorageJob", "Repair").ExitCode);
    }

    [Fact]
    public void A_verb_that_is_interrupted_says_that_its_job_goes_on()
    {
        MakePool(slow: true);
        _scratch.Succeed("Set-EmulatedDiskFault", "*", "-SlowFactor", "10");
        using Process repair = _scratch.Start("Repair-VirtualDisk", "v");
        Scratch.Eventually("the repair runs", () => Jobs() is [{ } one] && one.GetProperty("JobState").GetString() == "Running");
        string id = Jobs()[0].GetProperty("UniqueId").GetString()!;
        Process.Start("kill", ["-INT", $"{repair.Id}"]).WaitForExit();
        Assert.Equal(130, End(repair));
        string said = repair.StandardError.ReadToEnd();
        Assert.Matches(
            $"^Repair-VirtualDisk was interrupted; its storage job goes on: 'Repairs virtual disk v' .Repair {id}, [0-9]+ % complete.. Get-StorageJob shows it, Stop-StorageJob stops it.\n$",
            said);
        Assert.Equal("Running", Jobs()[0].GetProperty("JobState").GetString());
        _scratch.Succeed("Set-EmulatedDiskFault", "*", "-Clear");
        Assert.Equal(0, _scratch.Run("wait", "-StorageJob", id).ExitCode);
    }

    [Fact]
    public void Wait_says_that_a_job_was_stopped()
    {
        MakePool(slow: true);
        _scratch.Succeed("Set-EmulatedDiskFault", "*", "-SlowFactor", "10");
        using Process repair = _scratch.Start("Repair-VirtualDisk", "v");
        Scratch.Eventually("the repair runs", () => Jobs() is [{ } one] && one.GetProperty("JobState").GetString() == "Running");
        using Process waiting = _scratch.Start("wait", "-StorageJob", "Repair");
        Assert.False(waiting.WaitForExit(TimeSpan.FromSeconds(1)));
        _scratch.Succeed("Stop-StorageJob", "-Name", "Repair");
        Assert.Equal((1, 1), (End(waiting), End(repair)));
        _scratch.Succeed("Set-EmulatedDiskFault", "*", "-Clear");
    }

    [Fact]
    public void Wait_waits_for_health_over_the_death_of_the_host_and_not_for_one_that_was_stopped()
    {
        MakePool(slow: false);
        _scratch.Succeed("Set-EmulatedDiskFault", "d1", "-Pull");
        Scratch.Eventually("the health is a warning", () => _scratch.Run("status").ExitCode == 1);
        using Process waiting = _scratch.Start("wait", "-StoragePool", "P");
        using Process other = _scratch.Start("wait", "-VirtualDisk", "v");
        Assert.False(waiting.WaitForExit(TimeSpan.FromSeconds(2)));
        Scratch.Kill(_scratch.Pair().Host);   // an emulated fault ends with its host
        Assert.Equal((0, 0), (End(waiting), End(other)));

        _scratch.Succeed("Set-EmulatedDiskFault", "d1", "-Pull");
        Scratch.Eventually("the health is a warning", () => _scratch.Run("status").ExitCode == 1);
        using Process stopped = _scratch.Start("wait", "-StoragePool", "P");
        Assert.False(stopped.WaitForExit(TimeSpan.FromSeconds(2)));
        _scratch.Succeed("stop");
        Assert.Equal(3, End(stopped));
    }

    [Theory]
    [InlineData("Nothing to wait for")]
    [InlineData("-Timeout -1: out of range", "-StoragePool", "P", "-Timeout", "-1")]
    [InlineData("No host runs in", "-StoragePool", "P")]
    [InlineData("", "-Nonsense")]
    public void Wait_that_cannot_know_says_so(string expected, params string[] words)
    {
        Scratch.Answer answer = _scratch.Run(["wait", .. words]);
        Assert.Equal(3, answer.ExitCode);
        Assert.Contains(expected, answer.Error);
    }

    [Fact]
    public void Wait_for_what_is_not_there_ends_at_once()
    {
        _scratch.Succeed("start");
        Assert.Contains("No MSFT_VirtualDisk objects found", _scratch.Run("wait", "-VirtualDisk", "nothing").Error);
        Assert.Equal(3, _scratch.Run("wait", "-VirtualDisk", "nothing").ExitCode);
        Assert.Equal(3, _scratch.Run("wait", "-StorageJob", "Repair").ExitCode);
        Assert.Equal(0, _scratch.Run("wait", "-StorageJob", "R*").ExitCode);
    }

    private void MakePool(bool slow)
    {
        string disks = string.Join(',', Enumerable.Range(1, 4).Select(i => $"{_scratch.Root}/d{i}.img"));
        _scratch.Succeed("New-PhysicalDisk", "-Path", disks, "-Size", "512MB", "-LatencyProfile", slow ? "HDD7200" : "NVMe");
        _scratch.Succeed("New-StoragePool", "-FriendlyName", "P", "-PhysicalDisks", "*");
        _scratch.Succeed("New-VirtualDisk", "P", "-FriendlyName", "v", "-Size", "128MB", "-ResiliencySettingName", "Mirror", "-ProvisioningType", "Fixed");
    }

    private JsonElement[] Jobs() => [.. JsonDocument.Parse(_scratch.Run("Get-StorageJob", "-Json").Output).RootElement.EnumerateArray()];

    private static int End(Process process)
    {
        Assert.True(process.WaitForExit(TimeSpan.FromSeconds(60)), "It does not end.");
        return process.ExitCode;
    }
}
