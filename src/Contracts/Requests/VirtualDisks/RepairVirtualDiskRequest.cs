namespace TierSpaces.Contracts;

/// <summary>Repairs virtual disks.</summary>
[Verb(
    "Repair-VirtualDisk",
    "Repairs virtual disks: brings copies that are behind up to date, verifies every copy of every block and heals what is wrong.",
    DefaultSet = "ByFriendlyName", ChangesState = true, IsIdempotent = true, JobName = "Repair")]
public sealed record RepairVirtualDiskRequest : StorageRequest<VirtualDiskInfo>
{
    [VerbParameter(
        "Friendly name; wildcards are accepted.", Sets = "ByFriendlyName", Required = true, Position = 0,
        Pipeline = PipelineBinding.ByPropertyName)]
    public string[]? FriendlyName { get; init; }

    [VerbParameter(
        "Unique identifier; wildcards are accepted.", Sets = "ByUniqueId", Required = true,
        Pipeline = PipelineBinding.ByPropertyName, Aliases = "Id")]
    public string[]? UniqueId { get; init; }

    [VerbParameter(
        "Name; wildcards are accepted.", Sets = "ByName", Required = true, Pipeline = PipelineBinding.ByPropertyName)]
    public string[]? Name { get; init; }

    [VerbParameter(
        "The objects themselves, named by unique identifier or friendly name.", Sets = "InputObject (cdxml)",
        Required = true, Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_VirtualDisk")]
    public string[]? InputObject { get; init; }

    [VerbParameter(
        "Gives up blocks in doubt that only physical disks which are missing and retired may have: they are lost, and what else those disks held is rebuilt on "
        + "others. An extension: Windows has no such parameter.")]
    public bool Force { get; init; }

    [VerbParameter("Returns the object.")]
    public bool PassThru { get; init; }
}
