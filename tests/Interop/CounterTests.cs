using System.Text.Json;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Interop.Tests;

/// <summary>A virtual disk of a real pool, loaded by fio: what the disk has counted is what fio says it did.</summary>
public sealed class CounterTests : IAsyncLifetime
{
    private const long Mebibyte = 1 << 20;

    private readonly string _folder = Directory.CreateTempSubdirectory("ts-count-").FullName;
    private readonly Lane _lane = LaneFactory.Create("counters");
    private HostState _state = null!;
    private StorageSubsystem _subsystem = null!;

    public async ValueTask InitializeAsync()
    {
        string sockets = Directory.CreateDirectory(Path.Combine(_folder, "nbd")).FullName;
        _state = new HostState(Path.Combine(_folder, "state"), Path.Combine(_folder, "run"));
        _subsystem = await StorageSubsystem.StartAsync(
            new SubsystemOptions(_lane, _lane.Network, new DiskFactory(), _state, sockets, Guid.NewGuid(), _ => { }));
    }

    public async ValueTask DisposeAsync()
    {
        await _subsystem.StopAsync();
        _lane.Dispose();
        _state.Dispose();
        Directory.Delete(_folder, recursive: true);
    }

    [Theory]
    [InlineData("Simple", 4096, 4096)]
    [InlineData("Mirror", 4096, 4096)]
    [InlineData("Mirror", 512, 512)]
    [InlineData("Simple", 4096, 98304)]
    public async Task Counters_equal_the_operations_and_bytes_of_fio(string resiliency, int sector, int block)
    {
        VirtualDiskStatus disk = await NewDiskAsync(resiliency, sector);
        string output = Tool.Run(
            "fio", "--name=count", "--ioengine=nbd", $"--uri=nbd+unix:///d?socket={disk.SocketPath}", "--rw=randrw", $"--bs={block}", "--iodepth=16",
            "--size=12M", "--io_size=6M", "--norandommap", "--output-format=json", $"--aux-path={_folder}");
        using JsonDocument report = JsonDocument.Parse(output[output.IndexOf('{')..]);
        JsonElement job = report.RootElement.GetProperty("jobs")[0];
        IoCounters counted = (await _subsystem.VirtualDisks.ListAsync()).Single().Counters!;
        Assert.Equal(0, job.GetProperty("error").GetInt32());
        Assert.True(counted.ReadOperations > 0 && counted.WriteOperations > 0);
        Assert.Equal(Done(job, "read"), (counted.ReadOperations, counted.ReadBytes));
        Assert.Equal(Done(job, "write"), (counted.WriteOperations, counted.WriteBytes));
        Assert.Equal((0L, 0), (counted.Errors, counted.Queue));
    }

    private static (long Operations, long Bytes) Done(JsonElement job, string direction) => (
        job.GetProperty(direction).GetProperty("total_ios").GetInt64(), job.GetProperty(direction).GetProperty("io_bytes").GetInt64());

    private async Task<VirtualDiskStatus> NewDiskAsync(string resiliency, int sector)
    {
        for (int i = 0; i < 2; i++)
        {
            await _subsystem.PhysicalDisks.CreateAsync(new RegistrationSpec { Path = Path.Combine(_folder, $"{i}.img") }, 96 * Mebibyte, preallocate: false);
        }

        PhysicalDiskStatus[] disks = await _subsystem.PhysicalDisks.ListAsync();
        StoragePoolStatus pool = await _subsystem.Pools.CreateAsync(
            new PoolDescription { FriendlyName = "p", Slabs = new SlabGeometry(SlabGeometry.SmallestSlab) }, [.. disks.Select(disk => disk.UniqueId)],
            DiskUsage.AutoSelect);
        VirtualDiskStatus made = await _subsystem.VirtualDisks.CreateAsync(pool.UniqueId, new VirtualDiskRequest
        {
            FriendlyName = "d", ResiliencySettingName = resiliency, SizeBytes = 16 * Mebibyte, LogicalSectorSize = sector, NumberOfColumns = 1,
        });
        return await _subsystem.VirtualDisks.ConnectAsync(made.Description.Id.Value);
    }
}
