using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Lanes;

/// <summary>Pending delays, earliest first; equal times fire in the order they were asked for. A binary heap in an array.</summary>
internal sealed class TimerHeap
{
    private readonly record struct Timer(long DueNs, ulong Order, LaneCompletion<Nothing> Completion)
    {
        internal bool Before(in Timer other) => DueNs != other.DueNs ? DueNs < other.DueNs : Order < other.Order;
    }

    private Timer[] _timers = new Timer[64];
    private ulong _order;

    internal int Count { get; private set; }

    /// <summary>Time at which the earliest timer fires; valid while <see cref="Count"/> &gt; 0.</summary>
    internal long EarliestNs => _timers[0].DueNs;

    internal void Add(long dueNs, LaneCompletion<Nothing> completion)
    {
        if (Count == _timers.Length)
        {
            Array.Resize(ref _timers, Count * 2);
        }

        Timer added = new(dueNs, _order++, completion);
        int index = Count++;
        for (int parent = (index - 1) / 2; index > 0 && added.Before(_timers[parent]); parent = (index - 1) / 2)
        {
            _timers[index] = _timers[parent];
            index = parent;
        }

        _timers[index] = added;
    }

    internal LaneCompletion<Nothing> TakeEarliest()
    {
        LaneCompletion<Nothing> earliest = _timers[0].Completion;
        Timer moved = _timers[--Count];
        _timers[Count] = default;
        if (Count > 0)
        {
            SinkFromTop(moved);
        }

        return earliest;
    }

    private void SinkFromTop(in Timer moved)
    {
        int index = 0;
        while (true)
        {
            int child = (2 * index) + 1;
            if (child >= Count)
            {
                break;
            }

            if (child + 1 < Count && _timers[child + 1].Before(_timers[child]))
            {
                child++;
            }

            if (!_timers[child].Before(moved))
            {
                break;
            }

            _timers[index] = _timers[child];
            index = child;
        }

        _timers[index] = moved;
    }
}
