namespace TierSpaces.Contracts;

/// <summary>A class of disk that can be emulated, with its figures. Returned by Get-StorageDiskProfile.</summary>
[WindowsClass(
    "TierSpaces_StorageDiskProfile", "Name", "MediaType", "BusType", "SpindleSpeed", "QueueDepth", "RandomReadIops", "RandomWriteIops",
    "AccessTimeMicroseconds", "BytesPerSecond", "FlushMicroseconds")]
public sealed record StorageDiskProfileInfo
{
    /// <summary>Name, as -LatencyProfile takes it.</summary>
    public string Name { get; init; } = "";

    public string MediaType { get; init; } = "";

    public string BusType { get; init; } = "";

    /// <summary>Revolutions per minute; 0 for none.</summary>
    public uint SpindleSpeed { get; init; }

    /// <summary>Requests under way at once for which the rates hold.</summary>
    public int QueueDepth { get; init; }

    /// <summary>Reads of 4096 bytes at random places, a second.</summary>
    public long RandomReadIops { get; init; }

    /// <summary>Writes of 4096 bytes at random places, a second.</summary>
    public long RandomWriteIops { get; init; }

    /// <summary>Time of one read of 4096 bytes at a random place while nothing else is under way, in microseconds.</summary>
    public long AccessTimeMicroseconds { get; init; }

    /// <summary>Rate of requests in sequence.</summary>
    public long BytesPerSecond { get; init; }

    /// <summary>Time of a flush, in microseconds.</summary>
    public long FlushMicroseconds { get; init; }

    /// <summary>Effects of the size of the disk and of the place of a request.</summary>
    public string CapacityEffect { get; init; } = "";
}
