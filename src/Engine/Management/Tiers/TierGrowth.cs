using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

/// <summary>Growth of a tier of a virtual disk, as the verbs of tiers do it, and those of virtual disks for a disk with one tier.</summary>
internal static class TierGrowth
{
    /// <summary>Makes a tier larger, and its virtual disk with it.</summary>
    internal static async LaneTask<Nothing> Grow(ManagedPool managed, ManagedVirtualDisk disk, int index, long sizeBytes)
    {
        long size = TierSizes.NewSize(managed.Pool!, disk.Description, index, sizeBytes);
        if (size > disk.Description.Tiers[index].SizeBytes)
        {
            Commits.Require(await VirtualDiskGrowth.GrowTier(managed.Pool!, disk.Opened, index, size), disk.Description.Tiers[index].FriendlyName);
            await disk.TakeDescription();
        }

        return default;
    }

    /// <summary>The rows that a tier would get to have a size.</summary>
    internal static VirtualDiskPlacement Plan(PoolSnapshot pool, VirtualDiskDescription description, int index, long sizeBytes)
    {
        long size = TierSizes.NewSize(pool, description, index, sizeBytes);
        if (!RoomPlans.TryPlanTierGrowth(pool, description, index, size, out VirtualDiskDescription after, out List<RowMapping> rows, out string reason))
        {
            throw new ManagementException(
                ManagementError.NotEnoughCapacity, $"-Size {ByteText.Exact(sizeBytes)} of storage tier '{after.Tiers[index].FriendlyName}': {reason}",
                "Give a smaller size, or add disks.");
        }

        int first = (int)(description.Tiers[index].SpaceBytes / VirtualDiskLayout.ShapeOf(pool, description, description.Tiers[index]).RowSize);
        return new VirtualDiskPlacement(after, new Extents(pool).PlaceIn(after, after.Tiers[index], rows, first), [], []);
    }
}
