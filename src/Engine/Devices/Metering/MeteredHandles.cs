using TierSpaces.Engine.Lanes;

namespace TierSpaces.Engine.Devices;

// State that the handles of one metered disk share. The list is used on the lane of the owner only: a handle is entered when it is prepared, and its lane
// posts that it is closed. From the lane of a handle the owner reads counters alone, each of them one machine word.
//
// Invariants
//  1. A count is in the sum from when it is made: those of a closed handle move to _closed in the step that takes it out of the list.

/// <summary>The handles of a metered disk.</summary>
internal sealed class MeteredHandles(MeteredDisk owner)
{
    private readonly List<Slot> _slots = [];
    private IoCounters? _closed;              // counts of handles that have been closed; null: none
    private volatile bool _isDisconnected;
    private volatile LeaseGate? _gate;
    private volatile bool _hasFailedFlush;
    private volatile bool _skipsFlush;
    private volatile MetadataAreas? _metadata;

    /// <summary>The disk that is shared.</summary>
    internal MeteredDisk Owner => owner;

    /// <summary>Whether any handle is prepared or open.</summary>
    internal bool Any => _slots.Count > 0;

    /// <summary>Whether the pool has been detached from the device, by the owner. Read on any lane.</summary>
    internal bool IsDisconnected => _isDisconnected;

    /// <summary>The gate of the pool's lease; null: no lease is held. Read on any lane.</summary>
    internal LeaseGate? Gate => _gate;

    /// <summary>Whether a flush through any handle has failed while the device was there. Read on any lane.</summary>
    internal bool HasFailedFlush => _hasFailedFlush;

    /// <summary>Where the metadata is; null: not known, so everything counts as data. Read on any lane.</summary>
    internal MetadataAreas? Metadata => _metadata;

    /// <summary>Whether what the device has acknowledged counts as durable. Read on any lane.</summary>
    internal bool SkipsFlush => _skipsFlush;

    /// <summary>A pool uses the disk.</summary>
    internal void Use(LeaseGate? gate, bool skipsFlush) => (_gate, _skipsFlush) = (gate, skipsFlush);

    /// <summary>Counts requests to these areas as metadata.</summary>
    internal void CountMetadata(MetadataAreas areas) => _metadata = areas;

    /// <summary>A flush has failed. Called on any lane; nothing takes it back, so two lanes need not agree.</summary>
    internal void NoteFailedFlush() => _hasFailedFlush = true;

    /// <summary>Prepares a handle.</summary>
    internal Slot Prepare()
    {
        Slot slot = new();
        _slots.Add(slot);
        return slot;
    }

    /// <summary>A prepared handle is not opened.</summary>
    internal void Release(Slot slot) => _slots.Remove(slot);

    /// <summary>A handle has been closed; called on its lane.</summary>
    internal void Closed(Slot slot) => LanePosts.TryPost(owner.Lane, () =>
    {
        if (_slots.Remove(slot) && slot.Handle is { } handle)
        {
            _closed ??= new IoCounters();
            _closed.Add(handle.Counters);
        }
    });

    /// <summary>Detaches the pool from the device on all lanes.</summary>
    internal void Disconnect()
    {
        _isDisconnected = true;
        Interlocked.MemoryBarrier();   // a handle that is being opened now is found below, or it finds the flag
        foreach (Slot slot in _slots)
        {
            if (slot.Handle is { } handle)
            {
                LanePosts.TryPost(handle.Lane, handle.Disconnect);
            }
        }
    }

    /// <summary>Adds the counters of all handles.</summary>
    internal void AddTo(IoCounters sum)
    {
        if (_closed is { } closed)
        {
            sum.Add(closed);
        }

        foreach (Slot slot in _slots)
        {
            if (slot.Handle is { } handle)
            {
                sum.Add(handle.Counters, slot.Forgets);
            }
        }
    }

    /// <summary>Sum of a number over the handles that are open.</summary>
    internal int Sum(Func<MeteredDisk, int> number)
    {
        int sum = 0;
        foreach (Slot slot in _slots)
        {
            sum += slot.Handle is { } handle ? number(handle) : 0;
        }

        return sum;
    }

    /// <summary>The longest requests are those from now on.</summary>
    internal void ForgetLongest()
    {
        _closed?.ForgetLongest();
        foreach (Slot slot in _slots)
        {
            if (slot.Handle is { } handle)
            {
                slot.Forgets++;
                LanePosts.TryPost(handle.Lane, handle.Counters.ForgetLongest);
            }
        }
    }

    /// <summary>The place of a handle among the handles of its disk.</summary>
    internal sealed class Slot
    {
        private volatile MeteredDisk? _handle;

        /// <summary>Number of times that the longest requests of the handle were to be forgotten; on the lane of the owner.</summary>
        internal long Forgets { get; set; }

        /// <summary>The handle, once it is open.</summary>
        internal MeteredDisk? Handle => _handle;

        /// <summary>The handle is open; called on its lane.</summary>
        internal void Fill(MeteredDisk handle)
        {
            _handle = handle;
            Interlocked.MemoryBarrier();   // see Disconnect
        }
    }
}
