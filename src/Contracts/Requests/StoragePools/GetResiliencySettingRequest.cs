namespace TierSpaces.Contracts;

/// <summary>Lists the resiliency settings of storage pools.</summary>
[Verb("Get-ResiliencySetting", "Lists the resiliency settings of storage pools.", DefaultSet = "ByName")]
public sealed record GetResiliencySettingRequest : StorageRequest<ResiliencySettingInfo>
{
    [VerbParameter(
        "The storage pool, by friendly name or unique identifier.", Sets = "ByName", Pipeline = PipelineBinding.ByValue,
        ObjectClass = "MSFT_StoragePool")]
    public string? StoragePool { get; init; }

    [VerbParameter(
        "Unique identifier; wildcards are accepted.", Sets = "ByUniqueId", Pipeline = PipelineBinding.ByPropertyName,
        Aliases = "Id")]
    public string[]? UniqueId { get; init; }

    [VerbParameter("Name; wildcards are accepted.", Sets = "ByName")]
    public string[]? Name { get; init; }
}
