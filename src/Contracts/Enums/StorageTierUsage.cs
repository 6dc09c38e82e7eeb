using System.Text.Json.Serialization;

namespace TierSpaces.Contracts;

/// <summary>Purpose of a storage tier. Numbered as in Windows.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<StorageTierUsage>))]
public enum StorageTierUsage
{
    /// <summary>Shown as "Unknown".</summary>
    Unknown = 0,

    /// <summary>Shown as "Data".</summary>
    Data = 1,

    /// <summary>Shown as "ReadCache".</summary>
    ReadCache = 2,

    /// <summary>Shown as "WriteCache".</summary>
    WriteCache = 3,

    /// <summary>Shown as "DirtyRegionTracking".</summary>
    DirtyRegionTracking = 4,

    /// <summary>Shown as "StripeStateTracking".</summary>
    StripeStateTracking = 5,

    /// <summary>Shown as "ValidDataTracking".</summary>
    ValidDataTracking = 6,

    /// <summary>Shown as "CacheLines".</summary>
    CacheLines = 7,
}
