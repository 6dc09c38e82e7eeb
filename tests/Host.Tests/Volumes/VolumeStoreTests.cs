using System.Text;
using TierSpaces.Engine.Devices;
using TierSpaces.Host.Volumes;

namespace TierSpaces.Host.Tests.Volumes;

public sealed class VolumeStoreTests : IDisposable
{
    private readonly string _root = Directory.CreateTempSubdirectory("ts").FullName;
    private readonly HostState _state;

    public VolumeStoreTests() => _state = new HostState(Path.Combine(_root, "state"), Path.Combine(_root, "run"));

    public void Dispose()
    {
        _state.Dispose();
        Directory.Delete(_root, recursive: true);
    }

    [Fact]
    public void A_disk_keeps_its_number_over_restarts_and_a_free_one_is_given_again()
    {
        VolumeStore store = new VolumeStore(_state);
        Assert.Equal([1, 2, 3], ((string[])["a", "b", "c"]).Select(id => store.EntryOf(id).Number));
        store.Put(store.EntryOf("b") with { IsOffline = true });
        VolumeStore later = new VolumeStore(_state);
        Assert.Equal(new DiskEntry("b", 2, IsOffline: true, IsReadOnly: false), later.EntryOf("b"));
        later.Release("a");
        Assert.Equal([3, 1, 4], ((string[])["c", "d", "a"]).Select(id => new VolumeStore(_state).EntryOf(id).Number));
    }

    [Fact]
    public void Mounts_outlive_a_disconnection_and_end_with_their_virtual_disk_or_partition()
    {
        VolumeStore store = new VolumeStore(_state);
        store.EntryOf("a");
        MountEntry[] mounts = [new("a", "{1}", "/mnt/E", "E", MadeFolder: true), new("a", "{2}", "/x", "", MadeFolder: false), new("b", "{1}", "/y", "",
            MadeFolder: false)];
        store.Change(state => state with { Mounts = mounts, Formats = [new FormatEntry("a", "{1}", "ReFS")] });
        store.SetOffline("a", "{1}", isOffline: true);
        store.Release("a");
        Assert.Equal(mounts, new VolumeStore(_state).Read().Mounts);
        store.Forget("a", "{2}");
        Assert.Equal(["/mnt/E", "/y"], new VolumeStore(_state).Read().Mounts.Select(mount => mount.Path));
        Assert.True(new VolumeStore(_state).IsOffline("a", "{1}"));
        store.Forget("a");
        VolumeState left = new VolumeStore(_state).Read();
        Assert.Equal((1, 0, 0, 0), (left.Mounts.Length, left.Formats.Length, left.Disks.Length, left.Offline.Length));
    }

    [Theory]
    [InlineData("")]
    [InlineData("{")]
    [InlineData("[]")]
    [InlineData("""{"Disks":[null,{"Number":3},{"VirtualDisk":"a","Number":0}],"Mounts":[{"Path":"/x"}],"Formats":null}""")]
    public void A_damaged_file_is_no_reason_not_to_start(string content)
    {
        _state.WriteFile("volumes.json", Encoding.UTF8.GetBytes(content));
        VolumeState state = new VolumeStore(_state).Read();
        Assert.Equal((0, 0, 0), (state.Disks.Length, state.Mounts.Length, state.Formats.Length));
        Assert.Equal(1, new VolumeStore(_state).EntryOf("a").Number);
    }
}
