using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Caching;

/// <summary>State of a write cache: its treatment of writes.</summary>
public enum WriteCacheState
{
    /// <summary>It takes them.</summary>
    Active,

    /// <summary>It takes none any more and empties itself.</summary>
    Retiring,

    /// <summary>It takes no writes and holds nothing: writes go to the backing store.</summary>
    WriteThrough,

    /// <summary>Its data is lost: its virtual disk cannot be used.</summary>
    Lost,

    /// <summary>The pool that it is in is not open: its virtual disk waits for it.</summary>
    Absent,
}

// Mode of a write cache, shared by its parts; and the signals that writes wait for.
//
// Invariants
//  1. Active → Retiring → WriteThrough. A cache that is lost stays lost, and its backing store has failed.
//  2. Every change of the state wakes the waiters of Freed, which look at the state again.
//  3. A cache that is being closed stays so.

/// <summary>State of a write cache, the reason for it, and the signals between requests and destaging.</summary>
internal sealed class CacheStatus(IBackingStore backing)
{
    private readonly LaneSignal _freed = new();   // space was given free, or the state has changed

    /// <summary>State of the cache.</summary>
    internal WriteCacheState State { get; private set; }

    /// <summary>Reason why the cache is not active, or why it cannot empty itself; else empty.</summary>
    internal string Reason { get; private set; } = "";

    /// <summary>Whether it is lost because none of its disks is there: it may be opened again when one is back.</summary>
    internal bool AwaitsDisks { get; private set; }

    /// <summary>Whether its virtual disk cannot be used because of it.</summary>
    internal bool IsGone => State is WriteCacheState.Lost or WriteCacheState.Absent;

    /// <summary>Whether the cache empties itself and takes no writes, until it is resumed.</summary>
    internal bool IsDraining { get; private set; }

    /// <summary>Whether the cache is being closed: destaging ends.</summary>
    internal bool IsClosing { get; private set; }

    /// <summary>Whether writes may be appended to the ring.</summary>
    internal bool TakesWrites => State == WriteCacheState.Active && !IsDraining;

    /// <summary>Requests that wait for space: destaging goes on until there are none.</summary>
    internal int Waiting { get; private set; }

    /// <summary>Time of the last write, unmap or zeroing, on the lane's clock.</summary>
    internal long LastWriteNs { get; private set; }

    /// <summary>Notifies destaging that there may be something to do now.</summary>
    internal LaneSignal Work { get; } = new();

    internal void NoteWrite(long timeNs) => LastWriteNs = timeNs;

    /// <summary>Notifies waiters that space was given free, or that the state has changed.</summary>
    internal void NotifyFreed() => _freed.NotifyAll();

    /// <summary>Has destaging look again, and completes when it has given space free or the state has changed.</summary>
    internal LaneTask<Nothing> NextFreed()
    {
        LaneTask<Nothing> freed = _freed.Wait();   // before it can happen
        Work.NotifyAll();
        return freed;
    }

    /// <summary>The same for a request: while it waits, destaging does not pause.</summary>
    internal async LaneTask<Nothing> WaitForSpace()
    {
        Waiting++;
        await NextFreed();
        Waiting--;
        return default;
    }

    internal void BeginDraining() => IsDraining = true;

    internal void EndDraining()
    {
        IsDraining = false;
        _freed.NotifyAll();
    }

    internal void BeginClosing()
    {
        IsClosing = true;
        Work.NotifyAll();
        _freed.NotifyAll();
    }

    /// <summary>The cache takes no writes any more and empties itself.</summary>
    internal void BeginRetiring(string reason)
    {
        State = WriteCacheState.Retiring;
        Reason = reason;
    }

    /// <summary>The ring is empty and durably given up.</summary>
    internal void EndRetiring() => State = WriteCacheState.WriteThrough;

    /// <summary>The cache was given up before it was opened.</summary>
    internal void StartWriteThrough(string reason)
    {
        State = WriteCacheState.WriteThrough;
        Reason = reason;
    }

    /// <summary>The cache could not be made: it never held anything.</summary>
    internal void NoteNotMade(string reason)
    {
        State = WriteCacheState.Lost;
        Reason = reason;
    }

    /// <summary>The pool of the ring is not open.</summary>
    internal void BeginAbsence(string reason)
    {
        State = WriteCacheState.Absent;
        Reason = reason;
        backing.FailFront(IoError.DeviceGone, reason);
    }

    /// <summary>Fails the cache and its backing store: acknowledged data of the ring cannot be kept. Returns the error.</summary>
    internal IoError Lose(IoError error, string reason, long dirtyBytes, bool awaitsDisks)
    {
        if (State != WriteCacheState.Lost)
        {
            State = WriteCacheState.Lost;
            AwaitsDisks = awaitsDisks;
            Reason = reason;
            backing.FailFront(error, $"the write cache is lost: {reason}; {ByteText.Exact(dirtyBytes)} in it were not destaged");
            _freed.NotifyAll();
        }

        return error;
    }

    /// <summary>Records why the cache cannot empty itself now.</summary>
    internal void NoteTrouble(string reason) => Reason = reason;

    /// <summary>Destaging works again. The reason of another state stays.</summary>
    internal void ClearTrouble() => Reason = State == WriteCacheState.Active ? "" : Reason;
}
