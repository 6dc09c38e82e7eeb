namespace TierSpaces.Engine.Primitives;

// Exclusive locks over ranges of one address space, on one lane, granted in order of arrival.
//
// A map from address to the last request that asked for it tells a new request whom to wait for: the owners of the stretches that it
// overlaps. They wait for the requests before them. The new request then owns its whole range in the map. So each request adds and
// removes a constant number of stretches and edges on average, however many requests overlap.
//
// Invariants
//  1. The stretches of the map are disjoint. Each belongs to the last request not yet released that covers it.
//  2. A request waits for every overlapping range that is held or was asked for earlier: Blockers counts the edges to it that are not
//     released yet. It is granted when there are none.
//  3. Ranges that are held are disjoint, so the start of one identifies it.
//  4. All state is complete before a waiter runs: what it acquires or releases meanwhile finds the lock as it is.

/// <summary>
/// Exclusive locks over ranges of one address space, on one lane. Granted in order of arrival: a request waits for every
/// overlapping range that is held or was asked for earlier, so no request starves. A request costs logarithmic time in the number of ranges.
/// </summary>
public sealed class RangeLock
{
    private readonly Dictionary<long, Request> _held = new(64);
    private readonly StretchMap _map = new();
    private FreeList<Request> _requests;
    private FreeList<Edge> _edges;
    private long _edgeSteps;

    /// <summary>Ranges held now.</summary>
    public int Held => _held.Count;

    /// <summary>The ranges that are held now, in no order.</summary>
    internal IEnumerable<(long Start, long End)> HeldRanges => _held.Values.Select(static request => (request.Start, request.End));

    /// <summary>Stretches, edges and requests looked at so far: what the time of all calls is proportional to.</summary>
    internal long Steps => _map.Steps + _edgeSteps;

    /// <summary>Takes [<paramref name="start"/>, <paramref name="end"/>); give it back with <see cref="Release"/>.</summary>
    public LaneTask<Nothing> Acquire(long start, long end)
    {
        Invariant.That(start < end, "A range that is asked for has a length.");
        Request request = _requests.Take() ?? new Request();
        request.Start = start;
        request.End = end;
        Supersede(request);
        _map.Add(request, start, end);
        if (request.Blockers == 0)
        {
            _held.Add(start, request);
            return new LaneTask<Nothing>(default(Nothing));
        }

        LaneCompletion<Nothing> gate = LaneCompletion<Nothing>.Rent();
        request.Gate = gate;
        return gate.Task;
    }

    /// <summary>Gives a range back and lets those waiting for it go on.</summary>
    public void Release(long start, long end)
    {
        bool isHeld = _held.Remove(start, out Request? request);
        Invariant.That(isHeld && request!.End == end, "A range that is given back is held.");
        while (request!.Stretches is { } stretch)
        {
            _map.Remove(stretch);
        }

        Request? granted = TakeGrantable(request);
        _requests.Return(request);
        while (granted is { } next)
        {
            granted = next.NextGranted;
            next.NextGranted = null;
            LaneCompletion<Nothing> gate = next.Gate!;
            next.Gate = null;
            gate.Complete(default);   // may release next, and acquire anything
        }
    }

    /// <summary>Takes the range of a new request out of the map and makes it wait for the owners.</summary>
    private void Supersede(Request request)
    {
        while (_map.FirstEndingAfter(request.Start) is { } stretch && stretch.Start < request.End)
        {
            Request owner = stretch.Owner!;
            AddEdge(owner, request);
            (long start, long end) = (stretch.Start, stretch.End);
            if (start < request.Start)
            {
                stretch.End = request.Start;
                if (end > request.End)
                {
                    _map.Add(owner, request.End, end);
                }
            }
            else if (end > request.End)
            {
                stretch.Start = request.End;   // no other stretch lies between: the order stays
            }
            else
            {
                _map.Remove(stretch);
            }
        }
    }

    private void AddEdge(Request owner, Request waiter)
    {
        _edgeSteps++;
        if (owner.LastEdge is { } last && last.Waiter == waiter)
        {
            return;   // it waits for this one already
        }

        Edge edge = _edges.Take() ?? new Edge();
        edge.Waiter = waiter;
        if (owner.LastEdge is { } before)
        {
            before.Next = edge;
        }
        else
        {
            owner.FirstEdge = edge;
        }

        owner.LastEdge = edge;
        waiter.Blockers++;
    }

    /// <summary>Requests that waited for this request alone, in order of arrival; they hold their ranges from now on.</summary>
    private Request? TakeGrantable(Request released)
    {
        Request? first = null;
        Request? last = null;
        for (Edge? edge = released.FirstEdge; edge is not null;)
        {
            _edgeSteps++;
            Edge done = edge;
            Request waiter = edge.Waiter!;
            edge = edge.Next;
            done.Waiter = null;
            done.Next = null;
            _edges.Return(done);
            if (--waiter.Blockers > 0)
            {
                continue;
            }

            _held.Add(waiter.Start, waiter);
            if (last is null)
            {
                first = waiter;
            }
            else
            {
                last.NextGranted = waiter;
            }

            last = waiter;
        }

        released.FirstEdge = released.LastEdge = null;
        return first;
    }

    /// <summary>A range that is held or waited for.</summary>
    internal sealed class Request
    {
        internal long Start;
        internal long End;
        internal int Blockers;
        internal LaneCompletion<Nothing>? Gate;
        internal Stretch? Stretches;      // in the map
        internal Edge? FirstEdge;         // those that wait for this one, in order of arrival
        internal Edge? LastEdge;
        internal Request? NextGranted;
    }

    /// <summary>A request waits for the one that has this edge.</summary>
    internal sealed class Edge
    {
        internal Request? Waiter;
        internal Edge? Next;
    }

    /// <summary>Part of the range of a request that no later one has asked for.</summary>
    internal sealed class Stretch
    {
        internal long Start;
        internal long End;
        internal Request? Owner;
        internal Stretch? Before;         // among those of the owner
        internal Stretch? After;
        internal uint Priority;           // not above that of its parent in the tree
        internal Stretch? Left;
        internal Stretch? Right;
    }

    /// <summary>The stretches by address: a tree that random priorities keep balanced.</summary>
    private sealed class StretchMap
    {
        private FreeList<Stretch> _free;
        private Stretch? _root;
        private uint _priority = 2463534242;

        internal long Steps { get; private set; }

        internal Stretch? FirstEndingAfter(long address)
        {
            Stretch? found = null;
            for (Stretch? at = _root; at is not null;)
            {
                Steps++;
                if (at.End > address)
                {
                    found = at;
                    at = at.Left;
                }
                else
                {
                    at = at.Right;
                }
            }

            return found;
        }

        internal void Add(Request owner, long start, long end)
        {
            Stretch stretch = _free.Take() ?? new Stretch();
            stretch.Start = start;
            stretch.End = end;
            stretch.Owner = owner;
            stretch.After = owner.Stretches;
            if (owner.Stretches is { } first)
            {
                first.Before = stretch;
            }

            owner.Stretches = stretch;
            stretch.Priority = NextPriority();
            ref Stretch? place = ref _root;
            while (place is { } above && above.Priority >= stretch.Priority)
            {
                Steps++;
                place = ref start < above.Start ? ref above.Left : ref above.Right;
            }

            Split(place, start, ref stretch.Left, ref stretch.Right);
            place = stretch;
        }

        internal void Remove(Stretch stretch)
        {
            ref Stretch? place = ref _root;
            while (place != stretch)
            {
                Steps++;
                place = ref stretch.Start < place!.Start ? ref place.Left : ref place.Right;
            }

            Stretch? left = stretch.Left;
            Stretch? right = stretch.Right;
            while (left is not null && right is not null)
            {
                Steps++;
                if (left.Priority > right.Priority)
                {
                    place = left;
                    place = ref left.Right;
                    left = left.Right;
                }
                else
                {
                    place = right;
                    place = ref right.Left;
                    right = right.Left;
                }
            }

            place = left ?? right;
            Unlink(stretch);
            _free.Return(stretch);
        }

        private static void Unlink(Stretch stretch)
        {
            if (stretch.Before is { } before)
            {
                before.After = stretch.After;
            }
            else
            {
                stretch.Owner!.Stretches = stretch.After;
            }

            if (stretch.After is { } after)
            {
                after.Before = stretch.Before;
            }

            stretch.Owner = null;
            stretch.Before = stretch.After = stretch.Left = stretch.Right = null;
        }

        /// <summary>Cuts a tree into what begins before an address and the rest.</summary>
        private void Split(Stretch? tree, long start, ref Stretch? before, ref Stretch? rest)
        {
            while (tree is not null)
            {
                Steps++;
                if (tree.Start < start)
                {
                    before = tree;
                    before = ref tree.Right;
                    tree = tree.Right;
                }
                else
                {
                    rest = tree;
                    rest = ref tree.Left;
                    tree = tree.Left;
                }
            }

            before = null;
            rest = null;
        }

        private uint NextPriority()
        {
            _priority ^= _priority << 13;
            _priority ^= _priority >> 17;
            _priority ^= _priority << 5;
            return _priority;
        }
    }
}
