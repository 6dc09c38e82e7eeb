using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;

namespace TierSpaces.Engine.Pools;

/// <summary>Place of a disk: its fault domains, and its slot in its enclosure.</summary>
/// <param name="Path">See <see cref="FaultDomains.Path"/>.</param>
/// <param name="EnclosureNumber">Number of its enclosure, or -1.</param>
/// <param name="SlotNumber">Its slot, or -1.</param>
public sealed record DiskPlace(string Path, int EnclosureNumber, int SlotNumber)
{
    /// <summary>Nothing is known.</summary>
    public static DiskPlace Unknown { get; } = new("", -1, -1);

    /// <summary>The place of a member.</summary>
    public static DiskPlace Of(DiskDescription disk) => new(disk.FaultDomainPath, disk.EnclosureNumber, disk.SlotNumber);

    /// <summary>The place with what an enclosure reports where nothing is stated.</summary>
    public DiskPlace Or(EnclosureSlot? slot)
    {
        string[] parts = FaultDomains.PartsOf(Path, EnclosureNumber);
        return slot is null || parts[^1].Length > 0 ? this
            : new DiskPlace(FaultDomains.Path(parts[0], parts[1], parts[2], parts[3], slot.EnclosureId), slot.EnclosureNumber,
                SlotNumber < 0 ? slot.SlotNumber : SlotNumber);
    }

    /// <summary>The place with a change.</summary>
    public DiskPlace With(PlaceChange change)
    {
        string[] parts = FaultDomains.PartsOf(Path, -1);
        string enclosure = change.EnclosureNumber is null ? parts[4] : change.EnclosureId ?? "";
        string path = FaultDomains.Path(parts[0], change.Rack ?? parts[1], change.Chassis ?? parts[2], change.ScaleUnit ?? parts[3], enclosure);
        return new DiskPlace(
            path.Trim('/').Length == 0 ? "" : path, change.EnclosureNumber ?? EnclosureNumber, change.SlotNumber ?? SlotNumber);
    }
}

/// <summary>A change of the place of a disk; null: as before, empty: not known.</summary>
public sealed record PlaceChange
{
    /// <summary>Number of its enclosure.</summary>
    public int? EnclosureNumber { get; init; }

    /// <summary>Identifier of the enclosure with this number, where it has one.</summary>
    public string? EnclosureId { get; init; }

    /// <summary>Its slot.</summary>
    public int? SlotNumber { get; init; }

    /// <summary>Name of its node.</summary>
    public string? ScaleUnit { get; init; }

    /// <summary>Name of its chassis.</summary>
    public string? Chassis { get; init; }

    /// <summary>Name of its rack.</summary>
    public string? Rack { get; init; }

    /// <summary>Names in it.</summary>
    public IEnumerable<(string Parameter, string? Name)> Names =>
        [("StorageScaleUnitId", ScaleUnit), ("StorageChassisId", Chassis), ("StorageRackId", Rack)];
}
