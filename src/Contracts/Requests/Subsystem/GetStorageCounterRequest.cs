namespace TierSpaces.Contracts;

/// <summary>Lists counters of virtual and physical disks.</summary>
[Verb("Get-StorageCounter", "Lists counters of virtual and physical disks.", DefaultSet = "ByVirtualDisk", IsOurs = true)]
public sealed record GetStorageCounterRequest : StorageRequest<StorageCounterInfo>
{
    [VerbParameter(
        "Virtual disks, by friendly name or unique identifier; default is every disk.", Sets = "ByVirtualDisk", Position = 0,
        Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_VirtualDisk")]
    public string[]? VirtualDisk { get; init; }

    [VerbParameter(
        "Performance counter sets of Windows to print for the virtual disks, by name; wildcards are accepted. Takes a second.", Sets = "ByVirtualDisk",
        Suggestions =
            "StorageSpacesDrt, StorageSpacesTier, StorageSpacesVirtualDisk, StorageSpacesVirtualDiskIo, StorageSpacesVirtualDiskMap, StorageSpacesWriteCache")]
    public string[]? CounterSet { get; init; }

    [VerbParameter(
        "Physical disks, by friendly name or unique identifier.", Sets = "ByPhysicalDisk", Required = true,
        Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_PhysicalDisk")]
    public string[]? PhysicalDisk { get; init; }
}
