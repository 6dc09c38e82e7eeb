using TierSpaces.Engine.Formats;

namespace TierSpaces.Engine.Pools;

/// <summary>Reads fault-domain paths: <c>site/rack/chassis/node/enclosure</c>, widest first, parts may be empty.</summary>
public static class FaultDomains
{
    private const int Parts = 5;

    /// <summary>A path from its parts; a part must not hold a slash.</summary>
    public static string Path(string site = "", string rack = "", string chassis = "", string node = "", string enclosure = "") =>
        string.Join('/', site, rack, chassis, node, enclosure);

    /// <summary>
    /// Name of the domain a disk is in at a level: the path down to that level. Disks whose path does not say are in one
    /// domain together, the empty name; at the level of the disk itself each is its own.
    /// </summary>
    public static string DomainOf(DiskDescription disk, FaultDomainLevel level)
    {
        int depth = level switch
        {
            FaultDomainLevel.StorageRack => 2,
            FaultDomainLevel.StorageChassis => 3,
            FaultDomainLevel.StorageScaleUnit => 4,
            FaultDomainLevel.StorageEnclosure => 5,
            _ => 0,
        };
        if (depth == 0)
        {
            return disk.Number.ToString();
        }

        string[] parts = disk.FaultDomainPath.Split('/');
        return parts.Length == Parts && parts[depth - 1].Length > 0 ? string.Join('/', parts, 0, depth) : "";
    }
}
