using TierSpaces.Contracts;
using TierSpaces.Host.Verbs.Mapping;

namespace TierSpaces.Host.Verbs.StorageFaultDomains;

/// <summary>The one node: this machine. Every physical disk and every enclosure is connected to it.</summary>
internal static class LocalNode
{
    private static readonly string s_uniqueId = $"TierSpaces:{Environment.MachineName}";

    /// <summary>Finds it by its name.</summary>
    public static Selector<string> Selector { get; } = new("MSFT_StorageNode", [Environment.MachineName], static _ => s_uniqueId, static name => name);

    /// <summary>The node as an object.</summary>
    public static StorageNodeInfo Describe() => new()
    {
        Name = Environment.MachineName,
        UniqueId = s_uniqueId,
        ObjectId = Identifiers.ObjectId("MSFT_StorageNode", s_uniqueId),
        OperationalStatus = DisplayName.Of(StorageNodeOperationalStatus.Up),
        Manufacturer = "TierSpaces",
        Model = "TierSpaces",
    };
}
