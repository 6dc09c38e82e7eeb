using System.Text.Json;

namespace TierSpaces.Host.Tests.Verbs;

/// <summary>The verbs with the real executable, on image files.</summary>
public sealed class MainJobTests : IDisposable
{
    private readonly MainJobWorld _world = new();

    [Fact]
    public void From_disks_to_a_served_virtual_disk_and_back()
    {
        _world.Ok("New-VirtualDisk", "p", "-FriendlyName", "d", "-ResiliencySettingName", "Mirror", "-Size", "64MB", "-NumberOfColumns", "2");
        JsonElement disk = _world.One("Connect-VirtualDisk", "d", "-PassThru", "-Json");
        Assert.Equal("OK", disk.GetProperty("OperationalStatus")[0].GetString());
        Assert.Equal(64 << 20, disk.GetProperty("Size").GetInt64());
        string uri = disk.GetProperty("NbdUri").GetString()!;
        Assert.Equal("nbd+unix:///d?socket=" + Path.Combine(_world.Scratch.Paths.Exports, disk.GetProperty("UniqueId").GetString() + ".sock"), uri);
        Assert.True(disk.GetProperty("DevicePath").ValueKind != JsonValueKind.Null || disk.GetProperty("AttachReason").ValueKind != JsonValueKind.Null);
        _world.Ok("Disconnect-VirtualDisk", "d");
        Assert.Equal(JsonValueKind.Null, _world.One("Get-VirtualDisk", "d", "-Json").GetProperty("NbdUri").ValueKind);
        _world.Ok("Remove-VirtualDisk", "d", "-Confirm:$false");
        _world.Ok("Remove-StoragePool", "p", "-Confirm:$false");
        Assert.Equal(4, _world.All("Get-PhysicalDisk", "-CanPool", "$true", "-Json").GetArrayLength());
        _world.Ok("Unregister-PhysicalDisk", "*");
        Assert.Equal(0, _world.All("Get-PhysicalDisk", "-Json").GetArrayLength());
        Assert.True(File.Exists(_world.Image("a")));
    }

    [Fact]
    public void Everything_is_there_again_after_a_kill()
    {
        _world.Ok("New-VirtualDisk", "p", "-FriendlyName", "d", "-Size", "64MB");
        _world.Ok("Connect-VirtualDisk", "d");
        JsonElement before = _world.One("Get-VirtualDisk", "d", "-Json");
        Scratch.Kill(_world.Scratch.Pair().Host);
        JsonElement after = default;   // while the pool is being opened the host answers with what it knows
        Scratch.Eventually("the disk is served", () =>
            (after = _world.One("Get-VirtualDisk", "d", "-Json")).GetProperty("NbdUri").ValueKind == JsonValueKind.String);
        foreach (string property in (string[])["UniqueId", "NbdUri", "Size"])
        {
            Assert.Equal(before.GetProperty(property).ToString(), after.GetProperty(property).ToString());
        }

        _world.Ok("Disconnect-VirtualDisk", "d");
    }

    [Fact]
    public void Images_open_in_another_home()
    {
        _world.Ok("New-VirtualDisk", "p", "-FriendlyName", "d", "-Size", "64MB");
        _world.Ok("stop");
        using Scratch other = new Scratch("other");
        Scratch.Answer answer = other.Run("Register-PhysicalDisk", $"{_world.Image("a")},{_world.Image("b")},{_world.Image("c")},{_world.Image("d")}");
        Assert.Equal((0, ""), (answer.ExitCode, answer.Error));
        Assert.Equal("d", JsonDocument.Parse(other.Run("Get-VirtualDisk", "-Json").Output).RootElement[0].GetProperty("FriendlyName").GetString());
    }

    [Fact]
    public void Files_that_cannot_be_disks_are_refused()
    {
        File.WriteAllText(_world.Image("mine"), "mine");
        _world.Refused("FileExists", "New-PhysicalDisk", _world.Image("mine"), "-Size", "256MB");
        Assert.Equal("mine", File.ReadAllText(_world.Image("mine")));
        _world.Refused("DuplicateDisk", "Register-PhysicalDisk", _world.Image("a"));
        _world.Refused("DuplicateDisk", "New-PhysicalDisk", $"{_world.Image("x")},{_world.Image("x")}", "-Size", "256MB");
        _world.Refused("FileNotFound", "Register-PhysicalDisk", _world.Image("nothing"));
        _world.Refused("StorageWMI 5]", "New-PhysicalDisk", $"{_world.Image("x")},{_world.Image("y")}", "-Size", "256MB", "-FriendlyName", "one");
        _world.Refused("StorageWMI 4097", "New-PhysicalDisk", _world.Image("x"), "-Size", "1MB");
        Assert.False(File.Exists(_world.Image("x")));
        File.WriteAllBytes(_world.Image("noise"), new byte[64 << 20]);
        Tool("mkfs.ext4", "-q", _world.Image("noise"));
        _world.Ok("Register-PhysicalDisk", _world.Image("noise"));
        _world.Refused("ForeignSignature", "New-StoragePool", "-FriendlyName", "q", "-PhysicalDisks", "noise");
    }

    [Fact]
    public void Attributes_and_defaults_are_kept()
    {
        _world.Ok("Set-PhysicalDisk", "a", "-NewFriendlyName", "first", "-Description", "the first", "-MediaType", "HDD", "-Usage", "HotSpare");
        JsonElement disk = _world.One("Get-PhysicalDisk", "first", "-Json");
        Assert.Equal(
            ("the first", "HDD", "Hot Spare"),
            (disk.GetProperty("Description").GetString(), disk.GetProperty("MediaType").GetString(), disk.GetProperty("Usage").GetString()));
        _world.Ok("Set-ResiliencySetting", "-Name", "Mirror", "-StoragePool", "p", "-InterleaveDefault", "64KB", "-NumberOfColumnsDefault", "1");
        _world.Ok("Set-StoragePool", "p", "-ProvisioningTypeDefault", "Thin", "-ResiliencySettingNameDefault", "mirror");
        _world.Ok("Set-StoragePool", "p", "-NewFriendlyName", "q", "-ThinProvisioningAlertThresholds", "50");
        _world.Ok("New-VirtualDisk", "q", "-FriendlyName", "v", "-Size", "16MB");
        _world.Ok("Set-VirtualDisk", "v", "-NewFriendlyName", "w", "-Usage", "Unrestricted");
        _world.Ok("Set-VirtualDisk", "w", "-Access", "Readable");
        _world.Ok("Resize-VirtualDisk", "w", "-Size", "32MB");
        JsonElement made = _world.One("Get-VirtualDisk", "w", "-Json");
        Assert.Equal(
            ("Thin", 65536, 1, "Unrestricted", "Readable", 32 << 20),
            (made.GetProperty("ProvisioningType").GetString(), made.GetProperty("Interleave").GetInt32(),
            made.GetProperty("NumberOfColumns").GetInt32(), made.GetProperty("Usage").GetString(),
            made.GetProperty("Access").GetString(), made.GetProperty("Size").GetInt32()));
        Assert.Equal(50, _world.One("Get-StoragePool", "q", "-Json").GetProperty("ThinProvisioningAlertThresholds")[0].GetInt32());
    }

    [Fact]
    public void Objects_are_found_by_what_they_belong_to()
    {
        _world.Ok("New-VirtualDisk", "p", "-FriendlyName", "v", "-Size", "4MB", "-ResiliencySettingName", "Simple", "-PhysicalDisksToUse", "a");
        Assert.Equal("a", _world.One("Get-PhysicalDisk", "-VirtualDisk", "v", "-NoRedundancy", "-Json").GetProperty("FriendlyName").GetString());
        Assert.Equal(3, _world.All("Get-PhysicalDisk", "-VirtualDisk", "v", "-HasAllocations", "$false", "-Json").GetArrayLength());
        Assert.Equal("v", _world.One("Get-VirtualDisk", "-PhysicalDisk", "a", "-Json").GetProperty("FriendlyName").GetString());
        Assert.Equal(0, _world.All("Get-VirtualDisk", "-PhysicalDisk", "b", "-Json").GetArrayLength());
        Assert.Equal("p", _world.One("Get-StoragePool", "-VirtualDisk", "v", "-Json").GetProperty("FriendlyName").GetString());
        Assert.Equal("p", _world.One("Get-StoragePool", "-IsPrimordial", "$false", "-Json").GetProperty("FriendlyName").GetString());
        Assert.Equal(4, _world.All("Get-PhysicalDisk", "-StoragePool", "p", "-Json").GetArrayLength());
        Assert.NotEqual(0, _world.All("Get-PhysicalExtent", "-VirtualDisk", "v", "-Json").GetArrayLength());
    }

    public void Dispose() => _world.Dispose();

    private static void Tool(string name, params string[] words) => Host.Attaching.Tool.Run(name, words);
}
