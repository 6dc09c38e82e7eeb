using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

// A virtual disk is removed in this order: (1) the export and the jobs end; (2) it is closed; (3) the removal is committed. If the commit
// is refused, the virtual disk is opened and exported again. If the commit found no space it may still be applied later: then the virtual disk
// stays closed, with the reason, until a later commit has shown whether it is still there. Connecting it asks for that, and so does
// removing it again.

public sealed partial class StorageSubsystem
{
    /// <summary>Removes a virtual disk and everything in it.</summary>
    /// <exception cref="RefusedException">The pool could not commit the removal; every verb reaches the virtual disk as before.</exception>
    public Task<bool> RemoveVirtualDiskAsync(Guid id) => Change(async LaneTask<bool> () =>
    {
        VirtualDiskId disk = new(id);
        if (UnopenedIn(disk) is not var (managed, description))
        {
            (managed, ManagedVirtualDisk open) = OpenDisk(id);
            description = open.Open.Description;
            await StopExport(open);
            GatherReliability();
            managed.VirtualDisks.Remove(disk);
            await EndJobsOf(managed, id);
            await open.Open.Close();
        }

        CommitResult removed = await VirtualDiskBuilder.Remove(managed.Pool!, disk);
        managed.Unopened.Remove(disk);
        if (!removed.Succeeded && managed.State!.VirtualDisk(disk) is null)
        {
            await VirtualDiskBuilder.ForgetRemoved(managed.Pool!, description);   // an earlier removal was committed after all
            return true;
        }

        if (removed.Status == CommitStatus.NoSpace)
        {
            managed.Unopened[disk] = $"its removal may still be committed: {removed.Reason}";
        }
        else if (!removed.Succeeded)
        {
            await TryOpenDisk(managed, description);
        }

        Require(removed, description.FriendlyName);
        return true;
    });

    /// <summary>Opens a virtual disk that could not be opened before. It is still there when a commit that begins now says so.</summary>
    private async LaneTask<Nothing> OpenAgain(Guid id)
    {
        VirtualDiskId disk = new(id);
        if (UnopenedIn(disk) is not var (managed, description))
        {
            return default;
        }

        CommitResult there = await managed.Pool!.Commit(new VirtualDiskChanged(description));
        if (managed.State!.VirtualDisk(disk) is null)
        {
            managed.Unopened.Remove(disk);   // its removal was committed after all
            return await VirtualDiskBuilder.ForgetRemoved(managed.Pool!, description);
        }

        Require(there, description.FriendlyName);
        return await TryOpenDisk(managed, description);
    }

    private (ManagedPool Pool, VirtualDiskDescription Description)? UnopenedIn(VirtualDiskId disk) =>
        _pools.Values.FirstOrDefault(pool => pool.Pool is not null && pool.Unopened.ContainsKey(disk)) is { } managed
        && managed.State!.VirtualDisk(disk) is { } description ? (managed, description) : null;
}
