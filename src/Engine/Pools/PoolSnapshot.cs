using System.Buffers.Binary;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

// An open pool at one moment. The state, the view and the member table are immutable, so the snapshot holds them; the rest is copied on the lane.
//
// Invariants
//  1. Taking one takes time in proportion to the members and to the reservations of changes under way, never to rows or slabs.
//  2. Nothing of it changes but the reservations that plans make in its own allocator and give back. One plan uses it at a time.
//  3. It decides nothing: an order that follows from it is checked on the lane against the state then.

/// <summary>An open pool at one moment, for plans and statuses outside the lane.</summary>
public sealed class PoolSnapshot : IPoolReader
{
    private readonly Func<PoolId, PoolSnapshot?> _find;
    private readonly MemberTable _members;
    private readonly long _mostPages;
    private readonly ulong _seed;
    private Lazy<long> _usedPages;
    private long _identities;

    internal PoolSnapshot(Pool pool, long mostPages, Func<PoolId, PoolSnapshot?> find)
    {
        Id = pool.Id;
        State = pool.State;
        View = pool.View;
        LostReason = pool.LostReason;
        FullMember = pool.FullMember;
        PausedSince = pool.PausedSince;
        Outside = pool.OutsideDisks.ToHashSet();
        UtcNow = pool.Environment.Lane.UtcNow;
        _members = pool.Members;
        _mostPages = mostPages;
        _find = find;
        _seed = pool.Environment.Lane.NextRandom();
        _usedPages = PagesOf(State);
        Allocator = pool.Allocator.Copy(State, IsUsable);
    }

    /// <inheritdoc/>
    public PoolId Id { get; }

    /// <inheritdoc/>
    public PoolState State { get; private set; }

    /// <inheritdoc/>
    public PoolView View { get; }

    /// <inheritdoc/>
    public SlabAllocator Allocator { get; private set; }

    /// <inheritdoc/>
    public SlabGeometry Slabs => State.Pool!.Slabs;

    /// <inheritdoc/>
    public (long Used, long Most) MetadataPages => (_usedPages.Value, _mostPages);

    /// <inheritdoc/>
    public string LostReason { get; }

    /// <inheritdoc/>
    public string FullMember { get; }

    /// <inheritdoc/>
    public DateTimeOffset? PausedSince { get; }

    /// <inheritdoc/>
    public DateTimeOffset UtcNow { get; }

    /// <summary>Disks of the pool that are there but not in the view.</summary>
    public IReadOnlySet<DiskNumber> Outside { get; }

    /// <inheritdoc/>
    public bool IsUsable(DiskNumber number) => _members.Disk(number.Value) is not null;

    /// <inheritdoc/>
    public IPoolReader? FindPool(PoolId id) => _find(id);

    /// <summary>
    /// Returns the pool as it would be after one more change, in which the reservations of this one go on but for those that the change maps. This one is not
    /// used any more.
    /// </summary>
    /// <exception cref="InvalidRecordException">The change contradicts the state.</exception>
    internal PoolSnapshot After(MetadataRecord record)
    {
        PoolSnapshot after = (PoolSnapshot)MemberwiseClone();
        after.State = State.Apply(record);
        after._usedPages = PagesOf(after.State);
        if (record is RowsMapped mapped)
        {
            Allocator.Committed(mapped);
        }

        after.Allocator = Allocator.Copy(after.State, IsUsable);
        return after;
    }

    private static Lazy<long> PagesOf(PoolState state) => new(() => CheckpointPages.CountUpTo(state));

    /// <summary>Returns an identity that no object of a pool ever gets: the object is planned and not made.</summary>
    public Guid NewGuid()
    {
        Span<byte> bytes = stackalloc byte[16];
        BinaryPrimitives.WriteUInt64LittleEndian(bytes, _seed);
        BinaryPrimitives.WriteInt64LittleEndian(bytes[8..], Interlocked.Increment(ref _identities));
        return new Guid(bytes);
    }
}
