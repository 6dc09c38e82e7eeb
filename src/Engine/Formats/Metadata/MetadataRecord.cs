namespace TierSpaces.Engine.Formats;

// The union of everything that changes a pool's state. One class per file, each with its own encoding.
//
// Frame:  kind u16 | version u8 | flags u8 | length u32 | body
//
// A reader takes the fields it knows and ignores the rest of the body, so fields may be appended without a new version.
// A version above the known one, or a kind that is not known, is refused unless the flag Skippable is set.

/// <summary>One change of a pool's state.</summary>
public abstract record MetadataRecord
{
    /// <summary>Number of the kind on disk; never reused.</summary>
    internal abstract RecordKind Kind { get; }

    /// <summary>Version of its frame: above 1 where a reader that does not know the newest fields must not go on.</summary>
    internal virtual byte Version => 1;

    /// <summary>Whether a release that does not know the record may ignore it.</summary>
    internal virtual bool IsSkippable => false;

    /// <summary>Writes the body.</summary>
    internal abstract void EncodeBody(ByteWriter to);
}

/// <summary>Kinds of record on disk.</summary>
internal enum RecordKind : ushort
{
    PoolCreated = 1,
    PoolChanged = 2,
    Counters = 3,
    DiskAdded = 16,
    DiskChanged = 17,
    DiskRemoved = 18,
    DiskHeld = 19,
    VirtualDiskCreated = 32,
    VirtualDiskChanged = 33,
    VirtualDiskRemoved = 34,
    SpaceCreated = 48,
    SpaceRemoved = 49,
    RowsMapped = 64,
    RowsFreed = 65,
    StaleMarked = 80,
    StaleCleared = 81,
    DiskStale = 82,
    Job = 96,
    SessionOpened = 112,
    TierTemplateSet = 128,
    TierTemplateRemoved = 129,
    SlicesMapped = 144,
    PinSet = 160,
    PinRemoved = 161,
}
