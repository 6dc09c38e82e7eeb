using TierSpaces.Contracts;

namespace TierSpaces.Host.Tests.Verbs;

/// <summary>Without a terminal a verb that destroys takes one object that is named exactly.</summary>
public sealed class UnconfirmedTests
{
    private static readonly Dictionary<string, string[]> s_many = new()
    {
        ["Clear-Disk -FriendlyName"] = ["*"],
        ["Format-Volume -FileSystemLabel"] = ["*", "D*"],
        ["Remove-Partition -InputObject"] = ["*"],
        ["Remove-VirtualDisk"] = ["*", "v,w", "[vw]"],
        ["Remove-StoragePool"] = ["*", "p,q"],
        ["Reset-PhysicalDisk"] = ["*", "free?"],
        ["Remove-PhysicalDisk p -PhysicalDisks"] = ["*", "c,d", "[d]"],
    };

    [Fact]
    public void A_pattern_or_several_objects_are_refused_and_nothing_changes_until_it_is_confirmed()
    {
        using Scratch scratch = new Scratch();
        Make(scratch);
        string before = State(scratch);
        Assert.Equal(
            VerbDescription.All.Where(verb => verb.Verb.Destroys).Select(verb => verb.Name).Order(), s_many.Keys.Select(line => line.Split(' ')[0]).Order());
        foreach ((string? line, string[]? selectors) in s_many)
        {
            foreach (string selector in selectors)
            {
                Scratch.Answer answer = scratch.Run([.. line.Split(' '), selector]);
                Assert.Equal((1, true), (answer.ExitCode, answer.Error.Contains("Give -Confirm:false", StringComparison.Ordinal)));
                Assert.Equal(before, State(scratch));
            }
        }

        scratch.Succeed("Remove-VirtualDisk", "v");
        scratch.Succeed("Remove-VirtualDisk", "*", "-Confirm:");   // what a POSIX shell leaves of -Confirm:$false
        Assert.Equal("[]", scratch.Run("Get-VirtualDisk", "-Json").Output.Trim());
        scratch.Succeed("Remove-PhysicalDisk", "p", "-PhysicalDisks", "c,d", "-Confirm:false");
        scratch.Succeed("Remove-StoragePool", "q,p", "-Confirm:", "$false");
    }

    private static void Make(Scratch scratch)
    {
        string[] names = ["a", "b", "c", "d", "e", "free1", "free2"];
        scratch.Succeed("New-PhysicalDisk", "-Path", string.Join(',', names.Select(name => $"{scratch.Root}/{name}.img")), "-Size", "256MB");
        scratch.Succeed("New-StoragePool", "-FriendlyName", "p", "-StorageSubSystemFriendlyName", "*", "-PhysicalDisks", "a,b,c,d");
        scratch.Succeed("New-StoragePool", "-FriendlyName", "q", "-StorageSubSystemFriendlyName", "*", "-PhysicalDisks", "e");
        scratch.Succeed("New-VirtualDisk", "p", "-FriendlyName", "v", "-Size", "16MB", "-ProvisioningType", "Thin");
        scratch.Succeed("New-VirtualDisk", "p", "-FriendlyName", "w", "-Size", "16MB", "-ProvisioningType", "Thin");
    }

    private static string State(Scratch scratch) =>
        scratch.Run("Get-VirtualDisk", "-Json").Output + scratch.Run("Get-StoragePool", "-Json").Output + scratch.Run("Get-PhysicalDisk", "-Json").Output;
}
