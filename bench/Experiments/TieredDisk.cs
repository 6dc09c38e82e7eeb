using TierSpaces.Bench.Tables;
using TierSpaces.Engine.Caching;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Exports.Nbd;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Jobs;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Tiering;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Bench.Experiments;

/// <summary>Writes of a tiered disk by where they went.</summary>
/// <param name="Fast">To the fast tier, by clients or by destaging.</param>
/// <param name="Slow">To the slow tier.</param>
/// <param name="Cached">Taken by the write cache.</param>
/// <param name="Resident">Bypassed the write cache because their backing store is as fast.</param>
/// <param name="PastFull">Past the write cache for another reason: it was full.</param>
/// <param name="Below">Writes and flushes of the pool's disks for all of them, metadata included.</param>
internal readonly record struct WritePlaces(long Fast, long Slow, long Cached, long Resident, long PastFull, long Below)
{
    public static WritePlaces operator +(WritePlaces one, WritePlaces other) => new(
        one.Fast + other.Fast, one.Slow + other.Slow, one.Cached + other.Cached, one.Resident + other.Resident, one.PastFull + other.PastFull,
        one.Below + other.Below);

    public static WritePlaces operator -(WritePlaces later, WritePlaces earlier) => new(
        later.Fast - earlier.Fast, later.Slow - earlier.Slow, later.Cached - earlier.Cached, later.Resident - earlier.Resident,
        later.PastFull - earlier.PastFull, later.Below - earlier.Below);
}

/// <summary>A disk with an SSD tier over an HDD tier, on emulated disks in real time, served over NBD by an engine in this process.</summary>
internal sealed class TieredDisk : IDisposable
{
    internal const int Fast = 0;
    internal const int Slow = 1;

    private const int Columns = 4;
    private const int Interleave = 64 << 10;

    private readonly Lane _lane;
    private readonly HostState _state;
    private readonly NbdServer _server;
    private readonly Pool _pool;
    private readonly OpenVirtualDisk _disk;
    private readonly List<MeteredDisk> _members = [];

    /// <summary>Makes pool and disk of images in the folder.</summary>
    /// <param name="folder">Where the images are.</param>
    /// <param name="name">Begins the names of its files.</param>
    /// <param name="shape">Sizes.</param>
    /// <param name="cacheBytes">Write cache, whole slabs; 0: none.</param>
    /// <exception cref="IOException">Pool or disk cannot be made so.</exception>
    internal TieredDisk(BackingFolder folder, string name, TierShape shape, long cacheBytes)
    {
        _lane = LaneFactory.Create(name);
        _state = new HostState(folder.File($"{name}-state"), folder.File($"{name}-memory"));
        _server = new NbdServer(_lane);
        string[] ssds = Images(folder, $"{name}-ssd", shape.DiskBytes);
        string[] hdds = Images(folder, $"{name}-hdd", shape.DiskBytes);
        Socket = folder.File($"{name}.socket");
        (_pool, _disk) = OnLane(() => Make(ssds, hdds, Spec(shape, cacheBytes)));
        OnLane(() =>
        {
            _server.Add(new NbdExport(Guid.Empty, "tiered", "", _disk.Disk, isReadOnly: false));
            _server.ListenUnix(_lane.Network, Socket);
            return default(LaneTask<int>);
        });
    }

    /// <summary>Where it is served, under the default name.</summary>
    internal string Socket { get; }

    /// <summary>Bytes in its write cache that are not destaged.</summary>
    internal long DirtyBytes => OnLane(() => LaneTask.FromResult(_disk.Cache?.DirtyBytes ?? 0));

    /// <summary>Where its writes went so far.</summary>
    internal WritePlaces Places => OnLane(() => LaneTask.FromResult(new WritePlaces(
        _disk.Tiers!.CountersOf(Fast)!.WriteOperations,
        _disk.Tiers.CountersOf(Slow)!.WriteOperations,
        Cached(WriteReason.Cache),
        Cached(WriteReason.SsdResident),
        Cached(WriteReason.BypassFull) + Cached(WriteReason.BypassLarge) + Cached(WriteReason.WriteThrough),
        _members.Sum(member => member.Counters.WriteOperations + member.Counters.FlushOperations))));

    /// <summary>Writes slices whole, in this order, and makes them durable.</summary>
    internal void Write(IEnumerable<int> slices) => OnLane(async () =>
    {
        IoBuffer buffer = _lane.Buffers.Rent(TierShape.Slice);
        foreach (int slice in slices)
        {
            Require(await _disk.Disk.Write(slice * (long)TierShape.Slice, buffer, WriteFlags.None));
        }

        _lane.Buffers.Return(buffer);
        Require(await _disk.Disk.Flush());
        return 0;
    });

    /// <summary>Numbers of the first slices that are on the fast tier and on the slow one.</summary>
    internal (int Fast, int Slow) Where(int slices) => OnLane(() =>
    {
        SliceEntry[] entries = [.. Enumerable.Range(0, slices).Select(slice => _disk.Tiers!.Map[slice])];
        return LaneTask.FromResult(
            (entries.Count(entry => entry.IsMapped && entry.Tier == Fast), entries.Count(entry => entry.IsMapped && entry.Tier == Slow)));
    });

    /// <summary>Brings its slices to the tiers that they belong on.</summary>
    /// <returns>Bytes promoted and demoted.</returns>
    internal (long Promoted, long Demoted) Optimize() => OnLane(async () =>
    {
        OptimizeTiersStep step = new(_disk, TierPlanSettings.Default);
        for (JobAdvance advance = default; !advance.IsDone;)
        {
            advance = await step.Advance(advance.Cursor);
            Require(advance.Error);
        }

        return (step.BytesPromoted, step.BytesDemoted);
    });

    public void Dispose()
    {
        OnLane(async () =>
        {
            await _server.Close();
            await _disk.Close();
            await _pool.Close();
            return 0;
        });
        _lane.Dispose();
        _state.Dispose();
    }

    private async LaneTask<(Pool, OpenVirtualDisk)> Make(string[] ssds, string[] hdds, VirtualDiskDescription spec)
    {
        DiskFactory factory = new();
        DiskWatch watch = new(_lane);
        List<NewDiskSpec> members = [];
        foreach ((string image, string profile) in ssds.Select(static image => (image, CachePool.SsdProfile))
            .Concat(hdds.Select(static image => (image, CachePool.HddProfile))))
        {
            members.Add(await Member(image, profile));
        }

        PoolEnvironment environment = new(_lane, new StateFolder(_lane, _state), _lane.NewGuid());
        Pool pool = await Pool.Create(environment, new NewPoolSpec { FriendlyName = "tiering" }, members);
        VirtualDiskResult made = await VirtualDiskBuilder.Create(pool, spec);
        return (pool, made.Disk ?? throw new IOException($"The tiered disk cannot be made: {made.Reason}."));

        async LaneTask<NewDiskSpec> Member(string image, string profile)
        {
            MeteredDisk member = new(
                _lane, await factory.Open(_lane, new DiskUri(DiskKind.Emulated, image, profile).ToString(), new DiskOverrides()), watch);
            _members.Add(member);
            return new NewDiskSpec(member, Path.GetFileNameWithoutExtension(image));
        }
    }

    private static VirtualDiskDescription Spec(TierShape shape, long cacheBytes) => new()
    {
        FriendlyName = "tiered",
        ResiliencySettingName = "Simple",
        SizeBytes = (shape.FastSlices + shape.SlowSlices) * (long)TierShape.Slice,
        NumberOfColumns = Columns,
        NumberOfDataCopies = 1,
        Interleave = Interleave,
        SliceSize = TierShape.Slice,
        WriteCacheSize = cacheBytes,
        Tiers = [Tier("SSD", MediaType.SSD, shape.FastSlices), Tier("HDD", MediaType.HDD, shape.SlowSlices)],
    };

    private static TierDescription Tier(string name, MediaType medium, int slices) => new()
    {
        FriendlyName = name,
        MediaTypeCode = (ushort)medium,
        ResiliencySettingName = "Simple",
        SizeBytes = slices * (long)TierShape.Slice,
        NumberOfColumns = Columns,
        NumberOfDataCopies = 1,
        Interleave = Interleave,
    };

    private static string[] Images(BackingFolder folder, string name, long size) =>
        [.. Enumerable.Range(1, Columns).Select(number => folder.NewFile($"{name}{number}.img", size))];

    private long Cached(WriteReason reason) => _disk.Cache?.Counters.Writes(reason) ?? 0;

    private T OnLane<T>(Func<LaneTask<T>> work) => _lane.InvokeAsync(work).GetAwaiter().GetResult();

    private void Require(IoError error)
    {
        if (error != IoError.None)
        {
            throw new IOException($"The tiered disk answered {error} {_disk.FaultReason}");
        }
    }
}
