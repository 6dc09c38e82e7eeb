using TierSpaces.Engine.Caching;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.Resiliency.Layouts;
using TierSpaces.Engine.Tiering;

namespace TierSpaces.Engine.VirtualDisks;

// Opening a virtual disk: its spaces, its tiers, its write cache, and the layers above them.

/// <summary>Opens virtual disks over an open pool.</summary>
public static class VirtualDiskStack
{
    private const int RegionsPerSlowMark = 4;
    private const long SlowMarkCleanAfterNs = 120_000_000_000;

    /// <summary>Opens a virtual disk of the pool on a lane; its space says in Fault whether it can be used. Called on the pool's lane.</summary>
    /// <exception cref="IOException">The host has no shared memory for it; nothing of it is open.</exception>
    public static async LaneTask<OpenVirtualDisk> Open(Pool pool, VirtualDiskId id, ILane? lane = null)
    {
        if (!pool.State.Pool!.IsReadOnly)
        {
            await SpaceRecords.RemoveUnnamedSpaces(pool, id);   // where that is not possible now, the next opening does it
        }

        return await Stack(pool, lane ?? pool.Environment.Lane, pool.State.VirtualDisk(id)!, isNew: false);
    }

    /// <summary>
    /// Opens a disk again, as a new host would, on its lane or another one. Nothing is exported of it; requests under way have failed or end now.
    /// </summary>
    /// <exception cref="IOException">The host has no shared memory for it; nothing of it is open.</exception>
    internal static async LaneTask<OpenVirtualDisk> Reopen(Pool pool, OpenVirtualDisk open, ILane? lane = null)
    {
        await open.Call(async () =>
        {
            await open.Disk.Pause();
            return await open.Close();
        });
        return await Stack(pool, lane ?? open.Lane, pool.State.VirtualDisk(open.Description.Id)!, isNew: false);
    }

    /// <summary>Opens the layers of a disk, on the pool's lane.</summary>
    internal static LaneTask<OpenVirtualDisk> Stack(Pool pool, ILane lane, VirtualDiskDescription disk, bool isNew)
    {
        PoolLink link = pool.LinkTo(lane);
        CacheReach reach = CacheStack.Reach(pool, lane, disk);
        return link.Call(() => StackOn(link, reach, disk, isNew));
    }

    private static async LaneTask<OpenVirtualDisk> StackOn(PoolLink pool, CacheReach reach, VirtualDiskDescription disk, bool isNew)
    {
        pool.BeginOpening();
        try
        {
            List<OpenPart> parts = await OpenSpaces(pool, disk, isNew);
            IBackingStore backing = disk.IsTiered ? TiersOf(pool, disk, parts) : parts[0].Space;
            (WriteCache? cache, RemoteCache? remote) = await CacheStack.StackCache(pool, reach, disk, backing, parts[0].Host, isNew);
            DiskTiering? tiering = backing is TieredStore tiers ? await DiskTiering.Open(pool, disk, tiers, isNew) : null;
            VirtualDisk top = new(pool.Lane, backing, cache, disk.SizeBytes, disk.LogicalSectorSize, disk.IsReadOnly) { Heat = tiering?.Heat };
            if (!pool.State.Pool!.IsReadOnly)
            {
                tiering?.Store.GiveLeftoversBack();
            }

            return new OpenVirtualDisk(pool, disk, top, backing, parts, tiering, remote);
        }
        finally
        {
            pool.EndOpening();
        }
    }

    private static async LaneTask<List<OpenPart>> OpenSpaces(PoolLink pool, VirtualDiskDescription disk, bool isNew)
    {
        List<OpenPart> parts = [];
        try
        {
            foreach (TierDescription part in disk.Parts.OrderBy(static part => part.Number))
            {
                parts.Add(await OpenSpace(pool, disk, part, isNew));
            }

            return parts;
        }
        catch (IOException)
        {
            foreach (OpenPart part in parts)
            {
                await part.Space.Close();
                pool.Tell(owner => owner.Environment.State.ReturnMemory(part.JournalName));
            }

            throw;
        }
    }

    /// <exception cref="IOException">The host has no shared memory for it.</exception>
    internal static async LaneTask<OpenPart> OpenSpace(PoolLink pool, VirtualDiskDescription disk, TierDescription part, bool isNew)
    {
        SpaceShape shape = VirtualDiskLayout.ShapeOf(pool.Slabs, disk, part);
        PoolSpaceHost host = new(pool, disk.Id, part);
        IReadOnlyList<IReadOnlyList<SlabPlace>> logCopies = shape.HasLog ? CacheStack.CopiesOf(pool.State, pool.State.Space(part.LogSpace)!) : [];
        (int logBlocks, int parityBlocks) = VirtualDiskLayout.RingBlocks(logCopies.Count > 0 ? logCopies[0].Count : 0, shape);
        bool marksAreSlow = shape.HasLog && IsOnRotatingDisk(pool.State, pool.State.Space(part.LogSpace)!);
        string journal = JournalName(pool.Id, part.DataSpace);
        int bytes = pool.RecordMemoryBytes;
        SpaceOptions options = new()
        {
            Space = part.DataSpace.Value,
            PoolTag = BitConverter.ToUInt64(pool.Id.Value.ToByteArray()),
            Shape = shape,
            Resiliency = LayoutDescriptor.Of(shape),
            Length = part.SpaceBytes,
            IsThin = disk.ProvisioningType == ProvisioningType.Thin,
            Rows = [.. pool.State.Space(part.DataSpace)!.EnumerateRows().Select(row => RowOf(pool.State, row.Index, row.Row))],
            LogCopies = logCopies,
            StaleLogCopies = shape.HasLog ? CacheStack.StaleCopiesOf(pool.State.Space(part.LogSpace)!) : 0,
            LogOwner = OwnerOf(pool.Id, part.LogSpace),
            LogBlocksMax = logBlocks,
            ParityJournalBlocks = parityBlocks,
            HedgeAfterNs = pool.HedgeNs,
            RegionsPerMark = marksAreSlow ? RegionsPerSlowMark : 1,
            CleanAfterNs = marksAreSlow ? SlowMarkCleanAfterNs : SpaceOptions.CleanAfterNsByDefault,
            RecordMemory = shape.Checksums ? await pool.Ask(owner => owner.Environment.State.MapMemory(journal, bytes)) : null,
        };
        Space space = isNew ? await Space.Create(host, options) : await Space.Open(host, options);
        host.Serve(space);
        return new OpenPart(part.Number, space, host, journal);
    }

    /// <summary>Whether a part of a ring lies on a rotating disk: every append waits for that.</summary>
    private static bool IsOnRotatingDisk(PoolState pool, SpaceState ring)
    {
        foreach ((int _, RowState row) in ring.EnumerateRows())
        {
            foreach (SlabRef slab in row.Mapping.Sources)
            {
                if (pool.Disks[slab.Disk].Description.Media() == MediaType.HDD)
                {
                    return true;
                }
            }
        }

        return false;
    }

    private static TieredStore TiersOf(PoolLink pool, VirtualDiskDescription disk, List<OpenPart> parts)
    {
        bool isThin = disk.ProvisioningType == ProvisioningType.Thin;
        List<StorageTierStore> tiers = parts.ConvertAll(part =>
            new StorageTierStore(part.Space, disk.Part(part.Number)!.SizeBytes, (int)disk.SliceSize, isThin));
        int[] order = [.. disk.Tiers.Select(static tier => tier.Number)];
        return new TieredStore(pool.Lane, new PoolSliceHost(pool, disk.Id), tiers, order, (int)disk.SliceSize, disk.SizeBytes);
    }

    internal static SpaceRowMap RowOf(PoolState pool, int index, RowState row)
    {
        SlabRef[] slabs = row.Mapping.Sources.ToArray();
        ushort[] stale = new ushort[slabs.Length];
        for (int position = 0; position < stale.Length; position++)
        {
            stale[position] = row.Stale(position);
        }

        return new SpaceRowMap(index, Array.ConvertAll(slabs, slab => PoolSpaceHost.PlaceOf(pool, slab)), row.Mapping.IsInitialized, stale);
    }

    internal static Guid OwnerOf(PoolId pool, SpaceId ring)
    {
        byte[] owner = pool.Value.ToByteArray();
        BitConverter.TryWriteBytes(owner.AsSpan(12), BitConverter.ToUInt32(owner, 12) ^ ring.Value);
        return new Guid(owner);
    }

    internal static string JournalName(PoolId pool, SpaceId data) => $"notes-{pool.Value:N}-{data.Value}";
}
