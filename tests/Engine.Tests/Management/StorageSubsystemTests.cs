using System.Diagnostics;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Pools;

namespace TierSpaces.Engine.Tests.Management;

public sealed class StorageSubsystemTests : IAsyncLifetime
{
    private const long Mebibyte = 1 << 20;
    private readonly string _folder = Directory.CreateTempSubdirectory("tsm").FullName;
    private readonly List<string> _notices = [];
    private Guid _boot = Guid.NewGuid();
    private Guid _node = Guid.NewGuid();
    private Lane _lane = null!;
    private HostState _state = null!;
    private StorageSubsystem _subsystem = null!;

    public ValueTask InitializeAsync() => StartAsync();

    public async ValueTask DisposeAsync()
    {
        await StopAsync();
        Directory.Delete(_folder, recursive: true);
    }

    [Fact]
    public async Task The_main_job_survives_a_restart_of_the_host()
    {
        await NewDisksAsync(4);
        StoragePoolStatus pool = await NewPoolAsync("p");
        VirtualDiskStatus disk = await _subsystem.VirtualDisks.CreateAsync(
            pool.UniqueId, new VirtualDiskRequest { FriendlyName = "d", SizeBytes = 32 * Mebibyte, NumberOfColumns = 2 });
        Assert.Equal((2, 2, "Mirror"), (disk.Description.NumberOfColumns, disk.Description.NumberOfDataCopies, disk.Description.ResiliencySettingName));
        Assert.Equal("Detached", disk.OperationalStatus);
        disk = await _subsystem.VirtualDisks.ConnectAsync(disk.Description.Id.Value);
        Assert.True(File.Exists(disk.SocketPath));
        string socket = disk.SocketPath;
        await StopAsync();
        Assert.False(File.Exists(socket));
        await StartAsync();
        disk = Assert.Single(await _subsystem.VirtualDisks.ListAsync());
        Assert.Equal((HealthStatus.Healthy, "OK", socket), (disk.Health, disk.OperationalStatus, disk.SocketPath));
        await _subsystem.VirtualDisks.RemoveAsync(disk.Description.Id.Value);
        await _subsystem.Pools.RemoveAsync(pool.UniqueId);
        Assert.All(await _subsystem.PhysicalDisks.ListAsync(), physical => Assert.Null(physical.CannotPool));
    }

    [Fact]
    public async Task What_cannot_be_is_refused_with_the_reason_and_changes_nothing()
    {
        await NewDisksAsync(3);
        StoragePoolStatus pool = await NewPoolAsync("p");
        await FailsAsync(ManagementError.NameTaken, () => NewPoolAsync("P"));
        await FailsAsync(ManagementError.ColumnsRange, () => NewDiskAsync(pool, request => request with { NumberOfColumns = 2 }));
        await FailsAsync(ManagementError.InterleaveRange, () => NewDiskAsync(pool, request => request with { Interleave = 100_000 }));
        await FailsAsync(ManagementError.SizeNotSupported, () => NewDiskAsync(pool, request => request with { SizeBytes = 0 }));
        await FailsAsync(ManagementError.NotEnoughCapacity, () => NewDiskAsync(pool, request => request with { SizeBytes = 1L << 40 }));
        await FailsAsync(ManagementError.NotEnoughPhysicalDisks, () => NewDiskAsync(pool, request => request with { NumberOfDataCopies = 3 }));
        await FailsAsync(ManagementError.CopiesRange, () => NewDiskAsync(pool, request => request with { NumberOfDataCopies = 4 }));
        await FailsAsync(ManagementError.NoSuchResiliencySetting, () => NewDiskAsync(pool, request => request with { ResiliencySettingName = "Raid5" }));
        await FailsAsync(ManagementError.SectorSizeNotSupported, () => NewDiskAsync(pool, request => request with { LogicalSectorSize = 1024 }));
        await NewDiskAsync(pool, request => request);
        await FailsAsync(ManagementError.NameTaken, () => NewDiskAsync(pool, request => request));
        await FailsAsync(ManagementError.PoolHasVirtualDisks, () => _subsystem.Pools.RemoveAsync(pool.UniqueId));
        PhysicalDiskStatus member = (await _subsystem.PhysicalDisks.ListAsync())[0];
        await FailsAsync(ManagementError.PhysicalDiskInUse, () => _subsystem.PhysicalDisks.UnregisterAsync(member.UniqueId));
        await FailsAsync(ManagementError.PhysicalDiskInUse, () => _subsystem.PhysicalDisks.ResetAsync(member.UniqueId));
        await FailsAsync(ManagementError.FileExists, () =>
            _subsystem.PhysicalDisks.CreateAsync(new RegistrationSpec { Path = Path.Combine(_folder, "foreign.img") }, Foreign(), false));
        await FailsAsync(ManagementError.FileNotFound, () =>
            _subsystem.PhysicalDisks.RegisterAsync(new RegistrationSpec { Path = Path.Combine(_folder, "none.img") }));
        Assert.Single(await _subsystem.VirtualDisks.ListAsync());
        Assert.Equal(3, (await _subsystem.PhysicalDisks.ListAsync()).Length);
    }

    [Fact]
    public async Task What_is_attached_by_hand_only_waits_after_a_start_of_the_machine_but_not_of_the_host()
    {
        await NewDisksAsync(3);
        StoragePoolStatus pool = await NewPoolAsync("p");
        VirtualDiskStatus manual = await NewDiskAsync(pool, request => request with { FriendlyName = "manual", IsManualAttach = true });
        VirtualDiskStatus other = await NewDiskAsync(pool, request => request with { FriendlyName = "other" });
        await _subsystem.VirtualDisks.ConnectAsync(manual.Description.Id.Value);
        await _subsystem.VirtualDisks.ConnectAsync(other.Description.Id.Value);

        await StopAsync();
        await StartAsync();
        Assert.Equal(["manual", "other"], await ConnectedAsync());

        await StopAsync();
        _boot = Guid.NewGuid();
        await StartAsync();
        Assert.Equal(["other"], await ConnectedAsync());

        await StopAsync();
        await StartAsync();
        Assert.Equal(["other"], await ConnectedAsync());
        await _subsystem.VirtualDisks.ConnectAsync(manual.Description.Id.Value);
        Assert.Equal(["manual", "other"], await ConnectedAsync());

        async Task<string[]> ConnectedAsync() =>
            [.. (await _subsystem.VirtualDisks.ListAsync()).Where(disk => disk.SocketPath.Length > 0).Select(disk => disk.Description.FriendlyName).Order()];
    }

    [Fact]
    public async Task Removing_a_pool_leaves_the_members_of_another_alone()
    {
        await NewDisksAsync(3);
        PhysicalDiskStatus[] disks = await _subsystem.PhysicalDisks.ListAsync();
        PoolDescription settings = new() { FriendlyName = "kept", Slabs = new SlabGeometry(SlabGeometry.SmallestSlab) };
        await _subsystem.Pools.CreateAsync(settings, [disks[0].UniqueId, disks[1].UniqueId], DiskUsage.AutoSelect);
        StoragePoolStatus gone = await _subsystem.Pools.CreateAsync(settings with { FriendlyName = "gone" }, [disks[2].UniqueId], DiskUsage.AutoSelect);

        await _subsystem.Pools.RemoveAsync(gone.UniqueId);

        PhysicalDiskStatus member = (await _subsystem.PhysicalDisks.ListAsync()).First(disk => disk.FriendlyName == disks[0].FriendlyName);
        await FailsAsync(ManagementError.PhysicalDiskInUse, () => _subsystem.PhysicalDisks.UnregisterAsync(member.UniqueId));
        await FailsAsync(ManagementError.PhysicalDiskInUse, () =>
            _subsystem.Pools.CreateAsync(settings with { FriendlyName = "new" }, [member.UniqueId], DiskUsage.AutoSelect));
    }

    [Fact]
    public async Task Automatic_columns_follow_the_disks_and_not_the_default_of_the_pool()
    {
        await NewDisksAsync(4);
        StoragePoolStatus pool = await NewPoolAsync("p");
        await _subsystem.Pools.SetAsync(pool.UniqueId, settings => settings with
        {
            ResiliencySettings = [.. settings.ResiliencySettings.Select(setting => setting with { NumberOfColumnsDefault = 1 })],
        });

        Assert.Equal(1, (await NewDiskAsync(pool, request => request)).Description.NumberOfColumns);
        Assert.Equal(2, (await NewDiskAsync(pool, request => request with { FriendlyName = "auto", AutoNumberOfColumns = true })).Description.NumberOfColumns);
        await FailsAsync(
            ManagementError.ColumnsRange, () =>
                NewDiskAsync(pool, request => request with { FriendlyName = "both", AutoNumberOfColumns = true, NumberOfColumns = 2 }));
    }

    [Fact]
    public async Task A_virtual_disk_is_not_given_the_name_of_another()
    {
        await NewDisksAsync(3);
        StoragePoolStatus pool = await NewPoolAsync("p");
        VirtualDiskStatus one = await NewDiskAsync(pool, request => request with { FriendlyName = "one" });
        await NewDiskAsync(pool, request => request with { FriendlyName = "two" });

        await FailsAsync(ManagementError.NameTaken, () => RenamedAsync("Two"));

        Assert.Equal("ONE", (await RenamedAsync("ONE")).Description.FriendlyName);

        Task<VirtualDiskStatus> RenamedAsync(string name) =>
            _subsystem.VirtualDisks.SetAsync(one.Description.Id.Value, description => description with { FriendlyName = name });
    }

    [Fact]
    public async Task The_largest_size_is_what_UseMaximumSize_gives_and_one_row_more_is_refused()
    {
        await NewDisksAsync(3);
        StoragePoolStatus pool = await NewPoolAsync("p");
        SupportedSize supported = await _subsystem.Placements.SupportedSizeAsync(pool.UniqueId, "Mirror");
        await FailsAsync(ManagementError.NotEnoughCapacity, () =>
            NewDiskAsync(pool, request => request with { SizeBytes = supported.Max + supported.Divisor }));
        VirtualDiskStatus disk = await NewDiskAsync(pool, request => request with { SizeBytes = null, UseMaximumSize = true });
        Assert.Equal(supported.Max, disk.Description.SizeBytes);
        ManagementException rejected = await FailsAsync(
            ManagementError.NotEnoughCapacity, () => _subsystem.VirtualDisks.ResizeAsync(disk.Description.Id.Value, disk.Description.SizeBytes * 2));
        Assert.Contains("Add ", rejected.Action);
    }

    [Fact]
    public async Task A_thin_disk_grows_to_as_many_rows_as_there_may_be_and_not_beyond()
    {
        await NewDisksAsync(3);
        StoragePoolStatus pool = await NewPoolAsync("p");
        VirtualDiskStatus disk = await NewDiskAsync(pool, request => request with { ProvisioningType = ProvisioningType.Thin, NumberOfColumns = 1 });
        long most = SpaceDescription.MaxRows * Mebibyte;
        await FailsAsync(ManagementError.SizeNotSupported, () => _subsystem.VirtualDisks.ResizeAsync(disk.Description.Id.Value, most + 1));
        await FailsAsync(ManagementError.SizeNotSupported, () => _subsystem.VirtualDisks.ResizeAsync(disk.Description.Id.Value, 1L << 62));
        await _subsystem.VirtualDisks.ResizeAsync(disk.Description.Id.Value, most);
        await StopAsync();
        await StartAsync();
        Assert.Equal((most, HealthStatus.Healthy), Assert.Single(await _subsystem.VirtualDisks.ListAsync()) is { } again
            ? (again.Description.SizeBytes, again.Health) : default);
    }

    [Fact]
    public async Task A_foreign_disk_is_not_pooled_until_it_is_reset()
    {
        Foreign();
        PhysicalDiskStatus disk = await _subsystem.PhysicalDisks.RegisterAsync(new RegistrationSpec { Path = Path.Combine(_folder, "foreign.img") });
        Assert.Equal(ManagementError.ForeignSignature, disk.CannotPool);
        await FailsAsync(ManagementError.ForeignSignature, () => NewPoolAsync("p"));
        disk = await _subsystem.PhysicalDisks.ResetAsync(disk.UniqueId);
        Assert.Null(disk.CannotPool);
        await NewPoolAsync("p");
    }

    [Fact]
    public async Task Images_that_moved_are_found_again_by_their_labels_on_another_host()
    {
        await NewDisksAsync(3);
        StoragePoolStatus pool = await NewPoolAsync("p");
        await NewDiskAsync(pool, request => request);
        await StopAsync();
        File.Delete(Path.Combine(_folder, "state", "disks.json"));
        for (int i = 0; i < 3; i++)
        {
            File.Move(Path.Combine(_folder, $"{i}.img"), Path.Combine(_folder, $"moved{2 - i}.img"));
        }

        _node = Guid.NewGuid();
        await StartAsync();
        for (int i = 0; i < 3; i++)
        {
            await _subsystem.PhysicalDisks.RegisterAsync(new RegistrationSpec { Path = Path.Combine(_folder, $"moved{i}.img") });
        }

        for (Stopwatch watch = Stopwatch.StartNew(); watch.Elapsed < TimeSpan.FromSeconds(40); await Task.Delay(200))
        {
            if (Assert.Single(await _subsystem.Pools.ListAsync()) is { IsOpen: true, Health: HealthStatus.Healthy })
            {
                break;   // open with two of the disks, it is healthy once the third has joined
            }
        }

        Assert.Equal(HealthStatus.Healthy, Assert.Single(await _subsystem.Pools.ListAsync()).Health);
        Assert.Equal("d", Assert.Single(await _subsystem.VirtualDisks.ListAsync()).Description.FriendlyName);
    }

    [Fact]
    public async Task A_truncated_image_leaves_the_pool_degraded_within_a_second()
    {
        await NewDisksAsync(3);
        StoragePoolStatus pool = await NewPoolAsync("p");
        VirtualDiskStatus disk = await NewDiskAsync(pool, request => request);
        using (Process truncate = Process.Start("truncate", ["-s", "0", Path.Combine(_folder, "1.img")]))
        {
            await truncate.WaitForExitAsync(TestContext.Current.CancellationToken);
        }

        for (int i = 0; i < 20 && (await _subsystem.Pools.ListAsync())[0].Health == HealthStatus.Healthy; i++)
        {
            await Task.Delay(100, TestContext.Current.CancellationToken);
        }

        Assert.Equal(HealthStatus.Warning, (await _subsystem.Pools.ListAsync())[0].Health);
        Assert.Contains(await _subsystem.PhysicalDisks.ListAsync(), physical => physical.OperationalStatus == "Lost Communication");
        Assert.NotEqual(HealthStatus.Unhealthy, (await _subsystem.VirtualDisks.ListAsync())[0].Health);
        Assert.Equal(disk.Description.Id, (await _subsystem.VirtualDisks.ListAsync())[0].Description.Id);
    }

    [Fact]
    public async Task A_retired_disk_is_drained_by_a_repair_and_may_then_be_removed()
    {
        await NewDisksAsync(5);   // one more than a row has
        StoragePoolStatus pool = await NewPoolAsync("p");
        VirtualDiskStatus disk = await NewDiskAsync(pool, request => request);
        Guid member = Guid.Empty;
        foreach (PhysicalDiskStatus physical in await _subsystem.PhysicalDisks.ListAsync())
        {
            try
            {
                await _subsystem.Pools.RemoveDisksAsync(pool.UniqueId, [physical.UniqueId]);
            }
            catch (ManagementException rejected) when (rejected.Error == ManagementError.PhysicalDiskStillInUse)
            {
                member = physical.UniqueId;
                break;
            }
        }

        Assert.NotEqual(Guid.Empty, member);
        await _subsystem.PhysicalDisks.SetAsync(member, null, null, null, DiskUsage.Retired);
        JobStatus job = await _subsystem.Repairs.RepairAsync(disk.Description.Id.Value);
        Assert.Equal("Completed", job.State.ToString());
        Assert.True(await _subsystem.Pools.RemoveDisksAsync(pool.UniqueId, [member]));
        Assert.Equal(HealthStatus.Healthy, (await _subsystem.VirtualDisks.ListAsync())[0].Health);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_disk_that_was_away_joins_again_and_is_repaired(bool restart)
    {
        await NewDisksAsync(3);
        StoragePoolStatus pool = await NewPoolAsync("p");
        await NewDiskAsync(pool, request => request);
        string image = Path.Combine(_folder, "1.img");
        if (restart)
        {
            await StopAsync();
            File.Move(image, image + ".away");
            await StartAsync();
            Assert.Equal(HealthStatus.Warning, Assert.Single(await _subsystem.Pools.ListAsync()).Health);
            await StopAsync();
            File.Move(image + ".away", image);
            await StartAsync();
        }
        else
        {
            File.Move(image, image + ".away");
            using Process copy = Process.Start("cp", [image + ".away", image]);   // the one that is open counts as unlinked once it is removed
            await copy.WaitForExitAsync(TestContext.Current.CancellationToken);
            File.Delete(image + ".away");
            await UntilAsync(async () => (await _subsystem.Pools.ListAsync())[0].Health == HealthStatus.Warning);
            Assert.Equal(HealthStatus.Healthy, Assert.Single(await _subsystem.Pools.UpdateAsync()).Health);
        }

        await UntilAsync(async () => (await _subsystem.VirtualDisks.ListAsync())[0].Health == HealthStatus.Healthy);
        Assert.Equal(HealthStatus.Healthy, Assert.Single(await _subsystem.Pools.ListAsync()).Health);
        Assert.Contains(_notices, notice => notice.Contains("is back", StringComparison.Ordinal));
        Assert.DoesNotContain(await _subsystem.PhysicalDisks.ListAsync(), physical => physical.OperationalStatus == "Lost Communication");
    }

    private static async Task UntilAsync(Func<Task<bool>> condition)
    {
        Stopwatch clock = Stopwatch.StartNew();
        while (!await condition())
        {
            Assert.True(clock.Elapsed < TimeSpan.FromSeconds(20), "not within 20 s");
            await Task.Delay(50, TestContext.Current.CancellationToken);
        }
    }

    [Fact]
    public async Task A_pool_with_thin_disks_tells_once_that_it_is_as_full_as_its_threshold()
    {
        await NewDisksAsync(2);
        StoragePoolStatus pool = await NewPoolAsync("p");
        SupportedSize supported = await _subsystem.Placements.SupportedSizeAsync(pool.UniqueId, "Mirror");
        await NewDiskAsync(pool, request => request with { FriendlyName = "thin", ProvisioningType = ProvisioningType.Thin });
        await NewDiskAsync(pool, request => request with { FriendlyName = "half", SizeBytes = supported.Max / 2 });
        Assert.DoesNotContain(_notices, notice => notice.Contains("threshold", StringComparison.Ordinal));
        Assert.Equal("", (await _subsystem.Pools.ListAsync())[0].StatusReason);

        VirtualDiskStatus most = await NewDiskAsync(pool, request => request with { FriendlyName = "most", SizeBytes = supported.Max / 4 });
        await NewDiskAsync(pool, request => request with { FriendlyName = "more" });
        Assert.Contains("the alert threshold is 70 %", Assert.Single(_notices, notice => notice.Contains("threshold", StringComparison.Ordinal)));
        StoragePoolStatus alerted = (await _subsystem.Pools.ListAsync())[0];
        Assert.Contains("the alert threshold is 70 %", alerted.StatusReason);
        Assert.Equal((HealthStatus.Warning, PoolOperationalStatus.Stressed), (alerted.Health, alerted.OperationalStatus));

        await _subsystem.VirtualDisks.RemoveAsync(most.Description.Id.Value);
        StoragePoolStatus roomy = (await _subsystem.Pools.ListAsync())[0];
        Assert.Equal(("", HealthStatus.Healthy, PoolOperationalStatus.OK), (roomy.StatusReason, roomy.Health, roomy.OperationalStatus));
        await NewDiskAsync(pool, request => request with { FriendlyName = "again", SizeBytes = supported.Max / 4 });
        Assert.Equal(2, _notices.Count(notice => notice.Contains("threshold", StringComparison.Ordinal)));
    }

    private long Foreign()
    {
        byte[] image = new byte[96 * Mebibyte];
        image[510] = 0x55;
        image[511] = 0xAA;
        image[446 + 4] = 0x83;
        image[446 + 12] = 1;
        File.WriteAllBytes(Path.Combine(_folder, "foreign.img"), image);
        return image.Length;
    }

    private Task<VirtualDiskStatus> NewDiskAsync(StoragePoolStatus pool, Func<VirtualDiskRequest, VirtualDiskRequest> change) =>
        _subsystem.VirtualDisks.CreateAsync(pool.UniqueId, change(new VirtualDiskRequest { FriendlyName = "d", SizeBytes = 8 * Mebibyte }));

    private async Task NewDisksAsync(int count)
    {
        for (int i = 0; i < count; i++)
        {
            await _subsystem.PhysicalDisks.CreateAsync(new RegistrationSpec { Path = Path.Combine(_folder, $"{i}.img") }, 96 * Mebibyte, preallocate: false);
        }
    }

    private async Task<StoragePoolStatus> NewPoolAsync(string name)
    {
        PhysicalDiskStatus[] disks = await _subsystem.PhysicalDisks.ListAsync();
        return await _subsystem.Pools.CreateAsync(
            new PoolDescription { FriendlyName = name, Slabs = new SlabGeometry(SlabGeometry.SmallestSlab) }, [.. disks.Select(disk => disk.UniqueId)],
            DiskUsage.AutoSelect);
    }

    private static async Task<ManagementException> FailsAsync<T>(ManagementError expected, Func<Task<T>> verb)
    {
        ManagementException rejected = await Assert.ThrowsAsync<ManagementException>(verb);
        Assert.Equal((expected, rejected.Message), (rejected.Error, rejected.Message));
        return rejected;
    }

    private async ValueTask StartAsync()
    {
        _lane = LaneFactory.Create("test");
        _state = new HostState(Path.Combine(_folder, "state"), Path.Combine(_folder, "run"), _boot.ToString());
        Directory.CreateDirectory(Path.Combine(_folder, "nbd"));
        _subsystem = await StorageSubsystem.StartAsync(new SubsystemOptions(
            _lane, _lane.Network, new DiskFactory(), _state, Path.Combine(_folder, "nbd"), _node, _notices.Add));
    }

    private async ValueTask StopAsync()
    {
        await _subsystem.StopAsync();
        _lane.Dispose();
        _state.Dispose();
    }
}
