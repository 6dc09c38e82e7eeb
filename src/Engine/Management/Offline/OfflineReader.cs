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
    private const int BlockBytes = 4096;

    /// <summary>Hands what is on the disks to <paramref name="explain"/> while they are open.</summary>
    /// <exception cref="DiskOpenException">A disk cannot be opened, for example because a host has it open.</exception>
    public Task InspectAsync(IReadOnlyList<string> paths, Action<OfflinePool> explain) => lane.InvokeAsync(() => Use(paths, withOlder: false, pool =>
    {
        explain(pool);
        return LaneTask.FromResult(true);
    }));

    /// <summary>
    /// Hands the bytes of a virtual disk, in order, to <paramref name="write"/>. Blocks that cannot be read are left out and returned.
    /// </summary>
    /// <param name="paths">Images or devices.</param>
    /// <param name="virtualDisk">Friendly name or identity.</param>
    /// <param name="withOlder">Whether copies are read that may be out of date, where no others are there.</param>
    /// <param name="write">Takes an offset in bytes and the data there.</param>
    /// <exception cref="DiskOpenException">A disk cannot be opened.</exception>
    public Task<OfflineExtract> ExtractAsync(
        IReadOnlyList<string> paths, string virtualDisk, bool withOlder, Action<long, ReadOnlyMemory<byte>> write) =>
        lane.InvokeAsync(() => Use(paths, withOlder, pool => Copy(pool, virtualDisk, write)));

    private async LaneTask<T> Use<T>(IReadOnlyList<string> paths, bool withOlder, Func<OfflinePool, LaneTask<T>> use)
    {
        List<IDisk> disks = [];
        try
        {
            foreach (string path in paths)
            {
                disks.Add(new OverlayDisk(await factory.Open(lane, UriOf(path), new DiskOverrides(), DiskUse.Read)));
            }

            return await use(await Describe(disks, withOlder));
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
    private async LaneTask<OfflinePool> Describe(List<IDisk> disks, bool withOlder)
    {
        OfflinePool? first = null;
        foreach (IOfflineFormat format in formats)
        {
            OfflinePool pool = await format.Describe(lane, disks, withOlder);
            if (pool.Disks.Any(static disk => disk.IsMember))
            {
                return pool;
            }

            first ??= pool;
        }

        return first!;
    }

    private async LaneTask<OfflineExtract> Copy(OfflinePool pool, string name, Action<long, ReadOnlyMemory<byte>> write)
    {
        if (pool.Reason.Length > 0)
        {
            return new OfflineExtract(pool.Reason);
        }

        OfflineVirtualDisk? found = pool.VirtualDisks.FirstOrDefault(disk =>
            disk.FriendlyName.Equals(name, StringComparison.OrdinalIgnoreCase) || disk.UniqueId.Equals(name, StringComparison.OrdinalIgnoreCase));
        if (found is null)
        {
            return new OfflineExtract(
                $"the pool has no virtual disk '{name}'; it has {string.Join(", ", pool.VirtualDisks.Select(static disk => disk.FriendlyName))}");
        }

        OfflineStore opened = await found.Open();
        return opened.Store is { } store
            ? new OfflineExtract("") { Unread = await Copy(store, found.SizeBytes, write), Remarks = pool.Remarks }
            : new OfflineExtract(opened.Reason);
    }

    private async LaneTask<List<(long Offset, long Length)>> Copy(IBlockStore store, long size, Action<long, ReadOnlyMemory<byte>> write)
    {
        IoBuffer buffer = lane.Buffers.Rent(ChunkBytes);
        byte[] copy = new byte[ChunkBytes];
        List<(long Offset, long Length)> unread = [];
        int step = ChunkBytes;
        for (long at = 0; at < size;)
        {
            int length = (int)Math.Min(step, size - at);
            if (await store.Read(at, buffer.Slice(0, length)) == IoError.None)
            {
                buffer.Span[..length].CopyTo(copy);
                write(at, copy.AsMemory(0, length));
            }
            else if (step > BlockBytes && length > BlockBytes)
            {
                step = BlockBytes;   // block by block, to the end of the chunk
                continue;
            }
            else
            {
                AddRange(unread, at, length);
            }

            at += length;
            step = at % ChunkBytes == 0 ? ChunkBytes : step;
        }

        lane.Buffers.Return(buffer);
        return unread;
    }

    private static void AddRange(List<(long Offset, long Length)> ranges, long offset, long length)
    {
        if (ranges.Count > 0 && ranges[^1] is var last && last.Offset + last.Length == offset)
        {
            ranges[^1] = (last.Offset, last.Length + length);
        }
        else
        {
            ranges.Add((offset, length));
        }
    }

    private static string UriOf(string path) =>
        (path.StartsWith("/dev/", StringComparison.Ordinal) && !path.StartsWith("/dev/shm/", StringComparison.Ordinal)
            ? DiskUri.ForBlock(path) : DiskUri.ForFile(path)).ToString();
}
