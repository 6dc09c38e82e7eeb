namespace TierSpaces.Engine.Pools;

/// <summary>Load of clients on the disks of a pool through one virtual disk. Read on any lane.</summary>
public interface IClientLoad
{
    /// <summary>
    /// Requests of clients to disks slower than flash, completed so far and under way now. Writes that a write cache takes are none. The first number never
    /// falls, and may count bytes for requests: it is compared with itself only.
    /// </summary>
    (long Completed, int UnderWay) OnSlowDisks { get; }
}

// Invariant
//  1. Used on any lane: the list of virtual disks is replaced as a whole.

/// <summary>Clients and background work on the disks of a pool, by which the background work paces itself.</summary>
public sealed class PoolLoad
{
    private IClientLoad[] _clients = [];
    private int _working;

    /// <summary>Jobs and destaging virtual disks at work now.</summary>
    public int Working => Volatile.Read(ref _working);

    /// <summary>Requests of clients to disks slower than flash, completed so far and under way now.</summary>
    public (long Completed, int UnderWay) OnSlowDisks
    {
        get
        {
            long completed = 0;
            int underWay = 0;
            foreach (IClientLoad load in Volatile.Read(ref _clients))
            {
                (long ended, int now) = load.OnSlowDisks;
                completed += ended;
                underWay += now;
            }

            return (completed, underWay);
        }
    }

    /// <summary>A virtual disk is open.</summary>
    internal void Add(IClientLoad load) => Replace(clients => [.. clients, load]);

    /// <summary>A virtual disk is closed.</summary>
    internal void Remove(IClientLoad load) => Replace(clients => Array.FindAll(clients, one => one != load));

    /// <summary>Background work begins.</summary>
    internal void BeginWork() => Interlocked.Increment(ref _working);

    /// <summary>Background work that had begun pauses for lack of anything to do, or ends.</summary>
    internal void EndWork() => Interlocked.Decrement(ref _working);

    private void Replace(Func<IClientLoad[], IClientLoad[]> change)
    {
        for (IClientLoad[] before = Volatile.Read(ref _clients), seen; ; before = seen)
        {
            seen = Interlocked.CompareExchange(ref _clients, change(before), before);
            if (seen == before)
            {
                return;
            }
        }
    }
}
