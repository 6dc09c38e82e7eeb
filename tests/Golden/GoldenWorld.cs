using System.Globalization;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Jobs;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Golden;

/// <summary>A host on the virtual clock and simulated disks, which writes golden pools and opens them.</summary>
internal sealed class GoldenWorld : IDiskFactory
{
    private const long DayNs = 86_400L * 1_000_000_000;

    private readonly List<SimMedia> _media = [];
    private readonly List<SimDisk?> _open = [];
    private readonly HashSet<int> _away = [];
    private readonly List<GoldenWrite> _writes = [];
    private readonly SimHostState _state;
    private readonly Dictionary<string, Guid> _disks = [];

    /// <summary>A host without disks.</summary>
    public GoldenWorld()
    {
        _state = new SimHostState();
        Start();
    }

    /// <summary>A host that finds the disks of a golden pool.</summary>
    public GoldenWorld(GoldenPack pack)
    {
        _state = pack.State;
        _media.AddRange(pack.Disks);
        _open.AddRange(new SimDisk?[_media.Count]);
        _away.UnionWith(pack.Facts.Away);
        _writes.AddRange(pack.Facts.Writes);
        Lane.Advance(pack.Facts.NowNs - Lane.NowNs);
        Start();
    }

    /// <summary>The host's lane.</summary>
    public SimLane Lane { get; } = new(1);

    /// <summary>Its verbs.</summary>
    public StorageSubsystem Subsystem { get; private set; } = null!;

    /// <summary>Identity of the pool made last.</summary>
    public Guid Pool { get; private set; }

    /// <summary>Everything that was written so far.</summary>
    public IReadOnlyList<GoldenWrite> Writes => _writes;

    /// <summary>The jobs that are listed.</summary>
    public JobStatus[] Jobs => Run(Subsystem.Jobs.ListAsync());

    /// <summary>Content of the disks, the host's folder and its memory now, as a host that dies at this moment leaves them.</summary>
    public GoldenPack Pack() => new()
    {
        Facts = new GoldenFacts(Lane.NowNs, [.. _away.Order()], [.. _writes]),
        Disks = [.. _media.Select((media, i) => _open[i]?.SnapshotWithInFlight() ?? media.Snapshot())],
        State = _state.Snapshot(withMemory: true),
    };

    /// <summary>Stops the host in an orderly way.</summary>
    public void Stop()
    {
        if (!Run(Subsystem.StopAsync()))
        {
            throw new InvalidOperationException("The pools did not close cleanly.");
        }
    }

    /// <summary>Stops the host and starts it again.</summary>
    public void Restart()
    {
        Stop();
        Start();
    }

    /// <inheritdoc/>
    public LaneTask<DeviceNames> NameDevice(ILane lane, string uri) => LaneTask.FromResult(DeviceNames.None);

    public async LaneTask<IDisk> Open(ILane lane, string uri, DiskOverrides overrides, DiskUse use = DiskUse.ReadWrite)
    {
        int number = int.Parse(uri[(uri.LastIndexOf('/') + 1)..], CultureInfo.InvariantCulture);
        await lane.Delay(1000 + Lane.Next(200_000));
        if (_away.Contains(number))
        {
            throw new DiskOpenException(DiskOpenFailure.NotFound, $"{uri} is not there.");
        }

        SimDisk disk = new(Lane, _media[number]);
        _open[number] = disk;
        return disk;
    }

    /// <summary>Makes a pool over new disks of this size and these media.</summary>
    public void NewPool(string name, long bytes, params MediaType[] media)
    {
        List<Guid> ids = [];
        foreach (MediaType one in media)
        {
            int number = _media.Count;
            _media.Add(new SimMedia($"disk{number}", bytes, 4096));
            _open.Add(null);
            ids.Add(Run(Subsystem.PhysicalDisks.RegisterAsync(new RegistrationSpec { Path = $"/sim/{number}", Overrides = new DiskOverrides(one) })).UniqueId);
        }

        PoolDescription settings = new() { FriendlyName = name, Slabs = new SlabGeometry(SlabGeometry.SmallestSlab) };
        Pool = Run(Subsystem.Pools.CreateAsync(settings, ids, DiskUsage.AutoSelect)).UniqueId;
    }

    /// <summary>Makes a virtual disk in the pool made last.</summary>
    public Guid NewDisk(VirtualDiskRequest request) => NewDisk(Pool, request);

    /// <summary>Makes a virtual disk.</summary>
    public Guid NewDisk(Guid pool, VirtualDiskRequest request) =>
        _disks[request.FriendlyName] = Run(Subsystem.VirtualDisks.CreateAsync(pool, request)).Description.Id.Value;

    /// <summary>Writes to a virtual disk and notes it.</summary>
    public void Write(string disk, long offset, int length, ulong seed)
    {
        IoBuffer buffer = Lane.Buffers.Rent(length);
        GoldenData.Fill(seed, offset, buffer.Span);
        Require(Lane.Run(Opened(disk).Write(offset, buffer, WriteFlags.None)), "write to", disk);
        Lane.Buffers.Return(buffer);
        _writes.Add(new GoldenWrite(disk, offset, length, seed));
    }

    /// <summary>Unmaps a range of a virtual disk and notes it.</summary>
    public void Unmap(string disk, long offset, int length)
    {
        Require(Lane.Run(Opened(disk).Unmap(offset, length)), "unmap", disk);
        _writes.Add(new GoldenWrite(disk, offset, length, 0));
    }

    /// <summary>Flushes a virtual disk.</summary>
    public void Flush(string disk) => Require(Lane.Run(Opened(disk).Flush()), "flush", disk);

    /// <summary>Reads all of a virtual disk.</summary>
    public byte[] ReadAll(string disk)
    {
        VirtualDisk opened = Opened(disk);
        byte[] content = new byte[opened.Geometry.Length];
        IoBuffer buffer = Lane.Buffers.Rent(1 << 20);
        for (int at = 0; at < content.Length; at += buffer.Length)
        {
            IoBuffer piece = buffer.Slice(0, Math.Min(buffer.Length, content.Length - at));
            Require(Lane.Run(opened.Read(at, piece)), "read", disk);
            piece.Span.CopyTo(content.AsSpan(at));
        }

        Lane.Buffers.Return(buffer);
        return content;
    }

    /// <summary>Damages a block that was written with a seed at an offset of its virtual disk, on every disk that is there.</summary>
    public void Rot(long offset, ulong seed)
    {
        byte[] written = new byte[4096];
        byte[] found = new byte[written.Length];
        GoldenData.Fill(seed, offset, written);
        foreach (SimMedia media in _media.Where((_, number) => !_away.Contains(number)))
        {
            for (long at = 0; at < media.Length; at += found.Length)
            {
                media.Read(at, found);
                if (found.AsSpan().SequenceEqual(written))
                {
                    media.Corrupt(at, static sector => [.. sector.Select(static value => (byte)~value)]);
                }
            }
        }
    }

    /// <summary>Requires that reading a range of a virtual disk is an error.</summary>
    public void RequireLost(string disk, long offset, int length)
    {
        IoBuffer buffer = Lane.Buffers.Rent(length);
        IoError error = Lane.Run(Opened(disk).Read(offset, buffer));
        Lane.Buffers.Return(buffer);
        if (error != IoError.Io)
        {
            throw new InvalidOperationException($"Virtual disk '{disk}' can be read at {offset}: {error}.");
        }
    }

    /// <summary>Pulls a disk: it cannot be found until <see cref="PutBack"/>.</summary>
    public void Pull(int number)
    {
        _away.Add(number);
        _open[number]!.Pulled = true;
    }

    /// <summary>A disk that was away can be found again.</summary>
    public void PutBack(int number) => _away.Remove(number);

    /// <summary>Numbers of the disks that are away.</summary>
    public int[] Away => [.. _away.Order()];

    /// <summary>Turns the clock until a verb has ended.</summary>
    public T Run<T>(Task<T> verb)
    {
        Lane.PumpWhile(() => !verb.IsCompleted, DayNs);
        return verb.GetAwaiter().GetResult();
    }

    /// <summary>Turns the clock for a time.</summary>
    public void Advance(TimeSpan time) => Lane.Advance(time.Ticks * 100);

    /// <summary>Turns the clock until something holds, for a day at most.</summary>
    public void Until(Func<bool> holds) => Lane.PumpWhile(() => !holds(), DayNs);

    /// <summary>Turns the clock until no job runs any more.</summary>
    public void Settle()
    {
        Advance(TimeSpan.FromSeconds(30));   // what the host begins by itself has begun by then
        Until(() => Subsystem.Jobs.Listed.All(static job => job.State is not (JobState.New or JobState.Running)));
    }

    private void Start() => Subsystem = Run(StorageSubsystem.StartAsync(
        new SubsystemOptions(Lane, null, this, _state, "", Guid.Empty, static _ => { })));

    private VirtualDisk Opened(string disk)
    {
        if (!_disks.TryGetValue(disk, out Guid id))
        {
            id = _disks[disk] = Run(Subsystem.VirtualDisks.ListAsync()).Single(one => one.Description.FriendlyName == disk).Description.Id.Value;
        }

        return Subsystem.VirtualDisks.Opened(id).Disk;
    }

    private static void Require(IoError error, string attempt, string disk)
    {
        if (error != IoError.None)
        {
            throw new InvalidOperationException($"Cannot {attempt} virtual disk '{disk}': {error}.");
        }
    }
}
