using TierSpaces.Contracts;
using TierSpaces.Host.Volumes;

namespace TierSpaces.Host.Verbs.Volumes;

/// <summary>Objects of partitions and volumes with what the host knows of them.</summary>
internal static class VolumeInfos
{
    /// <summary>The object of a partition.</summary>
    public static PartitionInfo ToInfo(this VolumeServices volumes, VolumeTarget target) =>
        target.ToInfo(volumes.Mounts.EntriesOf(target), volumes.Mounts.IsOffline(target));

    /// <summary>The object of a volume.</summary>
    public static async Task<VolumeInfo> ToVolumeInfoAsync(this VolumeServices volumes, VolumeTarget target) =>
        target.ToInfo(await VolumeFacts.OfAsync(volumes, target, MountTable.Read()).ConfigureAwait(false));
}
