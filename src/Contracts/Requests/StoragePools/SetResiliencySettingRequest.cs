namespace TierSpaces.Contracts;

/// <summary>Changes defaults of resiliency settings.</summary>
[Verb("Set-ResiliencySetting", "Changes defaults of resiliency settings.", DefaultSet = "ByName", ChangesState = true)]
public sealed record SetResiliencySettingRequest : StorageRequest<ResiliencySettingInfo>
{
    [VerbParameter("Name; wildcards are accepted.", Sets = "ByName", Required = true)]
    public string[]? Name { get; init; }

    [VerbParameter(
        "The storage pool, by friendly name or unique identifier.", Sets = "ByName", Required = true,
        Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_StoragePool")]
    public string? StoragePool { get; init; }

    [VerbParameter(
        "Unique identifier; wildcards are accepted.", Sets = "ByUniqueId", Required = true,
        Pipeline = PipelineBinding.ByPropertyName, Aliases = "Id")]
    public string[]? UniqueId { get; init; }

    [VerbParameter(
        "The objects themselves, named by unique identifier or friendly name.", Sets = "InputObject (cdxml)",
        Required = true, Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_ResiliencySetting")]
    public string[]? InputObject { get; init; }

    [VerbParameter("Default number of copies.")]
    public ushort? NumberOfDataCopiesDefault { get; init; }

    [VerbParameter("Default number of disks that may fail without loss of data.")]
    public ushort? PhysicalDiskRedundancyDefault { get; init; }

    [VerbParameter("Default number of columns.")]
    public ushort? NumberOfColumnsDefault { get; init; }

    [VerbParameter("Chooses the number of columns from the disks that are there, at most 8.")]
    public bool AutoNumberOfColumns { get; init; }

    [VerbParameter("Default size of one strip in bytes: a power of two from 16 KB to 16 MB.", Kind = ParameterKind.Size)]
    public ulong? InterleaveDefault { get; init; }

    [VerbParameter(
        "Default number of groups of a local reconstruction code.",
        Refused = "Local reconstruction codes are not available.", Default = "1")]
    public ushort? NumberOfGroupsDefault { get; init; }

    [VerbParameter("Returns the object.")]
    public bool PassThru { get; init; }
}
