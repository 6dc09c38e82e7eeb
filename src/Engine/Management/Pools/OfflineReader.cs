using System.Runtime.InteropServices;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

/// <summary>What closed member disks say of their pool, without a byte of them being written.</summary>
/// <param name="Scans">What each disk holds.</param>
/// <param name="State">State of the pool, as far as it can be known; null when none of the disks is a readable member.</param>
/// <param name="Reason">Why the pool could not be opened from these disks alone; empty when it could.</param>
public sealed record OfflinePool(IReadOnlyList<PoolScan> Scans, PoolState? State, string Reason)
{
    /// <summary>Pages of the metadata area in use, and the most that there may be; null where the pool could not be opened.</summary>
    public (long Used, long Most)? MetadataPages { get; init; }
}

/// <summary>
/// Reads pools from closed images, which may be write-protected: the engine opens them as always, recovery included, on disks whose writes stay in memory. What
/// was read
/// is what a host would serve.
/// </summary>
public static class OfflineReader
{
    private const int ChunkBytes = 1 << 20;

    /// <summary>Explains what is on the disks.</summary>
    /// <exception cref="DiskOpenException">A disk cannot be opened, for example because a host has it open.</exception>
    public static Task<OfflinePool> InspectAsync(ILane lane, IDiskFactory factory, IReadOnlyList<string> paths) =>
        lane.InvokeAsync(() => Inspect(lane, factory, paths, null));

    /// <summary>Hands the bytes of a virtual disk, in order, to <paramref name="write"/>; gives what stopped it, or an empty text.</summary>
    /// <exception cref="DiskOpenException">A disk cannot be opened.</exception>
    public static Task<OfflinePool> ExtractAsync(
        ILane lane, IDiskFactory factory, IReadOnlyList<string> paths, string virtualDisk, Action<long, ReadOnlyMemory<byte>> write) =>
        lane.InvokeAsync(() => Inspect(lane, factory, paths, pool => Copy(pool, virtualDisk, write)));

    private static async LaneTask<OfflinePool> Inspect(
        ILane lane, IDiskFactory factory, IReadOnlyList<string> paths, Func<Pool, LaneTask<string>>? use)
    {
        List<PoolScan> scans = [];
        List<IDisk> disks = [];
        try
        {
            foreach (string path in paths)
            {
                OverlayDisk disk = new(factory.Open(lane, UriOf(path), new DiskOverrides(), DiskUse.Read));
                disks.Add(disk);
                scans.Add(await PoolScan.Scan(lane, disk));
            }

            return await OpenPool(lane, scans, use);
        }
        finally
        {
            foreach (IDisk disk in disks)
            {
                await disk.Close();
            }
        }
    }

    private static async LaneTask<OfflinePool> OpenPool(ILane lane, List<PoolScan> scans, Func<Pool, LaneTask<string>>? use)
    {
        PoolId[] pools = [.. scans.Where(scan => scan.Label is not null).Select(scan => scan.Label!.Pool).Distinct()];
        if (pools.Length != 1)
        {
            return new OfflinePool(scans, null, pools.Length == 0 ? "none of these disks is a member of a pool" : "these disks are of several pools");
        }

        PoolEnvironment environment = new(lane, new ForgetfulState(), lane.NewGuid());
        PoolOpenResult result = await Pool.Open(environment, pools[0], [.. scans.Where(scan => scan.Label is not null)]);
        if (result.Pool is not { } pool)
        {
            return new OfflinePool(scans, result.LastKnownState, result.Reason);
        }

        return new OfflinePool(scans, pool.State, use is null ? "" : await use(pool)) { MetadataPages = pool.MetadataPages };
    }

    private static async LaneTask<string> Copy(Pool pool, string name, Action<long, ReadOnlyMemory<byte>> write)
    {
        VirtualDiskDescription? found = pool.State.VirtualDisks.Values.FirstOrDefault(disk =>
            disk.FriendlyName.Equals(name, StringComparison.OrdinalIgnoreCase) || disk.Id.Value.ToString().Equals(name, StringComparison.OrdinalIgnoreCase));
        if (found is null)
        {
            return $"the pool has no virtual disk '{name}'; it has {string.Join(", ", pool.State.VirtualDisks.Values.Select(disk => disk.FriendlyName))}";
        }

        if (found.IsCacheElsewhere && found.CacheSpace != SpaceId.None)
        {
            return $"what was written to it last may be in its write cache, which is in another pool ({found.CachePool}): only a host with both pools open can read it";
        }

        OpenVirtualDisk open = await VirtualDiskStack.Open(pool, found.Id);
        if (open.Fault != IoError.None)
        {
            return open.FaultReason;
        }

        ILane lane = pool.Environment.Lane;
        IoBuffer buffer = lane.Buffers.Rent(ChunkBytes);
        byte[] copy = new byte[ChunkBytes];
        string reason = "";
        for (long at = 0; at < open.Disk.SizeBytes && reason.Length == 0; at += ChunkBytes)
        {
            int length = (int)Math.Min(ChunkBytes, open.Disk.SizeBytes - at);
            IoError error = await open.Disk.Read(at, buffer.Slice(0, length));
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

    /// <summary>A host state that keeps nothing: no witness, no first-write journal.</summary>
    private sealed unsafe class ForgetfulState : IHostState
    {
        private readonly Dictionary<string, byte[]> _files = [];
        private readonly Dictionary<string, nint> _memory = [];

        public Guid BootId => Guid.Empty;

        public byte[]? ReadFile(string name) => _files.GetValueOrDefault(name);

        public void WriteFile(string name, ReadOnlySpan<byte> content) => _files[name] = content.ToArray();

        public void DeleteFile(string name) => _files.Remove(name);

        public IoBuffer MapMemory(string name, int size)
        {
            if (!_memory.TryGetValue(name, out nint address))
            {
                _memory[name] = address = (nint)NativeMemory.AllocZeroed((nuint)size);
            }

            return new IoBuffer((byte*)address, size);
        }

        public void ReturnMemory(string name)
        {
        }

        public void ReleaseMemory(string name)
        {
            if (_memory.Remove(name, out nint address))
            {
                NativeMemory.Free((void*)address);
            }
        }
    }
}
