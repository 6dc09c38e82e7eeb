using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.Tiering;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Verification;

/// <summary>
/// A whole engine on simulated disks: pool, metadata, one virtual disk or more and, on request, a cache pool on the last disks for a remote
/// write cache. A single virtual disk is on the lane of the pools or on one of its own; of several, each is on a lane of its own. A fork copies disks and
/// host state at one instant and opens them beside the running world. Members that name no virtual disk are about the first one.
/// </summary>
public sealed class PoolWorld : ISimWorld
{
    private const int RecordMemoryBytes = 64 << 10;   // copied and cleared at every fork: no more than a load of seconds fills

    private readonly bool _hasDataLanes;
    private readonly IoDeadlines? _deadlines;
    private readonly int _ownerDisks;   // those of the owner pool; the others are the cache pool's
    private readonly DiskWatch _watch;
    private int _moveStep;   // of slices that move now; 0: none
    private readonly MeteredDisk[] _members;   // the disks as the pool uses them: with deadlines

    private PoolWorld(
        ulong seed, SimMedia[] media, SimHostState state, IReadOnlyList<VirtualDiskDescription> specs, int ownerDisks, bool hasDataLanes,
        IoDeadlines? deadlines)
    {
        Specs = specs;
        _deadlines = deadlines;
        _ownerDisks = ownerDisks;
        _hasDataLanes = hasDataLanes;
        State = state;
        PoolLane = new SimLane(seed);
        VirtualDisks =
        [
            .. Enumerable.Range(0, Math.Max(1, specs.Count))
                .Select(i => new SimVirtualDisk(this, hasDataLanes ? PoolLane.Beside(i == 0 ? "data" : $"data{i + 1}") : PoolLane)),
        ];
        Disks = Array.ConvertAll(media, medium => new SimDisk(PoolLane, medium));
        _watch = new DiskWatch(PoolLane, deadlines);
        _members = Array.ConvertAll(Disks, disk => new MeteredDisk(PoolLane, disk, _watch));
        Environment = new PoolEnvironment(PoolLane, new StateFolder(PoolLane, state), new Guid(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1))
        {
            RecordMemoryBytes = RecordMemoryBytes,
            Deadlines = deadlines,
            FindPool = id => Array.Find([Pool, CachePool], pool => pool?.Id == id),
        };
    }

    /// <summary>The virtual disks, in the order of their descriptions.</summary>
    public IReadOnlyList<SimVirtualDisk> VirtualDisks { get; }

    /// <summary>Lane of the virtual disk and its clients.</summary>
    public SimLane Lane => VirtualDisks[0].Lane;

    /// <summary>Lane of the pools: the same one, or another one of the world.</summary>
    public SimLane PoolLane { get; }

    /// <summary>Disks.</summary>
    public SimDisk[] Disks { get; }

    /// <summary>Host state.</summary>
    public SimHostState State { get; }

    /// <summary>Environment of the pool.</summary>
    public PoolEnvironment Environment { get; private set; }

    /// <summary>The pool, once open.</summary>
    public Pool? Pool { get; private set; }

    /// <summary>The cache pool, once open; null where there is none.</summary>
    public Pool? CachePool { get; private set; }

    /// <summary>The virtual disk, once open.</summary>
    public OpenVirtualDisk? VirtualDisk => VirtualDisks[0].Open;

    private IReadOnlyList<VirtualDiskDescription> Specs { get; }

    /// <summary>
    /// Makes a world of blank disks; <paramref name="cachePoolDisks"/> more are for a cache pool. With <paramref name="hasNoJournals"/> a write cache is on
    /// the disks of the data; with <paramref name="hasDataLane"/> the virtual disk is on a lane of its own; with <paramref name="rotates"/> all disks
    /// count as rotating, so that commits and marks are taken for slow, and first writes give places to the slices of windows of
    /// <paramref name="firstWriteWindow"/>. A write cache gets a summary after <paramref name="cacheSummaryBlocks"/> of its ring.
    /// </summary>
    public static PoolWorld New(
        int disks, long bytes, int sectorSize, ulong seed, VirtualDiskDescription? spec = null, int cachePoolDisks = 0, bool hasNoJournals = false,
        bool hasDataLane = false, bool rotates = false, int firstWriteWindow = 64, int cacheSummaryBlocks = 4096) =>
        new(seed, Media(disks + cachePoolDisks, bytes, sectorSize), new SimHostState(), spec is null ? [] : [spec], disks, hasDataLane, deadlines: null)
        {
            HasNoJournals = hasNoJournals,
            Rotates = rotates,
            FirstWriteWindow = firstWriteWindow,
            CacheSummaryBlocks = cacheSummaryBlocks,
        };

    /// <summary>Makes a world of blank disks for several virtual disks, each on a lane of its own.</summary>
    public static PoolWorld New(
        int disks, long bytes, int sectorSize, ulong seed, IReadOnlyList<VirtualDiskDescription> specs, int cachePoolDisks, IoDeadlines deadlines) =>
        new(seed, Media(disks + cachePoolDisks, bytes, sectorSize), new SimHostState(), specs, disks, hasDataLanes: true, deadlines)
        {
            HasNoJournals = true,
        };

    private static SimMedia[] Media(int disks, long bytes, int sectorSize) =>
        [.. Enumerable.Range(0, disks).Select(i => new SimMedia($"disk{i}", bytes, sectorSize))];

    /// <inheritdoc/>
    public IBlockStore Store => VirtualDisks[0].Store;

    /// <inheritdoc/>
    public SpaceSet Spaces => VirtualDisks[0].Spaces;

    /// <inheritdoc/>
    public string FaultReason => VirtualDisk!.FaultReason;

    /// <inheritdoc/>
    public bool HasSlicesAhead => VirtualDisk?.Tiers is { } tiers
        && Enumerable.Range(0, tiers.Tiers).Any(tier => tiers.CountersOf(tier) is { SlicesAhead: > 0 });

    /// <inheritdoc/>
    public bool UsedSummaries => VirtualDisk?.Cache is { SummariesUsed: > 0 };

    /// <inheritdoc/>
    public string Doing => _moveStep > 0 ? $"step {_moveStep} of a slice move" : VirtualDisk?.Tiers is { IsVacating: true } ? "vacating slots" : "";

    /// <summary>Whether a copy of anything that the virtual disk holds is missing or stale.</summary>
    internal bool IsDegraded => VirtualDisk!.Cache is { IsDegraded: true } || CopySurvey.IsDegraded(Pool!, VirtualDisk.Description);

    /// <summary>
    /// Whether every byte of it can be read and written: each region of each row has a live copy that is not stale, and each integrity log a copy that
    /// takes part.
    /// </summary>
    internal bool IsComplete =>
        VirtualDisk is { Fault: IoError.None, LacksLog: false } && !UnreadableRegions.Any(Pool!, VirtualDisk.Description);

    /// <summary>Names the bytes that no copy can give, and says how they come back; empty if all can be read.</summary>
    internal string UnreadableReason => UnreadableRegions.Describe(Pool!, VirtualDisk!.Description);

    /// <inheritdoc/>
    public LaneTask<string> Open(bool isNew) => isNew ? Create([.. Specs]) : Open();

    /// <inheritdoc/>
    public int MissingDisks =>
        Pool is null ? Disks.Count(static disk => disk.Pulled) : Disks.Length - Present(Pool) - (CachePool is null ? 0 : Present(CachePool));

    /// <inheritdoc/>
    public void Remove(int disk) => Disks[disk].Pull();

    /// <inheritdoc/>
    public bool CanReturn(int disk) =>
        Disks[disk] is { TotalInFlight: 0, Hung: false } && PoolOf(disk) is { HasLostQuorum: false } pool
        && NumberOf(disk) is var number && !pool.View.Contains(number) && !pool.IsOwed(number);

    /// <inheritdoc/>
    public LaneTask<string> Return(int disk)
    {
        Disks[disk].Media.LosePower((_, _) => Lane.Next(2) == 0);
        return Return(disk, Disks[disk].Media);
    }

    /// <summary>
    /// Puts a disk where one is missing; the reason why it does not take part, or empty. The lane of the virtual disk has taken it then: the answer comes on
    /// the queue of the disk's own pool, after its table.
    /// </summary>
    public LaneTask<string> Return(int disk, SimMedia media) => PoolOf(disk)!.LinkTo(Lane).Ask(_ => ReturnNow(disk, media));

    private async LaneTask<string> ReturnNow(int disk, SimMedia media)
    {
        Disks[disk] = media == Disks[disk].Media ? Disks[disk] : new SimDisk(PoolLane, media);
        Disks[disk].PutBack();
        _members[disk] = new MeteredDisk(PoolLane, Disks[disk], _watch);
        PoolScan scan = await Pool.Scan(Environment, _members[disk]);
        Pool pool = PoolOf(disk)!;
        string rejected = pool.Offer(scan);
        if (rejected.Length > 0)
        {
            return rejected;
        }

        CommitResult joined = await pool.Rejoin(scan.Label!.Number);
        return joined.Succeeded ? "" : joined.Reason;
    }

    /// <summary>
    /// Lets a disk that has left the view come back, whether or not every lane has released it: the pool decides, and is asked again later. The old handles
    /// of a disk that has lost its power give errors from now on. It may come back as an older copy.
    /// </summary>
    internal LaneTask<CommitResult> TryReturn(int disk, bool hasLostPower, SimMedia? older = null) => OnPoolLane(async () =>
    {
        Pool pool = PoolOf(disk)!;
        if (pool.OutsideDisks.Contains(NumberOf(disk)))
        {
            return await pool.Rejoin(NumberOf(disk));
        }

        if (hasLostPower)
        {
            SimDisk old = Disks[disk];
            old.Pull();
            old.Media.LosePower((_, _) => PoolLane.Next(2) == 0);
            Disks[disk] = old.Replace(PoolLane, older ?? old.Media);
        }

        Disks[disk].PutBack();
        _members[disk] = new MeteredDisk(PoolLane, Disks[disk], _watch);
        PoolScan scan = await Pool.Scan(Environment, _members[disk]);
        string rejected = pool.Offer(scan);
        return rejected.Length > 0 ? new CommitResult(CommitStatus.Refused, rejected) : await pool.Rejoin(NumberOf(disk));
    });

    /// <inheritdoc/>
    public LaneTask<RepairEnd> MoveSome(IWorkPacer pacer)
    {
        SlabMove[] slabs = VirtualDisks[0].Slabs();
        return slabs.Length == 0 ? LaneTask.FromResult(RepairEnd.Incomplete)
            : OnPoolLane(() => new SlabMover(Pool!, VirtualDisk!).Move(slabs[Lane.Next(slabs.Length)], [], pacer));
    }

    /// <inheritdoc/>
    public async LaneTask<RepairEnd> MoveSlices(IWorkPacer pacer)
    {
        if (VirtualDisk!.Tiers is not { } tiers || _moveStep > 0)
        {
            return RepairEnd.Incomplete;
        }

        (int Slice, SliceEntry Entry)[] mapped = [.. tiers.Map.Enumerate()];
        List<SliceOrder> orders = [];
        for (int left = mapped.Length == 0 ? 0 : 1 + Lane.Next(6); left > 0; left--)
        {
            (int slice, SliceEntry entry) = mapped[Lane.Next(mapped.Length)];
            orders.Add(new SliceOrder(slice, (entry.Tier + 1) % tiers.Tiers, SliceReason.Promoted));
        }

        _moveStep = 1;
        tiers.StepBegins += NoteMoveStep;
        RepairEnd end = await tiers.Move(orders, pacer);
        tiers.StepBegins -= NoteMoveStep;
        _moveStep = 0;
        return end;
    }

    private void NoteMoveStep(int step) => _moveStep = step;

    /// <inheritdoc/>
    ISimWorld ISimWorld.Cut(ulong seed, Func<int, int, int, bool> keep, bool keepsMemory) => Cut(seed, keep, keepsMemory);

    /// <inheritdoc/>
    ISimWorld ISimWorld.Kill(ulong seed, Func<bool> arrived) => Kill(seed, arrived);

    /// <inheritdoc/>
    ISimWorld ISimWorld.Fork(ulong seed) => Fork(seed);

    /// <inheritdoc cref="ISimWorld.Fork"/>
    public PoolWorld Fork(ulong seed) =>
        new PoolWorld(
            seed, Array.ConvertAll(Disks, disk => disk.Media.Snapshot()), State.Snapshot(withMemory: true), Specs, _ownerDisks, _hasDataLanes, _deadlines)
            .WithSetup(this);

    /// <summary>Makes the pool and virtual disks.</summary>
    public async LaneTask<string> Create(params VirtualDiskDescription[] specs)
    {
        await CreatePool();
        string rejected = "";
        for (int i = 0; i < specs.Length && rejected.Length == 0; i++)
        {
            rejected = await CreateVirtualDisk(specs[i], VirtualDisks[i]);
        }

        return rejected;
    }

    /// <summary>
    /// Makes the pools alone. If the virtual disk is to have a write cache, the disks for it are for journals, or the cache pool's, and the others
    /// slower, so that writes do not pass it by.
    /// </summary>
    public async LaneTask<Pool> CreatePool()
    {
        int journals = HasCache && !HasNoJournals && _ownerDisks == Disks.Length ? Specs[0].CacheCopies : 0;
        if (_ownerDisks < Disks.Length)
        {
            CachePool = await Pool.Create(
                Environment, new NewPoolSpec { FriendlyName = "caches" },
                [.. _members.Skip(_ownerDisks).Select((disk, i) => new NewDiskSpec(disk, $"l{i}") { MediaType = MediaType.SSD })]);
        }

        return Pool = await Pool.Create(
            Environment, new NewPoolSpec { FriendlyName = "p" }, [.. _members.Take(_ownerDisks).Select((disk, i) => new NewDiskSpec(disk, $"d{i}")
        {
            Usage = i < journals ? DiskUsage.Journal : DiskUsage.AutoSelect,
            MediaType = Rotates || (HasCache && i >= journals) ? MediaType.HDD : null,
        })]);
    }

    private bool HasNoJournals { get; init; }

    private bool Rotates { get; init; }

    private int FirstWriteWindow
    {
        get => Environment.FirstWriteWindow;
        init => Environment = Environment with { FirstWriteWindow = value };
    }

    private int CacheSummaryBlocks
    {
        get => Environment.CacheSummaryBlocks;
        init => Environment = Environment with { CacheSummaryBlocks = value };
    }

    private bool HasCache => Specs.Any(static spec => spec.WriteCacheSize > 0);

    /// <summary>Makes the virtual disk on it; the reason when that is refused.</summary>
    public LaneTask<string> CreateVirtualDisk(VirtualDiskDescription spec) => CreateVirtualDisk(spec, VirtualDisks[0]);

    private async LaneTask<string> CreateVirtualDisk(VirtualDiskDescription spec, SimVirtualDisk disk)
    {
        PoolId cachePool = spec.WriteCacheSize > 0 || Specs.Count < 2 ? CachePool?.Id ?? spec.CachePool : spec.CachePool;
        VirtualDiskResult result = await VirtualDiskBuilder.Create(Pool!, spec with { CachePool = cachePool }, disk.Lane);
        disk.Serve(result.Disk);
        return result.Reason;
    }

    /// <summary>Opens what is on the disks; the reason when that is refused.</summary>
    public async LaneTask<string> Open()
    {
        (CachePool, string cachePool) = _ownerDisks < Disks.Length ? await OpenPool(_ownerDisks..) : (null, "");
        (Pool, string rejected) = cachePool.Length == 0 ? await OpenPool(.._ownerDisks) : (null, cachePool);
        if (Pool is null)
        {
            return rejected;
        }

        if (VirtualDisks.Any(disk => Find(disk) is null or { IsBeingCreated: true }))
        {
            return "no virtual disk";
        }

        LaneTask<OpenVirtualDisk>[] opening = [.. VirtualDisks.Select(disk => VirtualDiskStack.Open(Pool, Find(disk)!.Id, disk.Lane))];
        for (int i = 0; i < opening.Length; i++)
        {
            VirtualDisks[i].Serve(await opening[i]);
        }

        if (await Rejoin() is { Length: > 0 } outside)
        {
            return outside;
        }

        bool mayGiveBack = CachePool is not null && VirtualDisks.All(static disk => disk.Open!.Fault == IoError.None);
        foreach (SpaceId unnamed in mayGiveBack ? RemoteRooms.UnnamedRings(CachePool!, Environment.FindPool) : [])
        {
            await RemoteRooms.GiveBack(CachePool!, unnamed);
        }

        return string.Join(" ", VirtualDisks.Select(static disk => disk.Open!.FaultReason).Where(static reason => reason.Length > 0));
    }

    /// <summary>The description of a virtual disk as the pool knows it; null: there is none.</summary>
    private VirtualDiskDescription? Find(SimVirtualDisk disk)
    {
        int index = VirtualDisks.ToList().IndexOf(disk);
        return Pool!.State.VirtualDisks.Values.FirstOrDefault(known => Specs.Count < 2 || known.FriendlyName == Specs[index].FriendlyName);
    }

    private async LaneTask<(Pool? Pool, string Refused)> OpenPool(Range disks)
    {
        List<PoolScan> scans = [];
        foreach ((SimDisk disk, MeteredDisk member) in Disks[disks].Zip(_members[disks]))
        {
            if (!disk.Pulled)
            {
                scans.Add(await Pool.Scan(Environment, member));
            }
        }

        List<PoolScan> ours = scans.FindAll(scan => scan.Label is not null);
        if (ours.Count == 0)
        {
            return (null, "no labels");
        }

        PoolOpenResult opened = await Pool.Open(Environment, ours[0].Label!.Pool, ours);
        if (opened.Pool is not { } pool)
        {
            return (null, $"{opened.Status}: {opened.Reason}");
        }

        return (pool, "");
    }

    /// <summary>Disks outside the views join when the virtual disk is open; one that could not be opened without them is opened again.</summary>
    private async LaneTask<string> Rejoin()
    {
        foreach (Pool pool in new[] { CachePool, Pool }.OfType<Pool>())
        {
            foreach (DiskNumber outside in pool.OutsideByDeparture)
            {
                CommitResult joined = await pool.Rejoin(outside);
                if (!joined.Succeeded)
                {
                    return $"disk {outside} does not join again: {joined.Reason}";
                }

                foreach (SimVirtualDisk disk in VirtualDisks)
                {
                    disk.Serve(disk.Open!.Fault == IoError.None ? disk.Open : await VirtualDiskStack.Reopen(Pool!, disk.Open));
                    await pool.LinkTo(disk.Open.Lane).Call(static () => LaneTask.FromResult(default(Nothing)));   // its lane has taken the disk
                }
            }
        }

        return "";
    }

    /// <summary>Runs something on the lane of the pools, from the lane of the virtual disk.</summary>
    internal LaneTask<T> OnPoolLane<T>(Func<LaneTask<T>> action) => Pool!.LinkTo(Lane).Ask(_ => action());

    /// <summary>The pool that a disk belongs to.</summary>
    internal Pool? PoolOf(int disk) => disk < _ownerDisks ? Pool : CachePool;

    /// <summary>The number of a disk in its pool.</summary>
    internal DiskNumber NumberOf(int disk) => new((ushort)(disk < _ownerDisks ? disk + 1 : disk - _ownerDisks + 1));

    /// <summary>Disks that the pool uses, and every lane with an open virtual disk: one that has joined is present when they have all taken it.</summary>
    private int Present(Pool pool) => pool.View.Members.Count(member => pool.Disk(member.Disk) is not null
        && VirtualDisks.SelectMany(static disk => new[] { disk.Open?.Pool, disk.Open?.Remote?.Pool }).OfType<PoolLink>()
            .All(link => !link.IsOf(pool) || link.Members.Disk(member.Disk.Value) is not null));

    /// <summary>Stops cleanly.</summary>
    public LaneTask<IoError> Close() => Close(clean: true);

    private async LaneTask<IoError> Close(bool clean)
    {
        IoError error = IoError.None;
        foreach (SimVirtualDisk disk in VirtualDisks)
        {
            IoError closed = await disk.Open!.Call(disk.Open.Close);
            error = error == IoError.None ? closed : error;
        }

        await Pool!.Close(clean);
        if (CachePool is { } cachePool)
        {
            await cachePool.Close(clean);
        }

        return error;
    }

    /// <summary>The world as a power cut leaves it now.</summary>
    public PoolWorld Cut(ulong seed, Func<int, int, int, bool> keep, bool keepsMemory = false) => new PoolWorld(
        seed,
        [.. Disks.Select((disk, i) => disk.SnapshotWithInFlight().Cut((write, sector) => keep(i, write, sector)))],
        State.Snapshot(keepsMemory), Specs, _ownerDisks, _hasDataLanes, _deadlines).WithSetup(this);

    /// <summary>The world as a crash of the process leaves it now.</summary>
    public PoolWorld Kill(ulong seed, Func<bool> arrived)
    {
        SimMedia[] media = Array.ConvertAll(Disks, disk => disk.Media.Snapshot());
        for (int i = 0; i < media.Length; i++)
        {
            Disks[i].ApplyInFlight(media[i], arrived);
        }

        return new PoolWorld(seed, media, State.Snapshot(withMemory: true), Specs, _ownerDisks, _hasDataLanes, _deadlines).WithSetup(this);
    }

    /// <summary>
    /// The world as the same process finds it again after all disks had gone at once, and are back with what they held. Disks that were away stay away.
    /// </summary>
    public PoolWorld LoseAllDisks(ulong seed)
    {
        bool[] wereAway = Array.ConvertAll(Disks, static disk => disk.Pulled);
        Array.ForEach(Disks, static disk => disk.Pull());
        Lane.Run(Close(clean: false));
        PoolWorld next = Fork(seed);
        for (int disk = 0; disk < wereAway.Length; disk++)
        {
            if (!wereAway[disk])
            {
                next.Disks[disk].PutBack();
            }
        }

        return next;
    }

    /// <summary>
    /// The machine started again after a stop, with other disks in the place of some: images that were copied before, or of another machine.
    /// Null takes a disk away. Every disk has lost its power, so that it keeps only what it made durable.
    /// </summary>
    public PoolWorld Restart(ulong seed, params (int Disk, SimMedia? Media)[] swapped)
    {
        PoolWorld cut = Cut(seed, static (_, _, _) => false);
        SimMedia[] media = [.. cut.Disks.Select((disk, i) => Array.Find(swapped, swap => swap.Disk == i).Media ?? disk.Media.Snapshot())];
        PoolWorld world = new PoolWorld(seed, media, cut.State.Snapshot(withMemory: false), Specs, _ownerDisks, _hasDataLanes, _deadlines).WithSetup(this);
        foreach ((int disk, SimMedia? other) in swapped)
        {
            if (other is null)
            {
                world.Disks[disk].Pull();
            }
            else
            {
                world.Disks[disk].PutBack();
            }
        }

        cut.Release();
        return world;
    }

    /// <summary>The image of a disk as a program reads it now: what is in its cache is part of it.</summary>
    public SimMedia CopyOf(int disk)
    {
        SimMedia copy = Disks[disk].Media.Snapshot();
        copy.LosePower(static (_, _) => true);
        return copy;
    }

    /// <summary>Writes pending on each disk.</summary>
    public int[] PendingWrites() => Array.ConvertAll(Disks, disk => disk.SnapshotWithInFlight().CachedWrites);

    /// <summary>Frees what the world holds outside the managed heap, and the content of its disks: none of it is used any more.</summary>
    public void Release()
    {
        State.Release();
        foreach (SimVirtualDisk disk in VirtualDisks)
        {
            disk.Lane.Buffers.Dispose();
        }

        PoolLane.Buffers.Dispose();
        Array.ForEach(Disks, static disk => disk.Media.Release());   // free lists of the thread may still refer to a world that was cut
    }

    private PoolWorld WithSetup(PoolWorld other)
    {
        Environment = Environment with { FirstWriteWindow = other.FirstWriteWindow, CacheSummaryBlocks = other.CacheSummaryBlocks };
        for (int i = 0; i < Disks.Length; i++)
        {
            if (other.Disks[i].Pulled)
            {
                Disks[i].Pull();
            }
        }

        return this;
    }
}
