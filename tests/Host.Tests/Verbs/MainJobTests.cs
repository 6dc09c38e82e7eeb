using System.Text.Json;

namespace TierSpaces.Host.Tests.Verbs;

/// <summary>The verbs with the real executable, on image files: what works, and that what is refused changes nothing.</summary>
public sealed class MainJobTests : IDisposable
{
    private readonly Scratch scratch = new();

    public MainJobTests()
    {
        Ok("New-PhysicalDisk", $"{Image("a")},{Image("b")},{Image("c")},{Image("d")}", "-Size", "256MB", "-MediaType", "SSD");
        Ok("New-StoragePool", "-FriendlyName", "p", "-PhysicalDisks", "a,b,c,d");
    }

    [Fact]
    public void From_disks_to_a_served_virtual_disk_and_back()
    {
        Ok("New-VirtualDisk", "p", "-FriendlyName", "d", "-ResiliencySettingName", "Mirror", "-Size", "64MB", "-NumberOfColumns", "2");
        var disk = One("Connect-VirtualDisk", "d", "-PassThru", "-Json");
        Assert.Equal("OK", disk.GetProperty("OperationalStatus")[0].GetString());
        Assert.Equal(64 << 20, disk.GetProperty("Size").GetInt64());
        var uri = disk.GetProperty("NbdUri").GetString()!;
        Assert.Equal("nbd+unix:///d?socket=" + Path.Combine(scratch.Paths.Exports, disk.GetProperty("UniqueId").GetString() + ".sock"), uri);
        Assert.NotEqual(disk.GetProperty("DevicePath").ValueKind, disk.GetProperty("AttachReason").ValueKind);
        Ok("Disconnect-VirtualDisk", "d");
        Assert.Equal(JsonValueKind.Null, One("Get-VirtualDisk", "d", "-Json").GetProperty("NbdUri").ValueKind);
        Ok("Remove-VirtualDisk", "d", "-Confirm:$false");
        Ok("Remove-StoragePool", "p", "-Confirm:$false");
        Assert.Equal(4, All("Get-PhysicalDisk", "-CanPool", "$true", "-Json").GetArrayLength());
        Ok("Unregister-PhysicalDisk", "*");
        Assert.Equal(0, All("Get-PhysicalDisk", "-Json").GetArrayLength());
        Assert.True(File.Exists(Image("a")));
    }

    [Fact]
    public void Everything_is_there_again_after_a_kill()
    {
        Ok("New-VirtualDisk", "p", "-FriendlyName", "d", "-Size", "64MB");
        Ok("Connect-VirtualDisk", "d");
        var before = One("Get-VirtualDisk", "d", "-Json");
        Scratch.Kill(scratch.Pair().Host);
        var after = One("Get-VirtualDisk", "d", "-Json");
        foreach (var property in (string[])["UniqueId", "NbdUri", "Size"])
        {
            Assert.Equal(before.GetProperty(property).ToString(), after.GetProperty(property).ToString());
        }

        Ok("Disconnect-VirtualDisk", "d");
    }

    [Fact]
    public void Images_open_in_another_home()
    {
        Ok("New-VirtualDisk", "p", "-FriendlyName", "d", "-Size", "64MB");
        Ok("stop");
        using var other = new Scratch("other");
        var answer = other.Run("Register-PhysicalDisk", $"{Image("a")},{Image("b")},{Image("c")},{Image("d")}");
        Assert.Equal((0, ""), (answer.ExitCode, answer.Error));
        Assert.Equal("d", JsonDocument.Parse(other.Run("Get-VirtualDisk", "-Json").Output).RootElement[0].GetProperty("FriendlyName").GetString());
    }

    [Theory]
    [InlineData("New-StoragePool -FriendlyName p -PhysicalDisks a", "StorageWMI 5 NameTaken")]
    [InlineData("New-StoragePool -FriendlyName q -PhysicalDisks a", "StorageWMI 51002")]
    [InlineData("New-StoragePool -FriendlyName q -PhysicalDisks nobody", "CmdletizationQuery_NotFound_FriendlyName")]
    [InlineData("New-StoragePool -FriendlyName q -PhysicalDisks nobody*", "StorageWMI 51001")]
    [InlineData("New-StoragePool -FriendlyName q -PhysicalDisks a -StorageSubSystemFriendlyName Mars", "NotFound_FriendlyName")]
    [InlineData("New-VirtualDisk p -FriendlyName v -Size 0", "StorageWMI 4097")]
    [InlineData("New-VirtualDisk p -FriendlyName v -Size 1PB", "StorageWMI 40000")]
    [InlineData("New-VirtualDisk p -FriendlyName v", "StorageWMI 40005")]
    [InlineData("New-VirtualDisk p -FriendlyName v -Size 1MB -Interleave 5000", "StorageWMI 49005")]
    [InlineData("New-VirtualDisk p -FriendlyName v -Size 1MB -NumberOfColumns 3", "StorageWMI 49006")]
    [InlineData("New-VirtualDisk p -FriendlyName v -Size 1MB -NumberOfDataCopies 3", "StorageWMI 48004")]
    [InlineData("New-VirtualDisk p -FriendlyName v -Size 1MB -NumberOfDataCopies 4", "StorageWMI 49003")]
    [InlineData("New-VirtualDisk p -FriendlyName v -Size 1MB -ResiliencySettingName Raid", "StorageWMI 49000")]
    [InlineData("New-VirtualDisk p -FriendlyName v -Size 1MB -LogicalSectorSize 1000", "StorageWMI 51003")]
    [InlineData("New-VirtualDisk p -FriendlyName v -Size 1MB -WriteCacheSize 1GB", "StorageWMI 50005")]
    [InlineData("New-VirtualDisk p -FriendlyName v -Size 1MB -WriteCacheSize 1MB -AutoWriteCacheSize", "StorageWMI 50005")]
    [InlineData("Set-StoragePool p -WriteCacheSizeDefault 9999999999999999999", "StorageWMI 50005")]
    [InlineData("Set-StoragePool p -WriteCacheSizeDefault 1GB -AutoWriteCacheSize true", "StorageWMI 50005")]
    [InlineData("New-VirtualDisk Primordial -FriendlyName v -Size 1MB", "StorageWMI 48000")]
    [InlineData("Get-StoragePool nobody", "CmdletizationQuery_NotFound_FriendlyName")]
    [InlineData("Get-VirtualDisk -UniqueId nobody", "CmdletizationQuery_NotFound_UniqueId")]
    [InlineData("Unregister-PhysicalDisk a", "StorageWMI 51002")]
    [InlineData("Set-StoragePool p -ThinProvisioningAlertThresholds 100", "StorageWMI 5")]
    [InlineData("Set-StoragePool p -ThinProvisioningAlertThresholds 10,20", "StorageWMI 48009")]
    [InlineData("Set-ResiliencySetting -Name Mirror -StoragePool p -InterleaveDefault 1000", "StorageWMI 49005")]
    [InlineData("Set-ResiliencySetting -Name Simple -StoragePool p -NumberOfDataCopiesDefault 2", "StorageWMI 49003")]
    [InlineData("Add-PhysicalDisk -VirtualDiskFriendlyName v -PhysicalDisks a", "StorageWMI 1")]
    public void What_is_refused_changes_nothing(string line, string id)
    {
        var before = State();
        var answer = scratch.Run(line.Split(' '));
        Assert.Equal(1, answer.ExitCode);
        Assert.StartsWith(line.Split(' ')[0] + ": ", answer.Error);
        Assert.EndsWith($"{id}]", answer.Error.TrimEnd());
        Assert.Equal(before, State());
    }

    [Fact]
    public void Files_that_cannot_be_disks_are_refused()
    {
        File.WriteAllText(Image("mine"), "mine");
        Refused("FileExists", "New-PhysicalDisk", Image("mine"), "-Size", "256MB");
        Assert.Equal("mine", File.ReadAllText(Image("mine")));
        Refused("DuplicateDisk", "Register-PhysicalDisk", Image("a"));
        Refused("DuplicateDisk", "New-PhysicalDisk", $"{Image("x")},{Image("x")}", "-Size", "256MB");
        Refused("FileNotFound", "Register-PhysicalDisk", Image("nothing"));
        Refused("StorageWMI 5]", "New-PhysicalDisk", $"{Image("x")},{Image("y")}", "-Size", "256MB", "-FriendlyName", "one");
        Refused("StorageWMI 4097", "New-PhysicalDisk", Image("x"), "-Size", "1MB");
        Assert.False(File.Exists(Image("x")));
        File.WriteAllBytes(Image("noise"), new byte[64 << 20]);
        Tool("mkfs.ext4", "-q", Image("noise"));
        Ok("Register-PhysicalDisk", Image("noise"));
        Refused("ForeignSignature", "New-StoragePool", "-FriendlyName", "q", "-PhysicalDisks", "noise");
    }

    [Fact]
    public void Attributes_and_defaults_are_kept()
    {
        Ok("Set-PhysicalDisk", "a", "-NewFriendlyName", "first", "-Description", "the first", "-MediaType", "HDD", "-Usage", "HotSpare");
        var disk = One("Get-PhysicalDisk", "first", "-Json");
        Assert.Equal(
            ("the first", "HDD", "Hot Spare"),
            (disk.GetProperty("Description").GetString(), disk.GetProperty("MediaType").GetString(), disk.GetProperty("Usage").GetString()));
        Ok("Set-ResiliencySetting", "-Name", "Mirror", "-StoragePool", "p", "-InterleaveDefault", "64KB", "-NumberOfColumnsDefault", "1");
        Ok("Set-StoragePool", "p", "-ProvisioningTypeDefault", "Thin", "-ResiliencySettingNameDefault", "mirror");
        Ok("Set-StoragePool", "p", "-NewFriendlyName", "q", "-ThinProvisioningAlertThresholds", "50");
        Ok("New-VirtualDisk", "q", "-FriendlyName", "v", "-Size", "16MB");
        Ok("Set-VirtualDisk", "v", "-NewFriendlyName", "w", "-Usage", "Unrestricted");
        Ok("Set-VirtualDisk", "w", "-Access", "Readable");
        Ok("Resize-VirtualDisk", "w", "-Size", "32MB");
        var made = One("Get-VirtualDisk", "w", "-Json");
        Assert.Equal(
            ("Thin", 65536, 1, "Unrestricted", "Readable", 32 << 20),
            (made.GetProperty("ProvisioningType").GetString(), made.GetProperty("Interleave").GetInt32(),
            made.GetProperty("NumberOfColumns").GetInt32(), made.GetProperty("Usage").GetString(),
            made.GetProperty("Access").GetString(), made.GetProperty("Size").GetInt32()));
        Assert.Equal(50, One("Get-StoragePool", "q", "-Json").GetProperty("ThinProvisioningAlertThresholds")[0].GetInt32());
    }

    [Fact]
    public void Objects_are_found_by_what_they_belong_to()
    {
        Ok("New-VirtualDisk", "p", "-FriendlyName", "v", "-Size", "4MB", "-ResiliencySettingName", "Simple", "-PhysicalDisksToUse", "a");
        Assert.Equal("a", One("Get-PhysicalDisk", "-VirtualDisk", "v", "-NoRedundancy", "-Json").GetProperty("FriendlyName").GetString());
        Assert.Equal(3, All("Get-PhysicalDisk", "-VirtualDisk", "v", "-HasAllocations", "$false", "-Json").GetArrayLength());
        Assert.Equal("v", One("Get-VirtualDisk", "-PhysicalDisk", "a", "-Json").GetProperty("FriendlyName").GetString());
        Assert.Equal(0, All("Get-VirtualDisk", "-PhysicalDisk", "b", "-Json").GetArrayLength());
        Assert.Equal("p", One("Get-StoragePool", "-VirtualDisk", "v", "-Json").GetProperty("FriendlyName").GetString());
        Assert.Equal("p", One("Get-StoragePool", "-IsPrimordial", "$false", "-Json").GetProperty("FriendlyName").GetString());
        Assert.Equal(4, All("Get-PhysicalDisk", "-StoragePool", "p", "-Json").GetArrayLength());
        Assert.NotEqual(0, All("Get-PhysicalExtent", "-VirtualDisk", "v", "-Json").GetArrayLength());
    }

    public void Dispose()
    {
        scratch.Run("Disconnect-VirtualDisk", "*");
        scratch.Dispose();
    }

    private string Image(string name) => Path.Combine(scratch.Root, name + ".img");

    private void Ok(params string[] words)
    {
        var answer = scratch.Run(words);
        Assert.True(answer.ExitCode == 0, $"{string.Join(' ', words)}: {answer.Error}");
    }

    private void Refused(string id, params string[] words)
    {
        var answer = scratch.Run(words);
        Assert.True(answer.ExitCode == 1 && answer.Error.Contains(id), $"{string.Join(' ', words)}: {answer.ExitCode} {answer.Error}");
    }

    private JsonElement All(params string[] words)
    {
        var answer = scratch.Run(words);
        Assert.True(answer.ExitCode == 0, $"{string.Join(' ', words)}: {answer.Error}");
        return JsonDocument.Parse(answer.Output).RootElement;
    }

    private JsonElement One(params string[] words) => Assert.Single(All(words).EnumerateArray());

    private string State() => string.Concat(
        ((string[])["Get-PhysicalDisk", "Get-StoragePool", "Get-VirtualDisk", "Get-ResiliencySetting"])
        .Select(verb => scratch.Run(verb, "-Json").Output));

    private static void Tool(string name, params string[] words) => Host.Attaching.Tool.Run(name, words);
}
