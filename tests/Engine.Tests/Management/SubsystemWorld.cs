using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Devices.Emulated;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Jobs;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.VirtualDisks;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Management;

/// <summary>A subsystem on the virtual clock and simulated disks; a restart keeps disks, state folder and clock.</summary>
internal sealed class SubsystemWorld : IDiskFactory
{
    private readonly List<SimMedia> _media = [];
    private readonly LaneSignal _hangEnded = new();
    private readonly SimHostState _state;
    private readonly DataLane[] _dataLanes;

    internal SubsystemWorld(ulong seed = 1, StubNetwork? network = null, int? dataLanes = null)
    {
        Network = network;
        Lane = new SimLane(seed);
        _state = new SimHostState();
        _dataLanes = [.. Enumerable.Range(1, dataLanes ?? TestLanes.Count).Select(number => new DataLane(Lane.Beside($"data{number}"), network))];
        Start();
    }

    private SubsystemWorld(SubsystemWorld before, Func<int, int, bool> keep)
    {
        Lane = new SimLane(2);
        _state = before._state.Snapshot(withMemory: false);
        _dataLanes = [.. before._dataLanes.Select((_, i) => new DataLane(Lane.Beside($"data{i + 1}"), null))];
        _media.AddRange(before._media.Select(media => media.Cut(keep)));
        Disks = new SimDisk[_media.Count];
        Pool = before.Pool;
        SlabSize = before.SlabSize;
        Start();
    }

    /// <summary>The world after a power cut: another boot, and of what disks have acknowledged and not flushed all, or nothing.</summary>
    internal SubsystemWorld AfterPowerCut(bool keepsAcknowledged) => new(this, (_, _) => keepsAcknowledged);

    internal SimLane Lane { get; }

    internal SimHostState State => _state;

    /// <summary>Where virtual disks are exported; null: they cannot be.</summary>
    internal StubNetwork? Network { get; }

    internal StorageSubsystem Subsystem { get; private set; } = null!;

    /// <summary>Disks as they are open now, in the order of registration.</summary>
    internal SimDisk[] Disks { get; private set; } = [];

    internal List<string> Notices { get; } = [];

    internal JobPacing Pacing { get; set; } = new();

    internal HealingTimes Healing { get; set; } = HealingTimes.Default;

    /// <summary>Disks that cannot be opened: nothing is where they were.</summary>
    internal HashSet<int> Away { get; } = [];

    /// <summary>Disks that can be opened and answer nothing: their device has a name still.</summary>
    internal HashSet<int> Silent { get; } = [];

    /// <summary>Disks of which the call that opens them does not return, until <see cref="EndHang"/>.</summary>
    internal HashSet<int> Hanging { get; } = [];

    /// <summary>Calls that open disks, by number of the disk.</summary>
    internal Dictionary<int, int> Openings { get; } = [];

    /// <summary>Disks that a process which has ended holds still.</summary>
    internal HashSet<int> Held { get; } = [];

    /// <summary>Disks that can be opened and read, and take no writes.</summary>
    internal HashSet<int> Refusing { get; } = [];

    /// <summary>Reasons of the system against pooling disks.</summary>
    internal Dictionary<int, string> Obstacles { get; } = [];

    /// <summary>Behavior of disks of a medium in time; null: they answer at once.</summary>
    internal Func<MediaType, LatencyProfile>? Profiles { get; init; }

    /// <summary>Bytes of a slab of new pools.</summary>
    internal long SlabSize { get; init; } = SlabGeometry.SmallestSlab;

    internal Guid Pool { get; private set; }

    internal JobStatus[] Jobs => Run(Subsystem.Jobs.ListAsync());

    /// <summary>Starts a host and waits until its pools are open.</summary>
    internal void Start() => Subsystem = Run(StorageSubsystem.StartAsync(Options()));

    /// <summary>Starts a host, whose pools are being opened then.</summary>
    internal void Begin() => Subsystem = Run(StorageSubsystem.BeginAsync(Options()));

    internal void Restart()
    {
        Assert.True(Run(Subsystem.StopAsync()));
        Start();
    }

    /// <summary>Whether the system names the hardware of disks: two places of one medium are two paths to it then.</summary>
    internal bool NamesHardware { get; set; }

    public LaneTask<DeviceNames> NameDevice(ILane lane, string uri)
    {
        int number = NumberOf(uri);
        return LaneTask.FromResult(NamesHardware && !Away.Contains(number) ? new DeviceNames($"place{number}", _media[number].Key) : DeviceNames.None);
    }

    public async LaneTask<IDisk> Open(ILane lane, string uri, DiskOverrides overrides, DiskUse use = DiskUse.ReadWrite)
    {
        int number = NumberOf(uri);
        Openings[number] = Openings.GetValueOrDefault(number) + 1;
        await lane.Delay(1000 + Lane.Next(200_000));
        while (Hanging.Contains(number))
        {
            await _hangEnded.Wait();
        }

        if (Away.Contains(number))
        {
            throw new DiskOpenException(DiskOpenFailure.NotFound, $"{uri} is not there.");
        }

        if (Held.Contains(number))
        {
            throw new DiskOpenException(DiskOpenFailure.StillHeld, $"{uri} is still held.");
        }

        Disks[number] = new SimDisk(Lane, _media[number])
        {
            WriteFails = (_, _) => Refusing.Contains(number),
            CannotPoolReason = Obstacles.GetValueOrDefault(number, ""),
            Pulled = Silent.Contains(number),
            Names = new DeviceNames($"place{number}", NamesHardware ? _media[number].Key : ""),
        };
        return Profiles is null ? Disks[number] : new EmulatedDisk(Lane, Disks[number], Profiles(overrides.MediaType ?? MediaType.SSD));
    }

    /// <summary>A pool over so many new disks.</summary>
    internal void NewPool(int disks, long bytes = 64 << 20) => NewPool([.. Enumerable.Repeat((bytes, MediaType.SSD), disks)]);

    /// <summary>A pool over new disks of these sizes and media.</summary>
    internal void NewPool(IReadOnlyList<(long Bytes, MediaType Media)> disks, string name = "p", Func<int, PlaceChange>? places = null)
    {
        List<Guid> ids = [.. disks.Select((disk, i) => NewDisk(disk.Bytes, disk.Media, places?.Invoke(i)))];
        Pool = Run(Subsystem.Pools.CreateAsync(
            new PoolDescription { FriendlyName = name, Slabs = new SlabGeometry(SlabSize) }, ids, DiskUsage.AutoSelect)).UniqueId;
    }

    /// <summary>A new disk that is in no pool.</summary>
    internal Guid NewDisk(long bytes = 64 << 20, MediaType? media = null, PlaceChange? place = null)
    {
        int number = _media.Count;
        _media.Add(new SimMedia($"disk{number}", bytes, 4096));
        Disks = [.. Disks, null!];
        return Run(Subsystem.PhysicalDisks.RegisterAsync(new RegistrationSpec
        {
            Path = $"/sim/{number}", Overrides = new DiskOverrides(media), Place = place ?? new PlaceChange(),
        })).UniqueId;
    }

    /// <summary>A further path to a disk, which is not registered. Returns its number.</summary>
    internal int PathTo(int number)
    {
        _media.Add(_media[number]);
        Disks = [.. Disks, null!];
        return _media.Count - 1;
    }

    /// <summary>Makes the place of a disk, which is not open, a further path to another one.</summary>
    internal void Redirect(int number, int target) => _media[number] = _media[target];

    private static int NumberOf(string uri) => int.Parse(uri[(uri.LastIndexOf('/') + 1)..], System.Globalization.CultureInfo.InvariantCulture);

    /// <summary>A copy of a disk, which is not registered. Returns its number.</summary>
    internal int CopyOf(int number)
    {
        _media.Add(_media[number].CloneAs($"disk{_media.Count}"));
        Disks = [.. Disks, null!];
        return _media.Count - 1;
    }

    /// <summary>Replaces what is at the place of a disk, which is not open, by a copy of another disk.</summary>
    internal void Replace(int number, int original) => _media[number] = _media[original].CloneAs($"disk{number}");

    /// <summary>Registers what is at the place of a disk.</summary>
    internal PhysicalDiskStatus Register(int number) =>
        Run(Subsystem.PhysicalDisks.RegisterAsync(new RegistrationSpec { Path = $"/sim/{number}", Overrides = new DiskOverrides(MediaType.SSD) }));

    /// <summary>Hash of everything on a disk.</summary>
    internal ulong Hash(int number) => _media[number].Hash();

    /// <summary>A further member of the pool.</summary>
    internal Guid AddDisk(DiskUsage usage, PlaceChange? place = null)
    {
        Assert.True(Run(Subsystem.Pools.AddDisksAsync(Pool, [NewDisk(place: place)], usage)));
        return Physical(_media.Count - 1).UniqueId;
    }

    /// <summary>A disk, by its number in the order of registration, as users see it.</summary>
    internal PhysicalDiskStatus Physical(int number) => Run(Subsystem.PhysicalDisks.ListAsync()).First(disk => disk.DeviceId == number);

    /// <summary>Takes a disk out; it cannot be opened until <see cref="PutBack"/>.</summary>
    internal void Pull(int number)
    {
        Away.Add(number);
        Disks[number].Pulled = true;
    }

    /// <summary>Calls that open disks return.</summary>
    internal void EndHang()
    {
        Hanging.Clear();
        _hangEnded.NotifyAll();
    }

    /// <summary>A disk can be opened again.</summary>
    internal void PutBack(int number) => Away.Remove(number);

    /// <summary>A mirror, with data in all of it when asked for.</summary>
    internal Guid NewMirror(string name, long bytes, bool filled = true)
    {
        Guid id = Run(Subsystem.VirtualDisks.CreateAsync(Pool, new VirtualDiskRequest { FriendlyName = name, SizeBytes = bytes, NumberOfColumns = 1 }))
            .Description.Id.Value;
        for (long at = 0; filled && at < bytes; at += 1 << 20)
        {
            Write(id, at, 1 << 20);
        }

        return id;
    }

    internal VirtualDisk Disk(Guid id) => Opened(id).Disk;

    internal OpenVirtualDisk Opened(Guid id) => Subsystem.VirtualDisks.Opened(id);

    /// <summary>The pool of an open virtual disk.</summary>
    internal Pool PoolOf(OpenVirtualDisk open) => Lane.Run(open.Pool.Ask(LaneTask.FromResult));

    /// <summary>Whether the lane of a virtual disk has not taken the newest members of its pools yet.</summary>
    internal bool IsBehind(Guid id) => Opened(id) is var open && (open.Pool.IsBehind || open.Remote?.Pool.IsBehind == true);

    internal void Write(Guid id, long offset, int length)
    {
        IoBuffer buffer = Lane.Buffers.Rent(length);
        new Random((int)offset).NextBytes(buffer.Span);
        Assert.Equal(IoError.None, Lane.Run(Disk(id).Write(offset, buffer, WriteFlags.None)));
        Lane.Buffers.Return(buffer);
        Assert.Equal(IoError.None, Lane.Run(Disk(id).Flush()));
    }

    /// <summary>Data that <see cref="Write"/> has written, or the beginning of it.</summary>
    internal static byte[] Written(int offset, int length)
    {
        byte[] data = new byte[length];
        new Random(offset).NextBytes(data);
        return data;
    }

    internal byte[] Read(Guid id, long offset, int length)
    {
        IoBuffer buffer = Lane.Buffers.Rent(length);
        Assert.Equal(IoError.None, Lane.Run(Disk(id).Read(offset, buffer)));
        byte[] data = buffer.Span.ToArray();
        Lane.Buffers.Return(buffer);
        return data;
    }

    /// <summary>Turns the virtual clock until a verb has ended.</summary>
    internal T Run<T>(Task<T> verb)
    {
        Lane.PumpWhile(() => !verb.IsCompleted, 365L * 86400 * 1_000_000_000);
        return verb.GetAwaiter().GetResult();
    }

    /// <summary>Lets time pass. Every object that is not OK then says why.</summary>
    internal void Advance(TimeSpan time)
    {
        Lane.Advance(time.Ticks * 100);
        _ = NotOk();
    }

    /// <summary>
    /// Everything that is not OK as "class status: reason". Each has a reason; a virtual disk that is only not connected has it in its detached reason.
    /// </summary>
    internal List<string> NotOk()
    {
        List<string> found = [];
        foreach (VirtualDiskStatus disk in Run(Subsystem.VirtualDisks.ListAsync()))
        {
            bool isOk = disk.Health == HealthStatus.Healthy && (disk.OperationalStatus == "OK" || disk.DetachedReason == "By Policy");
            Note(found, isOk, $"virtual disk {disk.OperationalStatus}", disk.StatusReason);
            Note(found, disk.WriteCache is null or { State: "Active" }, $"write cache {disk.WriteCache?.State}", disk.WriteCache?.StateReason ?? "");
        }

        foreach (StoragePoolStatus pool in Run(Subsystem.Pools.ListAsync()))
        {
            Note(found, pool is { Health: HealthStatus.Healthy, OperationalStatus: PoolOperationalStatus.OK }, $"pool {pool.OperationalStatus}",
                pool.StatusReason);
        }

        foreach (PhysicalDiskStatus disk in Run(Subsystem.PhysicalDisks.ListAsync()))
        {
            Note(found, disk is { Health: HealthStatus.Healthy, OperationalStatus: "OK" }, $"physical disk {disk.OperationalStatus}", disk.StatusReason);
        }

        return found;
    }

    private static void Note(List<string> found, bool isOk, string what, string reason)
    {
        if (!isOk)
        {
            Assert.True(reason.Length > 0, $"{what} without a reason");
            found.Add($"{what}: {reason}");
        }
    }

    /// <summary>Turns the clock until something is so, at most for a day.</summary>
    internal void Until(Func<bool> holds) => Lane.PumpWhile(() => !holds(), 86400L * 1_000_000_000);

    private SubsystemOptions Options() => new(Lane, Network, this, _state, "", Guid.Empty, Notices.Add)
    {
        JobPacing = Pacing,
        Healing = Healing,
        DataLanes = _dataLanes,
    };
}
