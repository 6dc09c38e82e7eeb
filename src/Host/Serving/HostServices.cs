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
    /// <summary>Environment variable that says whether new virtual disks are attached, <c>yes</c> or <c>no</c>; yes where it is not set.</summary>
    internal const string AttachNewVariable = "TIERSPACES_ATTACH_NEW_DISKS";

    // Pools are open in the first answer of a host unless a disk is slow; a host with one answers all the same.
    private static readonly TimeSpan s_startPatience = TimeSpan.FromSeconds(3);
    private static readonly TimeSpan s_attachPatience = TimeSpan.FromSeconds(5);

    private readonly TaskCompletionSource _stopRequested = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private TaskCompletionSource? _attaching;   // null: this host serves no one, and attaches nothing at its start
    private readonly ServeOptions _options;
    private readonly Lane[] _lanes;   // the control lane, then the data lanes
    private readonly HostState _state;
    private readonly FuseAttacher _fuse;
    private readonly Task _started;   // completes when the pools that are there at the start are open
    private bool _holdsChanges;

    private HostServices(HostPaths paths, ServeOptions options, Lane[] lanes, HostState state, StorageSubsystem subsystem)
    {
        (Paths, _options, _lanes, _state, Subsystem) = (paths, options, lanes, state, subsystem);
        _fuse = new FuseAttacher(new DeviceServer(subsystem), KeeperFor(paths, options.Supervisor));
        Attachments = new AttachManager(
            paths, new AttachStore(state, $"{NodeIdentity.Boot:N}"), [new KernelNbdAttacher(new KernelNbd()), _fuse, new NbdFuseAttacher()],
            Environment.IsPrivilegedProcess ? DeviceLinks.Common : null);
        Attachments.ForgetFormerStarts();
        _fuse.TakeCopies(Attachments.Records());
        Listeners = new DiskListeners(new ListenStore(state), subsystem, SocketOf);
        Files = new FileMap(Attachments);
        Volumes = new VolumeServices(
            paths, state, Attachments, Setting(MountService.RootVariable, ParseRoot, MountService.DefaultRoot),
            Setting(FileSystemChoice.Variable, FileSystemChoice.Parse, ""));
        VolumeMaker = new VolumeMaker(this);
        Health = new HealthMonitor(
            this, state, Setting(HookFolder.Variable, HookFolder.Parse, Path.Combine(paths.Home, HookFolder.DefaultName)),
            Setting(HookFolder.LimitVariable, HookFolder.ParseLimit, HookFolder.DefaultLimit));
        _started = subsystem.WaitUntilStartedAsync();
    }

    /// <summary>Paths of the state and sockets.</summary>
    public HostPaths Paths { get; }

    /// <summary>The engine.</summary>
    public StorageSubsystem Subsystem { get; }

    /// <summary>Devices of connected virtual disks.</summary>
    public AttachManager Attachments { get; }

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

    /// <summary>Whether a new virtual disk is attached when it has been created, unless it is to be attached by hand.</summary>
    public bool AttachesNewDisks { get; set; } = Setting(AttachNewVariable, ParseAnswer, true);

    /// <summary>Number of lanes of virtual disks.</summary>
    public int DataLanes => _lanes.Length - 1;

    /// <summary>Completes when a request asks the host to stop.</summary>
    public Task StopRequested => _stopRequested.Task;

    /// <summary>Process that starts the host again, or null.</summary>
    public int? SupervisorProcessId => _options.Supervisor switch
    {
        SupervisorKind.Systemd => 1,
        SupervisorKind.Own when int.TryParse(LockFile.Read(Paths.SupervisorLock), out int process) => process,
        _ => null,
    };

    /// <summary>Starts the engine and opens every pool it finds. A pool that takes long is opened while the host serves.</summary>
    public static async Task<HostServices> StartAsync(HostPaths paths, ServeOptions options)
    {
        const UnixFileMode ownerOnly = UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute;
        Directory.CreateDirectory(paths.Exports, ownerOnly);
        HostState state = new HostState(paths.State, RuntimeFolder.Take(paths, RuntimeFolder.ParentsInMemory()));
        int count = Setting(LaneFactory.CountVariable, LaneFactory.ParseCount, LaneFactory.DefaultCount);
        Lane[] lanes = [LaneFactory.Create("control"), .. Enumerable.Range(1, count).Select(static number => LaneFactory.Create($"data{number}"))];
        StorageSubsystem subsystem = await StorageSubsystem.BeginAsync(new SubsystemOptions(
            lanes[0], lanes[0].Network, new DiskFactory(), state, paths.Exports, NodeIdentity.Take(state, paths.State), HostLog.Write)
        {
            BootId = NodeIdentity.Boot,
            HostName = NodeIdentity.MachineName,
            Signatures = new SystemSignatures(),
            DataLanes = [.. lanes.Skip(1).Select(static lane => new DataLane(lane, lane.Network))],
            Deadlines = Setting("TIERSPACES_IO_DEADLINES", IoDeadlines.Parse, IoDeadlines.Default),
            Healing = Setting("TIERSPACES_MISSING_DISK_SECONDS", HealingTimes.ParseGrace, HealingTimes.Default),
        }).ConfigureAwait(false);
        HostServices services = new HostServices(paths, options, lanes, state, subsystem);
        await Task.WhenAny(services._started, Task.Delay(s_startPatience)).ConfigureAwait(false);
        subsystem.PoolsOpened += services.AttachLater;   // what is open by now is attached after the host is ready, and has its supervisor
        return services;
    }

    /// <summary>Whether the devices of attached disks stay when the host stops, in use or not.</summary>
    public bool KeepsAttached { get; set; }

    /// <summary>Asks the host to stop in good order. Returns at once; a second request changes nothing.</summary>
    public void RequestStop() => _stopRequested.TrySetResult();

    /// <summary>
    /// Makes a device of a virtual disk that is served. It asks for the export by its identity, so that the disk can be renamed while it is attached. Disks are
    /// numbered in the order in which they are attached.
    /// </summary>
    /// <param name="disk">Virtual disk.</param>
    /// <param name="method">The only method to try; null: the first that works.</param>
    public void Attach(VirtualDiskStatus disk, AttachMethod? method = null)
    {
        string uniqueId = Identifiers.OfVirtualDisk(disk.Description.Id.Value);
        AttachOutcome outcome = Attachments.Attach(new AttachTarget(
            uniqueId, disk.Description.FriendlyName, disk.SocketPath, NbdExport.IdentityOf(disk.Description.Id.Value), disk.Description.LogicalSectorSize,
            disk.Description.IsReadOnly), method);
        try
        {
            _ = outcome.DevicePath is null ? null : Volumes.Store.EntryOf(uniqueId);
        }
        catch (IOException problem)
        {
            HostLog.Write($"virtual disk '{disk.Description.FriendlyName}' is attached; its disk gets a number when it is listed: {problem.Message}");
        }
    }

    /// <summary>Serves a virtual disk and makes a device of it where the machine allows it; mounts on it stay as they are.</summary>
    /// <param name="disk">Virtual disk.</param>
    /// <param name="force">Whether what a lost write cache of it held is given up; the remarks say what that was.</param>
    /// <param name="lane">Lane that it is put on; null: the one it is on.</param>
    /// <param name="method">The only way to make a device of it; null: the first that works.</param>
    /// <exception cref="StorageException">The path of its socket is too long; nothing was changed.</exception>
    /// <exception cref="ManagementException">It cannot be served; nothing was changed.</exception>
    public async Task<VirtualDiskStatus> ConnectAsync(Guid disk, bool force = false, int? lane = null, AttachMethod? method = null)
    {
        Paths.CheckSocketPath(SocketOf(disk));
        VirtualDiskStatus connected = await Subsystem.VirtualDisks.ConnectAsync(disk, force, lane).ConfigureAwait(false);
        Attach(connected, method);
        return connected;
    }

    /// <summary>Refuses a method that a virtual disk cannot be attached by.</summary>
    /// <exception cref="StorageException">It cannot be; nothing was changed.</exception>
    public void RequireMethod(VirtualDiskStatus disk, AttachMethod? method)
    {
        if (method is { } asked)
        {
            Attachments.RequireMethod(Identifiers.OfVirtualDisk(disk.Description.Id.Value), disk.Description.FriendlyName, asked);
        }
    }

    /// <summary>Path of the socket at which a virtual disk is served.</summary>
    public string SocketOf(Guid disk) => Path.Combine(Paths.Exports, disk.ToString("N") + ".sock");

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

    /// <summary>Detaches a virtual disk whose volumes are not mounted, and gives the number of its disk back.</summary>
    /// <exception cref="StorageException">It is in use; nothing was changed.</exception>
    public void Detach(string uniqueId)
    {
        Attachments.Detach(uniqueId);
        Volumes.Store.Release(uniqueId);
    }

    /// <summary>
    /// Takes the device of a virtual disk away from its users. Their writes are flushed and file systems are unmounted first, unless nothing serves the
    /// device: then the requests that wait for it fail first. The number of its disk stays.
    /// </summary>
    /// <param name="uniqueId">The virtual disk, which may be gone.</param>
    /// <param name="isServed">Whether this host serves the device; where it does not answer requests, it counts as not served.</param>
    /// <returns>Remarks on what could not be done in good order, for the user.</returns>
    public async Task<IReadOnlyList<string>> TakeAwayAsync(string uniqueId, bool isServed)
    {
        if (Attachments.Records().FirstOrDefault(record => record.UniqueId == uniqueId) is not { } record)
        {
            return [];
        }

        isServed &= Attachments.Answers(record);
        List<string> remarks = isServed ? [.. await Volumes.Release.ReleaseAsync(record.Device).ConfigureAwait(false)] : [];
        try
        {
            Attachments.Detach(uniqueId, force: true);
        }
        catch (Exception e) when (e is AttachException or IOException)
        {
            remarks.Add($"Virtual disk '{record.FriendlyName}': {record.Device} is not removed: {e.Message}");
        }

        remarks.AddRange(isServed ? [] : await Volumes.Release.ReleaseAsync(record.Device).ConfigureAwait(false));
        return remarks;
    }

    /// <summary>Forgets what was asked for when a virtual disk was connected, now that it is not or is gone: its TCP address and its way.</summary>
    public async Task ForgetConnectionAsync(string uniqueId)
    {
        await Listeners.ForgetAsync(uniqueId).ConfigureAwait(false);
        Attachments.SetMethod(uniqueId, null);
    }

    /// <summary>Hands what has to outlive this host to a supervisor that was just started.</summary>
    public void HandOverDevices() => _fuse.HandOver();

    /// <summary>Ends when the devices of the host before have been taken over.</summary>
    public Task FirstAttachment => _attaching?.Task ?? Task.CompletedTask;

    /// <summary>Waits a while for the devices of the host before, where the pools that they are on are open: verbs that show devices do.</summary>
    public Task WaitForDevicesAsync() =>
        _started.IsCompleted && !FirstAttachment.IsCompleted ? Task.WhenAny(FirstAttachment, Task.Delay(s_attachPatience)) : Task.CompletedTask;

    /// <summary>
    /// Before the first verb: devices come back after the host is ready. Verbs that change state wait for <see cref="AttachFirstAsync"/>, and so do, for a
    /// while, verbs that list disks; others that read do not. While pools are still being opened, what changes state waits for those in the engine, which says
    /// what they wait for.
    /// </summary>
    public async Task BeginAttachingAsync()
    {
        _attaching = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        if (_started.IsCompleted)
        {
            await Changes.WaitAsync().ConfigureAwait(false);
            _holdsChanges = true;
        }
    }

    /// <summary>Takes over or makes the devices of connected virtual disks, after the start.</summary>
    public async Task AttachFirstAsync()
    {
        if (!_holdsChanges)
        {
            await _started.ConfigureAwait(false);
            await Changes.WaitAsync().ConfigureAwait(false);
        }

        try
        {
            await AttachConnectedAsync().ConfigureAwait(false);
            Attachments.ClearRemains();
        }
        finally
        {
            _attaching?.TrySetResult();
            Changes.Release();
        }
    }

    /// <summary>
    /// Attaches each virtual disk that is served and not attached yet: after a start, and when a pool has opened late. A disk that
    /// cannot be attached is logged; it keeps no other disk, and not the host, from starting. Volumes are mounted beside the caller.
    /// </summary>
    public async Task AttachConnectedAsync()
    {
        bool hasNew = false;
        foreach (VirtualDiskStatus disk in await Subsystem.VirtualDisks.ListAsync().ConfigureAwait(false))
        {
            string uniqueId = Identifiers.OfVirtualDisk(disk.Description.Id.Value);
            if (disk.SocketPath.Length > 0 && Attachments.OutcomeOf(uniqueId) is null)
            {
                await Listeners.RestoreAsync(disk).ConfigureAwait(false);
                TryAttach(disk);
                hasNew = true;
            }
        }

        if (hasNew || Volumes.Store.Read().Creations.Length > 0)
        {
            Volumes.RestoreLater(this);
        }
    }

    /// <summary>Looks at every registered physical disk again, opens the storage pools that can be opened now, and attaches what is on them.</summary>
    public async Task LookAgainAsync()
    {
        await Subsystem.Pools.UpdateAsync().ConfigureAwait(false);
        await AttachConnectedAsync().ConfigureAwait(false);
    }

    /// <summary>A pool was opened, perhaps without a verb, because its disks are back: what is on it is attached beside the caller.</summary>
    private void AttachLater() => _ = Task.Run(async () =>
    {
        try
        {
            await FirstAttachment.ConfigureAwait(false);
            await ChangeAsync(async () =>
            {
                await AttachConnectedAsync().ConfigureAwait(false);
                return true;
            }).ConfigureAwait(false);
        }
        catch (Exception e)
        {
            HostLog.Write($"virtual disks of a pool that was opened are not attached: {e}");
        }
    });

    private void TryAttach(VirtualDiskStatus disk)
    {
        try
        {
            Attach(disk);
        }
        catch (Exception e)
        {
            HostLog.Write($"virtual disk '{disk.Description.FriendlyName}' is served at {disk.SocketPath} and has no block device: {e}");
        }
    }

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

    private static IKeptDescriptors? KeeperFor(HostPaths paths, SupervisorKind supervisor) => supervisor switch
    {
        SupervisorKind.Own => new KeptDescriptors(paths.KeeperSocket),
        SupervisorKind.Systemd => ServiceDescriptors.OfThisProcess(),
        _ => null,
    };

    private static bool ParseAnswer(string text) => text.ToLowerInvariant() switch
    {
        "yes" or "true" or "1" => true,
        "no" or "false" or "0" => false,
        _ => throw new FormatException($"'{text}' is not valid. Valid: yes and no."),
    };

    private static string ParseRoot(string text) => Path.IsPathFullyQualified(text)
        ? Path.TrimEndingDirectorySeparator(Path.GetFullPath(text)) : throw new FormatException($"'{text}' is no absolute path.");

    /// <summary>Returns a setting from the environment. A value that cannot be parsed is logged, and the default is used.</summary>
    private static T Setting<T>(string variable, Func<string, T> parse, T otherwise)
    {
        try
        {
            return Environment.GetEnvironmentVariable(variable) is { Length: > 0 } text ? parse(text) : otherwise;
        }
        catch (FormatException mistake)
        {
            HostLog.Write($"{variable}: {mistake.Message} The default value is used.");
            return otherwise;
        }
    }
}
