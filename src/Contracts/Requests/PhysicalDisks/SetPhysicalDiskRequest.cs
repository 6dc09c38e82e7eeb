namespace TierSpaces.Contracts;

/// <summary>Changes attributes of physical disks.</summary>
[Verb("Set-PhysicalDisk", "Changes attributes of physical disks.", DefaultSet = "ByUniqueId", ChangesState = true)]
public sealed record SetPhysicalDiskRequest : StorageRequest<PhysicalDiskInfo>
{
    [VerbParameter(
        "Unique identifier; wildcards are accepted.", Sets = "ByUniqueId", Required = true,
        Pipeline = PipelineBinding.ByPropertyName, Aliases = "Id")]
    public string? UniqueId { get; init; }

    [VerbParameter(
        "The objects themselves, named by unique identifier or friendly name.", Sets = "ByObject", Required = true,
        Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_PhysicalDisk")]
    public string[]? InputObject { get; init; }

    [VerbParameter(
        "Friendly name; wildcards are accepted.", Sets = "ByFriendlyName", Required = true, Position = 0,
        Pipeline = PipelineBinding.ByPropertyName)]
    public string? FriendlyName { get; init; }

    [VerbParameter("The new friendly name.")]
    public string? NewFriendlyName { get; init; }

    [VerbParameter("Free text that describes the disk.")]
    public string? Description { get; init; }

    [VerbParameter("Specifies the usage of the disk in its pool.", Except = "Unknown")]
    public PhysicalDiskUsage? Usage { get; init; }

    [VerbParameter("Kind of medium.", Except = "Unspecified")]
    public MediaType? MediaType { get; init; }

    [VerbParameter("Hides the disk from listings.", Refused = "Disks cannot be hidden.", IsUndocumented = true)]
    public bool? IsHidden { get; init; }

    [VerbParameter(
        "Enclosure that the disk is in, by unique identifier, friendly name or number; empty: not known.", NamedClass = "MSFT_StorageEnclosure",
        IsUndocumented = true)]
    public string? StorageEnclosureId { get; init; }

    [VerbParameter("Name of the scale unit (node) that the disk is in; empty: not known.", IsUndocumented = true)]
    public string? StorageScaleUnitId { get; init; }

    [VerbParameter("Name of the chassis that the disk is in; empty: not known.", IsOurs = true)]
    public string? StorageChassisId { get; init; }

    [VerbParameter("Name of the rack that the disk is in; empty: not known.", IsOurs = true)]
    public string? StorageRackId { get; init; }

    [VerbParameter("Number of the enclosure that the disk is in.", IsOurs = true)]
    public ushort? EnclosureNumber { get; init; }

    [VerbParameter("Slot of the disk in its enclosure.", IsOurs = true)]
    public ushort? SlotNumber { get; init; }
}
