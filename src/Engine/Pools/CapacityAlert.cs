using System.Globalization;
using TierSpaces.Engine.Formats;

namespace TierSpaces.Engine.Pools;

/// <summary>
/// Watches how full a pool with thin virtual disks is: what they promise may be more than there is, so the administrator hears of it at
/// the pool's alert threshold and not when writes fail. Told once for each time the threshold is reached from below.
/// </summary>
internal sealed class CapacityAlert
{
    private bool _told;

    /// <summary>What to tell now; empty: nothing new.</summary>
    internal string Look(PoolState state)
    {
        string text = Describe(state);
        bool isNew = text.Length > 0 && !_told;
        _told = text.Length > 0;
        return isNew ? text : "";
    }

    /// <summary>How full the pool is, once that is worth an alert; else empty.</summary>
    internal static string Describe(PoolState state)
    {
        long slabs = 0;
        long used = 0;
        foreach (DiskState disk in state.Disks.Values)
        {
            slabs += disk.Description.SlabCount;
            used += disk.UsedSlabs;
        }

        int threshold = state.Pool?.ThinProvisioningAlertThreshold ?? 100;
        return slabs > 0 && used * 100 >= slabs * threshold && state.VirtualDisks.Values.Any(disk => disk.ProvisioningType == ProvisioningType.Thin)
            ? string.Create(
                CultureInfo.InvariantCulture,
                $"{used * 100 / slabs} % of the capacity is allocated; the alert threshold is {threshold} %. Add physical disks before thin virtual disks run out of space.")
            : "";
    }
}
