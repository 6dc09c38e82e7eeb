namespace TierSpaces.Contracts;

/// <summary>
/// Reliability counters of a physical disk: what Get-StorageReliabilityCounter returns. Errors are counted by the engine, over all
/// restarts of this host; what only the disk itself could tell is null where the system does not pass it on.
/// </summary>
[WindowsClass(
    "MSFT_StorageReliabilityCounter", "DeviceId", "Temperature", "ReadErrorsUncorrected", "Wear", "PowerOnHours")]
public sealed record StorageReliabilityCounterInfo
{
    /// <summary>DeviceId of the physical disk.</summary>
    public string DeviceId { get; init; } = "";

    /// <summary>Identifier of the physical disk.</summary>
    public string UniqueId { get; init; } = "";

    /// <summary>Identifier of the object on this machine.</summary>
    public string ObjectId { get; init; } = "";

    /// <summary>In degrees Celsius.</summary>
    public byte? Temperature { get; init; }

    /// <summary>Highest temperature the disk allows, in degrees Celsius.</summary>
    public byte? TemperatureMax { get; init; }

    /// <summary>Reads that failed, and blocks that were read and did not match their checksum.</summary>
    public ulong ReadErrorsTotal { get; init; }

    /// <summary>Blocks that were given by another copy and rewritten.</summary>
    public ulong ReadErrorsCorrected { get; init; }

    /// <summary>Blocks that no copy could give, each time they were asked for.</summary>
    public ulong ReadErrorsUncorrected { get; init; }

    /// <summary>Writes and flushes that failed.</summary>
    public ulong WriteErrorsTotal { get; init; }

    /// <summary>Always 0: a write that failed is not repeated on the same disk and trusted.</summary>
    public ulong WriteErrorsCorrected { get; init; }

    /// <summary>Writes and flushes that failed.</summary>
    public ulong WriteErrorsUncorrected { get; init; }

    public string? ManufactureDate { get; init; }

    public uint? StartStopCycleCount { get; init; }

    public uint? StartStopCycleCountMax { get; init; }

    public uint? LoadUnloadCycleCount { get; init; }

    public uint? LoadUnloadCycleCountMax { get; init; }

    /// <summary>Percent of the life of a solid-state disk that is used up.</summary>
    public byte? Wear { get; init; }

    public uint? PowerOnHours { get; init; }

    /// <summary>Longest read, in milliseconds.</summary>
    public ulong ReadLatencyMax { get; init; }

    /// <summary>Longest write, in milliseconds.</summary>
    public ulong WriteLatencyMax { get; init; }

    /// <summary>Longest flush, in milliseconds.</summary>
    public ulong FlushLatencyMax { get; init; }

    public string? PassThroughClass { get; init; }

    public string? PassThroughIds { get; init; }

    public string? PassThroughNamespace { get; init; }

    public string? PassThroughServer { get; init; }

    /// <summary>Ours: blocks and sectors of metadata that were not what their checksum says.</summary>
    public ulong ChecksumMismatches { get; init; }
}
