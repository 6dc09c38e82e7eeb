namespace TierSpaces.Engine.Resiliency;

/// <summary>Blocks and checksum pages of a space that were found wrong, and what became of them.</summary>
public sealed class SpaceDamageCounters
{
    /// <summary>Blocks whose data did not match their entry on some copy.</summary>
    public long ChecksumMismatches { get; private set; }

    /// <summary>Blocks rewritten from another copy.</summary>
    public long BlocksHealed { get; private set; }

    /// <summary>Blocks that no copy could give.</summary>
    public long BlocksLost { get; private set; }

    /// <summary>Blocks whose copies were found to differ in a clean region without checksums.</summary>
    public long BlocksDiffering { get; private set; }

    /// <summary>Sectors of checksum pages found damaged on a copy.</summary>
    public long PageSectorsWrong { get; private set; }

    /// <summary>A copy of a block, or of a page, did not match.</summary>
    internal void NoteMismatch() => ChecksumMismatches++;

    /// <summary>A copy of a block was rewritten.</summary>
    internal void NoteHealed(int blocks = 1) => BlocksHealed += blocks;

    /// <summary>No copy could give a block.</summary>
    internal void NoteLost() => BlocksLost++;

    /// <summary>The copies of a block differ.</summary>
    internal void NoteDiffering() => BlocksDiffering++;

    /// <summary>Sectors of a checksum page are damaged on a copy.</summary>
    internal void NoteWrongSectors(int sectors) => PageSectorsWrong += sectors;

    internal void Add(SpaceDamageCounters other)
    {
        ChecksumMismatches += other.ChecksumMismatches;
        BlocksHealed += other.BlocksHealed;
        BlocksLost += other.BlocksLost;
        BlocksDiffering += other.BlocksDiffering;
        PageSectorsWrong += other.PageSectorsWrong;
    }
}
