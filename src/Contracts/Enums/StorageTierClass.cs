using System.Text.Json.Serialization;

namespace TierSpaces.Contracts;

/// <summary>Role of a storage tier in its virtual disk. Numbered as in Windows.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<StorageTierClass>))]
public enum StorageTierClass
{
    /// <summary>Shown as "Unknown": a template has no part in a virtual disk.</summary>
    Unknown = 0,

    /// <summary>Shown as "Capacity".</summary>
    Capacity = 1,

    /// <summary>Shown as "Performance".</summary>
    Performance = 2,
}
