using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Management;

// A pool that cannot be opened is shown all the same, with its name, its disks and its virtual disks: what the host knew of it last is in a file of the
// host's state. The file is written when something of it has changed, at most every two seconds; a host that is killed in between shows what was before.
//
// Invariants
//  1. The memory is only shown; a pool is opened from its disks.
//  2. A pool that is not open is forgotten when no disk of it is registered any more.

/// <summary>Remembers pools over restarts of the host, for display while they are not open.</summary>
internal sealed class KnownPools(SubsystemCore core)
{
    private const string FileName = "known-pools";
    private const long PeriodNs = 2_000_000_000;
    private byte[] _saved = [];
    private object[]? _seen;   // what the file was made of, by reference; null: not by this host
    private bool _hasFailed;

    /// <summary>Lists the pools that are remembered. Returns a message about what could not be read, or nothing.</summary>
    internal async LaneTask<string> Load()
    {
        try
        {
            byte[] saved = await core.State.ReadFile(FileName) ?? [];
            if (!PoolSummary.TryDecode(saved, out List<(PoolId Id, PoolState State)> pools, out string reason))
            {
                return $"What was known of pools that may not open cannot be read: {reason}.";
            }

            pools.ForEach(pool => core.Pools.GetOrAdd(pool.Id).SetKnown(pool.State, "none of its disks is there"));
            _saved = saved;
            return "";
        }
        catch (IOException problem)
        {
            return $"What was known of pools that may not open cannot be read: {problem.Message}";
        }
    }

    /// <summary>Runs until the host stops.</summary>
    internal async LaneTask Run()
    {
        while (!core.Verbs.IsStopped)
        {
            await core.Lane.Delay(PeriodNs);
            if (!core.Verbs.IsStopped)
            {
                await core.Verbs.Enqueue(Forget);
                await Save();
            }
        }
    }

    /// <summary>Saves what has changed. A failure is reported once.</summary>
    internal async LaneTask<Nothing> Save()
    {
        (PoolId Id, PoolState State)[] pools =
            [.. core.Pools.All.Where(static pool => pool.State?.Pool is not null).Select(static pool => (pool.Id, pool.State!))];
        object[] now = [.. pools.SelectMany(static pool => (object[])[pool.State.Pool!, pool.State.Disks, pool.State.VirtualDisks])];
        if (_seen is not null && now.SequenceEqual(_seen, ReferenceEqualityComparer.Instance))
        {
            return default;
        }

        byte[] content = PoolSummary.Encode(pools);
        try
        {
            if (!content.AsSpan().SequenceEqual(_saved))
            {
                await core.State.WriteFile(FileName, content);
            }

            (_seen, _saved, _hasFailed) = (now, content, false);
        }
        catch (IOException full)
        {
            if (!_hasFailed)
            {
                core.Notice($"What is known of pools cannot be kept for a time when they do not open: {full.Message}");
            }

            _hasFailed = true;
        }

        return default;
    }

    private LaneTask<Nothing> Forget()
    {
        core.ForgetPools();
        return LaneTask.FromResult(default(Nothing));
    }
}
