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
    private readonly PhysicalDiskStatuses _diskStatuses;
    private readonly ReliabilityRecords _reliability;
    private readonly FailingDisks _failing;

    internal PhysicalDiskService(
        SubsystemCore core,
        DiskOpener diskOpener,
        PoolOpener opener,
        DiskChecks diskChecks,
        PhysicalDiskStatuses diskStatuses,
        ReliabilityRecords reliability,
        FailingDisks failing) =>
        (_core, _diskOpener, _opener, _diskChecks, _diskStatuses, _reliability, _failing) = (core, diskOpener, opener, diskChecks, diskStatuses, reliability,
            failing);

    /// <summary>Registered disks, and the missing members of open pools.</summary>
    public Task<PhysicalDiskStatus[]> ListAsync() => _core.Verbs.Look(List);

    /// <summary>Makes an image file and registers it.</summary>
    /// <exception cref="ManagementException">The file exists, the size is unsuitable, the file system is full; nothing was changed.</exception>
    public Task<PhysicalDiskStatus> CreateAsync(RegistrationSpec spec, long size, bool preallocate) =>
        _core.Verbs.Change(async LaneTask<PhysicalDiskStatus> () =>
    {
        _diskChecks.CheckRegistration(spec);
        DiskChecks.CheckImageSize(size);
        try
        {
            DiskImage.Create(spec.Path, size, preallocate);
        }
        catch (Exception failure) when (failure is IOException or ArgumentException)
        {
            throw new ManagementException(FileErrors.Of(failure), $"-Path '{spec.Path}': {failure.Message}");
        }

        try
        {
            return await Register(spec);
        }
        catch
        {
            DiskImage.Delete(spec.Path);   // made for this alone, and blank
            throw;
        }
    });

    /// <summary>Refuses what <see cref="CreateAsync"/> would refuse, but for a file system that turns out to be full.</summary>
    public Task<bool> CheckCreateAsync(RegistrationSpec spec, long size) => _core.Verbs.Check(() =>
    {
        _diskChecks.CheckRegistration(spec);
        DiskChecks.CheckImageSize(size);
        if (DiskImage.WhyNotCreated(spec.Path, size) is { } why)
        {
            throw new ManagementException(FileErrors.Of(why), $"-Path '{spec.Path}': {why.Message}");
        }
    });

    /// <summary>Registers an existing image file or block device; members of a pool open it when enough are there.</summary>
    public Task<PhysicalDiskStatus> RegisterAsync(RegistrationSpec spec) => _core.Verbs.Change(LaneTask<PhysicalDiskStatus> () =>
    {
        _diskChecks.CheckRegistration(spec);
        return Register(spec);
    });

    /// <summary>Refuses what <see cref="RegisterAsync"/> would refuse: the disk is opened for a moment.</summary>
    public Task<bool> CheckRegisterAsync(RegistrationSpec spec) => _core.Verbs.Change(async LaneTask<bool> () =>
    {
        _diskChecks.CheckRegistration(spec);
        RegisteredDisk disk = NewRegistration(spec);
        await _diskOpener.Open(disk, mustOpen: true);
        await disk.Disk!.Close();
        return true;
    });

    /// <summary>Forgets a disk that is no member of an open pool. The disk itself is left as it is.</summary>
    public Task<bool> UnregisterAsync(Guid id) => _core.Verbs.Change(async LaneTask<bool> () =>
    {
        RegisteredDisk disk = _diskChecks.TakeUnpooled(id);
        await _core.Disks.Remove(disk);
        await DiskOpener.Close(disk);
        return true;
    });

    /// <summary>Refuses what <see cref="UnregisterAsync"/> would refuse.</summary>
    public Task<bool> CheckUnregisterAsync(Guid id) => _core.Verbs.Check(() => _diskChecks.TakeUnpooled(id));

    /// <summary>Changes name, text, medium, usage or place of a disk.</summary>
    public Task<PhysicalDiskStatus> SetAsync(
        Guid id, string? name, string? description, MediaType? mediaType, DiskUsage? usage, PlaceChange? place = null) =>
        _core.Verbs.Change(async LaneTask<PhysicalDiskStatus> () =>
        {
            if (_diskChecks.TakeChangeable(id, name, usage, place) is not var (managed, member))
            {
                RegisteredDisk disk = _core.Disks.Take(id);
                await _core.Disks.Set(disk, name, description, mediaType, place ?? new PlaceChange());
                return _diskStatuses.Of(disk);
            }

            DiskPlace moved = DiskPlace.Of(member).With(place ?? new PlaceChange());
            DiskDescription changed = member with
            {
                FaultDomainPath = moved.Path,
                EnclosureNumber = moved.EnclosureNumber,
                SlotNumber = moved.SlotNumber,
                FriendlyName = name ?? member.FriendlyName,
                Description = description ?? member.Description,
                MediaTypeCode = mediaType is { } media ? (ushort)media : member.MediaTypeCode,
                Usage = usage ?? member.Usage,
            };
            Commits.Require(await managed.Pool!.Commit(new DiskChanged(changed)), member.FriendlyName);
            if (usage is not (null or DiskUsage.Retired))
            {
                _reliability.SetPastThreshold(id, false);   // it is to be used all the same
                _failing.Forget(id);
            }

            PhysicalDiskStatus now = _core.Disks.Find(id) is { } known ? _diskStatuses.Of(known)
                : _diskStatuses.OfMissing(managed).First(view => view.UniqueId == id);
            IEnumerable<string> remarks = place is null || place == new PlaceChange() ? [] : MisplacedBy(managed);
            return now with { Remarks = [.. remarks, .. usage == DiskUsage.Journal ? DataOn(managed, member.Number) : []] };
        });

    private static IEnumerable<string> DataOn(ManagedPool managed, DiskNumber disk)
    {
        PoolState state = managed.Pool!.State;
        if (LeavingDisks.IsJournalWithData(state, state.Disk(disk)!))
        {
            yield return $"Physical disk '{state.Disk(disk)!.Description.FriendlyName}' holds data of virtual disks. It is moved to other disks, as far as there is room.";
        }
    }

    private static IEnumerable<string> MisplacedBy(ManagedPool managed) => managed.Pool!.State.VirtualDisks.Values
        .Select(disk => (disk.FriendlyName, Rows: DomainSurvey.Misplaced(managed.Pool.State, disk))).Where(static found => found.Rows > 0)
        .Select(static found => $"{found.Rows} rows of virtual disk '{found.FriendlyName}' do not keep to its fault domains where the disks are now. "
            + "Retire a disk of them to move its slabs (Set-PhysicalDisk -Usage Retired), or copy the data to a new virtual disk.");

    /// <summary>Refuses what <see cref="SetAsync"/> would refuse.</summary>
    public Task<bool> CheckSetAsync(Guid id, string? name, DiskUsage? usage, PlaceChange? place = null) =>
        _core.Verbs.Check(() => _diskChecks.TakeChangeable(id, name, usage, place));

    /// <summary>Clears what an unpooled disk holds, so that it can be pooled.</summary>
    public Task<PhysicalDiskStatus> ResetAsync(Guid id) => _core.Verbs.Change(async LaneTask<PhysicalDiskStatus> () =>
    {
        (RegisteredDisk disk, IDisk open) = _diskChecks.TakeErasable(id);
        if (await PoolScan.Erase(_core.Lane, open) is not IoError.None and var error)
        {
            throw new ManagementException(ManagementError.Failed, $"Physical disk '{disk.FriendlyName}' could not be cleared: {error}.");
        }

        disk.Problem = "";
        disk.IsSplit = false;
        _core.Disks.Saw(disk, await PoolScan.Scan(_core.Lane, open));
        return _diskStatuses.Of(disk);
    });

    /// <summary>Refuses what <see cref="ResetAsync"/> would refuse.</summary>
    public Task<bool> CheckResetAsync(Guid id) => _core.Verbs.Check(() => _diskChecks.TakeErasable(id));

    /// <summary>Returns the same statuses as <see cref="ListAsync"/>, for callers on the lane.</summary>
    internal PhysicalDiskStatus[] List() => [.. _diskStatuses.All()];

    private async LaneTask<PhysicalDiskStatus> Register(RegistrationSpec spec)
    {
        RegisteredDisk disk = NewRegistration(spec);
        await _diskOpener.Open(disk, mustOpen: true);
        try
        {
            await _core.Disks.Add(disk, spec.Path);
        }
        catch (ManagementException)
        {
            await DiskOpener.Close(disk);
            throw;
        }

        await _opener.OfferOrOpen(disk);
        return _diskStatuses.Of(disk);
    }

    private RegisteredDisk NewRegistration(RegistrationSpec spec)
    {
        string path = Path.GetFullPath(spec.Path);
        DiskUri uri = spec.LatencyProfile.Length > 0 ? DiskUri.ForEmulated(path, spec.LatencyProfile)
            : path.StartsWith("/dev/", StringComparison.Ordinal) && !path.StartsWith("/dev/shm/", StringComparison.Ordinal) ? DiskUri.ForBlock(path)
            : DiskUri.ForFile(path);
        return new RegisteredDisk
        {
            Id = _core.Lane.NewGuid(),
            DeviceId = _core.Disks.NextDeviceId,
            Uri = uri.ToString(),
            FriendlyName = DiskChecks.NameOf(spec),
            Overrides = spec.Overrides,
            Description = spec.Description,
            Place = DiskPlace.Unknown.With(spec.Place),
            LatencyProfile = spec.LatencyProfile,
        };
    }
}
