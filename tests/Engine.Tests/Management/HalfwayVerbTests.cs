using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Tests.Exports.Nbd;

namespace TierSpaces.Engine.Tests.Management;

/// <summary>Verbs of which a step fails: everything is as before, and the caller gets the error.</summary>
public sealed class HalfwayVerbTests
{
    private const long Mebibyte = 1 << 20;

    private readonly StubNetwork _network = new();
    private readonly SubsystemWorld _world;

    public HalfwayVerbTests() => _world = new SubsystemWorld(1, _network, dataLanes: Math.Min(1, TestLanes.Count));

    [Fact]
    public void A_virtual_disk_that_could_not_be_removed_is_reached_by_every_verb()
    {
        _world.NewPool(3);
        Guid id = _world.NewMirror("d", 4 * Mebibyte);
        _world.Run(_world.Subsystem.VirtualDisks.ConnectAsync(id));
        _world.Refusing.UnionWith([0, 1]);   // two of three: the pool loses its quorum
        Assert.Equal(ManagementError.PoolStateForbids, RefusalOf(() => _world.Subsystem.VirtualDisks.RemoveAsync(id)));
        Assert.Equal(id, Status(id).Description.Id.Value);
        _world.Subsystem.VirtualDisks.Opened(id);
        Assert.Equal(ManagementError.PoolStateForbids, RefusalOf(() => _world.Subsystem.VirtualDisks.RemoveAsync(id)));
        _world.Refusing.Clear();
        _world.Run(_world.Subsystem.StopAsync());
        _world.Start();
        _world.Until(() => _world.Subsystem.VirtualDisks.Opened(id).Fault == IoError.None);
        Assert.Equal(SubsystemWorld.Written(0, 4096), _world.Read(id, 0, 4096));
        Assert.True(_world.Run(_world.Subsystem.VirtualDisks.RemoveAsync(id)));
        Assert.Empty(_world.Run(_world.Subsystem.VirtualDisks.ListAsync()));
    }

    /// <summary>The removal may be committed later: until that is decided nothing uses the virtual disk.</summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_virtual_disk_whose_removal_is_undecided_stays_closed_until_it_is_decided(bool connects)
    {
        _world.NewPool(3);
        Guid id = _world.NewMirror("d", 4 * Mebibyte);
        _world.Run(_world.Subsystem.VirtualDisks.ConnectAsync(id));
        SetFull(true);
        Assert.Equal(ManagementError.NotEnoughCapacity, RefusalOf(() => _world.Subsystem.VirtualDisks.RemoveAsync(id)));
        Assert.Equal("", Status(id).SocketPath);
        Assert.Equal(ManagementError.NotEnoughCapacity,
            RefusalOf(() => connects ? _world.Subsystem.VirtualDisks.ConnectAsync(id) : _world.Subsystem.VirtualDisks.RemoveAsync(id)));
        SetFull(false);
        ManagementError? rejected = RefusalOf(() => connects ? _world.Subsystem.VirtualDisks.ConnectAsync(id) : _world.Subsystem.VirtualDisks.RemoveAsync(id));
        if (_world.Run(_world.Subsystem.VirtualDisks.ListAsync()).Length > 0)
        {
            Assert.Null(rejected);
            Assert.Equal(SubsystemWorld.Written(0, 4096), _world.Read(id, 0, 4096));
        }
        else
        {
            Assert.True(rejected is ManagementError.ObjectNotFound || !connects);
        }
    }

    [Fact]
    public void A_virtual_disk_that_could_not_be_flushed_stays_connected()
    {
        _world.NewPool(1);
        Guid id = _world.Run(_world.Subsystem.VirtualDisks.CreateAsync(
            _world.Pool, new VirtualDiskRequest { FriendlyName = "d", ResiliencySettingName = "Simple", SizeBytes = 4 * Mebibyte,
            NumberOfColumns = 1 })).Description.Id.Value;
        _world.Run(_world.Subsystem.VirtualDisks.ConnectAsync(id));
        TestClient client = new TestClient(_world.Lane, _network.Listening.Values.Single()).Enter();
        Assert.Equal(0u, client.Ask(1, 0, 4096, 0, new byte[4096]).Error);
        _world.Disks[0].FailFlushes = 1;
        ManagementException rejected = Assert.Throws<ManagementException>(() => _world.Run(_world.Subsystem.VirtualDisks.DisconnectAsync(id)));
        Assert.Contains("could not be flushed", rejected.Message);
        Assert.NotEqual("", Status(id).SocketPath);
        Assert.True(Status(id).Description.IsConnected);
        Assert.False(client.Socket.ClosedByServer);

        // It logs again a change that it cannot keep, and goes.
        VirtualDiskStatus gone = _world.Run(_world.Subsystem.VirtualDisks.DisconnectAsync(id));
        Assert.Equal("", gone.SocketPath);
        Assert.Contains("not durable", Assert.Single(gone.Remarks));
        Assert.True(client.Socket.ClosedByServer);
    }

    [Fact]
    public void A_virtual_disk_whose_disconnection_cannot_be_noted_stays_connected()
    {
        _world.NewPool(3);
        Guid id = _world.NewMirror("d", 4 * Mebibyte);
        _world.Run(_world.Subsystem.VirtualDisks.ConnectAsync(id));
        TestClient client = new TestClient(_world.Lane, _network.Listening.Values.Single()).Enter();
        SetFull(true);
        Assert.ThrowsAny<ManagementException>(() => _world.Run(_world.Subsystem.VirtualDisks.DisconnectAsync(id)));
        SetFull(false);
        Assert.NotEqual("", Status(id).SocketPath);
        Assert.Equal(0u, client.Ask(0, 0, 4096).Error);
        Assert.Equal("", _world.Run(_world.Subsystem.VirtualDisks.DisconnectAsync(id)).SocketPath);
        Assert.True(client.Socket.ClosedByServer);
    }

    [Fact]
    public void A_disk_that_could_not_be_forgotten_stays_registered_and_open()
    {
        Guid id = _world.NewDisk();
        FailWrites(true);
        ManagementException rejected = Assert.Throws<ManagementException>(() => _world.Run(_world.Subsystem.PhysicalDisks.UnregisterAsync(id)));
        Assert.Contains("stays registered", rejected.Message);
        Assert.Equal(id, Assert.Single(_world.Run(_world.Subsystem.PhysicalDisks.ListAsync())).UniqueId);
        Assert.False(_world.Disks[0].IsClosed);
        FailWrites(false);
        Assert.True(_world.Run(_world.Subsystem.PhysicalDisks.UnregisterAsync(id)));
        Assert.True(_world.Disks[0].IsClosed);
        Assert.Empty(_world.Run(_world.Subsystem.PhysicalDisks.ListAsync()));
    }

    [Fact]
    public void A_disk_that_could_not_be_listed_is_closed()
    {
        FailWrites(true);
        ManagementException rejected = Assert.Throws<ManagementException>(() => _world.NewDisk());
        Assert.Contains("not registered", rejected.Message);
        Assert.True(_world.Disks[0].IsClosed);
        Assert.Empty(_world.Run(_world.Subsystem.PhysicalDisks.ListAsync()));
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_new_image_that_could_not_be_registered_is_not_left_behind(bool opens)
    {
        string folder = Directory.CreateTempSubdirectory("halfway-").FullName;
        _world.NewDisk();   // number 0 can be opened
        string path = Path.Combine(folder, "0");
        _ = opens || _world.Away.Add(0);
        FailWrites(opens);
        Assert.Throws<ManagementException>(() =>
            _world.Run(_world.Subsystem.PhysicalDisks.CreateAsync(new RegistrationSpec { Path = path }, 64 << 20, preallocate: false)));
        Assert.Empty(Directory.GetFiles(folder));
        Assert.Single(_world.Run(_world.Subsystem.PhysicalDisks.ListAsync()));
        Directory.Delete(folder);
    }

    [Fact]
    public void A_pool_of_which_a_disk_could_not_be_erased_is_there_as_before()
    {
        _world.NewPool(3);
        Guid id = _world.NewMirror("d", 4 * Mebibyte);
        _world.Run(_world.Subsystem.VirtualDisks.RemoveAsync(id));
        _world.Refusing.Add(2);
        ManagementException rejected = Assert.Throws<ManagementException>(() => _world.Run(_world.Subsystem.Pools.RemoveAsync(_world.Pool)));
        Assert.Contains("could not be erased", rejected.Message);
        Assert.DoesNotContain("could not be written back", rejected.Message);
        _world.Refusing.Clear();
        StoragePoolStatus pool = Assert.Single(_world.Run(_world.Subsystem.Pools.ListAsync()));
        Assert.NotEqual(PoolOperationalStatus.Incomplete, pool.OperationalStatus);
        _world.NewMirror("e", 4 * Mebibyte);   // it is used as before
        _world.Run(_world.Subsystem.VirtualDisks.RemoveAsync(_world.Run(_world.Subsystem.VirtualDisks.ListAsync()).Single().Description.Id.Value));
        Assert.True(_world.Run(_world.Subsystem.Pools.RemoveAsync(_world.Pool)));
        Assert.Empty(_world.Run(_world.Subsystem.Pools.ListAsync()));
        _world.NewPool(1);   // and blank disks can be pooled
    }

    /// <summary>The budget of payload memory is that of the lane: two disks have no more than one.</summary>
    [Fact]
    public void Exports_of_a_lane_share_their_payload_memory()
    {
        _world.NewPool(2, 128 << 20);
        Guid[] ids = [_world.NewMirror("a", 40 * Mebibyte, filled: false), _world.NewMirror("b", 40 * Mebibyte, filled: false)];
        foreach (Guid id in ids)
        {
            _world.Run(_world.Subsystem.VirtualDisks.ConnectAsync(id));
        }

        foreach (Action<TierSpaces.Engine.Lanes.ILaneSocket> accept in _network.Listening.Values)
        {
            for (int i = 0; i < 4; i++)
            {
                TestClient client = new TestClient(_world.Lane, accept).Enter();
                client.Socket.IsStuffed = true;
                client.Request(0, 0, 32 << 20);
            }
        }

        _world.Advance(TimeSpan.FromMilliseconds(250));
        Assert.Equal((4, 4L * (32 << 20)), (ids.Sum(id => _world.Disk(id).Counters.ReadOperations), ids.Sum(id => _world.Disk(id).Counters.ReadBytes)));
        _world.Advance(TimeSpan.FromSeconds(2));   // each of the others has the first part of its answer
        Assert.Equal((8, 4L * ((32 << 20) + (128 << 10))), (ids.Sum(id => _world.Disk(id).Counters.ReadOperations),
        ids.Sum(id => _world.Disk(id).Counters.ReadBytes)));
    }

    private ManagementError? RefusalOf(Func<Task> verb)
    {
        try
        {
            Task running = verb();
            _world.Lane.PumpWhile(() => !running.IsCompleted, 3600L * 1_000_000_000);
            running.GetAwaiter().GetResult();
            return null;
        }
        catch (ManagementException rejected)
        {
            return rejected.Error;
        }
    }

    private VirtualDiskStatus Status(Guid id) => _world.Run(_world.Subsystem.VirtualDisks.ListAsync()).Single(disk => disk.Description.Id.Value == id);

    private void SetFull(bool full) => Array.ForEach(_world.Disks, disk => disk.Full = full);

    private void FailWrites(bool fail) => _world.State.OnWrite = name =>
    {
        if (fail)
        {
            throw new IOException($"No room for {name}.", 28);
        }
    };
}
