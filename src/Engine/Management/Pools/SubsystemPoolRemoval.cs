using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Management;

// A pool is removed when the labels of all its members that are here have been erased. The order: (1) the pool is closed; (2) the labels of each
// member are read, then erased; (3) the pool is forgotten. If a member cannot be erased, the labels of those before it are written back and
// the pool is opened again: nothing was changed.

public sealed partial class StorageSubsystem
{
    /// <summary>Removes an empty pool: its disks are blank afterwards and stay registered.</summary>
    /// <exception cref="RefusedException">It is not empty, lends, or a disk of it cannot be erased; the pool is there as before.</exception>
    public Task<bool> RemovePoolAsync(Guid id) => Change(async LaneTask<bool> () =>
    {
        ManagedPool managed = OpenPool(id);
        Pool pool = managed.Pool!;
        RequireEmpty(managed);
        await GiveBackUnnamed();   // before its records go: they tell what other pools have lent to it, and which of its own loans no virtual disk names
        RequireNotLending(managed);
        managed.LastKnownState = pool.State;
        await pool.Close();
        managed.Pool = null;
        managed.Reason = "it is being removed";
        await EraseMembers(managed);
        _pools.Remove(managed.Id);
        _opened.Remove(managed.Id);
        ForgetOpenedMark(managed.Id);
        return true;
    });

    private async LaneTask<Nothing> EraseMembers(ManagedPool managed)
    {
        HashSet<Guid> members = [.. managed.State!.Disks.Values.Select(static disk => disk.Description.Id.Value)];
        List<(RegisteredDisk Disk, DiskLabels Labels)> erased = [];
        foreach (RegisteredDisk disk in _registry.Disks.Where(disk => disk.Disk is null && !IsInOpenPool(disk)).ToArray())
        {
            await OpenRegistered(disk);
            if (disk.Disk is not { } open || disk.Scan?.Label is not { } label || label.Pool != managed.Id || !members.Contains(label.Disk.Value))
            {
                continue;
            }

            (IoError error, DiskLabels labels) = await DiskLabels.Read(_lane, open);
            if (error == IoError.None)
            {
                erased.Add((disk, labels));
                error = await PoolScan.Erase(_lane, open);
            }

            if (error != IoError.None)
            {
                string remark = await PutBack(erased);
                await OpenPools(only: managed.Id);
                throw new RefusedException(
                    Refusal.Failed,
                    $"Storage pool '{managed.State?.Pool?.FriendlyName}' is not removed: physical disk '{StatusOf(disk).FriendlyName}' ({disk.Uri}) could not be erased ({error}).{remark}",
                    "Retire and remove that disk, or unregister it, then try again.");
            }
        }

        foreach ((RegisteredDisk disk, _) in erased)
        {
            Saw(disk, await PoolScan.Scan(_lane, disk.Disk!));
        }

        return default;
    }

    /// <summary>Writes back what was erased; says which disks did not take it.</summary>
    private async LaneTask<string> PutBack(List<(RegisteredDisk Disk, DiskLabels Labels)> erased)
    {
        List<string> lost = [];
        foreach ((RegisteredDisk disk, DiskLabels labels) in erased)
        {
            await labels.Write(_lane, disk.Disk!);
            disk.Scan = await PoolScan.Scan(_lane, disk.Disk!);
            if (disk.Scan.Label is null)
            {
                lost.Add($"'{disk.FriendlyName}' ({disk.Uri})");
            }
        }

        return lost.Count == 0 ? "" : $" The labels of {string.Join(", ", lost)} could not be written back.";
    }

    private void ForgetOpenedMark(PoolId pool)
    {
        try
        {
            _options.State.DeleteFile(OpenedMark(pool));
        }
        catch (IOException stays)
        {
            _options.Notice($"A file of the removed storage pool stays in the host's state: {stays.Message}");
        }
    }
}
