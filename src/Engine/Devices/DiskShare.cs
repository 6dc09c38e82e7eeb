using TierSpaces.Engine.Lanes;

namespace TierSpaces.Engine.Devices;

// A disk has one owner and one handle per further lane that uses it. A handle is a way to the same device with requests, deadlines and counters of its
// own. The state of the device, which concerns no lane, is common to all of them: whether it is there, failed flushes, faults, places that are bad.
//
// Invariants
//  1. A share is opened once or disposed of, so nothing that was prepared for a handle is kept for ever.
//  2. Owner and handles are closed in any order, each by its lane. The device, and with it the lock on it, is released by the last of them.

/// <summary>A handle of a member disk that is prepared for another lane and not opened yet, see <see cref="IDisk.Share"/>.</summary>
public sealed class DiskShare : IDisposable
{
    private readonly Action _release;
    private Func<ILane, IDisk>? _open;

    /// <summary>Prepares a handle.</summary>
    /// <param name="open">Makes the handle. Called at most once, on the lane that is its argument. It makes no blocking call.</param>
    /// <param name="release">Releases what was prepared. Called instead, on the lane that shares the disk.</param>
    internal DiskShare(Func<ILane, IDisk> open, Action release)
    {
        _open = open;
        _release = release;
    }

    /// <summary>
    /// Opens the handle on the lane that will use it; called on that lane, once. No blocking call is made. The lane closes the handle by
    /// <see cref="IDisk.Close"/>.
    /// </summary>
    /// <exception cref="InvalidOperationException">It was opened or disposed of before, or the caller is not on the lane.</exception>
    public IDisk Open(ILane lane)
    {
        if (!lane.IsCurrent)
        {
            throw new InvalidOperationException("A handle of a disk is opened on the lane that will use it.");
        }

        return Interlocked.Exchange(ref _open, null) is { } open ? open(lane)
            : throw new InvalidOperationException("A share of a disk is opened once, and not after it was disposed of.");
    }

    /// <summary>
    /// Releases what was prepared, if the handle was never opened; called on the lane that has shared the disk. After <see cref="Open"/> it does nothing, on
    /// any lane.
    /// </summary>
    public void Dispose()
    {
        if (Interlocked.Exchange(ref _open, null) is not null)
        {
            _release();
        }
    }
}
