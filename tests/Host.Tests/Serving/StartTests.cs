using System.Text.Json;
using TierSpaces.Contracts;
using TierSpaces.Engine.Devices;
using TierSpaces.Host.Attaching;
using TierSpaces.Host.Serving;

namespace TierSpaces.Host.Tests.Serving;

/// <summary>A host starts whatever is the matter with one of its disks.</summary>
public class StartTests
{
    [Theory]
    [InlineData(256, 'x')]
    [InlineData(256, '\u5009')]
    public void A_disk_of_the_longest_name_is_used_over_a_restart(int letters, char letter)
    {
        using Scratch scratch = new Scratch();
        MakePool(scratch);
        string name = new(letter, letters), other = new(letter, letters - 1);
        scratch.Succeed("New-VirtualDisk", "P", "-FriendlyName", name, "-Size", "16MB", "-ResiliencySettingName", "Simple");
        scratch.Succeed("Connect-VirtualDisk", name);
        scratch.Succeed("stop");
        scratch.Succeed("start");
        Assert.StartsWith("nbd+unix:", Property(scratch, name, "NbdUri"));
        scratch.Succeed("Disconnect-VirtualDisk", name);
        scratch.Succeed("Set-VirtualDisk", name, "-NewFriendlyName", other);
        scratch.Succeed("Connect-VirtualDisk", other);
        scratch.Succeed("Remove-VirtualDisk", other);
        Assert.False(Directory.Exists(scratch.Paths.Devices) && Directory.GetFileSystemEntries(scratch.Paths.Devices).Length > 0);
    }

    [Fact]
    public void A_disk_whose_memory_cannot_be_mapped_keeps_no_other_from_being_served_and_opens_when_it_can()
    {
        using Scratch scratch = new Scratch();
        MakePool(scratch);
        foreach (string? name in new[] { "a", "b" })
        {
            scratch.Succeed("New-VirtualDisk", "P", "-FriendlyName", name, "-Size", "16MB", "-ResiliencySettingName", "Simple");
            scratch.Succeed("Connect-VirtualDisk", name);
        }

        int host = scratch.Pair().Host;
        string folder = File.ReadAllText(RuntimeFolder.RecordOf(scratch.Paths));
        string notes = Directory.GetFiles(folder, "notes-*").Order(StringComparer.Ordinal).First();
        Assert.Equal(2, Directory.GetFiles(folder, "notes-*").Length);
        File.Delete(notes);
        Directory.CreateDirectory(notes);
        Scratch.Kill(host);
        Scratch.Eventually("another host answers", () => scratch.Pair().Host != host);
        Assert.StartsWith("nbd+unix:", Property(scratch, "b", "NbdUri"));
        Assert.Contains("Detached", Property(scratch, "a", "OperationalStatus"));
        Assert.Contains("could not be opened", scratch.Run("Connect-VirtualDisk", "a").Error);
        Directory.Delete(notes);
        scratch.Succeed("Connect-VirtualDisk", "a");
        Assert.Contains("OK", Property(scratch, "a", "OperationalStatus"));
    }

    [Fact]
    public void A_device_without_a_link_is_used_by_its_own_path()
    {
        using Scratch scratch = new Scratch();
        using HostState state = new Engine.Devices.HostState(scratch.Paths.State, Path.Combine(scratch.Root, "run"));
        File.WriteAllText(scratch.Paths.Devices, "in the way of the folder of links");
        AttachManager manager = new AttachManager(scratch.Paths, new AttachStore(state), [new Willing()]);
        AttachOutcome outcome = manager.Attach(new AttachTarget("{1}", "d", "/s", "d", 512));
        Assert.Equal(("Willing", "/dev/null"), (outcome.Method, outcome.DevicePath));
        manager.Detach("{1}");
        Assert.Empty(new AttachStore(state).Read());
    }

    private static void MakePool(Scratch scratch)
    {
        scratch.Succeed("New-PhysicalDisk", "-Path", $"{scratch.Root}/1.img", "-Size", "256MB");
        scratch.Succeed("New-StoragePool", "-FriendlyName", "P", "-StorageSubSystemFriendlyName", "*", "-PhysicalDisks", "*");
    }

    private static string Property(Scratch scratch, string disk, string property) =>
        JsonDocument.Parse(scratch.Run("Get-VirtualDisk", disk, "-Json").Output).RootElement[0].GetProperty(property).ToString();

    private sealed class Willing : IAttacher
    {
        public string Method => "Willing";

        public string Patience => "for 1 s";

        public string? Obstacle() => null;

        public AttachRecord Attach(AttachTarget target, string folder) =>
            new() { UniqueId = target.UniqueId, FriendlyName = target.FriendlyName, Method = Method, Device = "/dev/null" };

        public bool IsIntact(AttachRecord record) => true;

        public void Resume(AttachRecord record, AttachTarget target)
        {
        }

        public void Detach(AttachRecord record)
        {
        }
    }
}
