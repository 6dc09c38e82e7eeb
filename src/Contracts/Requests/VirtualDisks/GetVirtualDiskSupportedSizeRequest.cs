namespace TierSpaces.Contracts;

/// <summary>Tells which sizes of virtual disk a pool supports.</summary>
[Verb("Get-VirtualDiskSupportedSize", "Tells which sizes of virtual disk a pool supports.", DefaultSet = "ByFriendlyName")]
public sealed record GetVirtualDiskSupportedSizeRequest : StorageRequest<SupportedSizeInfo>
{
    [VerbParameter(
        "Friendly name of the pool; wildcards are accepted.", Sets = "ByFriendlyName", Required = true, Position = 0,
        Pipeline = PipelineBinding.ByPropertyName, Aliases = "FriendlyName")]
    public string[]? StoragePoolFriendlyName { get; init; }

    [VerbParameter("Simple, Mirror or Parity.", Pipeline = PipelineBinding.ByPropertyName, Aliases = "Name", Suggestions = "Simple, Mirror, Parity")]
    public string? ResiliencySettingName { get; init; }

    [VerbParameter(
        "Unique identifier of the pool; wildcards are accepted.", Sets = "ByUniqueId", Required = true,
        Pipeline = PipelineBinding.ByPropertyName, Aliases = "StoragePoolId, UniqueId")]
    public string[]? StoragePoolUniqueId { get; init; }

    [VerbParameter(
        "Name of the pool; wildcards are accepted.", Sets = "ByName", Required = true,
        Pipeline = PipelineBinding.ByPropertyName)]
    public string[]? StoragePoolName { get; init; }

    [VerbParameter(
        "The objects themselves, named by unique identifier or friendly name.", Sets = "InputObject (cdxml)",
        Required = true, Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_StoragePool")]
    public string[]? InputObject { get; init; }

    [VerbParameter(
        "Type of the fault domains that hold at most one copy of a block; default is that of the pool.")]
    public FaultDomainType? FaultDomainAwareness { get; init; }
}
