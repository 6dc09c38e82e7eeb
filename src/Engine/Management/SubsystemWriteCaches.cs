using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

public sealed partial class StorageSubsystem
{
    /// <summary>Gives a virtual disk a write cache of another size, or none, while it is in use: what it holds goes home first.</summary>
    /// <exception cref="RefusedException">There is no room for that size, or the cache could not be emptied; nothing was changed.</exception>
    public Task<VirtualDiskStatus> ResizeWriteCacheAsync(Guid id, long sizeBytes) => Change(async LaneTask<VirtualDiskStatus> () =>
    {
        List<string> remarks = [];
        (ManagedPool managed, ManagedVirtualDisk disk, long size) = TakeForResize(id, sizeBytes, remarks);
        string name = disk.Open.Description.FriendlyName;
        CommitResult result = size == disk.Open.Description.WriteCacheSize
            ? CommitResult.Committed : await VirtualDiskBuilder.ResizeCache(managed.Pool!, disk.Open, size);
        if (result.Status == CommitStatus.NoSpace)
        {
            throw new RefusedException(Refusal.WriteCacheSizeRange, $"-WriteCacheSize {sizeBytes} of virtual disk '{name}': {result.Reason}", "Give a smaller size.");
        }

        Require(result, name);
        return StatusOf(managed, disk.Open.Description.Id) with { Remarks = remarks };
    });

    /// <summary>Refuses what <see cref="ResizeWriteCacheAsync"/> would refuse, but for a cache that turns out not to empty itself.</summary>
    public Task<bool> CheckResizeWriteCacheAsync(Guid id, long sizeBytes) => Check(() => TakeForResize(id, sizeBytes, []));

    private (ManagedPool Pool, ManagedVirtualDisk Disk, long Size) TakeForResize(Guid id, long sizeBytes, List<string> remarks)
    {
        (ManagedPool managed, ManagedVirtualDisk disk) = TakeUsable(id);
        RequireWritable(managed);
        return (managed, disk, WriteCachePlan.Resized(managed.Pool!, disk.Open.Description, sizeBytes, remarks.Add));
    }
}
