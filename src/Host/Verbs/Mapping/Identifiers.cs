namespace TierSpaces.Host.Verbs.Mapping;

/// <summary>Formats identifiers: of pools and disks as Windows writes them, of virtual disks as their sockets are named.</summary>
internal static class Identifiers
{
    /// <summary>Unique identifier of a pool or a physical disk: {0f5c…}.</summary>
    public static string OfPoolOrDisk(Guid id) => id.ToString("B");

    /// <summary>Unique identifier of a virtual disk: 32 hexadecimal digits.</summary>
    public static string OfVirtualDisk(Guid id) => id.ToString("N");

    /// <summary>Object identifier of any object: its class and unique identifier.</summary>
    public static string ObjectId(string windowsClass, string uniqueId) => $"TierSpaces:{windowsClass}.UniqueId={uniqueId}";
}
