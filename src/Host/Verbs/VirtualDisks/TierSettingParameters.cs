using TierSpaces.Contracts;
using TierSpaces.Engine.Formats;

namespace TierSpaces.Host.Verbs.VirtualDisks;

/// <summary>The parameters that say how heat is counted and what slices have to be to move between tiers, as the engine takes them.</summary>
internal static class TierSettingParameters
{
    /// <summary>Nanoseconds of the unit of DemoteColdAfter and HeatHalfLife.</summary>
    public const long NsPerHour = 3_600_000_000_000;

    /// <summary>The settings of a virtual disk after a request; those that it does not name stay.</summary>
    /// <exception cref="StorageException">A value is outside its range, or the virtual disk has no tiers.</exception>
    public static TierSettings Apply(VirtualDiskDescription disk, SetVirtualDiskRequest request)
    {
        if (request is { MinimumHeat: null, DemoteColdAfter: null, HeatHalfLife: null })
        {
            return disk.TierSettings;
        }

        string name = request.MinimumHeat is not null ? nameof(request.MinimumHeat)
            : request.DemoteColdAfter is not null ? nameof(request.DemoteColdAfter) : nameof(request.HeatHalfLife);
        return disk.IsTiered ? new TierSettings
        {
            MinimumHeat = InRange(request.MinimumHeat, 0, TierSettings.MinimumHeatMax, nameof(request.MinimumHeat), "requests")
                ?? disk.TierSettings.MinimumHeat,
            DemoteColdAfterNs = InRange(
                request.DemoteColdAfter, 0, TierSettings.DemoteColdAfterNsMax / NsPerHour, nameof(request.DemoteColdAfter), "hours") * NsPerHour
                ?? disk.TierSettings.DemoteColdAfterNs,
            HalfLifeNs = InRange(request.HeatHalfLife, 1, TierSettings.HalfLifeNsMax / NsPerHour, nameof(request.HeatHalfLife), "hours") * NsPerHour
                ?? disk.TierSettings.HalfLifeNs,
        }
        : throw new StorageException(
            StorageErrors.NotSupported, $"-{name} is for virtual disks with tiers, and '{disk.FriendlyName}' has none.", "Leave it out.", name);
    }

    private static long? InRange(long? value, long min, long max, string parameter, string unit) =>
        value is null || (value >= min && value <= max) ? value : throw new StorageException(
        StorageErrors.InvalidParameter, $"-{parameter} {value}: out of range. Valid: {min} to {max} {unit}.", "Give a value in the range.", parameter);
}
