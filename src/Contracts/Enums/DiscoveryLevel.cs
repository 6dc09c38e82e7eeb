using System.Text.Json.Serialization;

namespace TierSpaces.Contracts;

/// <summary>Depth of the search of a storage provider. Numbered as in Windows.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<DiscoveryLevel>))]
public enum DiscoveryLevel
{
    /// <summary>The provider and the storage subsystem.</summary>
    Level0 = 0,

    /// <summary>Storage pools and resiliency settings too.</summary>
    Level1 = 1,

    /// <summary>Virtual disks too.</summary>
    Level2 = 2,

    /// <summary>Physical disks too.</summary>
    Level3 = 3,

    /// <summary>Everything.</summary>
    Full = 4,
}
