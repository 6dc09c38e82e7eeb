using TierSpaces.Contracts;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Pools;
using TierSpaces.Host.Verbs.Mapping;

namespace TierSpaces.Host.Verbs.PhysicalDisks;

/// <summary>Converts the declarations of disks to the engine's specifications: one per path.</summary>
internal static class RegistrationMapping
{
    /// <summary>The specifications of a declaration.</summary>
    /// <exception cref="StorageException">One name for several disks, the same path twice, or a value that cannot be.</exception>
    public static RegistrationSpec[] ToSpecs(this IPhysicalDiskDeclaration declaration)
    {
        string[] paths = declaration.Path!.Select(Path.GetFullPath).ToArray();
        if (declaration.FriendlyName is { } name && paths.Length > 1)
        {
            throw new StorageException(
                StorageErrors.InvalidParameter, $"-FriendlyName '{name}' is one name for {paths.Length} disks.",
                "Leave it out, or give one path.", name);
        }

        if (paths.GroupBy(path => path).FirstOrDefault(group => group.Count() > 1) is { } twice)
        {
            throw new StorageException(
                StorageErrors.DuplicateDisk, $"-Path names '{twice.Key}' more than once.", "Name each disk once.", twice.Key);
        }

        return paths.Select(path => ToSpec(declaration, path)).ToArray();
    }

    private static RegistrationSpec ToSpec(IPhysicalDiskDeclaration declaration, string path) => new()
    {
        Path = path,
        FriendlyName = declaration.FriendlyName ?? "",
        LatencyProfile = declaration.LatencyProfile ?? "",
        IsForced = declaration.Force,
        Place = new PlaceChange
        {
            EnclosureNumber = declaration.EnclosureNumber,
            SlotNumber = declaration.SlotNumber,
            ScaleUnit = declaration.StorageScaleUnitId,
            Chassis = declaration.StorageChassisId,
            Rack = declaration.StorageRackId,
        },
        Overrides = new DiskOverrides(
            declaration.MediaType?.ToEngine(),
            declaration.BusType?.ToEngine(),
            declaration.SpindleSpeed,
            Amount.Sector(declaration.LogicalSectorSize, nameof(declaration.LogicalSectorSize)),
            Amount.Sector(declaration.PhysicalSectorSize, nameof(declaration.PhysicalSectorSize)),
            declaration.IsWriteCacheEnabled),
    };
}
