using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Journals;

namespace TierSpaces.Engine.Resiliency;

/// <summary>Checksum entries that changed since the last flush round captured them, by page; and those that a round has captured.</summary>
internal sealed class ChangedEntries
{
    private readonly List<ChecksumPage> _pages = [];
    private long _bytes;                 // what logging all of them takes
    private long _bytesMax = long.MaxValue;
    private bool _marks;           // marks of lost blocks are among the changes
    private bool _capturedMarks;   // marks are among what the running round has captured

    /// <summary>Entries captured by the round that is running.</summary>
    internal List<CapturedEntry> Captured { get; } = [];

    /// <summary>Whether logging them takes so much of the log that writes flush first.</summary>
    internal bool IsFull => _bytes > _bytesMax;

    /// <summary>Log blocks that the captured entries take at most.</summary>
    internal int CapturedBlocks =>
        2 + (Captured.Count * (IntegrityRecord.EntrySize + IntegrityRecord.EntriesHeaderSize) / (JournalBlock.PayloadCapacity - 512));

    /// <summary>Bounds the changes by the size of the log.</summary>
    internal void BoundBy(Journal journal) => _bytesMax = (long)journal.Blocks / 4 * (JournalBlock.PayloadCapacity / 2);

    /// <summary>Whether a mark of a lost block, or of one in doubt, is not durable yet: no region is marked dirty before it is.</summary>
    internal bool HasMarks => _marks || _capturedMarks;

    /// <summary>Records that a block of a page was marked as lost or in doubt.</summary>
    internal void NoteMark(ChecksumPage page)
    {
        _marks = true;
        Note(page, 1);
    }

    /// <summary>The captured entries are durable.</summary>
    internal void NoteLogged() => _capturedMarks = false;

    /// <summary>Records that entries of a page have changed.</summary>
    internal void Note(ChecksumPage page, int count)
    {
        if (page.TryList())
        {
            _pages.Add(page);
            _bytes += IntegrityRecord.EntriesHeaderSize;
        }

        _bytes += count * IntegrityRecord.EntrySize;
    }

    /// <summary>Enters what a resync concluded about blocks: contents, or marks. The pages were pinned for each entry, and are released.</summary>
    internal void Take(List<CapturedEntry> taken)
    {
        foreach (CapturedEntry entry in taken)
        {
            if (entry.Generation == ChecksumSector.Marked)
            {
                entry.Page.Mark(entry.Block, entry.Checksum);
                _marks = true;
            }
            else if (entry.Generation == ChecksumSector.Poisoned)
            {
                entry.Page.Poison(entry.Block);
            }
            else
            {
                entry.Page.Set(entry.Block, entry.Checksum);
            }

            Note(entry.Page, 1);
            entry.Page.Unpin();
        }
    }

    /// <summary>Forgets a page whose row is given back.</summary>
    internal void Forget(ChecksumPage page)
    {
        if (page.TryUnlist())
        {
            _pages.Remove(page);
        }
    }

    /// <summary>Captures all changed entries; returns whether one of them turns a never-written block into a written one.</summary>
    internal bool Capture()
    {
        foreach (ChecksumPage page in _pages)
        {
            page.Capture(Captured);
        }

        _pages.Clear();
        _bytes = 0;
        _capturedMarks |= _marks;
        _marks = false;
        foreach (CapturedEntry entry in Captured)
        {
            if (entry.Page.IsUnlogged(entry.Block))
            {
                return true;
            }
        }

        return false;
    }
}
