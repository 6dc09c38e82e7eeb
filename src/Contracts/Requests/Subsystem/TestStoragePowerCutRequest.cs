namespace TierSpaces.Contracts;

/// <summary>Proves on emulated disks what a layout promises about power cuts.</summary>
[Verb(
    "Test-StoragePowerCut",
    "Builds a virtual disk on emulated disks with a volatile cache, cuts their power at random points under load, and verifies every sector.",
    DefaultSet = "ByLayout", IsOurs = true)]
public sealed record TestStoragePowerCutRequest : StorageRequest<StoragePowerCutInfo>
{
    [VerbParameter("Simple, Mirror or Parity; default is Mirror.", Sets = "ByLayout", Position = 0, Suggestions = "Simple, Mirror, Parity")]
    public string? ResiliencySettingName { get; init; }

    [VerbParameter("Copies of the data: 1, 2 or 3.", Sets = "ByLayout")]
    public ushort? NumberOfDataCopies { get; init; }

    [VerbParameter("Disks that may fail without loss of data: 0, 1 or 2.", Sets = "ByLayout")]
    public ushort? PhysicalDiskRedundancy { get; init; }

    [VerbParameter("Columns that data is striped over, 1 to 8.", Sets = "ByLayout")]
    public ushort? NumberOfColumns { get; init; }

    [VerbParameter(
        "Size of one strip in bytes: a power of two from 16 KB to 1 MB (default 256 KB).", Sets = "ByLayout", Kind = ParameterKind.Size)]
    public ulong? Interleave { get; init; }

    [VerbParameter(
        "Logical sector size in bytes, 512 or 4096 (default); the emulated disks have the same, and it is what a cut leaves whole.",
        Sets = "ByLayout", Kind = ParameterKind.Size, Suggestions = "512, 4096")]
    public ulong? LogicalSectorSize { get; init; }

    [VerbParameter("Fixed (all slabs at creation) or Thin (slabs on first write).", Sets = "ByLayout")]
    public ProvisioningType? ProvisioningType { get; init; }

    [VerbParameter("Checksum kept of every block, CRC32C unless said otherwise.", Sets = "ByLayout")]
    public ChecksumKind? Checksum { get; init; }

    [VerbParameter(
        "Friendly name of a virtual disk whose layout is tried; wildcards are accepted. The virtual disk itself is not touched.",
        Sets = "ByFriendlyName", Required = true)]
    public string[]? FriendlyName { get; init; }

    [VerbParameter(
        "Unique identifier of a virtual disk whose layout is tried; wildcards are accepted.", Sets = "ByUniqueId", Required = true,
        Aliases = "Id")]
    public string[]? UniqueId { get; init; }

    [VerbParameter(
        "Virtual disks whose layouts are tried, named by unique identifier or friendly name.", Sets = "ByObject", Required = true,
        Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_VirtualDisk")]
    public string[]? InputObject { get; init; }

    [VerbParameter(
        "Size of the emulated virtual disk in bytes, at most 64 MB; default is 4 MB. Rounded up to whole rows.", Kind = ParameterKind.Size)]
    public ulong? Size { get; init; }

    [VerbParameter("Power cuts, 1 to 100000; default is 100.")]
    public uint? Cuts { get; init; }

    [VerbParameter("Decides everything that is random, 0 to 4294967295: the same seed cuts at the same points. Default is another one each time.")]
    public uint? Seed { get; init; }

    [VerbParameter("Seconds after which the test ends with what it has found, 1 to 86400; default is 600.")]
    public uint? TimeLimitSeconds { get; init; }

    [VerbParameter("Plants a fault: the disks acknowledge flushes and carry none out. The test has to report violations then.")]
    public bool FlushLies { get; init; }
}
