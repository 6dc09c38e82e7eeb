namespace TierSpaces.Engine.Resiliency;

/// <summary>Slabs and rows of a space that changed their place or owner.</summary>
public sealed class SpaceRowCounters
{
    /// <summary>Slabs moved to another disk.</summary>
    public long SlabsMoved { get; private set; }

    /// <summary>Rows made ready for their first write.</summary>
    public long RowsMade { get; private set; }

    /// <summary>Slabs of them.</summary>
    public long SlabsMade { get; private set; }

    /// <summary>Bytes of data of them, without redundancy.</summary>
    public long BytesMade { get; private set; }

    /// <summary>Time that making them took, in nanoseconds.</summary>
    public long MakeNsTotal { get; private set; }

    /// <summary>Rows given back.</summary>
    public long RowsFreed { get; private set; }

    /// <summary>Bytes of columns that clients gave back within rows, and that were punched or discarded on the disks.</summary>
    public long BytesPunched { get; private set; }

    /// <summary>A slab is on another disk.</summary>
    internal void NoteMoved() => SlabsMoved++;

    /// <summary>A row is ready for its first write.</summary>
    internal void NoteMade(int slabs, long bytes, long nanoseconds)
    {
        RowsMade++;
        SlabsMade += slabs;
        BytesMade += bytes;
        MakeNsTotal += nanoseconds;
    }

    /// <summary>A row was given back.</summary>
    internal void NoteFreed() => RowsFreed++;

    /// <summary>Unmaps were passed down to the disks.</summary>
    internal void NotePunched(int bytes) => BytesPunched += bytes;

    internal void Add(SpaceRowCounters other)
    {
        SlabsMoved += other.SlabsMoved;
        RowsMade += other.RowsMade;
        SlabsMade += other.SlabsMade;
        BytesMade += other.BytesMade;
        MakeNsTotal += other.MakeNsTotal;
        RowsFreed += other.RowsFreed;
        BytesPunched += other.BytesPunched;
    }
}
