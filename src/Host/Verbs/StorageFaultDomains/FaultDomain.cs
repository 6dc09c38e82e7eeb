using TierSpaces.Contracts;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Pools;
using TierSpaces.Host.Verbs.Mapping;

namespace TierSpaces.Host.Verbs.StorageFaultDomains;

/// <summary>
/// A fault domain that physical disks are in, or a physical disk as one of its own. Domains above the disk exist as long as a disk is in them.
/// </summary>
/// <param name="Type">Its type.</param>
/// <param name="UniqueId">Its identifier: the same on every host that finds the disks.</param>
/// <param name="FriendlyName">Its name.</param>
/// <param name="Disks">The disks in it, missing ones included.</param>
internal sealed record FaultDomain(StorageFaultDomainType Type, string UniqueId, string FriendlyName, IReadOnlyList<PhysicalDiskStatus> Disks)
{
    private const string Lost = "Lost Communication";

    private static readonly FaultDomainLevel[] s_levels =
        [FaultDomainLevel.StorageRack, FaultDomainLevel.StorageChassis, FaultDomainLevel.StorageScaleUnit, FaultDomainLevel.StorageEnclosure];

    /// <summary>Whether no disk in it can be reached.</summary>
    public bool IsLost => Disks.All(static disk => disk.OperationalStatus == Lost);

    /// <summary>Reason why it is not healthy, or null.</summary>
    public string? Reason => !IsLost ? null
        : Disks.Count == 1 ? "Its physical disk cannot be reached." : $"None of its {Disks.Count} physical disks can be reached.";

    /// <summary>Its place, without the slot of a disk.</summary>
    public DiskPlace Place => Disks[0].Place with { SlotNumber = -1 };

    /// <summary>Every domain of these disks, the widest first, disks last.</summary>
    public static FaultDomain[] Of(IReadOnlyCollection<PhysicalDiskStatus> disks) =>
    [
        .. s_levels.SelectMany(level => disks.GroupBy(disk => FaultDomains.DomainOf(disk.Place, level)).Where(static domain => domain.Key.Length > 0)
            .Select(domain => Above(level, domain.Key, [.. domain])).OrderBy(static domain => domain.Place.EnclosureNumber)
            .ThenBy(static domain => domain.UniqueId, StringComparer.Ordinal)),
        .. disks.Select(static disk => new FaultDomain(
            StorageFaultDomainType.PhysicalDisk, Identifiers.OfPoolOrDisk(disk.UniqueId), disk.FriendlyName, [disk])),
    ];

    /// <summary>Whether another domain contains this one, or is contained in it.</summary>
    public bool IsRelatedTo(FaultDomain other)
    {
        HashSet<Guid> mine = [.. Disks.Select(static disk => disk.UniqueId)];
        int common = other.Disks.Count(disk => mine.Contains(disk.UniqueId));
        return this != other && common > 0 && (common == mine.Count || common == other.Disks.Count) && Type != other.Type;
    }

    private static FaultDomain Above(FaultDomainLevel level, string key, PhysicalDiskStatus[] disks)
    {
        DiskPlace place = disks[0].Place;
        string[] parts = FaultDomains.PartsOf(place.Path, place.EnclosureNumber);
        string name = level switch
        {
            FaultDomainLevel.StorageRack => parts[1],
            FaultDomainLevel.StorageChassis => parts[2],
            FaultDomainLevel.StorageScaleUnit => parts[3],
            _ => FaultDomainNames.Enclosure(place),
        };
        return new FaultDomain((StorageFaultDomainType)level, $"{level}:{key.TrimStart('/')}", name, disks);
    }
}
