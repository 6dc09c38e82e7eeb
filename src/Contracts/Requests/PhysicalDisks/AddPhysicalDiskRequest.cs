namespace TierSpaces.Contracts;

/// <summary>Adds physical disks to a pool.</summary>
[Verb("Add-PhysicalDisk", "Adds physical disks to a pool.", ChangesState = true)]
public sealed record AddPhysicalDiskRequest : StorageRequest<PhysicalDiskInfo>
{
    [VerbParameter(
        "The storage pool, by friendly name or unique identifier.", Sets = "ByStoragePool", Required = true, Position = 0,
        Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_StoragePool")]
    public string? StoragePool { get; init; }

    [VerbParameter(
        "The physical disks, by friendly name or unique identifier; wildcards and lists are accepted.", Required = true,
        ObjectClass = "MSFT_PhysicalDisk")]
    public string[]? PhysicalDisks { get; init; }

    [VerbParameter(
        "Unique identifier of the virtual disk; wildcards are accepted.", Sets = "ByVirtualDiskUniqueId", Required = true,
        Refused = "Physical disks belong to storage pools; name the pool.")]
    public string? VirtualDiskUniqueId { get; init; }

    [VerbParameter(
        "Name of the virtual disk; wildcards are accepted.", Sets = "ByVirtualDiskName", Required = true,
        Refused = "Physical disks belong to storage pools; name the pool.")]
    public string? VirtualDiskName { get; init; }

    [VerbParameter(
        "Friendly name of the virtual disk; wildcards are accepted.", Sets = "ByVirtualDiskFriendlyName", Required = true,
        Refused = "Physical disks belong to storage pools; name the pool.")]
    public string? VirtualDiskFriendlyName { get; init; }

    [VerbParameter(
        "The virtual disk, by friendly name or unique identifier.", Sets = "ByVirtualDisk", Required = true, Position = 0,
        Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_VirtualDisk",
        Refused = "Physical disks belong to storage pools; name the pool.")]
    public string? VirtualDisk { get; init; }

    [VerbParameter("Unique identifier of the pool; wildcards are accepted.", Sets = "ByStoragePoolUniqueId", Required = true)]
    public string? StoragePoolUniqueId { get; init; }

    [VerbParameter("Name of the pool; wildcards are accepted.", Sets = "ByStoragePoolName", Required = true)]
    public string? StoragePoolName { get; init; }

    [VerbParameter("Friendly name of the pool; wildcards are accepted.", Sets = "ByStoragePoolFriendlyName", Required = true)]
    public string? StoragePoolFriendlyName { get; init; }

    [VerbParameter(
        "Specifies the usage of the disks in the pool.",
        Sets = "ByStoragePool, ByStoragePoolUniqueId, ByStoragePoolName, ByStoragePoolFriendlyName", Except = "Unknown")]
    public PhysicalDiskUsage? Usage { get; init; }
}
