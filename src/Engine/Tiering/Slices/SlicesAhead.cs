using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tiering;

// Where a commit waits for a rotating disk, the first write into a slice gives its neighbours a place too, in the same commit. A neighbour that is not
// written within a minute loses it again, and at once where its tier has no other room.
//
// Invariants
//  1. A slice is here from the commit that gave it a place until something is written into it, or room is to be kept for it. Meanwhile it has its place and
//     reads as zeros there; what is read of it, moved or reported takes it for a slice that is nowhere.
//  2. A write takes its slice out of here before it begins.
//  3. The entry of such a slice says why it is there (SliceReason.Ahead) until it leaves the map, or is entered again as a slice that was written. So
//     the opening after a crash finds those of which it is not known.
//  4. The tier of such a slice has checksums: they show whether it was ever written.
//  5. They take at most half of the room of their tier that is free but for them.

/// <summary>The slices that were given a place ahead of their first write.</summary>
internal sealed class SlicesAhead(TieredContext store)
{
    /// <summary>Part of the free room of a tier that they may take: one of so many.</summary>
    internal const int PartOfRoom = 2;

    /// <summary>Time for which they are kept, in nanoseconds.</summary>
    internal const long KeptNs = 60_000_000_000;

    private const int ConfirmedAtOnce = 256;   // in one commit, about

    private readonly ILane _lane = store.Lane;
    private readonly TierSet _tiers = store.Tiers;
    private readonly SliceTable _table = store.Table;
    private readonly SliceIo _io = store.Io;
    private readonly TieredStatus _status = store.Status;
    private readonly HashSet<int> _slices = [];
    private readonly HashSet<int> _leaving = [];   // those that a task takes back so that a tier has room
    private readonly Queue<(long Ns, List<int> Slices)> _batches = new();   // by the time of their commit
    private bool _isWatching;   // the task that takes places back
    private int _givingBack;    // tasks that take places back so that a tier has room
    private Func<List<int>, LaneTask<Nothing>>? _freeUnwritten;
    private Func<List<int>, LaneTask<Nothing>>? _confirm;
    private bool _hasLeftovers; // those of an earlier opening are being looked at

    /// <summary>The function that takes places back.</summary>
    /// <param name="freeUnwritten">Takes those of some slices out of the map that read as zeros.</param>
    /// <param name="confirm">Enters those of some slices as written that are in the map.</param>
    internal void TakeBackBy(Func<List<int>, LaneTask<Nothing>> freeUnwritten, Func<List<int>, LaneTask<Nothing>> confirm) =>
        (_freeUnwritten, _confirm) = (freeUnwritten, confirm);

    /// <summary>Whether a slice has a place and was not written yet.</summary>
    internal bool Contains(int slice) => _slices.Count > 0 && _slices.Contains(slice);

    /// <summary>Something is about to be written into a slice, or it leaves its place; returns whether it was here.</summary>
    internal bool Remove(int slice)
    {
        if (_slices.Count == 0 || !_slices.Remove(slice))
        {
            return false;
        }

        _tiers[_table[slice].Tier].Counters.NoteNotAhead();
        return true;
    }

    /// <summary>Slices that a tier may get ahead of their first write.</summary>
    internal static long RoomOf(StorageTierStore tier)
    {
        long ahead = tier.Counters.SlicesAhead;
        return tier.Space.Shape.Checksums ? ((tier.SizeSlices - tier.Users + ahead) / PartOfRoom) - ahead : 0;
    }

    /// <summary>Adds slices that a commit has given a place.</summary>
    internal void Add(List<int> slices)
    {
        foreach (int slice in slices)
        {
            _slices.Add(slice);
            _tiers[_table[slice].Tier].Counters.NoteAhead();
        }

        _batches.Enqueue((_lane.NowNs, slices));
        if (!_isWatching)
        {
            _isWatching = true;
            Watch().Forget();
        }
    }

    /// <summary>Starts finding out what was written of the places that an earlier opening gave ahead. Called once, at the opening.</summary>
    internal void ResolveLeftovers()
    {
        List<int> left = [.. _table.Map.Enumerate().Where(static place => place.Entry.Reason == SliceReason.Ahead).Select(static place => place.Slice)];
        if (left.Count > 0)
        {
            _hasLeftovers = true;
            ResolveLeftovers(left).Forget();
        }
    }

    /// <summary>
    /// Takes back what a tier that is full has given ahead, or waits for a task that does; false: it has nothing of the kind, and no task takes it back.
    /// </summary>
    internal async LaneTask<bool> GiveBack(int tier)
    {
        if (_tiers[tier].Counters.SlicesAhead == 0)
        {
            if (_givingBack > 0)
            {
                await _status.SlotsFreed.Wait();
                return true;
            }

            return false;
        }

        await GiveBack(_slices.Where(slice => _table[slice].Tier == tier));
        return true;
    }

    /// <summary>Takes back all that was given ahead, by an earlier opening too.</summary>
    internal async LaneTask<Nothing> GiveBackAll()
    {
        await GiveBack(_slices);
        while (_hasLeftovers)
        {
            await _status.SlotsFreed.Wait();
        }

        return default;
    }

    private async LaneTask<Nothing> GiveBack(IEnumerable<int> slices)
    {
        List<int> all = [.. slices.Order()];
        all.ForEach(slice => Remove(slice));
        _leaving.UnionWith(all);
        _givingBack++;
        await Resolve(all, []);
        _givingBack--;
        _leaving.ExceptWith(all);
        _status.SlotsFreed.NotifyAll();
        return default;
    }

    private async LaneTask Watch()
    {
        while (_batches.TryPeek(out (long Ns, List<int> Slices) batch) && !_status.IsStopping)
        {
            long waitNs = batch.Ns + KeptNs - _lane.NowNs;
            if (waitNs > 0)
            {
                await _lane.Delay(waitNs);
                continue;
            }

            List<int> unwritten = [];
            List<int> written = [];
            while (_batches.TryPeek(out batch) && batch.Ns + KeptNs <= _lane.NowNs && unwritten.Count + written.Count < ConfirmedAtOnce)
            {
                List<int> slices = _batches.Dequeue().Slices;
                slices.RemoveAll(_leaving.Contains);
                slices.ForEach(slice => (Remove(slice) ? unwritten : written).Add(slice));
            }

            await Resolve(unwritten, written);
        }

        _isWatching = false;
    }

    private async LaneTask ResolveLeftovers(List<int> left)
    {
        for (int at = 0; at < left.Count && !_status.IsStopping; at += ConfirmedAtOnce)
        {
            List<int> unwritten = [];
            List<int> written = [];
            foreach (int slice in left.GetRange(at, Math.Min(ConfirmedAtOnce, left.Count - at)))
            {
                SliceEntry place = _table[slice];
                bool isZero = place.IsMapped && await _io.IsZero(_tiers[place.Tier], place.Slot);
                (isZero ? unwritten : written).Add(slice);
            }

            await Resolve(unwritten, written);
        }

        _hasLeftovers = false;
        _status.SlotsFreed.NotifyAll();
    }

    private async LaneTask<Nothing> Resolve(List<int> unwritten, List<int> written)
    {
        for (int at = 0; at < unwritten.Count && !_status.IsStopping; at += SliceFreer.AtOnce)
        {
            await _freeUnwritten!(unwritten.GetRange(at, Math.Min(SliceFreer.AtOnce, unwritten.Count - at)).FindAll(IsMarked));
        }

        written.AddRange(unwritten);
        written.RemoveAll(slice => !IsMarked(slice));
        await _confirm!(written);
        return default;
    }

    private bool IsMarked(int slice) => _table[slice] is { IsMapped: true, Reason: SliceReason.Ahead };
}
