using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Management;

// Pools that lose the majority of their metadata votes while they serve. Such a pool can acknowledge and record nothing more, whatever comes back: what its
// disks hold has to be agreed on anew. So it is closed, and opened again when the majority is back, as a host does that starts:
//
//   1. The exports end, and everything above the pool; requests under way fail with EIO. What was not flushed is as after a crash.
//   2. Virtual disks of other pools whose write cache it lends room for wait for it, detached.
//   3. Its disks are looked for every two seconds; when the majority is there it is opened, and its virtual disks are exported as before.
//
// Invariants
//  1. Only the pool that lost its majority is closed.
//  2. What is known of the pool stays known while it is closed: it is shown as Incomplete, with the reason.
public sealed partial class StorageSubsystem
{
    private const long LostLookNs = 2_000_000_000;

    private async LaneTask<Nothing> TendLost(ManagedPool managed)
    {
        if (managed.Pool is { HasLostQuorum: true } lost)
        {
            await CloseLost(managed, lost);
        }

        if (managed is { Pool: null, IsLost: true } && _lane.NowNs >= managed.NextOpeningNs)
        {
            managed.NextOpeningNs = _lane.NowNs + LostLookNs;
            await OpenLost(managed);
        }

        return default;
    }

    private async LaneTask<Nothing> CloseLost(ManagedPool managed, Pool lost)
    {
        _options.Notice($"Storage pool {lost.State.Pool!.FriendlyName} is closed: {lost.StatusReason} It is opened again when the majority is back.");
        managed.IsLost = true;
        managed.Reason = lost.StatusReason;
        managed.LastKnownState = lost.State;
        await StopDisks(managed);
        await ClosePool(managed, clean: false);
        foreach (ManagedPool home in _pools.Values.ToArray())
        {
            foreach (ManagedVirtualDisk borrower in home.VirtualDisks.Values.Where(disk => disk.Open.Lent?.Pool == lost).ToArray())
            {
                await ReopenOnceDecided(home, borrower);
            }
        }

        managed.Absences.Clear();
        return default;
    }

    private async LaneTask<Nothing> OpenLost(ManagedPool managed)
    {
        HashSet<Guid> members = [.. managed.State!.Disks.Values.Select(static disk => disk.Description.Id.Value)];
        foreach (RegisteredDisk disk in _registry.Disks.FindAll(disk => members.Contains(disk.LastMember) && !disk.IsLookedFor))
        {
            if (disk is { Disk: { IsPresent: false } gone, LastOpened: null or { InFlight: 0 } })
            {
                disk.Disk = null;
                await gone.Close();
            }

            if (disk is { Disk: null, LastOpened: null or { InFlight: 0 } } or { Disk: not null, Scan: null or { Label: null } })
            {
                await OpenRegistered(disk);
            }
        }

        PoolScan[] there = [.. _registry.Disks.Where(disk => disk is { Disk: not null, Scan.Label: { } label } && label.Pool == managed.Id).Select(static disk => disk.Scan!)];
        return Pool.MayHaveQuorum(there) ? await OpenPools(only: managed.Id) : default;
    }
}
