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

    [VerbParameter("What the pool uses the disk for.", Except = "Unknown")]
    public PhysicalDiskUsage? Usage { get; init; }

    [VerbParameter("Kind of medium.", Except = "Unspecified")]
    public MediaType? MediaType { get; init; }

    [VerbParameter("Hides the disk from listings.", Refused = "Disks cannot be hidden.", IsUndocumented = true)]
    public bool? IsHidden { get; init; }

    [VerbParameter("Enclosure the disk is in.", Refused = "Enclosures are not available.", IsUndocumented = true)]
    public string? StorageEnclosureId { get; init; }

    [VerbParameter("Scale unit the disk is in.", Refused = "Scale units are not available.", IsUndocumented = true)]
    public string? StorageScaleUnitId { get; init; }
}
