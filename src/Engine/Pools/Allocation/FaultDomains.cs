using System.Globalization;
using TierSpaces.Engine.Formats;

namespace TierSpaces.Engine.Pools;

/// <summary>
/// Reads fault-domain paths: <c>site/rack/chassis/node/enclosure</c>, widest first, parts may be empty. The enclosure of a disk whose path names none is the
/// one with its enclosure number.
/// </summary>
public static class FaultDomains
{
    private const int Parts = 5;

    /// <summary>A path from its parts; a part must not hold a slash.</summary>
    public static string Path(string site = "", string rack = "", string chassis = "", string node = "", string enclosure = "") =>
        string.Join('/', site, rack, chassis, node, enclosure);

    /// <summary>
    /// Name of the domain a disk is in at a level: the path down to that level; empty if it is not known. At the level of the disk itself each is its own.
    /// </summary>
    public static string DomainOf(DiskDescription disk, FaultDomainLevel level) =>
        level == FaultDomainLevel.PhysicalDisk ? disk.Number.ToString() : DomainOf(DiskPlace.Of(disk), level);

    /// <summary>Name of the domain above the disk that a place is in; empty if it is not known.</summary>
    public static string DomainOf(DiskPlace place, FaultDomainLevel level)
    {
        int depth = level switch
        {
            FaultDomainLevel.StorageRack => 2,
            FaultDomainLevel.StorageChassis => 3,
            FaultDomainLevel.StorageScaleUnit => 4,
            _ => Parts,
        };
        string[] parts = PartsOf(place.Path, place.EnclosureNumber);
        return parts[depth - 1].Length > 0 ? string.Join('/', parts, 0, depth) : "";
    }

    /// <summary>Name of a domain for people.</summary>
    internal static string NameOf(string domain) => domain.Length == 0 ? "the disks whose place is not known" : $"'{domain.Trim('/')}'";

    /// <summary>The five parts of a path, with the enclosure's number where the path does not name the enclosure.</summary>
    public static string[] PartsOf(string path, int enclosureNumber)
    {
        string[] parts = path.Split('/');
        parts = parts.Length == Parts ? parts : ["", "", "", "", ""];
        parts[^1] = parts[^1].Length > 0 || enclosureNumber < 0 ? parts[^1] : enclosureNumber.ToString(CultureInfo.InvariantCulture);
        return parts;
    }
}
