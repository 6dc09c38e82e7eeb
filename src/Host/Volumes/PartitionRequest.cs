using TierSpaces.Contracts;

namespace TierSpaces.Host.Volumes;

/// <summary>A partition to make.</summary>
internal sealed record PartitionRequest
{
    /// <summary>Bytes; null for all of the largest free extent.</summary>
    public long? Size { get; init; }

    /// <summary>Offset in bytes; null for the first one that fits.</summary>
    public long? Offset { get; init; }

    /// <summary>Bytes whose multiples it starts at; null for 1 MiB and the stripe of the virtual disk.</summary>
    public uint? Alignment { get; init; }

    /// <summary>Type in a GPT.</summary>
    public string GptType { get; init; } = PartitionType.BasicData;

    /// <summary>Type in an MBR.</summary>
    public MbrType MbrType { get; init; } = MbrType.Huge;

    /// <summary>Whether it has no access paths.</summary>
    public bool IsHidden { get; init; }

    /// <summary>Whether an MBR marks it active.</summary>
    public bool IsActive { get; init; }
}
