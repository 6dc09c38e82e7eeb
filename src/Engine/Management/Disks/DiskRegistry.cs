using System.Text.Json;
using System.Text.Json.Serialization;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Devices.Emulated;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

/// <summary>A disk that a user has registered with the host. Members are recognised by their label, whatever path they came by.</summary>
public sealed class RegisteredDisk
{
    /// <summary>Identity while the disk is not a member.</summary>
    public required Guid Id { get; init; }

    /// <summary>Position in lists.</summary>
    public required int DeviceId { get; init; }

    /// <summary>URI that opens the disk: its first path.</summary>
    public required string Uri { get; set; }

    /// <summary>URIs of its further paths.</summary>
    public List<string> OtherUris { get; set; } = [];

    /// <summary>URIs of all its paths, the first one first.</summary>
    [JsonIgnore]
    public IEnumerable<string> Uris => OtherUris.Prepend(Uri);

    /// <summary>Name while it is not a member.</summary>
    public required string FriendlyName { get; set; }

    /// <summary>Properties that the user states for the disk.</summary>
    public DiskOverrides Overrides { get; set; } = new();

    /// <summary>Text of the user.</summary>
    public string Description { get; set; } = "";

    /// <summary>Enclosure, or −1.</summary>
    public int EnclosureNumber { get; set; } = -1;

    /// <summary>Slot, or −1.</summary>
    public int SlotNumber { get; set; } = -1;

    /// <summary>Names of its fault domains; see <see cref="FaultDomains.Path"/>.</summary>
    public string FaultDomainPath { get; set; } = "";

    /// <summary>Where it is, as the user says.</summary>
    [JsonIgnore]
    public DiskPlace Place
    {
        get => new(FaultDomainPath, EnclosureNumber, SlotNumber);
        set => (FaultDomainPath, EnclosureNumber, SlotNumber) = (value.Path, value.EnclosureNumber, value.SlotNumber);
    }

    /// <summary>Where it is, as the user says, or else as its enclosure reports.</summary>
    [JsonIgnore]
    public DiskPlace KnownPlace => Place.Or(Identity?.Slot);

    /// <summary>
    /// Serial number that the disk reports. An image file has none: its serial number is the second half of the digits of its identity, and a pool keeps it.
    /// </summary>
    [JsonIgnore]
    public string SerialNumber => Identity?.SerialNumber is { Length: > 0 } reported ? reported
        : DiskUri.IsOne(Uri) && DiskUri.Parse(Uri).Kind == DiskKind.Block ? "" : Id.ToString("N")[16..].ToUpperInvariant();

    /// <summary>Whether the user accepts a RAID below the disk.</summary>
    public bool IsForced { get; set; }

    /// <summary>Profile of an emulated disk, or empty.</summary>
    public string LatencyProfile { get; set; } = "";

    /// <summary>Identity of the member that it was when it was last there; empty when it was none. It tells what is away when a host starts.</summary>
    public Guid LastMember { get; set; }

    /// <summary>The disk, while it is open and no pool owns it.</summary>
    [JsonIgnore]
    public IDisk? Disk { get; set; }

    /// <summary>The disk as it was last opened, whether or not a pool owns it now.</summary>
    [JsonIgnore]
    public MeteredDisk? LastOpened { get; set; }

    /// <summary>Of a copy: what the disk had counted at that moment, as the devices that it was; null for one that was never opened.</summary>
    [JsonIgnore]
    internal IoCounters? Counters { get; private set; }

    /// <summary>The paths of the disk as it was last opened.</summary>
    [JsonIgnore]
    internal MultipathDisk? Paths { get; set; }

    /// <summary>Paths that are further names of a device which is open by another path.</summary>
    [JsonIgnore]
    internal HashSet<string> Aliases { get; private set; } = [];

    /// <summary>Paths that are reported as failed.</summary>
    [JsonIgnore]
    internal HashSet<string> FailedUris { get; } = [];

    /// <summary>Paths that work; of a copy of the disk at the moment of the copy.</summary>
    [JsonIgnore]
    internal IReadOnlyList<string> WorkingUris { get; private set; } = [];

    /// <summary>Whether its paths are being looked for right now.</summary>
    [JsonIgnore]
    internal bool IsPathLookedFor { get; set; }

    /// <summary>Time of the next search for paths of the open disk, on the lane's clock.</summary>
    [JsonIgnore]
    internal long NextPathLookNs { get; set; }

    /// <summary>Whether it is being looked for right now, because it was not there.</summary>
    [JsonIgnore]
    internal bool IsLookedFor { get; set; }

    /// <summary>Time of the next search for the disk, on the lane's clock.</summary>
    [JsonIgnore]
    internal long NextLookNs { get; set; }

    /// <summary>The emulated disk as it was last opened, whether or not a pool owns it now; null for others.</summary>
    [JsonIgnore]
    public EmulatedDisk? Emulated { get; set; }

    /// <summary>Faults that an emulated disk shows while this host runs, also after it is reopened.</summary>
    [JsonIgnore]
    public EmulatedFault Fault { get; set; } = EmulatedFault.None;

    /// <summary>Identity that the system reported when the disk was last opened.</summary>
    [JsonIgnore]
    public DiskIdentity? Identity { get; set; }

    /// <summary>Content that the last scan found on the disk.</summary>
    [JsonIgnore]
    public PoolScan? Scan { get; set; }

    /// <summary>Reason why the disk could not be opened or used; empty if it could.</summary>
    [JsonIgnore]
    public string Problem { get; set; } = "";

    /// <summary>Kind of <see cref="Problem"/>, while there is one.</summary>
    [JsonIgnore]
    internal CannotPoolKind ProblemKind { get; set; } = CannotPoolKind.NotHealthy;

    /// <summary>Whether it is of another history of a pool that is open: no member of the pool, whatever its label says.</summary>
    [JsonIgnore]
    public bool IsSplit { get; set; }

    /// <summary>Whether another device carries its disk identity, so that it is not used: see <see cref="DiskCopies"/>.</summary>
    [JsonIgnore]
    internal CopyState Copy { get; set; }

    /// <summary>Whether it is the device of its disk identity that served last since the host started.</summary>
    [JsonIgnore]
    internal bool HasServed { get; set; }

    /// <summary>Whether it was refused as a copy, is none any more, and waits to be used.</summary>
    [JsonIgnore]
    internal bool IsReleased { get; set; }

    /// <summary>A process that has ended has it open still.</summary>
    [JsonIgnore]
    public bool IsStillHeld { get; set; }

    /// <summary>Returns the disk as it is now; called on the lane.</summary>
    internal RegisteredDisk Clone()
    {
        RegisteredDisk copy = (RegisteredDisk)MemberwiseClone();
        copy.OtherUris = [.. OtherUris];
        copy.Counters = LastOpened?.LifetimeCounters();
        copy.WorkingUris = Paths is not { IsPresent: true } paths ? []
            : [.. Uris.Where(uri => Aliases.Contains(uri) || paths.Paths.Any(path => path.Uri == uri && path.IsUsable))];
        return copy;
    }
}

/// <summary>The list of registered disks in the host's state: a convenience for finding members again, never truth about a pool.</summary>
internal sealed class DiskRegistry(StateFolder state)
{
    private const string FileName = "disks.json";

    internal List<RegisteredDisk> Disks { get; private set; } = [];

    internal int NextDeviceId => Disks.Count == 0 ? 0 : Disks.Max(disk => disk.DeviceId) + 1;

    /// <summary>
    /// Reads the list. Of one that cannot be read, in whole or in part, that is left out and named in what is returned: those disks are
    /// registered again by hand.
    /// </summary>
    internal async LaneTask<string> Load()
    {
        byte[]? content = await state.ReadFile(FileName);
        try
        {
            List<RegisteredDisk> read = content is null ? [] : JsonSerializer.Deserialize(content, RegistryJson.Default.ListRegisteredDisk) ?? [];
            Disks = read.FindAll(IsWhole);
            return Disks.Count == read.Count
                ? ""
                : $"{read.Count - Disks.Count} of {read.Count} entries in the list of registered disks name no disk; register those disks again.";
        }
        catch (JsonException damage)
        {
            Disks = [];
            return $"The list of registered disks cannot be read ({damage.Message}); register them again.";
        }
    }

    // JSON fills in what is missing, and null where it says so, whatever the type promises.
    private static bool IsWhole(RegisteredDisk? disk)
    {
        if (disk is null || disk.Uri is null || disk.FriendlyName is null || disk.DeviceId is < 0 or int.MaxValue || !DiskUri.IsOne(disk.Uri))
        {
            return false;
        }

        disk.OtherUris = (disk.OtherUris ?? []).FindAll(static uri => uri is not null && DiskUri.IsOne(uri));
        disk.Description ??= "";
        disk.LatencyProfile ??= "";
        disk.FaultDomainPath ??= "";
        disk.Overrides ??= new DiskOverrides();
        return true;
    }

    /// <summary>Writes the list as it is now. Of two calls the later one decides what the file holds.</summary>
    /// <exception cref="IOException">It could not be made durable, or not in time.</exception>
    internal LaneTask<Nothing> Save() => state.WriteFile(FileName, JsonSerializer.SerializeToUtf8Bytes(Disks, RegistryJson.Default.ListRegisteredDisk));
}

[JsonSourceGenerationOptions(WriteIndented = true, PropertyNamingPolicy = JsonKnownNamingPolicy.CamelCase)]
[JsonSerializable(typeof(List<RegisteredDisk>))]
internal sealed partial class RegistryJson : JsonSerializerContext;
