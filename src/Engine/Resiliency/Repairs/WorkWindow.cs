using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Resiliency;

// The pieces of background work that are in flight. While no client is at work there are several, so that reads overlap writes and disks are not idle
// between pieces. While clients are at work there are as many as the pacer says, then none for a while.
//
// Invariants
//  1. At most so many pieces as the owner says are in flight, at most one burst while the pacer yields to clients. Pieces that are in
//     flight when clients come are carried to their end; no further one begins before that.
//  2. The pacer gets the pieces one by one, in the order in which they began; while it yields, those of a burst together when all have ended.
//     A piece holds no lock after its end, so none is held over a pause.
//  3. After an error or a stop no piece begins.

/// <summary>Runs pieces of background work, several in flight while no client is at work.</summary>
/// <param name="pacer">Holds the work back and stops it.</param>
/// <param name="isStopping">Whether the owner of the work ends it.</param>
/// <param name="depth">Most pieces in flight.</param>
internal sealed class WorkWindow(IWorkPacer pacer, Func<bool> isStopping, int depth = WorkWindow.DepthMax)
{
    /// <summary>Pieces in flight that keep two disks busy. They bound what a client who comes has to wait for, and the memory of the work.</summary>
    internal const int DepthMax = 8;

    private readonly Queue<(LaneTask<IoError> Piece, int Bytes, int Length)> _inFlight = new(depth);

    /// <summary>First error of a piece.</summary>
    internal IoError Error { get; private set; }

    /// <summary>Whether the pacer or the owner stopped the work.</summary>
    internal bool IsStopped { get; private set; }

    /// <summary>Whether further pieces may begin.</summary>
    internal bool GoesOn => Error == IoError.None && !IsStopped;

    /// <summary>Length of the pieces that have ended without error, of those before the first one that has not.</summary>
    internal long Bytes { get; private set; }

    /// <summary>Other work of the same owner begins. No piece is in flight.</summary>
    internal void Begin()
    {
        Invariant.That(_inFlight.Count == 0, "No piece of former work is in flight.");
        (Error, IsStopped, Bytes) = (IoError.None, false, 0);
    }

    /// <summary>Completes when another piece may begin; false: none may any more.</summary>
    internal async LaneTask<bool> Room()
    {
        while (GoesOn && _inFlight.Count > 0 && _inFlight.Count >= (pacer.IsYielding ? Math.Min(depth, pacer.Burst) : depth))
        {
            await EndSome();
        }

        return GoesOn;
    }

    /// <summary>Takes a piece that has been started. The caller has awaited <see cref="Room"/> since the last one.</summary>
    internal void Add(LaneTask<IoError> piece, int bytes) => Add(piece, bytes, bytes);

    /// <summary>Takes a piece that has been started, as the other overload does.</summary>
    /// <param name="piece">The piece.</param>
    /// <param name="bytes">Bytes that the pacer counts of it.</param>
    /// <param name="length">Progress of the work with it.</param>
    internal void Add(LaneTask<IoError> piece, int bytes, int length)
    {
        Invariant.That(_inFlight.Count < depth, "At most so many pieces are in flight.");
        _inFlight.Enqueue((piece, bytes, length));
    }

    /// <summary>Completes when no piece is in flight.</summary>
    internal async LaneTask<Nothing> Drain()
    {
        while (_inFlight.Count > 0)
        {
            await EndSome();
        }

        return default;
    }

    /// <summary>Waits for the oldest piece, while the pacer yields for all of them, and tells the pacer.</summary>
    private async LaneTask<Nothing> EndSome()
    {
        int told = 0;
        do
        {
            (LaneTask<IoError> piece, int bytes, int length) = _inFlight.Dequeue();
            IoError error = await piece;
            Error = Error == IoError.None ? error : Error;
            Bytes += Error == IoError.None ? length : 0;
            told += bytes;
        }
        while (_inFlight.Count > 0 && pacer.IsYielding);

        if (GoesOn)
        {
            IsStopped = !await pacer.Done(told) || isStopping();
        }

        return default;
    }
}
