using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Management;

// Pools that lose the majority of their votes while they serve. Such a pool can acknowledge and record nothing more, whatever comes back: its
// disks have to agree on their contents again. So it is closed, and opened again when the majority is back, as a starting host does:
//
//   1. The exports end, and everything above the pool; requests under way fail with EIO. Data that was not flushed is as after a crash.
//   2. Virtual disks of other pools whose remote cache is in it wait for it, detached.
//   3. Its disks are looked for every two seconds; when the majority is there it is opened, and its virtual disks are exported as before.
//
// A pool whose lease is waited for is opened here too: what it waits for is looked at each half second.
//
// Invariants
//  1. Only the pool that lost its majority is closed.
//  2. While the pool is closed, its last known state stays known: it is shown as Incomplete, with the reason.

/// <summary>Closes pools that have lost the majority of their votes, and opens them again when it is back.</summary>
internal sealed class LostPools(SubsystemCore core, DiskOpener diskOpener, PoolOpener opener, VirtualDiskOpener disks)
{
    private const long LostLookNs = 2_000_000_000;
    private const long LeaseLookNs = 500_000_000;

    /// <summary>Closes a pool that has lost its majority; opens it when its time has come.</summary>
    internal async LaneTask<Nothing> Tend(ManagedPool managed)
    {
        if (managed.Pool is { HasLostQuorum: true } lost)
        {
            await CloseLost(managed, lost);
        }

        if (managed.TakeOpeningTurn(core.Lane.NowNs, managed.AwaitsLease ? LeaseLookNs : LostLookNs))
        {
            await OpenLost(managed);
        }

        return default;
    }

    private async LaneTask<Nothing> CloseLost(ManagedPool managed, Pool lost)
    {
        core.Notice($"Storage pool {lost.State.Pool!.FriendlyName} is closed: {lost.StatusReason} It is opened again as soon as it can be.");
        managed.SetLost(lost);
        await opener.StopDisks(managed);
        await managed.Close(clean: false);
        foreach (ManagedPool owner in core.Pools.All.ToArray())
        {
            foreach (ManagedVirtualDisk dependent in owner.VirtualDisks.Values.Where(disk => disk.Status.RemotePool == lost.Id).ToArray())
            {
                await disks.ReopenOnceDecided(owner, dependent);
            }
        }

        managed.Absences.Clear();
        return default;
    }

    private async LaneTask<Nothing> OpenLost(ManagedPool managed)
    {
        HashSet<Guid> members = [.. managed.State!.Disks.Values.Select(static disk => disk.Description.Id.Value)];
        foreach (RegisteredDisk disk in core.Disks.All.Where(disk => members.Contains(disk.Stored.LastMember) && !disk.Search.IsUnderWay).ToArray())
        {
            if (disk.Device is { Open.IsPresent: false, LastOpened: null or { InFlight: 0 } })
            {
                await disk.Device.Close();
            }

            if (disk is { Device: { Open: null, LastOpened: null or { InFlight: 0 } } } or { Device.Open: not null, Condition.Label: null })
            {
                await diskOpener.Open(disk);
            }
        }

        PoolScan[] there = [.. core.Disks.All.Where(static disk => disk is { Device.Open: not null, Condition.Copy: CopyState.None })
            .Select(static disk => disk.Condition.Scan).OfType<PoolScan>().Where(scan => scan.Label?.Pool == managed.Id)];
        return Pool.MayHaveQuorum(there) ? await opener.Open(only: managed.Id) : default;
    }
}
