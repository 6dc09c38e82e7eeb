using TierSpaces.Engine.Devices;
using TierSpaces.Host.Attaching;

namespace TierSpaces.Host.Tests.Attaching;

/// <summary>Devices of virtual disks, told apart from disks that had their names before. Loop devices need root.</summary>
public sealed class OwnDevicesTests : IDisposable
{
    private readonly string _root = Directory.CreateTempSubdirectory("ts").FullName;
    private readonly HostState _state;
    private readonly List<string> _loops = [];

    public OwnDevicesTests() => _state = new HostState(Path.Combine(_root, "state"), Path.Combine(_root, "run"));

    private OwnDevices Devices => new(new AttachStore(_state), _root);

    public void Dispose()
    {
        _loops.ForEach(static loop => Tool.Run("losetup", "--detach", loop));
        _state.Dispose();
        Directory.Delete(_root, recursive: true);
    }

    [Fact]
    public void A_device_with_a_record_is_that_of_its_disk_with_its_partitions()
    {
        Put("/dev/nbd7", "");
        Assert.Equal(("data", "data", null, null), (Devices.DiskOn("nbd7"), Devices.DiskOn("nbd7p2"), Devices.DiskOn("nbd70"), Devices.DiskOn("nbd")));
    }

    [Fact]
    public void A_later_use_of_the_name_of_a_device_is_another_disk()
    {
        string loop = Loop(Path.Combine(_root, "image"));
        Put(loop, "0");
        Assert.Null(Devices.DiskOn(Path.GetFileName(loop)));
        Put(loop, BlockDevice.UseOf(loop));
        Assert.Equal("data", Devices.DiskOn(Path.GetFileName(loop)));
    }

    [Fact]
    public void A_loop_device_that_is_being_made_has_no_record_and_is_known_by_its_file()
    {
        string folder = Directory.CreateDirectory(Path.Combine(AttachManager.RootOf(_root), "id")).FullName;
        string name = Path.GetFileName(Loop(Path.Combine(folder, "Data")));
        Assert.Equal(("id", "id"), (Devices.DiskOn(name), Devices.DiskOn(name + "p1")));
        Assert.Null(Devices.DiskOn(Path.GetFileName(Loop(Path.Combine(_root, "other")))));
    }

    private void Put(string device, string use) =>
        new AttachStore(_state).Put(new AttachRecord { UniqueId = "id", FriendlyName = "data", Method = "m", Device = device, Use = use });

    private string Loop(string path)
    {
        Assert.SkipUnless(Environment.IsPrivilegedProcess && BlockDevice.CanOpen("/dev/loop-control"), "Loop devices need root.");
        using (FileStream file = File.Create(path))
        {
            file.SetLength(1 << 20);
        }

        string loop = Tool.Run("losetup", "--find", "--show", path).Trim();
        _loops.Add(loop);
        return loop;
    }
}
