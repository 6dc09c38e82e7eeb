namespace TierSpaces.Engine.Resiliency;

/// <summary>Copies of a space made equal after an unclean stop, and whole after a disk was away.</summary>
public sealed class SpaceRepairCounters
{
    /// <summary>Regions made equal after an unclean stop.</summary>
    public long RegionsResynced { get; private set; }

    /// <summary>Blocks whose value was found after an unclean stop and was not the one of their entry.</summary>
    public long BlocksRecovered { get; private set; }

    /// <summary>
    /// Blocks of regions that were dirty that were taken without proof: after a stop of the machine a value that matches no entry, without checksums what the
    /// first copy held where copies differed.
    /// </summary>
    public long BlocksAdopted { get; private set; }

    /// <summary>Stale regions that hold their data again.</summary>
    public long RegionsRepaired { get; private set; }

    /// <summary>Bytes of data written to stale copies to make them whole.</summary>
    public long RepairBytesWritten { get; private set; }

    /// <summary>Bytes of stale copies that were compared with their checksums, because it was not known whether they differ.</summary>
    public long RepairBytesCompared { get; private set; }

    /// <summary>Copies of the integrity log made whole.</summary>
    public long LogCopiesRepaired { get; private set; }

    /// <summary>The copies of a region are equal.</summary>
    internal void NoteResynced() => RegionsResynced++;

    /// <summary>Values of blocks were found.</summary>
    internal void NoteRecovered(int blocks) => BlocksRecovered += blocks;

    /// <summary>Blocks were taken without proof.</summary>
    internal void NoteAdopted(int blocks) => BlocksAdopted += blocks;

    /// <summary>Regions are not stale any more.</summary>
    internal void NoteRepaired(int regions) => RegionsRepaired += regions;

    /// <summary>A stale copy is given data.</summary>
    internal void NoteWrite(int bytes) => RepairBytesWritten += bytes;

    /// <summary>A stale copy is compared.</summary>
    internal void NoteCompared(int bytes) => RepairBytesCompared += bytes;

    /// <summary>Copies of the integrity log are whole.</summary>
    internal void NoteLogCopies(long copies) => LogCopiesRepaired += copies;

    internal void Add(SpaceRepairCounters other)
    {
        RegionsResynced += other.RegionsResynced;
        BlocksRecovered += other.BlocksRecovered;
        BlocksAdopted += other.BlocksAdopted;
        RegionsRepaired += other.RegionsRepaired;
        RepairBytesWritten += other.RepairBytesWritten;
        RepairBytesCompared += other.RepairBytesCompared;
        LogCopiesRepaired += other.LogCopiesRepaired;
    }
}
