using TierSpaces.Contracts;
using TierSpaces.Engine.Devices.Emulated;
using TierSpaces.Host.CommandLine;

namespace TierSpaces.Host.Tests.CommandLine;

public class ShellCompletionTests
{
    [Theory]
    [InlineData("sta", "start|status|Start-TierSpacesHost")]
    [InlineData("new-vi", "New-VirtualDisk")]
    [InlineData("New-VirtualDisk -NumberOf", "-NumberOfDataCopies|-NumberOfColumns|-NumberOfGroups")]
    [InlineData("New-VirtualDisk -wha", "-WhatIf")]
    [InlineData("New-VirtualDisk -Prov T", "Thin")]
    [InlineData("Get-PhysicalDisk -CanPool ", "$true|$false")]
    [InlineData("Get-VirtualDisk MSFT_V", "MSFT_VirtualDisk.1")]
    [InlineData("New-VirtualDisk ", "MSFT_StoragePool.1")]
    [InlineData("New-StoragePool -PhysicalDisks a,MSFT", "a,MSFT_PhysicalDisk.1")]
    [InlineData("New-PhysicalDisk -LatencyProfile ", "HDD5400|HDD7200|HDD10K|HDD15K|SSDSata|SSDSas|NVMe")]
    [InlineData("New-VirtualDisk -ResiliencySettingName M", "Mirror")]
    [InlineData("Get-StoragePool -Name MSFT", "MSFT_StoragePool.1")]
    [InlineData("Get-StoragePool -UniqueId MSFT", "")]
    [InlineData("New-VirtualDisk -FriendlyName MSFT", "")]
    [InlineData("Get-VirtualDisk -Nonsense x", "")]
    [InlineData("nonsense x", "")]
    public void Offers_what_may_come_next(string line, string expected)
    {
        IEnumerable<string> candidates = ShellCompletion.Candidates(line.Split(' '), OwnCommands.Names, windowsClass => [windowsClass + ".1"]);
        Assert.Equal(expected, string.Join("|", candidates));
    }

    [Fact]
    public void The_latency_profiles_that_are_offered_are_those_there_are() => Assert.Equal(
        LatencyProfile.All.Select(profile => profile.Name),
        VerbDescription.Of(typeof(NewPhysicalDiskRequest)).Parameters.Single(parameter => parameter.Name == "LatencyProfile").Suggestions);

    [Theory]
    [InlineData("bash", "new-virtualdisk -stor", "-StoragePoolFriendlyName\n-StoragePoolUniqueId\n-StoragePoolName\n")]
    public void The_script_makes_the_shell_ask_us(string shell, string line, string expected)
    {
        using Scratch scratch = new Scratch();
        string script = ShellCompletion.ScriptFor(shell).Replace("$(tierspaces", $"$({Scratch.Executable}")
            + $"\nCOMP_WORDS=(tierspaces {line}); COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 )); _tierspaces; printf '%s\\n' \"${{COMPREPLY[@]}}\"";
        Assert.StartsWith(expected, scratch.RunAs("/bin/bash", ["-c", script]).Output);
    }
}
