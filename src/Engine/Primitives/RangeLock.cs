namespace TierSpaces.Engine.Primitives;

/// <summary>
/// Exclusive locks over ranges of one address space, on one lane. Granted in order of arrival: a request waits for every
/// overlapping range that is held or was asked for earlier, so nobody starves.
/// </summary>
public sealed class RangeLock
{
    private Range[] _held = new Range[64];
    private int _heldCount;
    private readonly List<Waiter> _waiting = [];

    /// <summary>Ranges held now.</summary>
    public int Held => _heldCount;

    /// <summary>Takes [<paramref name="start"/>, <paramref name="end"/>); give it back with <see cref="Release"/>.</summary>
    public LaneTask<Nothing> Acquire(long start, long end)
    {
        Range range = new(start, end);
        if (_waiting.Count == 0 && !OverlapsHeld(range))
        {
            Hold(range);
            return new LaneTask<Nothing>(default(Nothing));
        }

        if (!OverlapsHeld(range) && !OverlapsWaiting(range, _waiting.Count))
        {
            Hold(range);
            return new LaneTask<Nothing>(default(Nothing));
        }

        LaneCompletion<Nothing> gate = LaneCompletion<Nothing>.Rent();
        LaneTask<Nothing> task = gate.Task;
        _waiting.Add(new Waiter(range, gate));
        return task;
    }

    /// <summary>Gives a range back and lets those waiting for it go on.</summary>
    public void Release(long start, long end)
    {
        int index = 0;
        while (_held[index].Start != start || _held[index].End != end)
        {
            index++;
        }

        _held[index] = _held[--_heldCount];
        while (TakeGrantable() is { } granted)
        {
            granted.Complete(default);
        }
    }

    private LaneCompletion<Nothing>? TakeGrantable()
    {
        for (int i = 0; i < _waiting.Count; i++)
        {
            Waiter waiter = _waiting[i];
            if (!OverlapsHeld(waiter.Range) && !OverlapsWaiting(waiter.Range, i))
            {
                _waiting.RemoveAt(i);
                Hold(waiter.Range);
                return waiter.Gate;
            }
        }

        return null;
    }

    private void Hold(Range range)
    {
        if (_heldCount == _held.Length)
        {
            Array.Resize(ref _held, _heldCount * 2);
        }

        _held[_heldCount++] = range;
    }

    private bool OverlapsHeld(Range range)
    {
        foreach (ref readonly Range held in _held.AsSpan(0, _heldCount))
        {
            if (held.Start < range.End && range.Start < held.End)
            {
                return true;
            }
        }

        return false;
    }

    private bool OverlapsWaiting(Range range, int before)
    {
        for (int i = 0; i < before; i++)
        {
            if (_waiting[i].Range.Start < range.End && range.Start < _waiting[i].Range.End)
            {
                return true;
            }
        }

        return false;
    }

    private readonly record struct Range(long Start, long End);

    private readonly record struct Waiter(Range Range, LaneCompletion<Nothing> Gate);
}
