using TierSpaces.Contracts;
using TierSpaces.Host.Verbs.Mapping;
using TierSpaces.Host.Volumes;
using TierSpaces.Host.Volumes.FileSystems;
using DriveType = TierSpaces.Contracts.DriveType;

namespace TierSpaces.Host.Verbs.Volumes;

/// <summary>A volume as the object users see.</summary>
internal static class VolumeMapping
{
    /// <summary>Maps one.</summary>
    public static VolumeInfo ToInfo(this VolumeTarget target, VolumeFacts facts)
    {
        FoundFileSystem? found = target.FileSystem;
        return new VolumeInfo
        {
            DriveLetter = facts.Letter,
            Path = target.Node,
            FileSystemLabel = found?.Label ?? "",
            FileSystem = found?.Type ?? "",
            FileSystemType = DisplayName.Of(TypeOf(found)),
            DriveType = DisplayName.Of(DriveType.Fixed),
            HealthStatus = DisplayName.Of(HealthOf(target, facts)),
            OperationalStatus = [DisplayName.Of(StatusOf(target, facts))],
            Size = found is null ? 0 : facts.Space?.Size ?? (ulong)target.Size,
            SizeRemaining = found is null ? 0 : facts.Space?.Free,
            AllocationUnitSize = found is { BlockSize: > 0 } ? found.BlockSize : facts.BlockSize,
            DedupMode = DisplayName.Of(DedupMode.NotAvailable),
            ReFSDedupMode = DisplayName.Of(RefsDedupMode.NotAvailable),
            UniqueId = target.UniqueId,
            ObjectId = Identifiers.ObjectId("MSFT_Volume", target.UniqueId),
            OtherOperationalStatusDescription = RemarkOn(target, facts),
            RequestedFileSystem = facts.Requested,
            MountPoints = facts.MountPoints,
        };
    }

    private static FileSystemType TypeOf(FoundFileSystem? found) => found?.Type switch
    {
        null => FileSystemType.Unknown,
        "ext2" => FileSystemType.EXT2,
        "ext3" => FileSystemType.EXT3,
        "vfat" => FileSystemType.FAT32,
        { } type => FileSystemChoice.Find(type)?.Shown ?? FileSystemType.Unknown,
    };

    private static VolumeHealthStatus HealthOf(VolumeTarget target, VolumeFacts facts) =>
        target.Disk.Status.Health == Engine.Pools.HealthStatus.Unhealthy ? VolumeHealthStatus.Unhealthy
        : facts.HasErrors ? VolumeHealthStatus.ScanNeeded
        : facts.Faults.Count > 0 || target.Disk.Status.Health == Engine.Pools.HealthStatus.Warning ? VolumeHealthStatus.Warning
        : VolumeHealthStatus.Healthy;

    private static VolumeOperationalStatus StatusOf(VolumeTarget target, VolumeFacts facts) =>
        target.FileSystem is null ? VolumeOperationalStatus.Unknown
        : facts.HasErrors ? VolumeOperationalStatus.FullRepairNeeded
        : facts.Faults.Count > 0 ? VolumeOperationalStatus.Error
        : facts.IsOffline ? VolumeOperationalStatus.Stopped
        : target.Disk.Status.Health == Engine.Pools.HealthStatus.Healthy ? VolumeOperationalStatus.OK : VolumeOperationalStatus.Degraded;

    private static string? RemarkOn(VolumeTarget target, VolumeFacts facts)
    {
        List<string> remarks = [.. facts.Faults];
        if (facts.HasErrors)
        {
            remarks.Add($"The kernel has found errors in the file system. Run: Repair-Volume -ObjectId '{target.UniqueId}' -OfflineScanAndFix.");
        }

        if (facts.IsOffline)
        {
            remarks.Add("It is offline: Set-Partition -IsOffline $false, or Set-Disk -IsOffline $false, mounts it again.");
        }

        if (target.Disk.Status.StatusReason.Length > 0)
        {
            remarks.Add($"Virtual disk '{target.Disk.FriendlyName}': {target.Disk.Status.StatusReason}");
        }

        return remarks.Count > 0 ? string.Join(' ', remarks) : null;
    }
}
