using System.Text.Json.Serialization;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Pools;

namespace TierSpaces.Engine.Management;

// The record of a registered disk in the list that the host keeps. A record does not change; a change of the disk makes another record.
//
// Invariants
//  1. Names, order and default values of the properties in JSON are those of earlier releases.
//  2. In a record of Whole, no text is null, and DiskUri reads every URI.

/// <summary>A registered disk as the list of the host holds it: what the user says of it, and what the host remembers of it.</summary>
/// <param name="EnclosureNumber">Enclosure, or −1.</param>
/// <param name="SlotNumber">Slot, or −1.</param>
internal sealed record StoredDisk(int EnclosureNumber = -1, int SlotNumber = -1)
{
    /// <summary>Identity while the disk is not a member.</summary>
    public required Guid Id { get; init; }

    /// <summary>Position in lists.</summary>
    public required int DeviceId { get; init; }

    /// <summary>URI that opens the disk: its first path.</summary>
    public required string Uri { get; init; }

    /// <summary>URIs of its further paths.</summary>
    public IReadOnlyList<string> OtherUris { get; init; } = [];

    /// <summary>URIs of all its paths, the first one first.</summary>
    [JsonIgnore]
    public IEnumerable<string> Uris => OtherUris.Prepend(Uri);

    /// <summary>Name while it is not a member.</summary>
    public required string FriendlyName { get; init; }

    /// <summary>Properties that the user states for the disk.</summary>
    public DiskOverrides Overrides { get; init; } = new();

    /// <summary>Text of the user.</summary>
    public string Description { get; init; } = "";

    // As parameters of the constructor these two keep their default values where the JSON has none; properties of init alone would be 0.

    /// <summary>Enclosure, or −1.</summary>
    public int EnclosureNumber { get; init; } = EnclosureNumber;

    /// <summary>Slot, or −1.</summary>
    public int SlotNumber { get; init; } = SlotNumber;

    /// <summary>Names of its fault domains; see <see cref="FaultDomains.Path"/>.</summary>
    public string FaultDomainPath { get; init; } = "";

    /// <summary>Whether the user accepts a RAID below the disk.</summary>
    public bool IsForced { get; init; }

    /// <summary>Profile of an emulated disk, or empty.</summary>
    public string LatencyProfile { get; init; } = "";

    /// <summary>Identity of the member that it was when it was last there; empty when it was none. It tells what is away when a host starts.</summary>
    public Guid LastMember { get; init; }

    /// <summary>Where it is, as the user says.</summary>
    [JsonIgnore]
    public DiskPlace Place => new(FaultDomainPath, EnclosureNumber, SlotNumber);

    /// <summary>
    /// Returns a record that was read from JSON, which may hold null whatever the type promises, with texts and lists in place of null; null for one that
    /// names no disk.
    /// </summary>
    internal static StoredDisk? Whole(StoredDisk? read) =>
        read is null or { Uri: null } or { FriendlyName: null } or { DeviceId: < 0 or int.MaxValue } || !DiskUri.IsOne(read.Uri) ? null
        : read with
        {
            OtherUris = [.. (read.OtherUris ?? []).Where(static uri => uri is not null && DiskUri.IsOne(uri))],
            Description = read.Description ?? "",
            LatencyProfile = read.LatencyProfile ?? "",
            FaultDomainPath = read.FaultDomainPath ?? "",
            Overrides = read.Overrides ?? new DiskOverrides(),
        };

    /// <summary>Returns the record of the disk with other paths.</summary>
    /// <param name="uris">URIs of all its paths, at least one, the first one first.</param>
    internal StoredDisk WithPaths(IReadOnlyList<string> uris) => this with { Uri = uris[0], OtherUris = [.. uris.Skip(1)] };

    /// <summary>Returns the record of the disk at another place.</summary>
    internal StoredDisk At(DiskPlace place) =>
        this with { FaultDomainPath = place.Path, EnclosureNumber = place.EnclosureNumber, SlotNumber = place.SlotNumber };

    /// <summary>Returns where the disk is, as the user says, or else as its enclosure reports.</summary>
    /// <param name="reported">Identity that the system reports; null for a disk that was never open.</param>
    internal DiskPlace KnownPlace(DiskIdentity? reported) => Place.Or(reported?.Slot);

    /// <summary>
    /// Returns the serial number that the disk reports. An image file has none: its serial number is the second half of the digits of its identity, and a pool
    /// keeps it.
    /// </summary>
    /// <param name="reported">Identity that the system reports; null for a disk that was never open.</param>
    internal string SerialNumber(DiskIdentity? reported) => reported?.SerialNumber is { Length: > 0 } serial ? serial
        : DiskUri.IsOne(Uri) && DiskUri.Parse(Uri).Kind == DiskKind.Block ? "" : Id.ToString("N")[16..].ToUpperInvariant();
}
