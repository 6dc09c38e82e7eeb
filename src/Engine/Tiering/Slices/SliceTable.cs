using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tiering;

// The slice map that is in force, and how it changes.
//
// Invariants
//  1. The map in memory is one that was committed; it changes only where a change was committed.
//  2. A slice whose commit found no room is uncertain: the commit may still be applied. The slice keeps the place of that commit until a later commit
//     of the same slice is applied.

/// <summary>Commits changes of the slice map and says where slices are.</summary>
internal sealed class SliceTable(ILane lane, ISliceHost host, TieredStatus status)
{
    private const long RetryNs = 1_000_000_000;

    private readonly Dictionary<int, SliceEntry> _uncertain = [];   // the place of each uncertain slice
    private SliceMapState _map = host.Map;

    /// <summary>The map in force.</summary>
    internal SliceMapState Map => _map;

    /// <inheritdoc cref="ISliceHost.WindowSlices"/>
    internal int WindowSlices => host.WindowSlices;

    /// <summary>Place of a slice.</summary>
    internal SliceEntry this[int slice] => _map[slice];

    /// <summary>Whether it is unknown if a slice has got its place, or has left it.</summary>
    internal bool IsUncertain(int slice) => _uncertain.Count > 0 && _uncertain.ContainsKey(slice);

    /// <summary>Returns the place that an uncertain slice keeps.</summary>
    internal bool TryGetUncertain(int slice, out SliceEntry entry) => _uncertain.TryGetValue(slice, out entry);

    /// <summary>Enters slices in the map that are nowhere or uncertain. <see cref="IoError.NoSpace"/>: they are uncertain.</summary>
    internal async LaneTask<IoError> Enter(List<SliceChange> changes)
    {
        SliceCommit end = await host.Commit(changes);
        _map = host.Map;
        if (end == SliceCommit.NoRoom)
        {
            changes.ForEach(change => _uncertain[change.Slice] = change.Entry);
            return IoError.NoSpace;
        }

        changes.ForEach(change => _uncertain.Remove(change.Slice));
        Invariant.That(
            end != SliceCommit.Committed || changes.TrueForAll(change => _map[change.Slice] == change.Entry),
            "The map in memory is the one that was committed.");
        return end == SliceCommit.Committed ? IoError.None : status.Fail(IoError.Io, "it is not known whether a slice has got a place");
    }

    /// <summary>Enters slices again where they are, with another reason. Without room for that they keep the one that they have, at first.</summary>
    internal async LaneTask<Nothing> EnterAgain(List<SliceChange> changes)
    {
        SliceCommit end = await host.Commit(changes);
        _map = host.Map;
        if (end == SliceCommit.Unknown)
        {
            status.Fail(IoError.Io, "it is not known where slices are");
        }

        return default;
    }

    /// <summary>
    /// Takes slices without data out of the map if the metadata have room for that. Otherwise the commit may still be applied: the slices are uncertain
    /// and keep their places, and the next write into one of them enters it there again.
    /// </summary>
    internal async LaneTask<bool> CommitIfRoom(List<SliceChange> changes, List<SliceEntry> places)
    {
        SliceCommit end = changes.Count == 0 ? SliceCommit.Committed : await host.Commit(changes);
        _map = host.Map;
        for (int i = 0; i < changes.Count && end == SliceCommit.NoRoom; i++)
        {
            _uncertain[changes[i].Slice] = places[i];
        }

        if (end == SliceCommit.Unknown)
        {
            status.Fail(IoError.Io, "it is not known where slices are");
        }

        return end == SliceCommit.Committed;
    }

    /// <summary>Commits changes that cannot stay undecided, and repeats that until there is room; false: the store has failed.</summary>
    internal async LaneTask<bool> CommitSurely(List<SliceChange> changes)
    {
        while (changes.Count > 0)
        {
            SliceCommit end = await host.Commit(changes);
            _map = host.Map;
            if (end == SliceCommit.Committed)
            {
                Invariant.That(changes.TrueForAll(change => _map[change.Slice] == change.Entry), "The map in memory is the one that was committed.");
                changes.ForEach(change => _uncertain.Remove(change.Slice));   // an earlier commit of them is not applied after this one
                return true;
            }

            if (end == SliceCommit.Unknown || status.IsStopping)
            {
                status.Fail(IoError.Io, "it is not known where slices are");
                return false;
            }

            await lane.Delay(RetryNs);
        }

        return true;
    }
}
