using TierSpaces.Contracts;

namespace TierSpaces.Host.Health;

// Model: two tables, the health of each object as last seen and as last reported. Their difference is to be reported; there is no other queue.
//
// Invariants
//  1. Of one object at most one change waits. A change that is seen while another of the same object waits takes its place in the order: it leads from the
//     health that was reported to the newest one. If that is the same, nothing waits.
//  2. Objects are reported in the order in which they began to differ. As many changes wait as there are objects, at most.
//  3. The saved table has the changes that were reported to the end: a change whose report was interrupted is reported again.

/// <summary>The health of all objects as last seen and as last reported. Safe for concurrent calls.</summary>
internal sealed class HealthLedger
{
    private readonly object _gate = new();
    private readonly Dictionary<(HealthSubject, string), ObjectHealth> _now = [];
    private readonly Dictionary<(HealthSubject, string), ObjectHealth> _reported = [];
    private readonly Dictionary<(HealthSubject, string), (long Order, DateTime Time)> _pending = [];
    private long _order;
    private bool _isChanged;

    /// <summary>Begins with what the host before has reported.</summary>
    public HealthLedger(IEnumerable<ObjectHealth> reported)
    {
        foreach (ObjectHealth one in reported)
        {
            (_now[one.Key], _reported[one.Key]) = (one, one);
        }
    }

    /// <summary>Takes a report and returns the changes since the one before.</summary>
    /// <param name="report">The report.</param>
    /// <param name="time">Its time, in UTC.</param>
    /// <param name="isStarting">
    /// Whether the host has only just started: disks and pools may not be open yet, and volumes not mounted, so what is worse than before, or not there, or a
    /// volume, is left to a later report.
    /// </param>
    public List<HealthChange> Observe(HealthReport report, DateTime time, bool isStarting = false)
    {
        lock (_gate)
        {
            List<HealthChange> changes = [];
            foreach (ObjectHealth one in report.Objects)
            {
                ObjectHealth before = _now.GetValueOrDefault(one.Key) ?? Unknown(one);
                bool isWorse = one.Health > (before.Health == HealthStatus.Unknown ? HealthStatus.Healthy : before.Health);
                if (!isStarting || !(isWorse || one.Subject == HealthSubject.Volume))
                {
                    _now[one.Key] = one;
                    Note(changes, before, one, time);
                }
            }

            HashSet<(HealthSubject, string)> there = [.. report.Objects.Select(static one => one.Key)];
            foreach (ObjectHealth gone in isStarting || report.IsPartial ? [] : _now.Values.Where(one => !there.Contains(one.Key)).ToArray())
            {
                _now.Remove(gone.Key);
                if (gone.Health != HealthStatus.Healthy)
                {
                    changes.Add(new HealthChange(gone, Unknown(gone), IsRemoved: true, time));
                }

                Track(gone.Key, time);
            }

            return changes;
        }
    }

    /// <summary>Returns the change that has waited longest, which counts as reported from now on; null if none waits.</summary>
    public HealthChange? Take()
    {
        lock (_gate)
        {
            if (_pending.Count == 0)
            {
                return null;
            }

            ((HealthSubject, string) key, (_, DateTime time)) = _pending.MinBy(static waiting => waiting.Value.Order);
            _pending.Remove(key);
            ObjectHealth? now = _now.GetValueOrDefault(key);
            ObjectHealth before = _reported.GetValueOrDefault(key) ?? Unknown(now!);
            SetReported(key, now);
            return new HealthChange(before, now ?? Unknown(before), now is null, time);
        }
    }

    /// <summary>Returns what has been reported, if it is not what was returned the last time; else null. Called when no change is being reported.</summary>
    public ObjectHealth[]? TakeReported()
    {
        lock (_gate)
        {
            bool isChanged = _isChanged;
            _isChanged = false;
            return isChanged ? [.. _reported.Values] : null;
        }
    }

    private void Note(List<HealthChange> changes, ObjectHealth before, ObjectHealth now, DateTime time)
    {
        if (IsChange(before, now))
        {
            changes.Add(new HealthChange(before, now, IsRemoved: false, time));
        }

        Track(now.Key, time);
    }

    private void Track((HealthSubject, string) key, DateTime time)
    {
        ObjectHealth? now = _now.GetValueOrDefault(key);
        ObjectHealth? reported = _reported.GetValueOrDefault(key);
        bool differs = now is null ? reported is { Health: not HealthStatus.Healthy } : IsChange(reported ?? Unknown(now), now);
        if (!differs)
        {
            _pending.Remove(key);
            SetReported(key, now);
        }
        else if (!_pending.ContainsKey(key))
        {
            _pending[key] = (_order++, time);
        }
    }

    private void SetReported((HealthSubject, string) key, ObjectHealth? now)
    {
        ObjectHealth? before = _reported.GetValueOrDefault(key);
        if (now is null)
        {
            _isChanged |= _reported.Remove(key);
        }
        else
        {
            _reported[key] = now;
            _isChanged |= before is null || !before.IsSameAs(now) || before.Name != now.Name || before.PoolName != now.PoolName;
        }
    }

    /// <summary>Whether there is something to report: a new object that is healthy is no event.</summary>
    private static bool IsChange(ObjectHealth before, ObjectHealth now) =>
        !before.IsSameAs(now) && !(before.Health == HealthStatus.Unknown && now.Health == HealthStatus.Healthy);

    private static ObjectHealth Unknown(ObjectHealth one) => one with { Health = HealthStatus.Unknown, Status = "", Reason = "" };
}
