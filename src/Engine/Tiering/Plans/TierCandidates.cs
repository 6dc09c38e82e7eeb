namespace TierSpaces.Engine.Tiering;

/// <summary>A slice that may move.</summary>
internal struct TierCandidate
{
    /// <summary><see cref="To"/> of a slice whose tier is not chosen yet.</summary>
    internal const byte Undecided = byte.MaxValue;

    internal long Slice;
    internal float Heat;
    internal byte From;
    internal byte To;
    internal bool IsPinned;

    internal readonly bool IsDecided => To != Undecided;
}

// Kept are only slices that something may be decided about: those of the slowest tier that are too cold to be promoted stay where they are,
// unless room is so short that a few must go (AddFromSlowest). So memory goes with the fast tiers and with what is hot, not with the disk.

/// <summary>The slices of a disk as the planner sees them: what is where, what is pinned, what may move.</summary>
internal sealed class TierCandidates
{
    private readonly TierPlanRequest _request;
    private readonly TierPlanSettings _settings;
    private readonly int _slowest;
    private long _nextCold;   // where AddFromSlowest goes on

    internal TierCandidates(TierPlanRequest request)
    {
        _request = request;
        _settings = request.Settings;
        _slowest = request.Capacities.Length - 1;
        Occupied = new long[request.Capacities.Length];
        Heat = new double[request.Capacities.Length];
        Held = new long[request.Capacities.Length];
        for (long slice = 0; slice < request.Slices; slice++)
        {
            if (request.TierOf(slice) is >= 0 and var tier)
            {
                Add(slice, tier);
            }
        }

        LetGoOfTooManyPins();
    }

    /// <summary>Slices that may move, and those that must because they are pinned elsewhere.</summary>
    internal List<TierCandidate> All { get; } = [];

    /// <summary>Slices on each tier.</summary>
    internal long[] Occupied { get; }

    /// <summary>Heat on each tier.</summary>
    internal double[] Heat { get; }

    /// <summary>Slices that each tier holds, or is to hold, because they are pinned to it.</summary>
    internal long[] Held { get; }

    /// <summary>Slices that no pin holds.</summary>
    internal long Free { get; private set; }

    /// <summary>Whether a slice is hot enough to be promoted when there is room.</summary>
    internal bool IsEligible(float heat) => heat > _settings.MoveCost && heat >= _settings.MinimumHeat && !IsCold(heat);

    /// <summary>Whether a slice goes to the slowest tier for being cold.</summary>
    internal bool IsCold(float heat) => heat < _settings.ColdBelow;

    /// <summary>Takes slices of the slowest tier that are not hot to another one, because there is no room for them.</summary>
    internal void AddFromSlowest(byte to, long count)
    {
        for (; _nextCold < _request.Slices && count > 0; _nextCold++)
        {
            long slice = _nextCold;
            if (_request.TierOf(slice) == _slowest && HeatOf(slice) is var heat && !IsEligible(heat) && PinOf(slice) < 0)
            {
                All.Add(new TierCandidate { Slice = slice, Heat = heat, From = (byte)_slowest, To = to });
                count--;
            }
        }
    }

    private void Add(long slice, int tier)
    {
        if (tier > _slowest)
        {
            throw new ArgumentException($"Slice {slice} is on tier {tier}, and there are tiers 0 to {_slowest}.");
        }

        float heat = HeatOf(slice);
        int pin = PinOf(slice);
        Occupied[tier]++;
        Heat[tier] += heat;
        if (pin >= 0)
        {
            Held[pin]++;
        }
        else
        {
            Free++;
        }

        if (pin >= 0 ? pin != tier : tier < _slowest || IsEligible(heat))
        {
            byte to = pin >= 0 ? (byte)pin : TierCandidate.Undecided;
            All.Add(new TierCandidate { Slice = slice, Heat = heat, From = (byte)tier, To = to, IsPinned = pin >= 0 });
        }
    }

    private float HeatOf(long slice) => _request.HeatOf(slice) is > 0 and var heat ? (float)Math.Min(heat, 1e30) : 0;

    private int PinOf(long slice) => _request.PinOf?.Invoke(slice) is >= 0 and var pin && pin <= _slowest ? pin : -1;

    // More is pinned to a tier than it can hold: what is on it stays, of the others the hottest come.
    private void LetGoOfTooManyPins()
    {
        for (int tier = 0; tier <= _slowest; tier++)
        {
            long tooMany = Held[tier] - _request.Capacities[tier];
            if (tooMany <= 0)
            {
                continue;
            }

            int[] moving = [.. Enumerable.Range(0, All.Count).Where(i => All[i].IsPinned && All[i].To == tier)];
            Array.Sort(Array.ConvertAll(moving, i => All[i].Heat), moving);
            foreach (int i in moving.AsSpan(0, (int)Math.Min(tooMany, moving.Length)))
            {
                All[i] = All[i] with { To = TierCandidate.Undecided, IsPinned = false };
                Held[tier]--;
                Free++;
            }
        }
    }
}
