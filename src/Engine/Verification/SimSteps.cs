namespace TierSpaces.Engine.Verification;

/// <summary>The work of the lanes of one simulated world, in the order of one seed, on one virtual clock.</summary>
internal sealed class SimSteps
{
    private readonly List<(SimLane Lane, Action Work)> _ready = [];
    private readonly PriorityQueue<(SimLane Lane, Action Work), (long AtNs, long Order)> _timers = new();
    private ulong _random;
    private long _order;

    internal SimSteps(ulong seed)
    {
        Seed = seed;
        _random = (seed * 0x9E3779B97F4A7C15) ^ 0xD1B54A32D192ED03;
    }

    /// <summary>The seed.</summary>
    internal ulong Seed { get; }

    /// <summary>Virtual time, in nanoseconds.</summary>
    internal long NowNs { get; private set; } = 1_000_000_000;

    /// <summary>Steps run so far.</summary>
    internal long Count { get; private set; }

    /// <summary>Running hash over the order of events.</summary>
    internal ulong TraceHash { get; private set; } = 14695981039346656037;

    /// <summary>The lane whose work runs now; null between two steps.</summary>
    internal SimLane? Current { get; private set; }

    /// <summary>64 random bits.</summary>
    internal ulong NextRandom()
    {
        _random ^= _random << 13;
        _random ^= _random >> 7;
        _random ^= _random << 17;
        return _random * 0x2545F4914F6CDD1D;
    }

    /// <summary>A number in [0, <paramref name="bound"/>).</summary>
    internal int Next(int bound) => (int)((NextRandom() >> 33) % (ulong)bound);

    /// <summary>Mixes a fact into the trace hash.</summary>
    internal void Trace(ulong fact) => TraceHash = (TraceHash ^ fact) * 1099511628211;

    /// <summary>Adds work that is ready.</summary>
    internal void Add(SimLane lane, Action work) => _ready.Add((lane, work));

    /// <summary>Adds work that is ready after a time.</summary>
    internal void Schedule(SimLane lane, long afterNs, Action work) => _timers.Enqueue((lane, work), (NowNs + afterNs, _order++));

    /// <summary>Runs one piece of work; false when there is none.</summary>
    internal bool Run()
    {
        if (Current is not null)
        {
            throw new InvalidOperationException("A lane does not pump itself.");
        }

        if (!TryTake(out (SimLane Lane, Action Work) next))
        {
            return false;
        }

        Count++;
        Current = next.Lane;
        try
        {
            next.Work();
        }
        finally
        {
            Current = null;
        }

        return true;
    }

    private bool TryTake(out (SimLane Lane, Action Work) next)
    {
        int count = _ready.Count;
        int first = count <= 1 ? 0 : Next(count);
        for (int i = 0; i < count; i++)
        {
            int pick = (first + i) % count;
            if (!_ready[pick].Lane.IsStuck)
            {
                next = _ready[pick];
                _ready.RemoveAt(pick);
                return true;
            }
        }

        while (_timers.TryDequeue(out next, out (long AtNs, long Order) due))
        {
            NowNs = Math.Max(NowNs, due.AtNs);
            if (!next.Lane.IsStuck)
            {
                return true;
            }

            _ready.Add(next);
        }

        return false;
    }
}
