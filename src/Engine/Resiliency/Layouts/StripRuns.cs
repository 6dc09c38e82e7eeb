using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Resiliency.Layouts;

/// <summary>A piece of a request, with its place in the memory of the request.</summary>
/// <param name="Piece">The piece. It may be several strips of a column, which follow each other in the slab.</param>
/// <param name="At">First byte in the memory of the request.</param>
/// <param name="Strip">Bytes of one of the strips; 0: the memory of the piece is in one stretch.</param>
/// <param name="Round">Distance of two strips in the memory, in strips.</param>
internal readonly record struct StripRun(StripPiece Piece, int At, int Strip, int Round)
{
    /// <summary>Returns the part of a request's memory that the piece has.</summary>
    internal IoBuffer MemoryOf(IoBuffer request) =>
        Strip == 0 ? request.Slice(At, Piece.Length) : request.Stripe(At, Strip, Round, Piece.Length);
}

// A request over more strips than there are columns has several strips of a column. They follow each other in the slab, and are one piece, so one request to
// a disk: of 1 MiB over four columns with strips of 16 KiB, four requests instead of 64. Less than a strip, at both ends, is a piece by itself.
//
// Invariants
//  1. The pieces of a request cover each of its bytes once.
//  2. A piece is in one row, one dirty region and one checksum page.

/// <summary>Cuts a request into pieces.</summary>
/// <param name="layout">The layout.</param>
/// <param name="offset">First byte in the space.</param>
/// <param name="length">Bytes.</param>
internal struct StripRuns(ILayout layout, long offset, int length)
{
    private int _at;        // what is before it is in pieces, but for the strips below
    private int _first;     // whole strips that are being joined: where they begin,
    private int _strips;    // how many they are,
    private int _columns;   // over how many columns,
    private int _column;    // of which so many are done

    /// <summary>Gives the next piece; false: there is none.</summary>
    internal bool Next(out StripRun run)
    {
        if (_column == _columns && _at < length)
        {
            Join();
        }

        int strip = layout.RunStrip;
        if (_column < _columns)
        {
            int start = _first + (_column * strip);
            int count = (_strips - _column + _columns - 1) / _columns;
            _column++;
            StripPiece piece = layout.First(offset + start, strip);
            run = new StripRun(piece with { Length = count * strip }, start, count > 1 ? strip : 0, _columns);
            return true;
        }

        run = default;
        if (_at < length)
        {
            run = new StripRun(layout.First(offset + _at, length - _at), _at, 0, 0);
            _at += run.Piece.Length;
            return true;
        }

        return false;
    }

    /// <summary>Takes the whole strips that begin here, up to the end of the window, if a column has more than one of them.</summary>
    private void Join()
    {
        int strip = layout.RunStrip;
        if (strip == 0 || (offset + _at) % strip != 0)
        {
            return;
        }

        long window = layout.RunWindow;
        int strips = (int)(Math.Min(length - _at, window - ((offset + _at) % window)) / strip);
        if (strips > layout.Columns)
        {
            (_first, _strips, _columns, _column) = (_at, strips, layout.Columns, 0);
            _at += strips * strip;
        }
    }
}
