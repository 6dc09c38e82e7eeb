using System.Globalization;
using TierSpaces.Engine.Pools;

namespace TierSpaces.Host.Verbs.Mapping;

/// <summary>Names of fault domains and of places in them, for people.</summary>
internal static class FaultDomainNames
{
    private static readonly string[] s_widest = ["Site", "Rack", "Chassis", "Node"];

    /// <summary>Place of a disk, widest first; null if nothing is known.</summary>
    public static string? Location(DiskPlace place)
    {
        string[] parts = FaultDomains.PartsOf(place.Path, place.EnclosureNumber);
        List<string> words = [.. s_widest.Select((word, i) => parts[i].Length > 0 ? $"{word} {parts[i]}" : "").Where(static text => text.Length > 0)];
        words.AddRange(parts[^1].Length > 0 ? [Enclosure(place)] : []);
        words.AddRange(place.SlotNumber >= 0 ? [string.Create(CultureInfo.InvariantCulture, $"Slot {place.SlotNumber}")] : []);
        return words.Count > 0 ? string.Join(" : ", words) : null;
    }

    /// <summary>Name of the enclosure of a place that is in one.</summary>
    public static string Enclosure(DiskPlace place) =>
        $"Enclosure {(place.EnclosureNumber >= 0 ? place.EnclosureNumber.ToString(CultureInfo.InvariantCulture) : FaultDomains.PartsOf(place.Path, -1)[^1])}";
}
