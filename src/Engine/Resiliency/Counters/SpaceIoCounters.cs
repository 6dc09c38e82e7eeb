namespace TierSpaces.Engine.Resiliency;

/// <summary>Traffic of a space: requests that were split, and bytes that member disks took and gave.</summary>
public sealed class SpaceIoCounters
{
    /// <summary>Reads and writes that were taken apart because they cross a strip or a row.</summary>
    public long Splits { get; private set; }

    /// <summary>Bytes of data read from member disks.</summary>
    public long DataBytesRead { get; private set; }

    /// <summary>Bytes of data written to member disks.</summary>
    public long DataBytesWritten { get; private set; }

    /// <summary>Reads of checksum pages from member disks.</summary>
    public long MetadataReads { get; private set; }

    /// <summary>Bytes of checksum pages read from member disks.</summary>
    public long MetadataBytesRead { get; private set; }

    /// <summary>Writes of checksum pages and log to member disks, one for each copy.</summary>
    public long MetadataWrites { get; private set; }

    /// <summary>Bytes of checksum pages and log written to member disks.</summary>
    public long MetadataBytesWritten { get; private set; }

    /// <summary>Flush rounds.</summary>
    public long Flushes { get; private set; }

    /// <summary>A request is taken apart.</summary>
    internal void NoteSplit() => Splits++;

    /// <summary>A member disk is asked for data.</summary>
    internal void NoteRead(int bytes) => DataBytesRead += bytes;

    /// <summary>A member disk is given data.</summary>
    internal void NoteWrite(int bytes) => DataBytesWritten += bytes;

    /// <summary>A member disk was given checksum pages or log.</summary>
    internal void NoteMetadata(long bytes, long writes = 1)
    {
        MetadataWrites += writes;
        MetadataBytesWritten += bytes;
    }

    /// <summary>A member disk is asked for checksum pages.</summary>
    internal void NoteMetadataRead(long bytes)
    {
        MetadataReads++;
        MetadataBytesRead += bytes;
    }

    /// <summary>A flush round begins.</summary>
    internal void NoteFlush() => Flushes++;

    internal void Add(SpaceIoCounters other)
    {
        Splits += other.Splits;
        DataBytesRead += other.DataBytesRead;
        DataBytesWritten += other.DataBytesWritten;
        MetadataReads += other.MetadataReads;
        MetadataBytesRead += other.MetadataBytesRead;
        MetadataWrites += other.MetadataWrites;
        MetadataBytesWritten += other.MetadataBytesWritten;
        Flushes += other.Flushes;
    }
}
