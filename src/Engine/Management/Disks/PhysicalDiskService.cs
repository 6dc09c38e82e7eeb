using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Devices.Emulated;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

/// <summary>Specification of a disk to register.</summary>
public sealed record RegistrationSpec
{
    /// <summary>Absolute path of an image file or block device.</summary>
    public required string Path { get; init; }

    /// <summary>Name, or empty for one after the path.</summary>
    public string FriendlyName { get; init; } = "";

    /// <summary>Properties that the user states for the disk.</summary>
    public DiskOverrides Overrides { get; init; } = new();

    /// <summary>Latency profile, or empty.</summary>
    public string LatencyProfile { get; init; } = "";

    /// <summary>Whether a RAID below the disk is accepted.</summary>
    public bool IsForced { get; init; }

    /// <summary>Text of the user.</summary>
    public string Description { get; init; } = "";

    /// <summary>Where it is.</summary>
    public PlaceChange Place { get; init; } = new();
}

/// <summary>Verbs of physical disks: make and register, forget, change, clear.</summary>
public sealed class PhysicalDiskService
{
    private readonly SubsystemCore _core;
    private readonly DiskOpener _diskOpener;
    private readonly PoolOpener _opener;
    private readonly DiskChecks _diskChecks;
    private readonly Snapshots _snapshots;
    private readonly ReliabilityRecords _reliability;
    private readonly FailingDisks _failing;
    private readonly ImageFiles _images;
    private readonly DiskPaths _paths;

    internal PhysicalDiskService(
        SubsystemCore core,
        DiskOpener diskOpener,
        PoolOpener opener,
        DiskChecks diskChecks,
        Snapshots snapshots,
        ReliabilityRecords reliability,
        FailingDisks failing,
        DiskPaths paths) =>
        (_core, _diskOpener, _opener, _diskChecks, _snapshots, _reliability, _failing, _images, _paths) = (core, diskOpener, opener, diskChecks, snapshots,
            reliability, failing, new ImageFiles(core), paths);

    /// <summary>Registered disks, and the missing members of open pools.</summary>
    public Task<PhysicalDiskStatus[]> ListAsync() => _core.Verbs.Look(_snapshots.Take, static now => now.PhysicalDisks.ToArray());

    /// <summary>Makes an image file and registers it.</summary>
    /// <exception cref="ManagementException">The file exists, the size is unsuitable, the file system is full; nothing was changed.</exception>
    public Task<PhysicalDiskStatus> CreateAsync(RegistrationSpec spec, long size, bool preallocate) =>
        Change(async LaneTask<Changed> () =>
    {
        _diskChecks.CheckRegistration(spec);
        DiskChecks.CheckImageSize(size);
        await _images.Create(spec.Path, size, preallocate);
        try
        {
            return await Register(spec, isNew: true);
        }
        catch
        {
            await _images.Delete(spec.Path);   // made for this alone, and blank
            throw;
        }
    });

    /// <summary>Refuses what <see cref="CreateAsync"/> would refuse, but for a file system that turns out to be full.</summary>
    public Task<bool> CheckCreateAsync(RegistrationSpec spec, long size) => _core.Verbs.Change(async LaneTask<bool> () =>
    {
        _diskChecks.CheckRegistration(spec);
        DiskChecks.CheckImageSize(size);
        await _images.CheckCreate(spec.Path, size);
        return true;
    });

    /// <summary>Registers an existing image file or block device; members of a pool open it when enough are there.</summary>
    public Task<PhysicalDiskStatus> RegisterAsync(RegistrationSpec spec) => Change(LaneTask<Changed> () =>
    {
        _diskChecks.CheckRegistration(spec);
        return Register(spec);
    });

    /// <summary>Refuses what <see cref="RegisterAsync"/> would refuse: the disk is opened for a moment.</summary>
    public Task<bool> CheckRegisterAsync(RegistrationSpec spec) => _core.Verbs.Change(async LaneTask<bool> () =>
    {
        _diskChecks.CheckRegistration(spec);
        RegisteredDisk disk = NewRegistration(spec);
        if (await _diskOpener.OpenUnlessPath(disk) is { } known)
        {
            await _paths.Check(known, disk.Stored.Uri, spec.Path);
            return true;
        }

        ManagementException? copied = _diskChecks.WhyCopied(disk, spec.Path);
        await disk.Device.Close();
        return copied is null ? true : throw copied;
    });

    /// <summary>Forgets a disk that is no member of an open pool. The disk itself is left as it is.</summary>
    public Task<bool> UnregisterAsync(Guid id) => _core.Verbs.Change(async LaneTask<bool> () =>
    {
        RegisteredDisk disk = _diskChecks.TakeUnpooled(id);
        await _core.Disks.Remove(disk);
        await disk.Device.Close();
        await _opener.UseReleased();
        _core.ForgetPools();
        return true;
    });

    /// <summary>Forgets one path of a disk that has several; the disk stays registered by the others, also while it is in use.</summary>
    public Task<bool> UnregisterPathAsync(Guid id, string path) => _core.Verbs.Change(async LaneTask<bool> () =>
    {
        (RegisteredDisk disk, string uri) = _diskChecks.TakePath(id, path);
        await _paths.Remove(disk, uri, path);
        return true;
    });

    /// <summary>Refuses what <see cref="UnregisterPathAsync"/> would refuse.</summary>
    public Task<bool> CheckUnregisterPathAsync(Guid id, string path) => _core.Verbs.Check(() =>
    {
        (RegisteredDisk disk, string uri) = _diskChecks.TakePath(id, path);
        _paths.CheckRemove(disk, uri, path);
    });

    /// <summary>Refuses what <see cref="UnregisterAsync"/> would refuse.</summary>
    public Task<bool> CheckUnregisterAsync(Guid id) => _core.Verbs.Check(() => _diskChecks.TakeUnpooled(id));

    /// <summary>Changes name, text, medium, usage or place of a disk.</summary>
    public Task<PhysicalDiskStatus> SetAsync(
        Guid id, string? name, string? description, MediaType? mediaType, DiskUsage? usage, PlaceChange? place = null) =>
        Change(async LaneTask<Changed> () =>
        {
            if (_diskChecks.TakeChangeable(id, name, usage, place) is not var (managed, member))
            {
                RegisteredDisk disk = _core.Disks.Take(id);
                await _core.Disks.Set(disk, name, description, mediaType, place ?? new PlaceChange());
                return new Changed(disk.Stored.DeviceId, Guid.Empty);
            }

            Commits.Require(
                await managed.Pool!.Commit(new DiskChanged(Changes(member, name, description, mediaType, usage, place))), member.FriendlyName);
            if (usage is not (null or DiskUsage.Retired))
            {
                _reliability.SetPastThreshold(id, false);   // it is to be used all the same
                _failing.Forget(id);
            }

            return new Changed(_core.Disks.Find(id)?.Stored.DeviceId ?? -1, id)
            {
                State = managed.Pool.State, IsMoved = place is not null && place != new PlaceChange(), IsJournal = usage == DiskUsage.Journal,
                Member = member.Number,
            };
        });

    /// <summary>Runs a verb that changes a physical disk, and answers with the status of the moment in which it ended.</summary>
    private Task<PhysicalDiskStatus> Change(Func<LaneTask<Changed>> verb) => _snapshots.Change(verb, StatusOf);

    private static PhysicalDiskStatus StatusOf(Changed changed, SubsystemSnapshot now)
    {
        PhysicalDiskStatus status = now.PhysicalDisks.First(
            disk => changed.DeviceId >= 0 ? disk.DeviceId == changed.DeviceId : disk.UniqueId == changed.Missing);
        IEnumerable<string> remarks = changed is { IsMoved: true, State: { } moved } ? MisplacedBy(moved) : [];
        return status with
        {
            Remarks = [.. remarks, .. changed is { IsJournal: true, State: { } state } ? DataOn(state, changed.Member) : [], .. NotAsked(changed.Erased)],
            ErasedSignatures = changed.Erased?.Signatures ?? [],
        };
    }

    /// <summary>Says that a program of the machine could not be asked for signatures.</summary>
    public static IEnumerable<string> NotAsked(FoundSignatures? found) => found is not { MissingTool.Length: > 0 } ? [] :
    [
        $"{found.MissingTool} is not installed or does not answer. Only signatures that TierSpaces knows itself are found and erased: "
        + "md, DDF, Intel RAID, LVM, ZFS, LUKS, swap, partition tables and common file systems.",
    ];

    private static IEnumerable<string> DataOn(PoolState state, DiskNumber disk)
    {
        if (LeavingDisks.IsJournalWithData(state, state.Disk(disk)!))
        {
            yield return $"Physical disk '{state.Disk(disk)!.Description.FriendlyName}' holds data of virtual disks. It is moved to other disks, as far as there is room.";
        }
    }

    private static IEnumerable<string> MisplacedBy(PoolState state) => state.VirtualDisks.Values
        .Select(disk => (disk.FriendlyName, Rows: DomainSurvey.Misplaced(state, disk))).Where(static found => found.Rows > 0)
        .Select(static found => $"{found.Rows} rows of virtual disk '{found.FriendlyName}' do not keep to its fault domains where the disks are now. "
            + "Retire a disk of them to move its slabs (Set-PhysicalDisk -Usage Retired), or copy the data to a new virtual disk.");

    /// <summary>
    /// Refuses what <see cref="SetAsync"/> would refuse, and returns the slabs that leave their disks in consequence: those of virtual disks that are
    /// repaired by themselves then, one virtual disk after another.
    /// </summary>
    public Task<PlannedSlabMoves> PlanSetAsync(Guid id, string? name, MediaType? mediaType, DiskUsage? usage, PlaceChange? place = null) => _core.Verbs.Plan(
        (Dictionary<PoolId, PoolSnapshot> Pools, PoolId Pool, DiskChanged Change, DiskToPlan[] Disks)? () =>
        {
            if (_diskChecks.TakeChangeable(id, name, usage, place) is not var (managed, member))
            {
                return null;
            }

            DiskToPlan[] disks = [.. _core.Pools.UsersOf(managed)
                .Select(static user => new DiskToPlan(user.OwnerPool.Id, user.Disk.Description.Id, user.Disk.Status.RemotePool))];
            return (_core.Pools.Snapshot(), managed.Id, new DiskChanged(Changes(member, name, null, mediaType, usage, place)), disks);
        },
        static at => at is var (pools, pool, change, disks) ? PlanChange(pools, pool, change, disks) : new PlannedSlabMoves(0, []));

    private static PlannedSlabMoves PlanChange(Dictionary<PoolId, PoolSnapshot> pools, PoolId pool, DiskChanged change, DiskToPlan[] disks)
    {
        SlabForecast forecast = new(pools);
        Dictionary<DiskToPlan, List<SlabMove>> before = disks.ToDictionary(static disk => disk, disk => forecast.Leaving(disk, givesUpMissing: false));
        forecast.Change(pool, change);
        foreach (DiskToPlan disk in disks)
        {
            forecast.Move(disk, [.. forecast.Leaving(disk, givesUpMissing: false).Except(before[disk])]);
        }

        return new PlannedSlabMoves(pools[pool].Slabs.DataBytes, forecast.Moves());
    }

    private static DiskDescription Changes(
        DiskDescription member, string? name, string? description, MediaType? mediaType, DiskUsage? usage, PlaceChange? place)
    {
        DiskPlace moved = DiskPlace.Of(member).With(place ?? new PlaceChange());
        return member with
        {
            FaultDomainPath = moved.Path,
            EnclosureNumber = moved.EnclosureNumber,
            SlotNumber = moved.SlotNumber,
            FriendlyName = name ?? member.FriendlyName,
            Description = description ?? member.Description,
            MediaTypeCode = mediaType is { } media ? (ushort)media : member.MediaTypeCode,
            Usage = usage ?? member.Usage,
        };
    }

    /// <summary>
    /// Clears what an unpooled disk holds, of a pool and of other software, so that it can be pooled. Answers with the signatures that were erased.
    /// </summary>
    public Task<PhysicalDiskStatus> ResetAsync(Guid id) => Change(async LaneTask<Changed> () =>
    {
        (RegisteredDisk disk, IDisk open) = _diskChecks.TakeErasable(id);
        FoundSignatures erased = await _diskOpener.Signatures.Erase(open);   // first: the labels are where other signatures may be
        if (await PoolScan.Erase(_core.Lane, open) is not IoError.None and var error)
        {
            throw new ManagementException(ManagementError.Failed, $"Physical disk '{disk.Stored.FriendlyName}' could not be cleared: {error}.");
        }

        await LookAgain(disk);
        await _opener.UseReleased();
        return new Changed(disk.Stored.DeviceId, Guid.Empty) { Erased = erased };
    });

    /// <summary>Refuses what <see cref="ResetAsync"/> would refuse, and lists the signatures that it would erase.</summary>
    public Task<FoundSignatures> PlanResetAsync(Guid id) => _core.Verbs.Change(() => _diskOpener.Signatures.Find(_diskChecks.TakeErasable(id).Open));

    /// <summary>Clears what a device holds that is not registered, as <see cref="ResetAsync"/> does. Answers with the signatures that were erased.</summary>
    public Task<FoundSignatures> ResetPathAsync(string path) => _core.Verbs.Change(() => WithDevice(path, async LaneTask<FoundSignatures> (open) =>
    {
        FoundSignatures erased = await _diskOpener.Signatures.Erase(open);
        return await PoolScan.Erase(_core.Lane, open) is not IoError.None and var error
            ? throw new ManagementException(ManagementError.Failed, $"-Path '{path}': could not be cleared: {error}.")
            : erased;
    }));

    /// <summary>Refuses what <see cref="ResetPathAsync"/> would refuse, and lists the signatures that it would erase.</summary>
    public Task<FoundSignatures> PlanResetPathAsync(string path) => _core.Verbs.Change(() => WithDevice(path, _diskOpener.Signatures.Find));

    /// <summary>Opens a device that is not registered while something is done with it.</summary>
    private async LaneTask<FoundSignatures> WithDevice(string path, Func<IDisk, LaneTask<FoundSignatures>> work)
    {
        _diskChecks.CheckUnregistered(path);
        RegisteredDisk device = NewRegistration(new RegistrationSpec { Path = path });
        if (await _diskOpener.OpenUnlessPath(device) is { } known)
        {
            throw _diskChecks.IsPathOf(known, path);
        }

        try
        {
            return await work(device.Device.Open!);
        }
        finally
        {
            await device.Device.Close();
            await ReadPartitionsAgain(DiskUri.Parse(device.Stored.Uri));
        }
    }

    /// <summary>Opens a disk again that was erased. The system looks for partitions again meanwhile: those that it knew are gone.</summary>
    private async LaneTask<Nothing> LookAgain(RegisteredDisk disk)
    {
        DiskUri uri = DiskUri.Parse(disk.Stored.Uri);
        if (uri.Kind == DiskKind.Block)
        {
            await disk.Device.Close();
            await ReadPartitionsAgain(uri);
        }

        await _diskOpener.Open(disk);
        return default;
    }

    /// <summary>Makes the system look for partitions again on a block device that is not open.</summary>
    private async LaneTask<Nothing> ReadPartitionsAgain(DiskUri uri)
    {
        if (uri.Kind == DiskKind.Block && _core.Options.Signatures is { } tool)
        {
            TimedCall<bool> reading = new(_core.Lane, static _ => LaneTask.Completed, static _ => { });
            await reading.EndsWithin(DeviceOpenings.PatienceNs, _core.Lane.CallBlocking(() =>
            {
                tool.ReadPartitionsAgain(uri.Path);
                return true;
            }));
        }

        return default;
    }

    private async LaneTask<Changed> Register(RegistrationSpec spec, bool isNew = false)
    {
        RegisteredDisk disk = NewRegistration(spec);
        if (await _diskOpener.OpenUnlessPath(disk, isNew) is { } known)
        {
            await _paths.Add(known, disk.Stored.Uri, spec.Path);
            return new Changed(known.Stored.DeviceId, Guid.Empty);
        }

        try
        {
            if (_diskChecks.WhyCopied(disk, spec.Path) is { } copied)
            {
                throw copied;
            }

            await _core.Disks.Add(disk, spec.Path);
        }
        catch (ManagementException)
        {
            await disk.Device.Close();
            throw;
        }

        _core.Disks.Copies.Prefer(disk);
        await _opener.OfferOrOpen(disk);
        return new Changed(disk.Stored.DeviceId, Guid.Empty);
    }

    private RegisteredDisk NewRegistration(RegistrationSpec spec)
    {
        string path = Path.GetFullPath(spec.Path);
        DiskUri uri = spec.LatencyProfile.Length > 0 ? DiskUri.ForEmulated(path, spec.LatencyProfile)
            : path.StartsWith("/dev/", StringComparison.Ordinal) && !path.StartsWith("/dev/shm/", StringComparison.Ordinal) ? DiskUri.ForBlock(path)
            : DiskUri.ForFile(path);
        return new RegisteredDisk(new StoredDisk
        {
            Id = _core.Lane.NewGuid(),
            DeviceId = _core.Disks.NextDeviceId,
            Uri = uri.ToString(),
            FriendlyName = DiskChecks.NameOf(spec),
            Overrides = spec.Overrides,
            Description = spec.Description,
            LatencyProfile = spec.LatencyProfile,
            IsForced = spec.IsForced,
        }.At(DiskPlace.Unknown.With(spec.Place)));
    }

    /// <summary>A physical disk that a verb has changed.</summary>
    /// <param name="DeviceId">Position of the registered disk; −1: it is a missing member.</param>
    /// <param name="Missing">Identity of a missing member.</param>
    private sealed record Changed(int DeviceId, Guid Missing)
    {
        /// <summary>State of its pool after the change; null for a disk that is no member.</summary>
        internal PoolState? State { get; init; }

        /// <summary>Whether it was given another place.</summary>
        internal bool IsMoved { get; init; }

        /// <summary>Whether it was given the usage Journal.</summary>
        internal bool IsJournal { get; init; }

        /// <summary>Signatures that were erased; null where the verb erases none.</summary>
        internal FoundSignatures? Erased { get; init; }

        /// <summary>Its number in its pool.</summary>
        internal DiskNumber Member { get; init; }
    }
}
