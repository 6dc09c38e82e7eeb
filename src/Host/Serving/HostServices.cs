using TierSpaces.Contracts;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Exports.Nbd;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Attaching;
using TierSpaces.Host.Devices;
using TierSpaces.Host.Attaching.Fuse;
using TierSpaces.Host.Attaching.Kernel;
using TierSpaces.Host.Health;
using TierSpaces.Host.Listening;
using TierSpaces.Host.Supervision;
using TierSpaces.Host.Verbs;
using TierSpaces.Host.Verbs.Mapping;
using TierSpaces.Host.Volumes;
using TierSpaces.Host.Volumes.FileSystems;

namespace TierSpaces.Host.Serving;

/// <summary>Services that the handlers of one host share: the engine, attached devices, and the host's own life.</summary>
internal sealed class HostServices : IAsyncDisposable
{
    // Pools are open in the first answer of a host unless a disk is slow; a host with one answers all the same.
    private static readonly TimeSpan s_startPatience = TimeSpan.FromSeconds(3);

    private readonly TaskCompletionSource<bool> _stopRequested = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly ServeOptions _options;
    private readonly Lane[] _lanes;   // the control lane, then the data lanes
    private readonly HostState _state;
    private readonly FuseAttacher _fuse;
    private readonly Task _started;   // completes when the pools that are there at the start are open

    private HostServices(HostPaths paths, ServeOptions options, HostSettings settings, Lane[] lanes, HostState state, StorageSubsystem subsystem)
    {
        (Paths, Settings, _options, _lanes, _state, Subsystem) = (paths, settings, options, lanes, state, subsystem);
        _fuse = new FuseAttacher(new DeviceServer(subsystem), KeeperFor(paths, options.Supervisor));
        Attachments = new AttachManager(
            paths, RecordsIn(state), [new KernelNbdAttacher(new KernelNbd()), _fuse, new NbdFuseAttacher()],
            Environment.IsPrivilegedProcess ? DeviceLinks.Common : null);
        Attachments.ForgetFormerStarts();
        _fuse.TakeCopies(Attachments.Records());
        Listeners = new DiskListeners(new ListenStore(state), subsystem, paths.SocketOf);
        Files = new FileMap(Attachments);
        Volumes = new VolumeServices(paths, state, Attachments, settings.MountRoot, settings.FileSystem);
        Connections = new DiskConnections(paths, subsystem, Attachments, Listeners, Volumes);
        VolumeMaker = new VolumeMaker(this);
        string hooks = settings.HookFolder.Length > 0 ? settings.HookFolder : Path.Combine(paths.Home, HookFolder.DefaultName);
        Health = new HealthMonitor(this, state, hooks, settings.HookLimit);
        _started = subsystem.WaitUntilStartedAsync();
        Startup = new StartupAttachment(this, _started);
    }

    /// <summary>Paths of the state and sockets.</summary>
    public HostPaths Paths { get; }

    /// <summary>Settings of the host.</summary>
    public HostSettings Settings { get; }

    /// <summary>The engine.</summary>
    public StorageSubsystem Subsystem { get; }

    /// <summary>Devices of connected virtual disks.</summary>
    public AttachManager Attachments { get; }

    /// <summary>Connects virtual disks and makes those devices.</summary>
    public DiskConnections Connections { get; }

    /// <summary>Attaches the disks that are connected, at the start and when pools open later.</summary>
    public StartupAttachment Startup { get; }

    /// <summary>TCP addresses of connected virtual disks.</summary>
    public DiskListeners Listeners { get; }

    /// <summary>Disks, partitions and volumes on those devices.</summary>
    public VolumeServices Volumes { get; }

    /// <summary>Makes volumes in one step.</summary>
    public VolumeMaker VolumeMaker { get; }

    /// <summary>Watches the health once the host serves.</summary>
    public HealthMonitor Health { get; }

    /// <summary>Map of the places of files on those devices.</summary>
    public IFileMap Files { get; set; }

    /// <summary>Lock of the requests that change state: one at a time.</summary>
    public SemaphoreSlim Changes { get; } = new(1, 1);

    /// <summary>Time at which the host started, in UTC.</summary>
    public DateTime StartTime { get; } = DateTime.UtcNow;

    /// <summary>I/O backend of the engine, and the reason for its choice.</summary>
    public (string Backend, string Reason) IO => (_lanes[0].Backend == LaneBackend.Uring ? "io_uring" : "ThreadPool", _lanes[0].BackendReason);

    /// <summary>Number of lanes of virtual disks.</summary>
    public int DataLanes => _lanes.Length - 1;

    /// <summary>Completes when a request asks the host to stop: whether the devices of attached disks stay, in use or not.</summary>
    public Task<bool> StopRequested => _stopRequested.Task;

    /// <summary>Process that starts the host again, or null.</summary>
    public int? SupervisorProcessId => _options.Supervisor switch
    {
        SupervisorKind.Systemd => 1,
        SupervisorKind.Own when int.TryParse(LockFile.Read(Paths.SupervisorLock), out int process) => process,
        _ => null,
    };

    /// <summary>Starts the engine and opens every pool it finds. A pool that takes long is opened while the host serves.</summary>
    public static async Task<HostServices> StartAsync(HostPaths paths, ServeOptions options, HostSettings settings)
    {
        const UnixFileMode ownerOnly = UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute;
        Directory.CreateDirectory(paths.Exports, ownerOnly);
        HostState state = new HostState(paths.State, RuntimeFolder.Take(paths, RuntimeFolder.ParentsInMemory()));
        Lane[] lanes =
        [
            LaneFactory.CreateAsked("control", settings.Backend),
            .. Enumerable.Range(1, settings.DataLanes).Select(number => LaneFactory.CreateAsked($"data{number}", settings.Backend)),
        ];
        DiskFactory disks = new(new OwnDevices(RecordsIn(state), paths.Home).DiskOn);
        StorageSubsystem subsystem = await StorageSubsystem.BeginAsync(new SubsystemOptions(
            lanes[0], lanes[0].Network, disks, state, paths.Exports, NodeIdentity.Take(state, paths.State), HostLog.Write)
        {
            BootId = NodeIdentity.Boot,
            HostName = NodeIdentity.MachineName,
            Signatures = new SystemSignatures(),
            DataLanes = [.. lanes.Skip(1).Select(static lane => new DataLane(lane, lane.Network))],
            Deadlines = settings.Deadlines,
            Healing = settings.Healing,
        }).ConfigureAwait(false);
        HostServices services = new HostServices(paths, options, settings, lanes, state, subsystem);
        await Task.WhenAny(services._started, Task.Delay(s_startPatience)).ConfigureAwait(false);
        subsystem.PoolsOpened += services.Startup.AttachLater;   // what is open by now is attached after the host is ready, and has its supervisor
        return services;
    }

    /// <summary>Asks the host to stop in good order. Returns at once; a second request changes nothing.</summary>
    /// <param name="keepsAttached">Whether the devices of attached disks stay, in use or not; else those that nothing uses are removed.</param>
    public void RequestStop(bool keepsAttached = false) => _stopRequested.TrySetResult(keepsAttached);

    /// <summary>Carries out a change of virtual disks inside a verb that does not hold up others: changes of virtual disks follow one another.</summary>
    public async Task<T> ChangeAsync<T>(Func<Task<T>> change)
    {
        await Changes.WaitAsync().ConfigureAwait(false);
        try
        {
            return await change().ConfigureAwait(false);
        }
        finally
        {
            Changes.Release();
        }
    }

    /// <summary>Hands what has to outlive this host to a supervisor that was just started.</summary>
    public void HandOverDevices() => _fuse.HandOver();

    /// <summary>A virtual disk as users see it, with its device.</summary>
    public VirtualDiskInfo ToInfo(Catalogue all, VirtualDiskStatus disk)
    {
        string uniqueId = Identifiers.OfVirtualDisk(disk.Description.Id.Value);
        return disk.ToInfo(all.SlabBytesOf(disk.PoolId), Attachments.OutcomeOf(uniqueId), Listeners.UriOf(uniqueId, disk.Description.FriendlyName));
    }

    /// <summary>Closes the pools and stops the engine. Devices that are still attached stay and wait for the next host.</summary>
    public async ValueTask DisposeAsync()
    {
        await Listeners.DisposeAsync().ConfigureAwait(false);
        if (!await Subsystem.StopAsync().ConfigureAwait(false))
        {
            HostLog.Write("not everything could be closed cleanly; the next start resyncs it");
        }

        Array.ForEach(_lanes, static lane => lane.Dispose());
        _state.Dispose();
        RuntimeFolder.Leave(Paths);
        Changes.Dispose();
    }

    private static AttachStore RecordsIn(HostState state) => new(state, $"{NodeIdentity.Boot:N}");

    private static IKeptDescriptors? KeeperFor(HostPaths paths, SupervisorKind supervisor) => supervisor switch
    {
        SupervisorKind.Own => new KeptDescriptors(paths.KeeperSocket),
        SupervisorKind.Systemd => ServiceDescriptors.OfThisProcess(),
        _ => null,
    };
}
