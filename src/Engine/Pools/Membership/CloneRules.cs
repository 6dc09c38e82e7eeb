using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

/// <summary>One identity on two devices: one of them is a copy, and nothing says which.</summary>
internal static class CloneRules
{
    /// <summary>
    /// Names every disk whose identity is on two different devices, and second ways to a device already seen. Adds the
    /// reasons and returns the scans to leave out.
    /// </summary>
    internal static List<PoolScan> Refuse(IReadOnlyList<PoolScan> scans, List<RejectedDisk> rejected)
    {
        List<PoolScan> leftOut = [];
        foreach (IGrouping<DiskId, PoolScan> same in scans.Where(static scan => scan.Label is not null).GroupBy(static scan => scan.Label!.Disk))
        {
            bool isClone = same.Select(static scan => scan.Disk.Identity.DeviceKey).Distinct().Skip(1).Any();
            string names = string.Join(" and ", same.Select(static scan => scan.Disk.Identity.Uri));
            foreach (PoolScan scan in isClone ? same : same.Skip(1))
            {
                leftOut.Add(scan);
                string reason = isClone
                    ? $"{names} carry the same disk id {same.Key}: one is a clone of the other. Take one of them away; neither is used."
                    : $"{scan.Disk.Identity.Uri} is a second way to {same.First().Disk.Identity.Uri}.";
                rejected.Add(new RejectedDisk(scan.Disk, reason));
            }
        }

        return leftOut;
    }
}
