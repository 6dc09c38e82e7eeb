using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Management;

// Pools are opened inside the verb queue. A slow disk can make that take long, so verbs do not wait for it without an end:
//
//   a verb that reads answers at once; a pool that is being opened is In Service, and its reason says since when and what is being done
//   a verb that changes something waits until the pools are open, or until one of them has been opened for PatienceNs, and fails then
//
// Invariants
//  1. A pool has an opening exactly from Begin to End, whatever comes of it.

/// <summary>Pools that are being opened: what is shown of them, and verbs that wait for them.</summary>
internal sealed class PoolOpenings(ILane lane, PoolTable pools)
{
    /// <summary>Time for which verbs wait for a pool that is being opened, from the begin of that, in nanoseconds.</summary>
    internal const long PatienceNs = 60_000_000_000;

    private readonly LaneSignal _looks = new();   // to look again at what a verb waits for

    /// <summary>Notes that a pool is being opened, or what is being done now.</summary>
    internal void Show(ManagedPool pool, string step) =>
        pool.ShowOpening((pool.Opening ?? new PoolOpeningState(lane.NowNs, lane.UtcNow, "")) with { Step = step });

    /// <summary>Shows for which of its disks each pool that is being opened waits.</summary>
    internal void ShowDisks(IReadOnlyCollection<RegisteredDisk> unopened)
    {
        foreach (ManagedPool pool in pools.All.Where(static pool => pool.Opening is not null))
        {
            string[] names = [.. unopened.Select(pool.MemberFor).OfType<DiskDescription>().Select(static member => $"'{member.FriendlyName}'")];
            Show(pool, names.Length switch
            {
                0 => "waiting for the other physical disks",
                1 => $"waiting for physical disk {names[0]}",
                _ => $"waiting for physical disks {NameList.Of(names)}",
            });
        }
    }

    /// <summary>Notes that the opening of a pool has ended.</summary>
    internal void End(ManagedPool pool)
    {
        pool.EndOpening();
        _looks.NotifyAll();
    }

    /// <summary>Waits until no pool is being opened.</summary>
    /// <exception cref="ManagementException">One has been opened for too long.</exception>
    internal async LaneTask<Nothing> Wait()
    {
        while (pools.All.Where(static pool => pool.Opening is not null).MinBy(static pool => pool.Opening!.SinceNs) is { } first)
        {
            long leftNs = first.Opening!.SinceNs + PatienceNs - lane.NowNs;
            if (leftNs <= 0)
            {
                throw Unavailable.OpeningPool(pools.NameOf(first.Id), first.Reason);
            }

            LookAfter(leftNs).Forget();
            await _looks.Wait();
        }

        return default;
    }

    private async LaneTask LookAfter(long ns)
    {
        await lane.Delay(ns);
        _looks.NotifyAll();
    }
}

/// <summary>The opening of a pool that is under way.</summary>
/// <param name="SinceNs">Its begin, on the lane's clock.</param>
/// <param name="SinceUtc">Its begin, in UTC.</param>
/// <param name="Step">The step under way.</param>
internal sealed record PoolOpeningState(long SinceNs, DateTimeOffset SinceUtc, string Step)
{
    /// <summary>The same in words.</summary>
    internal string Text => string.Create(
        System.Globalization.CultureInfo.InvariantCulture, $"it is being opened since {SinceUtc:yyyy-MM-dd HH:mm:ss} UTC: {Step}");
}
