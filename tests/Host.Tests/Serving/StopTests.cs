using System.Diagnostics;
using TierSpaces.Host.Supervision;

namespace TierSpaces.Host.Tests.Serving;

/// <summary>A host that a user stops stays stopped, also while verbs wait for its answers.</summary>
public class StopTests
{
    [Theory]
    [InlineData("Start-TierSpacesHost", "Start-TierSpacesHost")]
    [InlineData("Stop-TierSpacesHost", "Stop-TierSpacesHost")]
    [InlineData("start", "Start-TierSpacesHost")]
    [InlineData("stop", "Stop-TierSpacesHost")]
    public void A_start_or_stop_that_is_only_asked_about_names_the_host_and_does_nothing(string word, string verb)
    {
        using Scratch scratch = new();

        Scratch.Answer answer = scratch.Run(word, "-WhatIf");

        Assert.Equal((0, ""), (answer.ExitCode, answer.Error));
        Assert.Equal($"What if: Performing the operation \"{verb}\" on target \"TierSpacesHost '{scratch.Paths.Home}'\".", answer.Output.Trim());
        Assert.False(File.Exists(scratch.Paths.HostLock));
    }

    [Fact]
    public async Task A_host_that_is_stopped_answers_who_waits_for_a_job_and_is_not_started_again()
    {
        using Scratch scratch = new();
        scratch.Succeed("New-PhysicalDisk", "-Path", $"{scratch.Root}/1.img,{scratch.Root}/2.img", "-Size", "1GB", "-LatencyProfile", "HDD7200");
        scratch.Succeed("New-StoragePool", "-FriendlyName", "P", "-StorageSubSystemFriendlyName", "*", "-PhysicalDisks", "*");
        scratch.Succeed("New-VirtualDisk", "P", "-FriendlyName", "v", "-Size", "256MB", "-ResiliencySettingName", "Mirror", "-ProvisioningType", "Fixed");
        scratch.Succeed("Set-EmulatedDiskFault", "*", "-SlowFactor", "10");
        Task<Scratch.Answer> repair = Task.Run(() => scratch.Run("Repair-VirtualDisk", "v"), TestContext.Current.CancellationToken);
        Scratch.Eventually("the repair runs", () => scratch.Run("Get-StorageJob", "-Json").Output.Contains("Running", StringComparison.Ordinal));

        Stopwatch watch = Stopwatch.StartNew();
        scratch.Succeed("stop");
        Assert.InRange(watch.Elapsed, TimeSpan.Zero, TimeSpan.FromSeconds(8));
        Scratch.Answer answer = await repair;
        Assert.Equal(1, answer.ExitCode);
        Assert.Contains("goes on when it runs again", answer.Error);
        Assert.Equal("stopped", LockFile.Read(scratch.Paths.HostLock));
        Assert.True(scratch.Paths.WasStopped);

        scratch.Succeed("start");
        scratch.Succeed("Set-EmulatedDiskFault", "*", "-Clear");
        Assert.False(scratch.Paths.WasStopped);
        Scratch.Eventually(
            "the repair goes on to its end", () => scratch.Run("Get-StorageJob", "-Json").Output.Contains("Completed", StringComparison.Ordinal));
    }
}
