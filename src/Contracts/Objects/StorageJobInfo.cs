namespace TierSpaces.Contracts;

/// <summary>A storage job: what Get-StorageJob returns.</summary>
[WindowsClass(
    "MSFT_StorageJob", "Name", "IsBackgroundTask", "ElapsedTime", "JobState", "PercentComplete", "BytesProcessed:bytes", "BytesTotal:bytes")]
public sealed record StorageJobInfo
{
    /// <summary>Repair, Scrub, Optimize …; Regeneration for a repair that the storage pool began by itself.</summary>
    public string Name { get; init; } = "";

    /// <summary>Identifier of the object everywhere.</summary>
    public string UniqueId { get; init; } = "";

    /// <summary>Identifier of the object on this machine.</summary>
    public string ObjectId { get; init; } = "";

    /// <summary>Purpose of the job, one sentence.</summary>
    public string Description { get; init; } = "";

    /// <summary>Time spent on it, days.hours:minutes:seconds; restarts of the host are bridged.</summary>
    public string ElapsedTime { get; init; } = "";

    /// <summary>0, or the code of the error that stopped the job.</summary>
    public ushort ErrorCode { get; init; }

    /// <summary>Description of the error, in words; null without an error.</summary>
    public string? ErrorDescription { get; init; }

    public string JobState { get; init; } = "";

    /// <summary>The step under way, or the outcome of the job at its end.</summary>
    public string? JobStatus { get; init; }

    /// <summary>Clock of the times: always "UTC Time".</summary>
    public string LocalOrUtcTime { get; init; } = "";

    public string[] OperationalStatus { get; init; } = [];

    public string[]? StatusDescriptions { get; init; }

    /// <summary>0 to 100.</summary>
    public ushort PercentComplete { get; init; }

    /// <summary>Time at which the job began, or at which the present host resumed it.</summary>
    public DateTime? StartTime { get; init; }

    /// <summary>Time for which the job stays listed after its end.</summary>
    public string TimeBeforeRemoval { get; init; } = "";

    public DateTime? TimeOfLastStateChange { get; init; }

    public DateTime? TimeSubmitted { get; init; }

    public bool DeleteOnCompletion { get; init; }

    public bool IsBackgroundTask { get; init; }

    public string RecoveryAction { get; init; } = "";

    public string? OtherRecoveryAction { get; init; }

    /// <summary>Bytes gone through.</summary>
    public ulong BytesProcessed { get; init; }

    /// <summary>Bytes there are to go through, as far as is known.</summary>
    public ulong BytesTotal { get; init; }

    public string? PassThroughClass { get; init; }

    public string? PassThroughIds { get; init; }

    public string? PassThroughNamespace { get; init; }

    public string? PassThroughServer { get; init; }

    /// <summary>Ours: time it may still take at the pace so far; null while nothing can be said.</summary>
    public string? TimeRemaining { get; init; }

    /// <summary>Ours: friendly name that the virtual disk had when the job began; empty for a job of a storage pool.</summary>
    public string VirtualDiskFriendlyName { get; init; } = "";

    /// <summary>Ours: the virtual disk it works on.</summary>
    public string VirtualDiskUniqueId { get; init; } = "";

    /// <summary>Ours: the pool it works in.</summary>
    public string StoragePoolUniqueId { get; init; } = "";

    /// <summary>Ours: copies of blocks that were read and judged.</summary>
    public ulong? BlocksVerified { get; init; }

    /// <summary>Ours: copies of blocks, and sectors of metadata, that were wrong and have been rewritten.</summary>
    public ulong? BlocksHealed { get; init; }

    /// <summary>Ours: blocks that no copy could give; reading them fails until they are written.</summary>
    public ulong? BlocksLost { get; init; }

    /// <summary>Ours: blocks whose copies differ where no checksum says which is right; nothing was changed.</summary>
    public ulong? BlocksDiffering { get; init; }
}
