using System.Runtime.InteropServices;
using TierSpaces.Engine.Formats;

namespace TierSpaces.Engine.Tiering;

// The order of the moves. Pinned slices go first, then promotions, the hottest first. Before a move whose target is full, slices
// that leave the target anyway make room for it, along the shortest way to a tier with a free slice: of the coldest first. Last go slices
// that leave for no other's sake: cold ones, and what is beyond a limit. So a budget that runs out has been spent on the best exchanges; the plan with a
// budget is the beginning of the one without.
//
// Invariants
//  1. A move is taken once, and only when its target has a free slice: occupied < capacity, or < capacity + spare when no tier that could make
//     room has a free one within its capacity.
//  2. A move that makes room is not taken when the move that needs the room is not.

/// <summary>Puts the moves that were chosen in order.</summary>
internal sealed class TierMoveOrder
{
    private readonly TierPlanRequest _request;
    private readonly TierCandidates _candidates;
    private readonly long[] _limits;
    private readonly long[] _occupied;
    private readonly int _tiers;
    private readonly int[] _moving;        // by heat, coldest first
    private readonly bool[] _taken;        // by index of a candidate
    private readonly Queue<int>[] _leaving;   // from × tiers + to: pinned ones first, then those that go up hottest first, or down coldest first
    private readonly int[] _cameFrom;
    private readonly long _budget;   // moves
    private int _within = -1;       // moves that the budget has paid for, once it is spent

    internal TierMoveOrder(TierPlanRequest request, TierCandidates candidates, long[] limits)
    {
        _request = request;
        _candidates = candidates;
        _limits = limits;
        _tiers = request.Capacities.Length;
        _occupied = [.. candidates.Occupied];
        _budget = request.Settings.MaxBytes / request.SliceBytes;
        _taken = new bool[candidates.All.Count];
        _cameFrom = new int[_tiers];
        _moving = ByHeat();
        _leaving = new Queue<int>[_tiers * _tiers];
        Array.ForEach(Enumerable.Range(0, _leaving.Length).ToArray(), i => _leaving[i] = new Queue<int>());
        Enqueue(static candidate => candidate.IsPinned, isHottestFirst: true);
        Enqueue(static candidate => !candidate.IsPinned && candidate.To < candidate.From, isHottestFirst: true);
        Enqueue(static candidate => !candidate.IsPinned && candidate.To > candidate.From, isHottestFirst: false);
        Order();
        KeepToBudget();
    }

    /// <summary>The moves.</summary>
    internal List<TierMove> Moves { get; } = [];

    /// <summary>Wanted moves that are not among them, for want of a free slice to begin with.</summary>
    internal long LeftOut { get; private set; }

    /// <summary>Moves that are not among them, for want of budget.</summary>
    internal long OverBudget { get; private set; }

    private void KeepToBudget()
    {
        int kept = _within < 0 ? Moves.Count : _within;
        OverBudget = Moves.Count - kept;
        Moves.RemoveRange(kept, Moves.Count - kept);
    }

    private int[] ByHeat()
    {
        List<int> moving = [];
        List<float> heats = [];
        Span<TierCandidate> all = CollectionsMarshal.AsSpan(_candidates.All);
        for (int i = 0; i < all.Length; i++)
        {
            if (all[i].To != all[i].From)
            {
                moving.Add(i);
                heats.Add(all[i].Heat);
            }
        }

        int[] sorted = [.. moving];
        Array.Sort(heats.ToArray(), sorted);
        return sorted;
    }

    private void Enqueue(Func<TierCandidate, bool> filter, bool isHottestFirst)
    {
        for (int i = 0; i < _moving.Length; i++)
        {
            int index = _moving[isHottestFirst ? _moving.Length - 1 - i : i];
            TierCandidate candidate = _candidates.All[index];
            if (filter(candidate))
            {
                _leaving[(candidate.From * _tiers) + candidate.To].Enqueue(index);
            }
        }
    }

    private void Order()
    {
        // A move that finds no room now finds none later: the tiers that its target could be cleared to are full, and no slice is to leave them for others.
        LeftOut = TakeAll(static candidate => candidate.IsPinned) + TakeAll(static candidate => !candidate.IsPinned && candidate.To < candidate.From);
        for (int tier = 0; tier < _tiers - 1; tier++)
        {
            TakeSurplus(tier);
        }
    }

    // Takes the moves of a kind, the hottest first; how many are left out.
    private long TakeAll(Func<TierCandidate, bool> filter)
    {
        long leftOut = 0;
        for (int i = _moving.Length - 1; i >= 0; i--)
        {
            TierCandidate candidate = _candidates.All[_moving[i]];
            if (!_taken[_moving[i]] && filter(candidate) && !TryTake(_moving[i], ReasonOf(candidate, SliceReason.MadeRoom)))
            {
                leftOut++;
            }
        }

        return leftOut;
    }

    private void TakeSurplus(int tier)
    {
        while (Coldest(tier) is >= 0 and var index)
        {
            TierCandidate candidate = _candidates.All[index];
            bool isCold = _candidates.IsCold(candidate.Heat);
            SliceReason reason = isCold ? SliceReason.Cold
                : _occupied[tier] > _request.Capacities[tier] ? SliceReason.Demoted : SliceReason.Reserve;
            if (!isCold && _occupied[tier] <= _limits[tier])
            {
                return;
            }

            if (!TryTake(index, reason))
            {
                LeftOut++;
                return;
            }
        }
    }

    private int Coldest(int tier)
    {
        int coldest = -1;
        for (int to = tier + 1; to < _tiers; to++)
        {
            int head = Head(tier, to);
            bool isColder = head >= 0 && (coldest < 0 || _candidates.All[head].Heat < _candidates.All[coldest].Heat);
            coldest = isColder && !_candidates.All[head].IsPinned ? head : coldest;
        }

        return coldest;
    }

    private int Head(int from, int to)
    {
        Queue<int> queue = _leaving[(from * _tiers) + to];
        while (queue.TryPeek(out int head))
        {
            if (!_taken[head])
            {
                return head;
            }

            queue.Dequeue();
        }

        return -1;
    }

    // Takes a move, and before it what makes room for it, from the far end of the way on.
    private bool TryTake(int index, SliceReason reason)
    {
        int target = _candidates.All[index].To;
        int free = FreeTier(target, isSpare: false);
        free = free < 0 ? FreeTier(target, isSpare: true) : free;
        if (free < 0)
        {
            return false;
        }

        int moves = 1;
        for (int tier = free; tier != target; tier = _cameFrom[tier])
        {
            moves++;
        }

        if (_within < 0 && Moves.Count + (long)moves > _budget)
        {
            _within = Moves.Count;
        }

        for (int tier = free; tier != target; tier = _cameFrom[tier])
        {
            int making = Head(_cameFrom[tier], tier);
            Take(making, ReasonOf(_candidates.All[making], SliceReason.MadeRoom));
        }

        Take(index, reason);
        return true;
    }

    // A tier with a free slice that slices can leave to from the one given, by way of others: the nearest, or of those with spare slices the
    // slowest, and that tier itself when there is no other; -1: none.
    private int FreeTier(int start, bool isSpare)
    {
        Span<int> toVisit = stackalloc int[TierPlanRequest.MaxTiers];
        Array.Fill(_cameFrom, -1);
        toVisit[0] = start;
        _cameFrom[start] = start;
        int slowest = -1;
        for (int next = 0, found = 1; next < found; next++)
        {
            int from = toVisit[next];
            bool hasRoom = HasRoom(from, isSpare);
            if (hasRoom && !isSpare)
            {
                return from;
            }

            slowest = hasRoom && from != start ? Math.Max(slowest, from) : slowest;

            for (int to = 0; to < _tiers; to++)
            {
                if (_cameFrom[to] < 0 && Head(from, to) >= 0)
                {
                    _cameFrom[to] = from;
                    toVisit[found++] = to;
                }
            }
        }

        return slowest >= 0 ? slowest : HasRoom(start, isSpare) ? start : -1;
    }

    private bool HasRoom(int tier, bool isSpare) =>
        _occupied[tier] < _request.Capacities[tier] + (isSpare && !_request.Spare.IsDefaultOrEmpty ? _request.Spare[tier] : 0);

    private SliceReason ReasonOf(TierCandidate candidate, SliceReason otherwise) =>
        candidate.IsPinned ? SliceReason.Pinned
        : candidate.To > candidate.From ? _candidates.IsCold(candidate.Heat) ? SliceReason.Cold : otherwise
        : _candidates.IsEligible(candidate.Heat) ? SliceReason.Promoted : otherwise;

    private void Take(int index, SliceReason reason)
    {
        TierCandidate candidate = _candidates.All[index];
        _taken[index] = true;
        _occupied[candidate.To]++;
        _occupied[candidate.From]--;
        Moves.Add(new TierMove(candidate.Slice, candidate.Heat, candidate.From, candidate.To, reason));
    }
}
