namespace TierSpaces.Contracts;

/// <summary>Erases what pools and other software wrote on a physical disk, so that it can be pooled.</summary>
[Verb(
    "Reset-PhysicalDisk", "Erases what pools and other software wrote on a physical disk, so that it can be pooled.",
    DefaultSet = "ByName", ChangesState = true, Destroys = true)]
public sealed record ResetPhysicalDiskRequest : StorageRequest<PhysicalDiskInfo>
{
    [VerbParameter(
        "Friendly name; wildcards are accepted.", Sets = "ByName", Required = true, Position = 0,
        Pipeline = PipelineBinding.ByValue)]
    public string? FriendlyName { get; init; }

    [VerbParameter(
        "Unique identifier; wildcards are accepted.", Sets = "ByUniqueId", Required = true,
        Pipeline = PipelineBinding.ByValue, Aliases = "Id")]
    public string? UniqueId { get; init; }

    [VerbParameter(
        "The objects themselves, named by unique identifier or friendly name.", Sets = "ByInputObject", Required = true,
        Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_PhysicalDisk")]
    public string[]? InputObject { get; init; }

    [VerbParameter(
        "Image files or block devices, registered or not; a relative path counts from the current directory.", Sets = "ByPath", Required = true,
        Kind = ParameterKind.Path, IsOurs = true)]
    public string[]? Path { get; init; }
}
