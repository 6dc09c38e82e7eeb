namespace TierSpaces.Contracts;

/// <summary>Schedule of the automatic optimization of the tiers of a pool's virtual disks. Returned by Get-StorageTierSchedule.</summary>
[WindowsClass(
    "TierSpaces_StorageTierSchedule", "StoragePool=StoragePoolFriendlyName", "TaskName", "Enabled", "Time", "Continuous", "FreeReservePercent")]
public sealed record StorageTierScheduleInfo
{
    public string StoragePoolFriendlyName { get; init; } = "";

    public string StoragePoolUniqueId { get; init; } = "";

    /// <summary>Name of the storage jobs that it begins.</summary>
    public string TaskName { get; init; } = "";

    /// <summary>Whether tiers are optimized at the times.</summary>
    public bool Enabled { get; init; }

    /// <summary>Times of the day, local, as 01:00, ascending.</summary>
    public string[] Time { get; init; } = [];

    /// <summary>Whether slices also move in between.</summary>
    public bool Continuous { get; init; }

    /// <summary>Percent of the faster tiers that is kept free then.</summary>
    public int FreeReservePercent { get; init; }

    /// <summary>Most bytes that a run at the times moves on each virtual disk; 0: no limit.</summary>
    public ulong MaximumBytes { get; init; }

    /// <summary>Mean latency of clients that runs keep to, in milliseconds; 0: none.</summary>
    public uint LatencyTarget { get; init; }
}
