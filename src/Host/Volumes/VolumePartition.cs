namespace TierSpaces.Host.Volumes;

/// <summary>A partition.</summary>
internal sealed record VolumePartition
{
    /// <summary>GPT attribute: read-only.</summary>
    public const int ReadOnlyBit = 60;

    /// <summary>GPT attribute: a shadow copy.</summary>
    public const int ShadowCopyBit = 61;

    /// <summary>GPT attribute: hidden.</summary>
    public const int HiddenBit = 62;

    /// <summary>GPT attribute: no drive letter by itself.</summary>
    public const int NoDriveLetterBit = 63;

    /// <summary>Number in its table, from 1.</summary>
    public required int Number { get; init; }

    /// <summary>Offset in bytes.</summary>
    public required long Offset { get; init; }

    /// <summary>Size in bytes.</summary>
    public required long Size { get; init; }

    /// <summary>Device of the partition, for example <c>/dev/loop3p1</c>.</summary>
    public required string Node { get; init; }

    /// <summary>Name of it in records: its GUID in a GPT; in an MBR its offset in the form of one.</summary>
    public required string Key { get; init; }

    /// <summary>Type in a GPT, a GUID in braces; null in an MBR.</summary>
    public string? GptType { get; init; }

    /// <summary>Type in an MBR; null in a GPT.</summary>
    public int? MbrType { get; init; }

    /// <summary>Identifier in a GPT, in braces; null in an MBR.</summary>
    public string? Guid { get; init; }

    /// <summary>Numbers of the GPT attributes that are set.</summary>
    public IReadOnlySet<int> Attributes { get; init; } = new HashSet<int>();

    /// <summary>Whether an MBR marks it active.</summary>
    public bool IsActive { get; init; }

    /// <summary>Its file system; null where none is recognized.</summary>
    public FoundFileSystem? FileSystem { get; init; }

    /// <summary>First byte behind it.</summary>
    public long End => Offset + Size;

    /// <summary>Whether it is hidden: it has no access paths.</summary>
    public bool IsHidden => MbrType is { } type ? PartitionType.IsHidden(type) : Attributes.Contains(HiddenBit);

    /// <summary>Whether it is mounted read-only.</summary>
    public bool IsReadOnly => Attributes.Contains(ReadOnlyBit);
}
