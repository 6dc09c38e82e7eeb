using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Resiliency;

/// <summary>Equal copies, each on a disk of its own: the copies of a column of a mirror, or those of a ring.</summary>
/// <typeparam name="TRange">Type of the range of a request in the copies.</typeparam>
internal interface ICopies<TRange>
{
    /// <summary>Copies, one to three.</summary>
    int Count { get; }

    /// <summary>Whether a copy holds a range and its disk is in the view.</summary>
    bool IsReadable(TRange range, int copy);

    /// <summary>Returns how busy the disk of a copy is.</summary>
    int LoadOf(TRange range, int copy);

    /// <summary>Reads a range of a copy that can be read.</summary>
    LaneTask<IoError> ReadCopy(TRange range, int copy, IoBuffer target);

    /// <summary>Writes a range of a copy; an error if its disk is not in the view.</summary>
    LaneTask<IoError> WriteCopy(TRange range, int copy, IoBuffer source);
}

/// <summary>Result of a request to every copy.</summary>
/// <param name="Copies">Copies there are.</param>
/// <param name="Version">Version of the members when the request began.</param>
/// <param name="Error0">Outcome of the first copy.</param>
/// <param name="Error1">Outcome of the second one.</param>
/// <param name="Error2">Outcome of the third one.</param>
internal readonly record struct CopyOutcome(int Copies, int Version, IoError Error0, IoError Error1, IoError Error2)
{
    /// <summary>Whether every copy did it.</summary>
    internal bool IsWhole =>
        Error0 == IoError.None && (Error1 == IoError.None || Copies < 2) && (Error2 == IoError.None || Copies < 3);

    /// <summary>The error that a caller gets if no copy did it: of a disk that answered rather than of one that is gone.</summary>
    internal IoError Error
    {
        get
        {
            for (int copy = 0; copy < Copies; copy++)
            {
                if (this[copy] is not IoError.None and not IoError.DeviceGone)
                {
                    return this[copy];
                }
            }

            return IoError.Io;
        }
    }

    /// <summary>Outcome of a copy.</summary>
    internal IoError this[int copy] => copy == 0 ? Error0 : copy == 1 ? Error1 : Error2;
}

// I/O that mirrored spaces and rings share. Their owners decide what becomes of copies that failed: a mirror marks regions stale, a ring whole
// copies.
//
// Invariants
//  1. All writes are submitted before the first is awaited, and the outcome says how each ended.
//  2. Nothing is read from a copy that is not readable.

/// <summary>Writes equal copies side by side, chooses one of them, and reads with fallback.</summary>
internal static class CopyIo
{
    /// <summary>Writes every copy side by side.</summary>
    /// <param name="copies">The copies.</param>
    /// <param name="range">Range to write.</param>
    /// <param name="source">Data to write.</param>
    /// <param name="version">Version of the members.</param>
    internal static async LaneTask<CopyOutcome> WriteAll<TRange>(ICopies<TRange> copies, TRange range, IoBuffer source, int version)
    {
        LaneTask<IoError> write0 = copies.WriteCopy(range, 0, source);
        LaneTask<IoError> write1 = copies.Count > 1 ? copies.WriteCopy(range, 1, source) : LaneTask.FromResult(IoError.DeviceGone);
        LaneTask<IoError> write2 = copies.Count > 2 ? copies.WriteCopy(range, 2, source) : LaneTask.FromResult(IoError.DeviceGone);
        IoError error0 = await write0;
        IoError error1 = await write1;
        return new CopyOutcome(copies.Count, version, error0, error1, await write2);
    }

    /// <summary>Returns the least busy copy that can be read, of equally busy ones the first from <paramref name="first"/> on. −1: none.</summary>
    internal static int LeastBusy<TRange>(ICopies<TRange> copies, TRange range, int first)
    {
        int best = -1;
        int bestLoad = int.MaxValue;
        for (int i = 0; i < copies.Count; i++)
        {
            int copy = (i + first) % copies.Count;
            int load = copies.LoadOf(range, copy);
            if (load < bestLoad && copies.IsReadable(range, copy))
            {
                best = copy;
                bestLoad = load;
            }
        }

        return best;
    }

    /// <summary>Reads from one copy after the other until one answers.</summary>
    /// <param name="copies">The copies.</param>
    /// <param name="range">Range to read.</param>
    /// <param name="except">A copy that is not asked; −1: none.</param>
    /// <param name="target">Buffer for the data.</param>
    internal static async LaneTask<IoError> ReadAny<TRange>(ICopies<TRange> copies, TRange range, int except, IoBuffer target)
    {
        IoError error = IoError.Io;
        for (int copy = 0; copy < copies.Count && error != IoError.None; copy++)
        {
            if (copy != except && copies.IsReadable(range, copy))
            {
                error = await copies.ReadCopy(range, copy, target);
            }
        }

        return error;
    }
}
