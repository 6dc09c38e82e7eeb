using System.Collections.Immutable;
using System.Diagnostics.CodeAnalysis;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

// The state of a pool, as one immutable value.
//
// It changes only by applying records, and applying is a pure function of state and record: every copy of the journal
// leads to the same state. A record that contradicts the state is rejected with a reason and changes nothing. So forged
// metadata cannot bring the engine into a state that it would never have reached itself.
//
// Invariants
//  1. A slab is in use exactly when one row names it, as a source or as a joining target.
//  2. The sources of a row lie on distinct disks of the pool.
//  3. Disk and space numbers are never given twice.
//  4. Every space belongs to a virtual disk of the pool, or is the ring of a remote cache, whose virtual disk is in another pool.
//  5. Every slice map and every pin belongs to a virtual disk of the pool with tiers.

/// <summary>A metadata record contradicts the state it was to change.</summary>
public sealed class InvalidRecordException(string reason) : Exception(reason);

/// <summary>The state of a pool: disks, virtual disks, spaces, rows, stale marks, jobs, tier templates, pins. Never changed, only replaced.</summary>
public sealed record PoolState
{
    private PoolState()
    {
    }

    /// <summary>The state before the first record.</summary>
    public static PoolState Empty { get; } = new();

    /// <summary>The pool's settings; null before its first record.</summary>
    public PoolDescription? Pool { get; internal init; }

    /// <summary>Member disks, present or not.</summary>
    public ImmutableSortedDictionary<DiskNumber, DiskState> Disks { get; internal init; } =
        ImmutableSortedDictionary<DiskNumber, DiskState>.Empty;

    /// <summary>Virtual disks.</summary>
    public ImmutableSortedDictionary<VirtualDiskId, VirtualDiskDescription> VirtualDisks { get; internal init; } =
        ImmutableSortedDictionary<VirtualDiskId, VirtualDiskDescription>.Empty;

    /// <summary>Spaces.</summary>
    public ImmutableSortedDictionary<SpaceId, SpaceState> Spaces { get; internal init; } =
        ImmutableSortedDictionary<SpaceId, SpaceState>.Empty;

    /// <summary>Slice maps of tiered virtual disks; a disk without any mapped slice has none.</summary>
    internal ImmutableSortedDictionary<VirtualDiskId, SliceMapState> SliceMaps { get; init; } =
        ImmutableSortedDictionary<VirtualDiskId, SliceMapState>.Empty;

    /// <summary>States of long operations that have not ended.</summary>
    public ImmutableSortedDictionary<Guid, JobRecord> Jobs { get; internal init; } =
        ImmutableSortedDictionary<Guid, JobRecord>.Empty;

    /// <summary>Tier templates by their identity.</summary>
    public ImmutableSortedDictionary<Guid, TierTemplate> TierTemplates { get; internal init; } =
        ImmutableSortedDictionary<Guid, TierTemplate>.Empty;

    /// <summary>Pins by identity and part.</summary>
    public ImmutableSortedDictionary<(Guid Id, uint Part), PinSet> Pins { get; internal init; } =
        ImmutableSortedDictionary<(Guid Id, uint Part), PinSet>.Empty;

    /// <summary>Number the next disk gets.</summary>
    public DiskNumber NextDisk => new((ushort)Math.Min(Counters.NextDisk, ushort.MaxValue));

    /// <summary>Number the next space gets.</summary>
    public SpaceId NextSpace => new(Counters.NextSpace);

    /// <summary>The newest opening of the pool; null before the first.</summary>
    public SessionOpened? Session => Sessions.IsEmpty ? null : Sessions[^1];

    /// <summary>The newest openings of the pool, oldest first.</summary>
    internal ImmutableArray<SessionOpened> Sessions { get; init; } = [];

    /// <summary>The least that each disk that is away held when it left, as far as it is known.</summary>
    internal ImmutableSortedDictionary<DiskNumber, DiskHeld> Held { get; init; } = ImmutableSortedDictionary<DiskNumber, DiskHeld>.Empty;

    internal Counters Counters { get; init; } = new(1, 1);

    /// <summary>Finds a virtual disk by its identity.</summary>
    public VirtualDiskDescription? VirtualDisk(VirtualDiskId id) => VirtualDisks.GetValueOrDefault(id);

    /// <summary>Finds a space by its number.</summary>
    public SpaceState? Space(SpaceId id) => Spaces.GetValueOrDefault(id);

    /// <summary>Returns the slice map of a virtual disk; empty if it has none.</summary>
    public SliceMapState SliceMap(VirtualDiskId id) => SliceMaps.GetValueOrDefault(id, SliceMapState.Empty);

    /// <summary>Finds a disk by its number.</summary>
    public DiskState? Disk(DiskNumber number) => Disks.GetValueOrDefault(number);

    /// <summary>The state after a record.</summary>
    /// <exception cref="InvalidRecordException">The record contradicts this state.</exception>
    public PoolState Apply(MetadataRecord record) =>
        TryApply(record, out PoolState? next, out string reason) ? next : throw new InvalidRecordException(reason);

    /// <summary>The state after a record, or the reason why the record is refused.</summary>
    public bool TryApply(MetadataRecord record, [NotNullWhen(true)] out PoolState? next, out string reason)
    {
        reason = Pool is null && record is not PoolCreated ? "the pool has not been created" : WhyTooLong(record);
        next = reason.Length == 0 ? RecordRules.Change(this, record, ref reason) : null;
        if (next is null)
        {
            reason = $"{record.Kind} is refused: {reason}.";
            return false;
        }

        return true;
    }

    /// <summary>Whether objects of the state fit each other, or which do not.</summary>
    public bool IsConsistent(out string reason)
    {
        reason = StateConsistency.WhyInconsistent(this);
        return reason.Length == 0;
    }

    // A value that is kept as one record must fit in one checkpoint page.
    private static string WhyTooLong(MetadataRecord record)
    {
        if (record is RowsMapped or StaleMarked or StaleCleared or SlicesMapped)
        {
            return "";
        }

        int length = MetadataCodec.Measure(record);
        return length <= CheckpointPages.LargestRecord ? "" : $"it takes {ByteText.Exact(length)}, and at most {ByteText.Exact(CheckpointPages.LargestRecord)} are possible";
    }
}
