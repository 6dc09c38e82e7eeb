using System.Globalization;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

// The size of a remote write cache. The rules are those of a cache in the disk's own pool, applied to the disks and slabs of the cache pool. The size
// is bounded by the free slabs there and by the limit that the cache pool sets. Naming a cache pool always makes a cache.

/// <summary>Decides the size of a write cache in another pool. Changes nothing.</summary>
/// <param name="cachePool">The cache pool.</param>
/// <param name="remark">Takes what a user should know about the size.</param>
internal sealed class RemoteCachePlan(IPoolReader cachePool, Action<string> remark)
{
    private string Name => cachePool.State.Pool!.FriendlyName;

    private long Slab => cachePool.Slabs.DataBytes;

    /// <summary>Bytes of slabs that the remote write caches in a pool take now.</summary>
    internal static long RemoteBytes(PoolState cachePool) => cachePool.Spaces.Values.Where(static space => space.Description.IsRemote)
        .Sum(static space => (long)space.MappedRows * space.Description.Positions) * cachePool.Pool!.Slabs.DataBytes;

    /// <summary>Returns the size for a new virtual disk, in bytes of one copy.</summary>
    /// <param name="owner">Its pool.</param>
    /// <param name="request">Request for the virtual disk.</param>
    /// <param name="spec">The disk; everything but sizes is decided.</param>
    internal long Decide(IPoolReader owner, VirtualDiskRequest request, VirtualDiskDescription spec)
    {
        WriteCachePlan.RequireOneSize(request);
        PoolDescription settings = owner.State.Pool!;
        bool isAutomatic = request.WriteCacheSize is null
            && (request.AutoWriteCacheSize || settings.AutoWriteCacheSize || settings.WriteCacheSizeDefault > long.MaxValue);
        if (isAutomatic)
        {
            return Automatic(spec);
        }

        long size = request.WriteCacheSize ?? (long)settings.WriteCacheSizeDefault;
        string what = request.WriteCacheSize is null ? $"-WriteCacheSizeDefault {ByteText.Exact(size)} of storage pool '{settings.FriendlyName}'" : $"-WriteCacheSize {ByteText.Exact(size)}";
        if (size == 0)
        {
            throw new ManagementException(
                ManagementError.WriteCacheSizeRange, $"{what} contradicts -CachePool '{Name}': there would be nothing in it.",
                "Give a -WriteCacheSize above 0, or no -CachePool.");
        }

        return Checked(spec, size, what, former: 0);
    }

    /// <summary>The size for a disk that is in use: its new cache is made beside the one that it has.</summary>
    internal long Resized(VirtualDiskDescription disk, long size)
    {
        long count = Slabs(size);
        return count == 0 || count * Slab == disk.WriteCacheSize ? count * Slab
            : Checked(disk, size, $"-WriteCacheSize {ByteText.Exact(size)}", disk.WriteCacheSize);
    }

    private long Slabs(long size) => (size / Slab) + (size % Slab > 0 ? 1 : 0);

    private long Checked(VirtualDiskDescription spec, long size, string what, long former)
    {
        (string disk, int copies) = (spec.FriendlyName, spec.CacheCopies);
        long count = Slabs(size);
        WriteCachePlan.RequireDisks(cachePool, spec, what);
        long remote = RemoteBytes(cachePool.State);
        ulong limit = cachePool.State.Pool!.LentWriteCacheSizeMax;
        decimal wanted = (decimal)count * copies * Slab;   // the new one takes the place of the former
        if (remote - (former * copies) + wanted > limit)
        {
            throw new ManagementException(
                ManagementError.WriteCacheSizeRange,
                string.Create(CultureInfo.InvariantCulture,
                $"{what} of virtual disk '{disk}' needs {ByteText.Exact((ulong)decimal.Min(wanted, ulong.MaxValue))} of storage pool '{Name}' for {WriteCachePlan.Copies(copies)}. Write caches of other pools have {ByteText.Exact(remote)} there, of at most {ByteText.Exact(limit)}."),
                "Give a smaller size, or raise the limit (Set-StoragePool -LentWriteCacheSizeMax).");
        }

        long largest = cachePool.Allocator.LargestRunCount(copies, AllocationPreferences.ForCache(spec));
        if (count > Math.Min(largest, SpaceDescription.MaxRows))
        {
            throw new ManagementException(
                ManagementError.WriteCacheSizeRange,
                $"{what} of virtual disk '{disk}' is more than there is room for: at most {ByteText.Exact(largest * Slab)}, with {WriteCachePlan.Copies(copies)} on as many disks of usage Journal or flash of storage pool '{Name}'.",
                former > 0 ? "Give a smaller size, or give 0 first, which frees the room of the cache it has." : "Give a smaller size, or add such disks.");
        }

        WriteCachePlan.WarnOfReplay(cachePool.State.Pool!, disk, count * Slab, remark);
        return count * Slab;
    }

    private long Automatic(VirtualDiskDescription spec)
    {
        int copies = spec.CacheCopies;
        string what = $"-CachePool '{Name}'";
        WriteCachePlan.RequireDisks(cachePool, spec, what);
        long room = cachePool.Allocator.LargestRunCount(copies, AllocationPreferences.ForCache(spec));
        ulong limit = cachePool.State.Pool!.LentWriteCacheSizeMax;
        ulong left = limit - Math.Min(limit, (ulong)RemoteBytes(cachePool.State));
        room = Math.Min(room, (long)Math.Min(left / (ulong)(copies * Slab), long.MaxValue));
        long wanted = WriteCachePlan.AutomaticBytes / Slab;
        long share = WriteCachePlan.BestCacheDisks(cachePool, spec).Take(copies)
            .Min(static disk => disk.SlabCount) / WriteCachePlan.AutomaticShare;
        long rows = room >= wanted ? wanted : Math.Min(share, room);
        if (rows == 0)
        {
            return Checked(spec, Slab, what, former: 0);   // refused: not even a slab fits
        }

        if (rows < wanted)
        {
            remark($"The write cache of virtual disk '{spec.FriendlyName}' has {ByteText.Exact(rows * Slab)}: there is no room for {ByteText.Exact(WriteCachePlan.AutomaticBytes)} on the disks of usage "
                + $"Journal or flash of storage pool '{Name}', and no more than 1/{WriteCachePlan.AutomaticShare} of such a disk is taken by itself. -WriteCacheSize asks for another size.");
        }

        return rows * Slab;
    }
}
