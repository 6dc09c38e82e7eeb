using TierSpaces.Contracts;
using TierSpaces.Host.Verbs.Mapping;
using TierSpaces.Host.Volumes;

namespace TierSpaces.Host.Verbs.Volumes;

/// <summary>A partition as the object users see.</summary>
internal static class PartitionMapping
{
    /// <summary>Maps one.</summary>
    /// <param name="target">The partition on its disk.</param>
    /// <param name="mounts">Its recorded mounts.</param>
    /// <param name="isOffline">Whether it is offline.</param>
    public static PartitionInfo ToInfo(this VolumeTarget target, IReadOnlyCollection<MountEntry> mounts, bool isOffline)
    {
        VolumePartition partition = target.Partition!;
        return new PartitionInfo
        {
            DiskNumber = (uint)target.Disk.Number,
            PartitionNumber = (uint)partition.Number,
            DriveLetter = mounts.FirstOrDefault(static mount => mount.Letter.Length > 0)?.Letter,
            AccessPaths = [.. mounts.SelectMany(static mount => mount.Letter.Length > 0 ? (string[])[mount.AccessPath, mount.Path] : [mount.Path]),
                partition.Node],
            OperationalStatus = DisplayName.Of(isOffline ? PartitionOperationalStatus.Offline
                : target.Disk.Contents.Fault is not null || !File.Exists(partition.Node) ? PartitionOperationalStatus.Failed
                    : PartitionOperationalStatus.Online),
            TransitionState = 1,
            Offset = (ulong)partition.Offset,
            Size = (ulong)partition.Size,
            Type = PartitionType.WordOf(partition),
            MbrType = (ushort?)partition.MbrType,
            GptType = partition.GptType,
            Guid = partition.Guid,
            DiskId = target.Disk.UniqueId,
            UniqueId = target.UniqueId,
            ObjectId = Identifiers.ObjectId("MSFT_Partition", target.UniqueId),
            IsReadOnly = partition.IsReadOnly || target.Disk.IsReadOnly,
            IsOffline = isOffline,
            IsSystem = PartitionType.WordOf(partition) == "System",
            IsActive = partition.IsActive,
            IsHidden = partition.IsHidden,
            IsShadowCopy = partition.Attributes.Contains(VolumePartition.ShadowCopyBit),
            NoDefaultDriveLetter = partition.Attributes.Contains(VolumePartition.NoDriveLetterBit),
        };
    }
}
