namespace TierSpaces.Contracts;

/// <summary>Makes emulated disks fail, to try out what a pool makes of it.</summary>
[Verb(
    "Set-EmulatedDiskFault", "Makes emulated physical disks fail, hang or answer slowly, in place of what they did wrong before.",
    DefaultSet = "ByFriendlyName", ChangesState = true, IsOurs = true)]
public sealed record SetEmulatedDiskFaultRequest : StorageRequest<PhysicalDiskInfo>
{
    [VerbParameter(
        "Friendly name; wildcards are accepted.", Sets = "ByFriendlyName", Required = true, Position = 0,
        Pipeline = PipelineBinding.ByPropertyName)]
    public string? FriendlyName { get; init; }

    [VerbParameter(
        "Unique identifier; wildcards are accepted.", Sets = "ByUniqueId", Required = true,
        Pipeline = PipelineBinding.ByPropertyName, Aliases = "Id")]
    public string? UniqueId { get; init; }

    [VerbParameter(
        "The objects themselves, named by unique identifier or friendly name.", Sets = "ByObject", Required = true,
        Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_PhysicalDisk")]
    public string[]? InputObject { get; init; }

    [VerbParameter("Reads in a million that fail with EIO, 0 to 1000000.")]
    public uint? ReadErrorsPerMillion { get; init; }

    [VerbParameter("Writes and flushes in a million that fail with EIO, 0 to 1000000.")]
    public uint? WriteErrorsPerMillion { get; init; }

    [VerbParameter("Reads in a million that come back with one bit changed, 0 to 1000000.")]
    public uint? BitFlipsPerMillion { get; init; }

    [VerbParameter("First byte of a range in which every read and write fails with EIO.", Kind = ParameterKind.Size)]
    public ulong? ErrorOffset { get; init; }

    [VerbParameter("Length of that range in bytes, 0 for none.", Kind = ParameterKind.Size)]
    public ulong? ErrorLength { get; init; }

    [VerbParameter("Specifies the factor of the time that every request takes, 1 to 1000000.")]
    public uint? SlowFactor { get; init; }

    [VerbParameter("Takes requests and does not answer them. They are done, late, when this fault ends.")]
    public bool Hang { get; init; }

    [VerbParameter("The disk is gone.")]
    public bool Pull { get; init; }

    [VerbParameter("No fault: the same as giving none, and not together with one.")]
    public bool Clear { get; init; }
}
