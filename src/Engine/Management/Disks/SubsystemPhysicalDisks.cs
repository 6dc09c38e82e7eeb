using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Devices.Emulated;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

/// <summary>How a disk is registered.</summary>
public sealed record RegistrationSpec
{
    /// <summary>Absolute path of an image file or block device.</summary>
    public required string Path { get; init; }

    /// <summary>Name, or empty for one after the path.</summary>
    public string FriendlyName { get; init; } = "";

    /// <summary>What the user says of it.</summary>
    public DiskOverrides Overrides { get; init; } = new();

    /// <summary>Latency profile, or empty.</summary>
    public string LatencyProfile { get; init; } = "";

    /// <summary>Text of the user.</summary>
    public string Description { get; init; } = "";

    /// <summary>Enclosure, or −1.</summary>
    public int EnclosureNumber { get; init; } = -1;

    /// <summary>Slot, or −1.</summary>
    public int SlotNumber { get; init; } = -1;
}

public sealed partial class StorageSubsystem
{
    /// <summary>Registered disks, and the missing members of open pools.</summary>
    public Task<PhysicalDiskStatus[]> PhysicalDisksAsync() => Look(() => AllDisks().ToArray());

    private IEnumerable<PhysicalDiskStatus> AllDisks() => _registry.Disks.Select(StatusOf).Concat(_pools.Values.SelectMany(MissingMembers));

    /// <summary>Makes an image file and registers it.</summary>
    /// <exception cref="RefusedException">The file exists, the size is unsuitable, the file system is full; nothing was changed.</exception>
    public Task<PhysicalDiskStatus> NewPhysicalDiskAsync(RegistrationSpec spec, long size, bool preallocate) => Change(async LaneTask<PhysicalDiskStatus> () =>
    {
        CheckRegistration(spec);
        CheckImageSize(size);
        try
        {
            DiskImage.Create(spec.Path, size, preallocate);
        }
        catch (Exception failure) when (failure is IOException or ArgumentException)
        {
            throw new RefusedException(RefusalOf(failure), $"-Path '{spec.Path}': {failure.Message}");
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

    /// <summary>Registers an existing image file or block device; members of a pool open it when enough are there.</summary>
    public Task<PhysicalDiskStatus> RegisterPhysicalDiskAsync(RegistrationSpec spec) => Change(LaneTask<PhysicalDiskStatus> () =>
    {
        CheckRegistration(spec);
        return Register(spec);
    });

    /// <summary>Forgets a disk that is no member of an open pool. The disk itself is left as it is.</summary>
    public Task<bool> UnregisterPhysicalDiskAsync(Guid id) => Change(async LaneTask<bool> () =>
    {
        RegisteredDisk disk = TakeUnpooled(id);
        int place = _registry.Disks.IndexOf(disk);
        _registry.Disks.RemoveAt(place);
        try
        {
            _registry.Save();
        }
        catch (IOException full)
        {
            _registry.Disks.Insert(place, disk);   // open and locked as before
            throw NotKept(full, $"Physical disk '{disk.FriendlyName}' stays registered");
        }

        await CloseRegistered(disk);
        return true;
    });

    /// <summary>Closes a disk that no pool owns, and with it its lock and descriptor.</summary>
    private static async LaneTask<Nothing> CloseRegistered(RegisteredDisk disk)
    {
        if (disk.Disk is { } open)
        {
            disk.Disk = null;
            await open.Close();
        }

        return default;
    }

    private static RefusedException NotKept(IOException failure, string outcome) => new(
        RefusalOf(failure), $"{outcome}: the list of registered disks cannot be written: {failure.Message}", "Free space in the folder of the host's state, then try again.");

    /// <summary>Changes name, text, medium or usage of a disk.</summary>
    public Task<PhysicalDiskStatus> SetPhysicalDiskAsync(Guid id, string? name, string? description, MediaType? mediaType, DiskUsage? usage) =>
        Change(async LaneTask<PhysicalDiskStatus> () =>
        {
            if (TakeChangeable(id, name, usage) is not var (managed, member))
            {
                return SetRegistered(Registered(id), name, description, mediaType);
            }

            DiskDescription changed = member with
            {
                FriendlyName = name ?? member.FriendlyName,
                Description = description ?? member.Description,
                MediaTypeCode = mediaType is { } media ? (ushort)media : member.MediaTypeCode,
                Usage = usage ?? member.Usage,
            };
            Require(await managed.Pool!.Commit(new DiskChanged(changed)), member.FriendlyName);
            if (usage is not (null or DiskUsage.Retired))
            {
                _reliability.SetPastThreshold(id, false);   // it is to be used all the same
                _errorWatches.Remove(id);
            }

            return _registry.Disks.Find(disk => IdOf(disk) == id) is { } known ? StatusOf(known) : MissingMembers(managed).First(view => view.UniqueId == id);
        });

    /// <summary>Adds registered disks to a pool.</summary>
    public Task<bool> AddPhysicalDisksAsync(Guid pool, IReadOnlyList<Guid> disks, DiskUsage usage) => Change(async LaneTask<bool> () =>
    {
        ManagedPool managed = OpenPool(pool);
        List<RegisteredDisk> added = TakePoolable(disks);
        Require(await managed.Pool!.AddDisks([.. added.Select(disk => NewMember(disk, usage))]), managed.Pool.State.Pool!.FriendlyName);
        await GiveToPool(added);
        return true;
    });

    /// <summary>Removes disks without data from their pool.</summary>
    public Task<bool> RemovePhysicalDisksAsync(Guid pool, IReadOnlyList<Guid> disks) => Change(async LaneTask<bool> () =>
    {
        ManagedPool managed = OpenPool(pool);
        foreach (DiskDescription member in TakeRemovable(managed, disks))
        {
            Require(await managed.Pool!.RemoveDisk(member.Number), member.FriendlyName);
            if (_registry.Disks.Find(disk => IdOf(disk) == member.Id.Value || disk.Scan?.Label?.Disk == member.Id) is { } known)
            {
                await OpenRegistered(known);
            }
        }

        return true;
    });

    /// <summary>Clears what an unpooled disk holds, so that it can be pooled.</summary>
    public Task<PhysicalDiskStatus> ResetPhysicalDiskAsync(Guid id) => Change(async LaneTask<PhysicalDiskStatus> () =>
    {
        (RegisteredDisk disk, IDisk open) = TakeErasable(id);
        if (await PoolScan.Erase(_lane, open) is not IoError.None and var error)
        {
            throw new RefusedException(Refusal.Failed, $"Physical disk '{disk.FriendlyName}' could not be cleared: {error}.");
        }

        disk.Problem = "";
        disk.IsSplit = false;
        Saw(disk, await PoolScan.Scan(_lane, open));
        return StatusOf(disk);
    });

    private async LaneTask<PhysicalDiskStatus> Register(RegistrationSpec spec)
    {
        RegisteredDisk disk = NewRegistration(spec);
        await OpenRegistered(disk, mustOpen: true);
        _registry.Disks.Add(disk);
        try
        {
            _registry.Save();
        }
        catch (IOException full)
        {
            _registry.Disks.Remove(disk);
            await CloseRegistered(disk);
            throw NotKept(full, $"-Path '{spec.Path}': the physical disk is not registered");
        }

        await OfferOrOpen(disk);
        return StatusOf(disk);
    }

    private RegisteredDisk NewRegistration(RegistrationSpec spec)
    {
        string path = Path.GetFullPath(spec.Path);
        DiskUri uri = spec.LatencyProfile.Length > 0 ? DiskUri.ForEmulated(path, spec.LatencyProfile)
            : path.StartsWith("/dev/", StringComparison.Ordinal) && !path.StartsWith("/dev/shm/", StringComparison.Ordinal) ? DiskUri.ForBlock(path)
            : DiskUri.ForFile(path);
        return new RegisteredDisk
        {
            Id = _lane.NewGuid(),
            DeviceId = _registry.NextDeviceId,
            Uri = uri.ToString(),
            FriendlyName = NameOf(spec),
            Overrides = spec.Overrides,
            Description = spec.Description,
            EnclosureNumber = spec.EnclosureNumber,
            SlotNumber = spec.SlotNumber,
            LatencyProfile = spec.LatencyProfile,
        };
    }

    private async LaneTask<Nothing> OfferOrOpen(RegisteredDisk disk)
    {
        if (disk.Scan?.Label is not { } label)
        {
            return default;
        }

        if (_pools.TryGetValue(label.Pool, out ManagedPool? managed) && managed.Pool is { } pool)
        {
            string refused = pool.Offer(disk.Scan);
            disk.Problem = refused;
            disk.IsSplit = pool.IsOfOtherHistory(disk.Scan);
            if (disk.IsSplit)
            {
                _options.Notice(refused);
            }

            if (refused.Length == 0)
            {
                await GiveToPool([disk]);
                await RejoinDisks(managed);
                StartRepairs(managed);
            }

            return default;
        }

        return await OpenPools(onlyWhole: true);
    }

    private async LaneTask<Nothing> OpenRegistered(RegisteredDisk disk, bool mustOpen = false)
    {
        disk.Problem = "";
        disk.IsSplit = false;
        disk.IsStillHeld = false;
        try
        {
            disk.Disk ??= Open(disk);
            disk.Identity = disk.Disk.Identity;
            if (!disk.Disk.IsPresent)
            {
                await disk.Disk.Close();
                disk.Disk = null;
                throw new DiskOpenException(DiskOpenFailure.NotFound, $"{disk.Identity.Uri} is not there.");
            }

            Saw(disk, await PoolScan.Scan(_lane, disk.Disk));
        }
        catch (DiskOpenException failure)
        {
            disk.Problem = failure.Message;
            disk.IsStillHeld = failure.Failure == DiskOpenFailure.StillHeld;
            disk.Scan = null;
            if (mustOpen)
            {
                throw new RefusedException(
                    failure.Failure switch
                    {
                        DiskOpenFailure.NotFound => Refusal.FileNotFound,
                        DiskOpenFailure.PermissionDenied => Refusal.AccessDenied,
                        DiskOpenFailure.InUse or DiskOpenFailure.StillHeld => Refusal.InUse,
                        DiskOpenFailure.Unsuitable => Refusal.PhysicalDiskNotSupported,
                        _ => Refusal.Failed,
                    },
                    failure.Message);
            }
        }

        return default;
    }

    private MeteredDisk Open(RegisteredDisk disk) =>
        disk.LastOpened = new MeteredDisk(_lane, WithFault(disk, _options.Factory.Open(_lane, disk.Uri, disk.Overrides)), _watch);

    private PhysicalDiskStatus SetRegistered(RegisteredDisk disk, string? name, string? description, MediaType? mediaType)
    {
        (string, string, DiskOverrides) before = (disk.FriendlyName, disk.Description, disk.Overrides);
        disk.FriendlyName = name ?? disk.FriendlyName;
        disk.Description = description ?? disk.Description;
        disk.Overrides = mediaType is { } media ? disk.Overrides with { MediaType = media } : disk.Overrides;
        try
        {
            _registry.Save();
        }
        catch (IOException full)
        {
            (disk.FriendlyName, disk.Description, disk.Overrides) = before;
            throw NotKept(full, $"Physical disk '{disk.FriendlyName}' stays as it is");
        }

        return StatusOf(disk);
    }

    private RegisteredDisk Registered(Guid id) => _registry.Disks.Find(disk => IdOf(disk) == id) ?? throw new RefusedException(
        Refusal.ObjectNotFound, $"There is no registered physical disk {id}.", "Look at Get-PhysicalDisk.");

    private Guid IdOf(RegisteredDisk disk) =>
        _pools.Values.Select(pool => MemberFor(pool, disk)).FirstOrDefault(static member => member is not null)?.Id.Value ?? disk.Id;

    private bool IsInOpenPool(RegisteredDisk disk) =>
        disk.Disk is null && disk.Problem.Length == 0 && _pools.Values.Any(pool => pool.Pool is not null && MemberFor(pool, disk) is not null);

    /// <summary>Which member of a pool a disk is: its label says so, or what is known of one that has not been there since the host started.</summary>
    private static DiskDescription? MemberFor(ManagedPool managed, RegisteredDisk disk) => disk.IsSplit ? null : disk.Scan is { Kind: not ScanKind.Unreadable } scan
        ? scan.Label is { } label && label.Pool == managed.Id && managed.State?.Disk(label.Number)?.Description is { } member && member.Id == label.Disk ? member : null
        : managed.State?.Disks.Values.FirstOrDefault(known => known.Description.Id.Value == disk.LastMember)?.Description;

    /// <summary>What a disk turned out to hold; kept for the time that it may be away. One that cannot be read is what it was.</summary>
    private void Saw(RegisteredDisk disk, PoolScan scan)
    {
        disk.Scan = scan;
        if (scan.Kind == ScanKind.Unreadable)
        {
            return;
        }

        Guid member = scan.Label?.Disk.Value ?? Guid.Empty;
        if (disk.LastMember != member)
        {
            disk.LastMember = member;
            try
            {
                _registry.Save();
            }
            catch (IOException full)
            {
                _options.Notice($"The list of registered disks cannot be kept: {full.Message}");
            }
        }
    }

    private (ManagedPool Pool, DiskDescription Disk)? FindMember(Guid id)
    {
        foreach (ManagedPool managed in _pools.Values)
        {
            if (managed.Pool?.State.Disks.Values.FirstOrDefault(disk => disk.Description.Id.Value == id) is { } found)
            {
                return (managed, found.Description);
            }

        }

        return null;
    }

    private DiskDescription MemberOf(ManagedPool managed, Guid id) =>
        FindMember(id) is var (pool, member) && pool == managed ? member : throw new RefusedException(
            Refusal.ObjectNotFound, $"Physical disk {id} is not in storage pool '{managed.State!.Pool!.FriendlyName}'.");

    private PhysicalDiskStatus StatusOf(RegisteredDisk disk)
    {
        ManagedPool? managed = _pools.Values.FirstOrDefault(pool => MemberFor(pool, disk) is not null);
        DiskDescription? member = managed is null ? null : MemberFor(managed, disk);
        PhysicalDiskStatus view = Describe(disk);
        if (member is null)
        {
            var why = WhyNotPoolable(disk);
            return view with
            {
                CannotPool = why?.Refusal,
                CannotPoolReason = why?.Reason ?? "",
                Health = disk.Problem.Length > 0 ? HealthStatus.Unhealthy : HealthStatus.Healthy,
                OperationalStatus = disk.IsSplit ? "Split" : disk.Problem.Length > 0 ? "Lost Communication" : "OK",
                StatusReason = disk.Problem,
            };
        }

        return OfMember(managed!, member, view) with { CannotPool = Refusal.PhysicalDiskInUse, CannotPoolReason = "it is in a storage pool." };
    }

    private static PhysicalDiskStatus Describe(RegisteredDisk disk) => new()
    {
        UniqueId = disk.Id,
        DeviceId = disk.DeviceId,
        FriendlyName = disk.FriendlyName,
        Uri = disk.Uri,
        SizeBytes = disk.Identity?.SizeBytes ?? 0,
        MediaType = disk.Overrides.MediaType ?? disk.Identity?.MediaType ?? MediaType.Unspecified,
        BusType = disk.Identity?.BusType ?? BusType.Unknown,
        LogicalSectorSize = disk.Identity?.LogicalSectorSize ?? 512,
        PhysicalSectorSize = disk.Identity?.PhysicalSectorSize ?? 4096,
        SpindleSpeed = disk.Identity?.SpindleSpeed ?? 0,
        IsWriteCacheEnabled = disk.Identity?.IsWriteCacheEnabled ?? false,
        SerialNumber = disk.Identity?.SerialNumber ?? "",
        Model = disk.Identity?.Model ?? "",
        Manufacturer = disk.Identity?.Manufacturer ?? "",
        FirmwareVersion = disk.Identity?.FirmwareVersion ?? "",
        Description = disk.Description,
        EnclosureNumber = disk.EnclosureNumber,
        SlotNumber = disk.SlotNumber,
        LatencyProfile = disk.LatencyProfile,
    };

    private PhysicalDiskStatus OfMember(ManagedPool managed, DiskDescription member, PhysicalDiskStatus view)
    {
        DiskState state = managed.State!.Disk(member.Number)!;
        bool present = managed.Pool?.Disk(member.Number) is not (null or MeteredDisk { IsHung: true });
        bool failing = _reliability.Of(member.Id.Value).IsPastThreshold;
        long slab = managed.State.Pool!.Slabs.DataBytes;
        return view with
        {
            UniqueId = member.Id.Value,
            FriendlyName = member.FriendlyName,
            SizeBytes = member.SizeBytes,
            AllocatedBytes = member.SizeBytes - (state.FreeSlabs * slab),
            VirtualDiskBytes = state.UsedSlabs * slab,
            MediaType = member.Media(),
            BusType = member.Bus(),
            Usage = member.Usage,
            Description = member.Description,
            PoolId = managed.Id.Value,
            Member = member.Number,
            HoldsMetadata = managed.Pool?.View.IsMetadata(member.Number) == true,
            Health = present && !failing ? HealthStatus.Healthy : HealthStatus.Warning,
            OperationalStatus = !present ? "Lost Communication" : failing ? "Predictive Failure" : "OK",
            StatusReason = present && !failing ? "" : ReasonOfMember(managed, member, failing),
            Counters = (managed.Pool?.Disk(member.Number) as MeteredDisk)?.Counters,
        };
    }

    private IEnumerable<PhysicalDiskStatus> MissingMembers(ManagedPool managed) =>
        managed.State is not { } state ? [] : state.Disks.Values
            .Where(disk => !_registry.Disks.Exists(known => MemberFor(managed, known)?.Number == disk.Description.Number))
            .Select(disk => OfMember(managed, disk.Description, new PhysicalDiskStatus
            {
                UniqueId = disk.Description.Id.Value,
                DeviceId = -1,
                FriendlyName = disk.Description.FriendlyName,
                LogicalSectorSize = disk.Description.LogicalSectorSize,
                PhysicalSectorSize = disk.Description.PhysicalSectorSize,
                SpindleSpeed = disk.Description.SpindleSpeed,
                SerialNumber = disk.Description.SerialNumber,
                Model = disk.Description.Model,
                Manufacturer = disk.Description.Manufacturer,
                FirmwareVersion = disk.Description.FirmwareVersion,
                CannotPool = Refusal.PhysicalDiskInUse,
                CannotPoolReason = "it is missing.",
            }));

    /// <summary>An image that could not be made: the system's error number decides.</summary>
    private static Refusal RefusalOf(Exception failure) => failure switch
    {
        ArgumentException => Refusal.InvalidParameter,
        IOException { HResult: 17 } => Refusal.FileExists,
        IOException { HResult: 2 or 20 } => Refusal.FileNotFound,
        IOException { HResult: 1 or 13 or 30 } => Refusal.AccessDenied,
        IOException { HResult: 28 or 122 } => Refusal.FileSystemFull,
        _ => Refusal.Failed,
    };
}
