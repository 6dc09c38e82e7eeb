using System.Diagnostics;
using System.Text.Json;

namespace TierSpaces.Host.Tests.Verbs;

/// <summary>Test-StoragePowerCut with the real executable: what it answers, that it refuses, ends and touches nothing.</summary>
public sealed class PowerCutTests : IDisposable
{
    private readonly Scratch _scratch = new();

    [Fact]
    public void A_layout_is_proved_and_nothing_is_left()
    {
        Scratch.Answer answer = _scratch.Run("Test-StoragePowerCut", "Simple", "-NumberOfColumns", "1", "-Size", "1MB", "-Cuts", "3", "-Seed", "5", "-Json");

        Assert.True(answer.ExitCode == 0, answer.Error);
        JsonElement result = One(answer);
        Assert.Equal(("Simple", 3, 12, 0, 5), (result.GetProperty("ResiliencySettingName").GetString(), Number(result, "Cuts"),
            Number(result, "CrashStates"), Number(result, "Violations"), Number(result, "Seed")));
        Assert.Equal(12 * 2 * 2048, Number(result, "SectorsVerified"));
        Assert.Equal(0, JsonDocument.Parse(_scratch.Run("Get-PhysicalDisk", "-Json").Output).RootElement.GetArrayLength());
    }

    [Fact]
    public void A_planted_fault_is_reported_and_is_an_error()
    {
        Scratch.Answer answer = _scratch.Run(
            "Test-StoragePowerCut", "Simple", "-NumberOfColumns", "1", "-Size", "1MB", "-Cuts", "4", "-Seed", "3", "-FlushLies", "-Json");

        Assert.Equal(1, answer.ExitCode);
        Assert.Contains("broke the promise", answer.Error);
        Assert.True(Number(One(answer), "Violations") > 0);
        Assert.Contains("seed 3", One(answer).GetProperty("ViolationDescriptions")[0].GetString());
    }

    [Fact]
    public void The_layout_of_a_virtual_disk_is_tried_and_the_disk_left_alone()
    {
        Ok("New-PhysicalDisk", $"{Image("a")},{Image("b")}", "-Size", "128MB", "-MediaType", "SSD");
        Ok("New-StoragePool", "-FriendlyName", "p", "-PhysicalDisks", "a,b");
        Ok("New-VirtualDisk", "p", "-FriendlyName", "d", "-Size", "16MB", "-ResiliencySettingName", "Mirror", "-Interleave", "64KB", "-Checksum", "None");
        string before = _scratch.Run("Get-StorageCounter", "-VirtualDisk", "d", "-Json").Output;

        JsonElement result = One(_scratch.Run("Test-StoragePowerCut", "-FriendlyName", "d", "-Size", "1MB", "-Cuts", "1", "-Json"));

        Assert.Equal(("d", "Mirror", "None", 65536, 0), (result.GetProperty("FriendlyName").GetString(),
            result.GetProperty("ResiliencySettingName").GetString(), result.GetProperty("Checksum").GetString(),
            Number(result, "Interleave"), Number(result, "Violations")));
        Assert.Equal(before, _scratch.Run("Get-StorageCounter", "-VirtualDisk", "d", "-Json").Output);
    }

    [Fact]
    public void It_ends_at_its_time_limit_and_with_its_caller()
    {
        Stopwatch watch = Stopwatch.StartNew();
        Scratch.Answer answer = _scratch.Run("Test-StoragePowerCut", "Simple", "-Cuts", "100000", "-TimeLimitSeconds", "1", "-Json");

        Assert.Equal(0, answer.ExitCode);
        Assert.Contains("time limit of 1 seconds", answer.Error);
        Assert.InRange(Number(One(answer), "Cuts"), 0, 99_999);
        Assert.InRange(watch.Elapsed.TotalSeconds, 1, 50);

        using Process caller = Process.Start(new ProcessStartInfo(Scratch.Executable, ["Test-StoragePowerCut", "-Cuts", "100000"])
        {
            RedirectStandardOutput = true, RedirectStandardError = true, Environment = { ["TIERSPACES_HOME"] = _scratch.Paths.Home },
        })!;
        Scratch.Eventually("the test runs", () => PowerCutThreads() == 1);
        caller.Kill();
        Scratch.Eventually("the test has ended", () => PowerCutThreads() == 0);
    }

    [Fact]
    public void What_is_out_of_range_is_refused()
    {
        Assert.Contains("-Cuts 0: out of range. Valid: 1 to 100000", _scratch.Run("Test-StoragePowerCut", "-Cuts", "0").Error);
        Assert.Contains("-TimeLimitSeconds 0: out of range", _scratch.Run("Test-StoragePowerCut", "-TimeLimitSeconds", "0").Error);
        Assert.Contains("NotFound_FriendlyName", _scratch.Run("Test-StoragePowerCut", "-FriendlyName", "absent").Error);
    }

    public void Dispose() => _scratch.Dispose();

    private int PowerCutThreads() => Directory.GetDirectories($"/proc/{_scratch.Pair().Host}/task").Count(IsPowerCut);

    private static bool IsPowerCut(string thread)
    {
        try
        {
            return File.ReadAllText(Path.Combine(thread, "comm")).Trim() == "power cuts";
        }
        catch (IOException)
        {
            return false;   // it ended meanwhile
        }
    }

    private string Image(string name) => Path.Combine(_scratch.Root, name + ".img");

    private void Ok(params string[] words)
    {
        Scratch.Answer answer = _scratch.Run(words);
        Assert.True(answer.ExitCode == 0, answer.Error + answer.Output);
    }

    private static JsonElement One(Scratch.Answer answer) => Assert.Single(JsonDocument.Parse(answer.Output).RootElement.EnumerateArray());

    private static long Number(JsonElement element, string property) => element.GetProperty(property).GetInt64();
}
