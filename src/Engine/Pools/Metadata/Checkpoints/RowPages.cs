using TierSpaces.Engine.Formats;

namespace TierSpaces.Engine.Pools;

// Bytes that a leaf of rows takes in a checkpoint, at most, by the number of its rows alone.
//
// The bound covers everything that can happen to rows that are there: each row has targets joining, each position has a stale mark, and no row
// follows another, so that each has a record of its own. A repair, a stale mark or a row that is freed therefore never needs a page more.
//
// Invariants
//  1. A leaf of PerPage rows fits in a page, whatever the rows hold and whichever of them are there.
//  2. Bytes(n) never falls when n rises, and no leaf of n rows takes more.
//  3. Only where a single row with all its marks does not fit (more than 198 positions), marks have a page for themselves.

/// <summary>Division of the rows of a space into leaves, and the bytes and pages of a leaf in a checkpoint.</summary>
/// <param name="Positions">Slabs of a row.</param>
internal readonly record struct RowPages(int Positions)
{
    /// <summary>Bytes of a record of mapped rows, without the rows.</summary>
    private const int RunBytes = 22;

    /// <summary>Bytes of a record of stale marks, without the marks.</summary>
    private const int MarksBytes = 16;

    /// <summary>Bytes of a stale mark of one position.</summary>
    private const int MarkBytes = 8;

    /// <summary>Whether the stale marks of a leaf are in the page of its rows.</summary>
    internal bool HoldsMarks => MarksBytes + RunBytes + RowBytes <= CheckpointPages.Capacity;

    /// <summary>Pages of a leaf that shares none.</summary>
    internal int PagesOfLeaf => HoldsMarks ? 1 : 2;

    /// <summary>Rows of a leaf. Of r rows so many are there, in so many runs, that the page is filled most: all in one run, or every other one.</summary>
    internal int PerPage
    {
        get
        {
            if (!HoldsMarks)
            {
                return 1;
            }

            int room = CheckpointPages.Capacity - MarksBytes;
            int together = (room - RunBytes) / RowBytes;
            int apart = room / (RunBytes + RowBytes);   // rows, each with a gap behind it
            return Math.Min(together, Math.Max(1, 2 * apart));
        }
    }

    private int RowBytes => RowMapping.LargestBytes(Positions) + (Positions * MarkBytes);

    /// <summary>Most bytes of a leaf with so many rows.</summary>
    internal int Bytes(int rows) => rows == 0 ? 0 : Math.Min(CheckpointPages.Capacity, MarksBytes + (rows * (RunBytes + RowBytes)));
}
