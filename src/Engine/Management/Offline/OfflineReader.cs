using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Management;

// Closed images are opened for reading alone, each below an overlay that keeps writes in memory; the first format that recognizes a member describes the pool.

/// <summary>Explains and extracts pools on closed images, which may be write-protected. The data is the same as a host would serve.</summary>
/// <param name="lane">Lane of all I/O.</param>
/// <param name="factory">Opens the disks.</param>
/// <param name="formats">Formats to try, in order; one at least.</param>
public sealed class OfflineReader(ILane lane, IDiskFactory factory, params IOfflineFormat[] formats)
{
    private const int ChunkBytes = 1 << 20;

    /// <summary>Hands what is on the disks to <paramref name="explain"/> while they are open.</summary>
    /// <exception cref="DiskOpenException">A disk cannot be opened, for example because a host has it open.</exception>
    public Task InspectAsync(IReadOnlyList<string> paths, Action<OfflinePool> explain) => lane.InvokeAsync(() => Use(paths, pool =>
    {
        explain(pool);
        return LaneTask.FromResult("");
    }));

    /// <summary>Hands the bytes of a virtual disk, in order, to <paramref name="write"/>. Returns what stopped it, or an empty text.</summary>
    /// <param name="paths">Images or devices.</param>
    /// <param name="virtualDisk">Friendly name or identity.</param>
    /// <param name="write">Takes an offset in bytes and the data there.</param>
    /// <exception cref="DiskOpenException">A disk cannot be opened.</exception>
    public Task<string> ExtractAsync(IReadOnlyList<string> paths, string virtualDisk, Action<long, ReadOnlyMemory<byte>> write) =>
        lane.InvokeAsync(() => Use(paths, pool => Copy(pool, virtualDisk, write)));

    private async LaneTask<string> Use(IReadOnlyList<string> paths, Func<OfflinePool, LaneTask<string>> use)
    {
        List<IDisk> disks = [];
        try
        {
            foreach (string path in paths)
            {
                disks.Add(new OverlayDisk(await factory.Open(lane, UriOf(path), new DiskOverrides(), DiskUse.Read)));
            }

            return await use(await Describe(disks));
        }
        finally
        {
            foreach (IDisk disk in disks)
            {
                await disk.Close();
            }
        }
    }

    // Where no format recognizes a member, the first one says what it found instead.
    private async LaneTask<OfflinePool> Describe(List<IDisk> disks)
    {
        OfflinePool? first = null;
        foreach (IOfflineFormat format in formats)
        {
            OfflinePool pool = await format.Describe(lane, disks);
            if (pool.Disks.Any(static disk => disk.IsMember))
            {
                return pool;
            }

            first ??= pool;
        }

        return first!;
    }

    private async LaneTask<string> Copy(OfflinePool pool, string name, Action<long, ReadOnlyMemory<byte>> write)
    {
        if (pool.Reason.Length > 0)
        {
            return pool.Reason;
        }

        OfflineVirtualDisk? found = pool.VirtualDisks.FirstOrDefault(disk =>
            disk.FriendlyName.Equals(name, StringComparison.OrdinalIgnoreCase) || disk.UniqueId.Equals(name, StringComparison.OrdinalIgnoreCase));
        if (found is null)
        {
            return $"the pool has no virtual disk '{name}'; it has {string.Join(", ", pool.VirtualDisks.Select(static disk => disk.FriendlyName))}";
        }

        OfflineStore opened = await found.Open();
        return opened.Store is { } store ? await Copy(store, found.SizeBytes, write) : opened.Reason;
    }

    private async LaneTask<string> Copy(IBlockStore store, long size, Action<long, ReadOnlyMemory<byte>> write)
    {
        IoBuffer buffer = lane.Buffers.Rent(ChunkBytes);
        byte[] copy = new byte[ChunkBytes];
        string reason = "";
        for (long at = 0; at < size && reason.Length == 0; at += ChunkBytes)
        {
            int length = (int)Math.Min(ChunkBytes, size - at);
            IoError error = await store.Read(at, buffer.Slice(0, length));
            buffer.Span[..length].CopyTo(copy);
            reason = error == IoError.None ? "" : $"bytes {at} to {at + length} cannot be read ({error})";
            if (reason.Length == 0)
            {
                write(at, copy.AsMemory(0, length));
            }
        }

        lane.Buffers.Return(buffer);
        return reason;
    }

    private static string UriOf(string path) =>
        (path.StartsWith("/dev/", StringComparison.Ordinal) && !path.StartsWith("/dev/shm/", StringComparison.Ordinal)
            ? DiskUri.ForBlock(path) : DiskUri.ForFile(path)).ToString();
}
