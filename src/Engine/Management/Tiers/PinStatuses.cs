using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Jobs;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Tiering;

namespace TierSpaces.Engine.Management;

/// <summary>Statuses of pins, as functions of a snapshot.</summary>
internal static class PinStatuses
{
    /// <summary>Returns the statuses of the pins of an open virtual disk with tiers.</summary>
    internal static IEnumerable<PinStatus> Of(SubsystemSnapshot now, (ManagedPoolSnapshot Pool, VirtualDiskSnapshot Disk) owner)
    {
        VirtualDiskDescription disk = owner.Disk.Description;
        bool isMoving = now.Jobs.Any(job => !job.HasEnded && job.Kind is JobKind.OptimizeTiers or JobKind.PlacePins && job.VirtualDisk == disk.Id.Value);
        return PinTable.Load(disk, owner.Pool.State!.Pins.Values).Pins
            .Select(pin => new PinStatus(pin, disk, disk.Tiers[pin.Tier], BytesOn(owner.Disk, pin), isMoving));
    }

    private static long[] BytesOn(VirtualDiskSnapshot disk, Pin pin)
    {
        VirtualDiskDescription description = disk.Description;
        long[] bytes = new long[description.Tiers.Length];
        foreach (PinnedRange range in pin.Ranges)
        {
            for (long at = range.Offset, end; at < range.End; at = end)
            {
                end = Math.Min(range.End, ((at / description.SliceSize) + 1) * description.SliceSize);
                SliceEntry entry = disk.Slices[(int)(at / description.SliceSize)];
                if (entry.IsMapped)
                {
                    bytes[disk.TierOrder.IndexOf(entry.Tier)] += end - at;
                }
            }
        }

        return bytes;
    }
}
