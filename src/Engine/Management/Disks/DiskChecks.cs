using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Devices.Emulated;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

// A verb asks here before it changes anything, and so does a caller that only wants to know what the verb would do.

/// <summary>Checks of verbs of physical disks: validation errors, and the disks that a verb takes.</summary>
internal sealed class DiskChecks(SubsystemCore core)
{
    private const int DomainNameMax = 64;

    /// <summary>The members that a verb is to remove; one of them that still holds slabs is given as well, and null if none does.</summary>
    internal (List<DiskDescription> Members, DiskDescription? InUse) TakeRemovable(ManagedPool managed, IReadOnlyList<Guid> disks)
    {
        PoolState state = managed.Pool!.State;
        List<DiskDescription> members = [.. disks.Select(id => core.Pools.TakeMember(managed, id)).DistinctBy(member => member.Number)];
        DiskDescription? inUse = members.Find(member => state.Disk(member.Number)!.UsedSlabs > 0);
        return inUse is not null || state.Disks.Count > members.Count ? (members, inUse) : throw new ManagementException(
            ManagementError.InvalidParameter,
            $"-PhysicalDisks names every disk of storage pool '{state.Pool!.FriendlyName}' ({members.Count}).", "Remove the pool instead.");
    }

    /// <summary>The validation error of a member that holds slabs and is to be removed: finds out whose, which goes over rows.</summary>
    internal static ManagementException StillInUse(SubsystemSnapshot now, PoolId pool, DiskDescription member)
    {
        PoolState state = now.Find(pool)!.State!;
        IEnumerable<string> names = NamesOn(state, member.Number).Concat(now.Dependents(state, ring => IsOn(ring, member.Number)));
        return new ManagementException(
            ManagementError.PhysicalDiskStillInUse,
            $"Physical disk '{member.FriendlyName}' holds {ByteText.Exact(state.Disk(member.Number)!.UsedSlabs * state.Pool!.Slabs.DataBytes)} of {string.Join(", ", names)}.",
            "Retire the disk (Set-PhysicalDisk -Usage Retired): it is drained by itself, or by Repair-VirtualDisk. Or remove those virtual disks.");
    }

    private static bool IsOn(SpaceState space, DiskNumber number) =>
        space.EnumerateRows().Any(row => row.Row.Mapping.Sources.ToArray().Any(slab => slab.Disk == number));

    private static IEnumerable<string> NamesOn(PoolState state, DiskNumber number) => state.VirtualDisks.Values
        .Where(disk => disk.Spaces.Any(space => state.Space(space) is { } found && IsOn(found, number)))
        .Select(disk => $"virtual disk '{disk.FriendlyName}'").Order(StringComparer.Ordinal);

    internal RegisteredDisk TakeUnpooled(Guid id)
    {
        RegisteredDisk disk = core.Disks.Take(id);
        return !core.Disks.IsInOpenPool(disk) ? disk : throw new ManagementException(
            ManagementError.PhysicalDiskInUse, $"Physical disk '{core.Disks.NameOf(disk)}' is in a storage pool.", "Remove it from the pool first.");
    }

    /// <summary>A disk with several paths, and the URI of one of them.</summary>
    internal (RegisteredDisk Disk, string Uri) TakePath(Guid id, string path)
    {
        RegisteredDisk disk = core.Disks.Take(id);
        string? found = disk.Stored.OtherUris.Count == 0 ? null : disk.Stored.Uris.FirstOrDefault(uri => DiskUri.Parse(uri).Path == path);
        return found is not null ? (disk, found) : throw new ManagementException(
            ManagementError.ObjectNotFound, $"-Path '{path}': is none of several paths of physical disk '{core.Disks.NameOf(disk)}'.",
            "Look at Get-PhysicalDisk.");
    }

    internal (RegisteredDisk Disk, IDisk Open) TakeErasable(Guid id)
    {
        RegisteredDisk disk = core.Disks.Take(id);
        return !core.Disks.IsInOpenPool(disk) && disk.Device.Open is { } open ? (disk, open) : throw new ManagementException(
            ManagementError.PhysicalDiskInUse,
            $"Physical disk '{core.Disks.NameOf(disk)}' {(disk.Device.Open is null && disk.Condition.Problem.Length > 0 ? $"cannot be opened: {disk.Condition.Problem}" : "is in a storage pool")}.",
            "Remove it from the pool first.");
    }

    /// <summary>The member that a disk is, or null for a registered one, which has no usage.</summary>
    internal (ManagedPool Pool, DiskDescription Disk)? TakeChangeable(Guid id, string? name, DiskUsage? usage, PlaceChange? place)
    {
        if (name is not null)
        {
            FriendlyNames.Require(name, "NewFriendlyName");
        }

        RequirePlace(place ?? new PlaceChange());

        if (core.Pools.FindMember(id) is { } member)
        {
            return member;
        }

        RegisteredDisk disk = core.Disks.Take(id);
        return usage is null or DiskUsage.AutoSelect ? null : throw new ManagementException(
            ManagementError.InvalidParameter, $"-Usage {usage}: physical disk '{disk.Stored.FriendlyName}' is in no storage pool.",
            "Give the usage when it is added to a pool.");
    }

    private static void RequirePlace(PlaceChange place)
    {
        foreach ((string parameter, string? name) in place.Names)
        {
            if (name is not null && (name.Length > DomainNameMax || name.Contains('/', StringComparison.Ordinal)))
            {
                throw new ManagementException(
                    ManagementError.InvalidParameter,
                    $"-{parameter} '{name}': is no name of a fault domain. Valid: up to {DomainNameMax} characters without '/'.", "Give another name.");
            }
        }
    }

    internal static void CheckImageSize(long size)
    {
        if (size < DiskLayout.SmallestDisk || size % DiskImage.SizeUnit != 0)
        {
            throw new ManagementException(
                ManagementError.SizeNotSupported,
                $"-Size {ByteText.Exact(size)}: is no size of an image. Valid: {ByteText.Exact(DiskLayout.SmallestDisk)} or more, a multiple of {ByteText.Exact(DiskImage.SizeUnit)}.",
                "Give another size.");
        }
    }

    internal void CheckRegistration(RegistrationSpec spec)
    {
        RequireAbsolute(spec.Path);
        if (spec.LatencyProfile.Length > 0 && LatencyProfile.Find(spec.LatencyProfile) is null)
        {
            throw new ManagementException(
                ManagementError.InvalidParameter,
                $"-LatencyProfile '{spec.LatencyProfile}' is not one of {string.Join(", ", LatencyProfile.All.Select(profile => profile.Name))}.");
        }

        foreach ((int? size, string name) in new[] { (spec.Overrides.LogicalSectorSize, "LogicalSectorSize"), (spec.Overrides.PhysicalSectorSize,
            "PhysicalSectorSize") })
        {
            if (size is not (null or 512 or 4096))
            {
                throw new ManagementException(
                    ManagementError.SectorSizeNotSupported, $"-{name} {size}: is no sector size. Valid: 512 and 4096.", "Give one of them.");
            }
        }

        RequirePlace(spec.Place);
        FriendlyNames.Require(NameOf(spec), "FriendlyName");

        if (RegisteredAt(spec.Path) is { } known)
        {
            throw new ManagementException(ManagementError.DuplicateDisk, $"-Path '{spec.Path}' is registered as physical disk '{core.Disks.NameOf(known)}'.");
        }
    }

    /// <summary>Refuses a path of a registered disk, and one that is not absolute.</summary>
    internal void CheckUnregistered(string path)
    {
        RequireAbsolute(path);
        if (RegisteredAt(path) is { } known)
        {
            throw new ManagementException(
                ManagementError.PhysicalDiskInUse, $"-Path '{path}': is registered as physical disk '{core.Disks.NameOf(known)}'. Valid: a device that is not registered.",
                "Name the disk by -FriendlyName or -UniqueId.");
        }
    }

    /// <summary>Validation error of a device that is a path to the hardware of a registered disk.</summary>
    internal ManagementException IsPathOf(RegisteredDisk known, string path) => new(
        ManagementError.PhysicalDiskInUse,
        $"-Path '{path}': is a path to the hardware of physical disk '{core.Disks.NameOf(known)}' ({known.Stored.Uri}). Valid: a device that is not registered by any path.",
        "Name the disk by -FriendlyName or -UniqueId.");

    private static void RequireAbsolute(string path)
    {
        if (!Path.IsPathFullyQualified(path))
        {
            throw new ManagementException(ManagementError.InvalidParameter, $"-Path '{path}' is not absolute.", "Give the whole path.");
        }
    }

    private RegisteredDisk? RegisteredAt(string path) => core.Disks.All.FirstOrDefault(
        disk => disk.Stored.Uris.Any(uri => DiskUri.Parse(uri).Path == Path.GetFullPath(path)));

    /// <summary>Validation error of a device that carries the identity of a registered disk; null: it carries none, or that disk is not there.</summary>
    internal ManagementException? WhyCopied(RegisteredDisk disk, string path) => core.Disks.Copies.OriginalOf(disk) is not { } original ? null
        : new ManagementException(
            ManagementError.CloneDisk,
            $"-Path '{path}': {disk.Stored.Uri} carries the disk identity of physical disk '{core.Disks.NameOf(original)}' ({original.Stored.Uri}): one is a copy of the other. "
            + "Valid: a device with a disk identity of its own, or none.",
            $"Nothing was changed. Leave the copy unregistered, or run Reset-PhysicalDisk -Path '{path}', which erases it and makes it a new disk, and register it then.");

    /// <summary>Name of a disk that is registered: the given one, else that of its file.</summary>
    internal static string NameOf(RegistrationSpec spec) => spec.FriendlyName.Length > 0 ? spec.FriendlyName : Path.GetFileNameWithoutExtension(spec.Path);

    internal List<RegisteredDisk> TakePoolable(IReadOnlyList<Guid> ids)
    {
        List<RegisteredDisk> disks = [];
        foreach (Guid id in ids)
        {
            RegisteredDisk disk = core.Disks.Take(id);
            if (disks.Contains(disk))
            {
                throw new ManagementException(
                    ManagementError.DuplicateDisk, $"-PhysicalDisks names '{disk.Stored.FriendlyName}' twice.", "Name each disk once.");
            }

            if (Poolability.WhyNot(disk.Snapshot(), core.Disks.IsInOpenPool(disk)) is { } why)
            {
                throw new ManagementException(
                    why.Error, $"-PhysicalDisks: '{disk.Stored.FriendlyName}' ({disk.Stored.Uri}) cannot be pooled: {why.Reason}",
                    "Look at CannotPoolReason of Get-PhysicalDisk.");
            }

            disks.Add(disk);
        }

        return disks.Count > 0 ? disks
            : throw new ManagementException(ManagementError.TooFewPhysicalDisks, "-PhysicalDisks is empty; a storage pool needs at least one disk.");
    }

    internal static NewDiskSpec NewMember(RegisteredDisk disk, DiskUsage usage) => new(disk.Device.Open!, disk.Stored.FriendlyName)
    {
        SerialNumber = disk.Stored.SerialNumber(disk.Device.Identity),
        Usage = usage,
        MediaType = disk.Stored.Overrides.MediaType,
        FaultDomainPath = disk.KnownPlace.Path,
        EnclosureNumber = disk.KnownPlace.EnclosureNumber,
        SlotNumber = disk.KnownPlace.SlotNumber,
        Description = disk.Stored.Description,
    };
}
