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
            $"Physical disk '{member.FriendlyName}' holds {state.Disk(member.Number)!.UsedSlabs * state.Pool!.Slabs.DataBytes} bytes of {string.Join(", ", names)}.",
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

    internal (RegisteredDisk Disk, IDisk Open) TakeErasable(Guid id)
    {
        RegisteredDisk disk = core.Disks.Take(id);
        return !core.Disks.IsInOpenPool(disk) && disk.Disk is { } open ? (disk, open) : throw new ManagementException(
            ManagementError.PhysicalDiskInUse,
            $"Physical disk '{core.Disks.NameOf(disk)}' {(disk.Disk is null && disk.Problem.Length > 0 ? $"cannot be opened: {disk.Problem}" : "is in a storage pool")}.",
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
            ManagementError.InvalidParameter, $"-Usage {usage}: physical disk '{disk.FriendlyName}' is in no storage pool.",
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
                $"-Size {size}: is no size of an image. Valid: {DiskLayout.SmallestDisk} bytes or more, a multiple of {DiskImage.SizeUnit}.",
                "Give another size.");
        }
    }

    internal void CheckRegistration(RegistrationSpec spec)
    {
        if (!Path.IsPathFullyQualified(spec.Path))
        {
            throw new ManagementException(ManagementError.InvalidParameter, $"-Path '{spec.Path}' is not absolute.", "Give the whole path.");
        }

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

        if (core.Disks.All.FirstOrDefault(disk => DiskUri.Parse(disk.Uri).Path == Path.GetFullPath(spec.Path)) is { } known)
        {
            throw new ManagementException(ManagementError.DuplicateDisk, $"-Path '{spec.Path}' is registered as physical disk '{core.Disks.NameOf(known)}'.");
        }
    }

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
                throw new ManagementException(ManagementError.DuplicateDisk, $"-PhysicalDisks names '{disk.FriendlyName}' twice.", "Name each disk once.");
            }

            if (Poolability.WhyNot(disk, core.Disks.IsInOpenPool(disk)) is { } why)
            {
                throw new ManagementException(
                    why.Error, $"-PhysicalDisks: '{disk.FriendlyName}' ({disk.Uri}) cannot be pooled: {why.Reason}",
                    "Look at CannotPoolReason of Get-PhysicalDisk.");
            }

            disks.Add(disk);
        }

        return disks.Count > 0 ? disks
            : throw new ManagementException(ManagementError.TooFewPhysicalDisks, "-PhysicalDisks is empty; a storage pool needs at least one disk.");
    }

    internal static NewDiskSpec NewMember(RegisteredDisk disk, DiskUsage usage) => new(disk.Disk!, disk.FriendlyName)
    {
        SerialNumber = disk.SerialNumber,
        Usage = usage,
        MediaType = disk.Overrides.MediaType,
        FaultDomainPath = disk.KnownPlace.Path,
        EnclosureNumber = disk.KnownPlace.EnclosureNumber,
        SlotNumber = disk.KnownPlace.SlotNumber,
        Description = disk.Description,
    };
}
