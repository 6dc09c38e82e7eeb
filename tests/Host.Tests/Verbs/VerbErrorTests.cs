namespace TierSpaces.Host.Tests.Verbs;

/// <summary>An error gives its reason in the documented way and changes nothing; so all of them happen in one world.</summary>
public sealed class VerbErrorTests(MainJobWorld world) : IClassFixture<MainJobWorld>
{
    private readonly string _before = world.Begun;

    [Theory]
    [InlineData("New-StoragePool -FriendlyName p -PhysicalDisks a", "StorageWMI 5 NameTaken")]
    [InlineData("New-StoragePool -FriendlyName q -PhysicalDisks a", "StorageWMI 51002")]
    [InlineData("New-StoragePool -FriendlyName q -PhysicalDisks absent", "CmdletizationQuery_NotFound_FriendlyName")]
    [InlineData("New-StoragePool -FriendlyName q -PhysicalDisks absent*", "StorageWMI 51001")]
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
    [InlineData("Get-StoragePool absent", "CmdletizationQuery_NotFound_FriendlyName")]
    [InlineData("Get-VirtualDisk -UniqueId absent", "CmdletizationQuery_NotFound_UniqueId")]
    [InlineData("Unregister-PhysicalDisk a", "StorageWMI 51002")]
    [InlineData("Set-StoragePool p -ThinProvisioningAlertThresholds 100", "StorageWMI 5")]
    [InlineData("Set-StoragePool p -ThinProvisioningAlertThresholds 10,20", "StorageWMI 48009")]
    [InlineData("Set-ResiliencySetting -Name Mirror -StoragePool p -InterleaveDefault 1000", "StorageWMI 49005")]
    [InlineData("Set-ResiliencySetting -Name Parity -StoragePool p -InterleaveDefault 16MB", "StorageWMI 49005")]
    [InlineData("Set-ResiliencySetting -Name Simple -StoragePool p -NumberOfDataCopiesDefault 2", "StorageWMI 49003")]
    [InlineData("Add-PhysicalDisk -VirtualDiskFriendlyName v -PhysicalDisks a", "StorageWMI 1")]
    public void What_is_refused_changes_nothing(string line, string id)
    {
        Scratch.Answer answer = world.Scratch.Run(line.Split(' '));
        Assert.Equal(1, answer.ExitCode);
        Assert.StartsWith(line.Split(' ')[0] + ": ", answer.Error);
        Assert.EndsWith($"{id}]", answer.Error.TrimEnd());
        RawNumbers.AssertNone(answer.Error);
        Assert.Equal(_before, world.State());
    }
}
