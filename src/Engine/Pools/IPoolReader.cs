using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

// Plans and statuses are functions of this, so that the code that decides for a verb, on the lane, also computes the plan of it, from a snapshot. No disk can
// be reached through it: a snapshot decides nothing and does no I/O.

/// <summary>Facts of an open pool that plans and statuses read: the pool itself, on its lane, or a snapshot of it, on any thread.</summary>
public interface IPoolReader
{
    /// <summary>Identity.</summary>
    PoolId Id { get; }

    /// <summary>The newest committed state.</summary>
    PoolState State { get; }

    /// <summary>The members in force.</summary>
    PoolView View { get; }

    /// <summary>Reserves slabs. Reservations of a snapshot's are not those of the pool.</summary>
    SlabAllocator Allocator { get; }

    /// <summary>Shape of every slab.</summary>
    SlabGeometry Slabs { get; }

    /// <summary>Pages of the metadata area that the state takes, and that it may take on the metadata disk with the smallest one; 0: none is present.</summary>
    (long Used, long Most) MetadataPages { get; }

    /// <summary>Reason why the majority of the votes is lost; empty while it is not.</summary>
    string LostReason { get; }

    /// <summary>Name of a member whose metadata writes wait for space on the file system below it; empty without one.</summary>
    string FullMember { get; }

    /// <summary>Time since which requests wait because the lease of the pool could not be renewed; null while it runs.</summary>
    DateTimeOffset? PausedSince { get; }

    /// <summary>Now, on the wall clock.</summary>
    DateTimeOffset UtcNow { get; }

    /// <summary>Whether a member may be read and written: it is in the view in force and has not failed.</summary>
    bool IsUsable(DiskNumber number);

    /// <summary>Finds another open pool of the same lane and, for a snapshot, of the same moment.</summary>
    IPoolReader? FindPool(PoolId id);

    /// <summary>Returns an identity for an object that is planned.</summary>
    Guid NewGuid();
}
