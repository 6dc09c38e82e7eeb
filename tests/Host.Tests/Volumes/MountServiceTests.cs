using TierSpaces.Contracts;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Primitives;
using TierSpaces.Host.Volumes;

namespace TierSpaces.Host.Tests.Volumes;

/// <summary>Mounts with a program that fails, and checks of disks that cannot be used.</summary>
public sealed class MountServiceTests : IDisposable
{
    private readonly string _root = Directory.CreateTempSubdirectory("ts").FullName;
    private readonly HostState _state;

    public MountServiceTests() => _state = new HostState(Path.Combine(_root, "state"), Path.Combine(_root, "run"));

    public void Dispose()
    {
        _state.Dispose();
        Directory.Delete(_root, recursive: true);
    }

    [Fact]
    public async Task A_mount_that_fails_leaves_neither_a_record_nor_a_folder()
    {
        VolumeStore store = new VolumeStore(_state);
        MountService mounts = new MountService(store, new VolumeTools(static _ => "/bin/false"), Path.Combine(_root, "vol"));
        StorageException e = await Assert.ThrowsAsync<StorageException>(() => mounts.AddAsync(Formatted(), "E", null));
        Assert.Equal("MountFailed", e.Error.Word);
        Assert.Empty(store.Read().Mounts);
        Assert.False(Directory.Exists(Path.Combine(_root, "vol", "E")));
    }

    [Fact]
    public async Task A_recorded_mount_that_fails_is_a_fault_that_names_the_command()
    {
        VolumeStore store = new VolumeStore(_state);
        VolumeTarget target = Formatted();
        store.Change(state => state with { Mounts = [new MountEntry(target.Disk.UniqueId, target.Key, Path.Combine(_root, "x"), "", MadeFolder: false)] });
        MountService mounts = new MountService(store, new VolumeTools(static _ => "/bin/false"), Path.Combine(_root, "vol"));
        Assert.Contains("MountFailed", Assert.Single(await FailuresAsync(mounts, target)));
        Assert.Contains("Run: Add-PartitionAccessPath -DiskNumber 3 -PartitionNumber 1 -AccessPath", Assert.Single(mounts.FaultsOf(target, [])));
        Assert.Single(store.Read().Mounts);
    }

    [Fact]
    public void A_disk_that_cannot_be_used_is_refused_with_the_reason()
    {
        VolumeDisk disk = Formatted().Disk;
        Assert.Equal("TooSmallForGpt", Assert.Throws<StorageException>(() => PartitionService.CheckStyle(disk, PartitionStyle.GPT)).Error.Word);
        VolumeDisk silent = disk with { Contents = new DiskContents { Fault = "/dev/x does not answer." } };
        Assert.Equal("UnexpectedIOError", Assert.Throws<StorageException>(() => VolumeDiskChecks.RequireRead(silent)).Error.Word);
        VolumeDisk offline = disk with { Entry = disk.Entry with { IsOffline = true } };
        Assert.Equal("DiskOffline", Assert.Throws<StorageException>(() => VolumeDiskChecks.RequireOnline(offline)).Error.Word);
    }

    private static async Task<List<string>> FailuresAsync(MountService mounts, VolumeTarget target)
    {
        try
        {
            await mounts.MountAsync(target, mounts.EntriesOf(target)[0]);
            return [];
        }
        catch (StorageException e)
        {
            return [e.Error.Word];
        }
    }

    private static VolumeTarget Formatted()
    {
        VolumePartition partition = new VolumePartition
        {
            Number = 1, Offset = 1 << 20, Size = 1 << 20, Node = "/dev/none", Key = "{1}", GptType = PartitionType.BasicData,
                FileSystem = new FoundFileSystem("ext4", "", "", 4096),
        };
        VolumeDisk disk = new VolumeDisk
        {
            Device = "/dev/none", Path = "/dev/none", Size = 2 << 20, Entry = new DiskEntry("d", 3, IsOffline: false, IsReadOnly: false),
            Status = new VirtualDiskStatus
            {
                PoolId = Guid.NewGuid(),
                Description = new VirtualDiskDescription { Id = new VirtualDiskId(Guid.NewGuid()), FriendlyName = "d", ResiliencySettingName = "Simple",
                    SizeBytes = 2 << 20 },
            },
        };
        return new VolumeTarget(disk, partition);
    }
}
