using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Management;

// A pool is removed when the labels of all its members that are here have been erased. The order: (1) the pool is closed; (2) the labels of each
// member are read, then erased; (3) the pool is forgotten. If a member cannot be erased, the labels of those before it are written back and
// the pool is opened again: nothing was changed.

/// <summary>Removes empty pools.</summary>
internal sealed class PoolRemoval(SubsystemCore core, DiskOpener diskOpener, PoolOpener opener, RemoteCaches remote, OpenedMarks marks)
{
    /// <summary>Removes an empty pool.</summary>
    /// <exception cref="ManagementException">It is not empty, has remote caches, or a disk of it cannot be erased; the pool is there as before.</exception>
    internal async LaneTask<bool> Remove(ManagedPool managed)
    {
        RequireEmpty(managed);
        await remote.GiveBackUnnamed();   // before its records go: they name its remote caches in other pools and the remote caches in it
        remote.RequireNoRemoteCaches(managed);
        await managed.CloseForRemoval();
        await EraseMembers(managed);
        core.Pools.Remove(managed.Id);
        await marks.Forget(managed.Id);
        return true;
    }

    /// <summary>Refuses what <see cref="Remove"/> would refuse, but for a disk that cannot be erased.</summary>
    internal void Check(ManagedPool managed)
    {
        RequireEmpty(managed);
        remote.RequireNoRemoteCaches(managed);
    }

    private async LaneTask<Nothing> EraseMembers(ManagedPool managed)
    {
        HashSet<Guid> members = [.. managed.State!.Disks.Values.Select(static disk => disk.Description.Id.Value)];
        List<(RegisteredDisk Disk, DiskLabels Labels)> erased = [];
        foreach (RegisteredDisk disk in core.Disks.All.Where(disk => disk.Device.Open is null && !core.Disks.IsInOpenPool(disk)).ToArray())
        {
            await diskOpener.Open(disk);
            if (disk.Device.Open is not { } open || disk.Condition.Label is not { } label || label.Pool != managed.Id || !members.Contains(label.Disk.Value))
            {
                continue;
            }

            (IoError error, DiskLabels labels) = await DiskLabels.Read(core.Lane, open);
            if (error == IoError.None)
            {
                erased.Add((disk, labels));
                error = await PoolScan.Erase(core.Lane, open);
            }

            if (error != IoError.None)
            {
                string remark = await PutBack(erased);
                await opener.Open(only: managed.Id);
                throw new ManagementException(
                    ManagementError.Failed,
                    $"Storage pool '{managed.State?.Pool?.FriendlyName}' is not removed: physical disk '{core.Disks.NameOf(disk)}' ({disk.Stored.Uri}) could not be erased ({error}).{remark}",
                    "Retire and remove that disk, or unregister it, then try again.");
            }
        }

        foreach ((RegisteredDisk disk, _) in erased)
        {
            core.Disks.Saw(disk, await PoolScan.Scan(core.Lane, disk.Device.Open!));
        }

        return default;
    }

    /// <summary>Writes back what was erased; says which disks did not take it.</summary>
    private async LaneTask<string> PutBack(List<(RegisteredDisk Disk, DiskLabels Labels)> erased)
    {
        List<string> lost = [];
        foreach ((RegisteredDisk disk, DiskLabels labels) in erased)
        {
            await labels.Write(core.Lane, disk.Device.Open!);
            disk.ReadAgain(await PoolScan.Scan(core.Lane, disk.Device.Open!));
            if (disk.Condition.Label is null)
            {
                lost.Add($"'{disk.Stored.FriendlyName}' ({disk.Stored.Uri})");
            }
        }

        return lost.Count == 0 ? "" : $" The labels of {string.Join(", ", lost)} could not be written back.";
    }

    private static void RequireEmpty(ManagedPool managed)
    {
        PoolState state = managed.State!;
        if (state.VirtualDisks.Count > 0)
        {
            string names = string.Join(", ", state.VirtualDisks.Values.Select(disk => disk.FriendlyName));
            throw new ManagementException(
                ManagementError.PoolHasVirtualDisks, $"Storage pool '{state.Pool!.FriendlyName}' has virtual disks: {names}.", "Remove them first.");
        }
    }
}
