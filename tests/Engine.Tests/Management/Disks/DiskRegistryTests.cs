using System.Text;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Management;

/// <summary>A damaged list of registered disks: invalid entries are left out and reported, the others stay.</summary>
public sealed class DiskRegistryTests
{
    private const string Good =
        """{"id":"0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0","deviceId":3,"uri":"file:/a","friendlyName":"d","description":null,"overrides":null}""";

    private const string Whole =
        """
        [
          {
            "id": "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0",
            "deviceId": 3,
            "uri": "file:/a",
            "otherUris": [
              "file:/b",
              "file:/c"
            ],
            "friendlyName": "d",
            "overrides": {
              "mediaType": 4,
              "busType": null,
              "spindleSpeed": null,
              "logicalSectorSize": 512,
              "physicalSectorSize": 4096,
              "isWriteCacheEnabled": true
            },
            "description": "text",
            "enclosureNumber": 0,
            "slotNumber": 7,
            "faultDomainPath": "rack/chassis",
            "isForced": true,
            "latencyProfile": "HDD7200",
            "lastMember": "1f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0"
          }
        ]
        """;

    [Theory]
    [InlineData("null")]
    [InlineData("""{"id":"0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0","deviceId":4,"uri":null,"friendlyName":"d"}""")]
    [InlineData("""{"id":"0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0","deviceId":4,"uri":"file:/b","friendlyName":null}""")]
    [InlineData("""{"id":"0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0","deviceId":4,"uri":"nonsense","friendlyName":"d"}""")]
    [InlineData("""{"id":"0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0","deviceId":2147483647,"uri":"file:/b","friendlyName":"d"}""")]
    public void An_entry_that_names_no_disk_is_left_out(string entry)
    {
        SimLane lane = new(1);
        SimHostState state = new();
        state.WriteFile("disks.json", Encoding.UTF8.GetBytes($"[{entry},{Good}]"));
        DiskRegistry registry = new(new StateFolder(lane, state));
        Assert.Equal("1 of 2 entries in the list of registered disks name no disk; register those disks again.", lane.Run(registry.Load()));
        StoredDisk disk = Assert.Single(registry.Disks).Stored;
        Assert.Equal(("file:/a", "", "", 4), (disk.Uri, disk.Description, disk.LatencyProfile, registry.NextDeviceId));
        Assert.NotNull(disk.Overrides);
        Assert.Equal(DiskPlace.Unknown, disk.Place);
    }

    [Theory]
    [InlineData("id")]
    [InlineData("deviceId")]
    [InlineData("uri")]
    [InlineData("friendlyName")]
    public void A_list_of_which_an_entry_lacks_what_each_has_is_empty(string lacking)
    {
        SimLane lane = new(1);
        SimHostState state = new();
        state.WriteFile("disks.json", Encoding.UTF8.GetBytes($"[{Good.Replace($"\"{lacking}\"", "\"other\"", StringComparison.Ordinal)}]"));
        DiskRegistry registry = new(new StateFolder(lane, state));
        Assert.Contains("register them again", lane.Run(registry.Load()));
        Assert.Empty(registry.Disks);
    }

    // Lists of earlier releases have this form, and a host of an earlier release reads what this one writes.
    [Fact]
    public void A_list_is_written_in_the_form_in_which_it_was_read()
    {
        SimLane lane = new(1);
        SimHostState state = new();
        state.WriteFile("disks.json", Encoding.UTF8.GetBytes(Whole));
        DiskRegistry registry = new(new StateFolder(lane, state));
        Assert.Equal("", lane.Run(registry.Load()));
        lane.Run(registry.Save());
        Assert.Equal(Whole, Encoding.UTF8.GetString(state.ReadFile("disks.json")!));
    }

    [Fact]
    public void A_list_that_is_none_is_empty()
    {
        SimLane lane = new(1);
        SimHostState state = new();
        state.WriteFile("disks.json", [1, 2, 3]);
        DiskRegistry registry = new(new StateFolder(lane, state));
        Assert.Contains("register them again", lane.Run(registry.Load()));
        Assert.Empty(registry.Disks);
    }
}
