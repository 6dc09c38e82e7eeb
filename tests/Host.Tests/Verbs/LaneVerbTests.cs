using System.Text.Json;

namespace TierSpaces.Host.Tests.Verbs;

/// <summary>A host with two data lanes: virtual disks show their lane, and are connected on the one that a command line chooses.</summary>
public sealed class LaneVerbTests : IDisposable
{
    private readonly Scratch _scratch = new() { Variables = { ["TIERSPACES_LANES"] = "2" } };

    public LaneVerbTests()
    {
        _scratch.Succeed("New-PhysicalDisk", "-Path", $"{_scratch.Root}/a.img,{_scratch.Root}/b.img", "-Size", "256MB");
        _scratch.Succeed("New-StoragePool", "-FriendlyName", "p", "-PhysicalDisks", "a,b");
        _scratch.Succeed("New-VirtualDisk", "p", "-FriendlyName", "v", "-Size", "16MB", "-ResiliencySettingName", "Simple");
    }

    public void Dispose() => _scratch.Dispose();

    [Fact]
    public void A_virtual_disk_is_connected_on_the_lane_that_was_chosen()
    {
        Assert.Equal(2, _scratch.One("Get-TierSpacesHost").GetProperty("Lanes").GetInt32());
        Assert.Equal((1, ""), State());

        Assert.Equal("", Error("connect-virtualdisk", "v", "--lane", "2", "--whatif"));
        Assert.Equal((1, ""), State());
        Assert.Contains("-Lane 3: out of range. Valid: 1 to 2", Error("connect-virtualdisk", "v", "--lane", "3", "--whatif"));
        Assert.Contains("-Lane 3: out of range. Valid: 1 to 2", Error("connect-virtualdisk", "v", "--lane", "3"));
        Assert.Contains("-Lane 0: out of range. Valid: 1 to 2", Error("connect-virtualdisk", "v", "--lane", "0"));
        Assert.Equal((1, ""), State());

        _scratch.Succeed("connect-virtualdisk", "v", "--lane", "2");
        (int Lane, string Uri) connected = State();
        Assert.Equal(2, connected.Lane);
        Assert.StartsWith("nbd+unix:///v?", connected.Uri);

        Assert.Contains("is connected on another lane. Valid: 2", Error("Connect-VirtualDisk", "v", "-Lane", "1"));
        _scratch.Succeed("Connect-VirtualDisk", "v", "-Lane", "2");
        Assert.Equal(connected, State());
    }

    private (int Lane, string Uri) State()
    {
        JsonElement disk = _scratch.One("Get-VirtualDisk", "v");
        return (disk.GetProperty("Lane").GetInt32(), disk.GetProperty("NbdUri").GetString() ?? "");
    }

    private string Error(params string[] words) => _scratch.Run(words).Error;
}
