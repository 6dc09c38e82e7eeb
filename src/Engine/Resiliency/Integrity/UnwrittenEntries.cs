namespace TierSpaces.Engine.Resiliency;

// Invariants
//  1. The copies on disk have every entry of a log block before the oldest.
//  2. The oldest is 0 when they have all entries.

/// <summary>The log blocks with entries of a page that its copies on disk lack.</summary>
internal struct UnwrittenEntries
{
    private ulong _latest;   // latest log block with an entry of the page

    /// <summary>Oldest log block with an entry that the copies on disk lack; 0: none.</summary>
    internal ulong Oldest { get; private set; }

    /// <summary>An entry was appended to a log block.</summary>
    internal void NoteAppended(ulong sequence)
    {
        _latest = sequence;
        if (Oldest == 0)
        {
            Oldest = sequence;
        }
    }

    /// <summary>The log has entries in these blocks that the page was read without.</summary>
    internal void NoteFound(ulong oldest, ulong latest) => (Oldest, _latest) = (oldest, latest);

    /// <summary>The copies on disk are as of a log block.</summary>
    internal void NoteWritten(ulong sequence) => Oldest = _latest > sequence ? sequence + 1 : 0;

    /// <summary>The copies on disk are to be written again, as of a log block.</summary>
    internal void Require(ulong sequence) => Oldest = Math.Max(1, sequence);

    /// <summary>No entry of the page needs to reach a disk.</summary>
    internal void Forget() => Oldest = 0;
}
