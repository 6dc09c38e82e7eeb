using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Management;

// Every verb of the product over the engine: one service per kind of object, over tables of disks and pools that they share. Verbs run on the lane,
// those that change something one after another; a verb checks everything it can before it changes anything. Background loops call the same
// services through the verb queue, and end when the host stops.
//
// Invariants
//  1. A service knows those that it is given, and none of them knows it.
//  2. A pool is opened as soon as enough of its members are registered, and stays open until it is removed, loses its majority, or the host stops.

/// <summary>Pools, disks and virtual disks of one host: composes the services, starts and stops them.</summary>
public sealed class StorageSubsystem
{
    private readonly SubsystemCore _core;
    private readonly ReliabilityRecords _reliability;
    private readonly DiskOpener _diskOpener;
    private readonly PoolOpener _opener;
    private readonly MissingDisks _missing;
    private readonly DiskPaths _paths;
    private readonly Snapshots _snapshots;
    private readonly KnownPools _known;
    private readonly Func<LaneTask>[] _loops;
    private readonly LaneSignal _startEnded = new();
    private bool _isStarted;

    private StorageSubsystem(SubsystemOptions options)
    {
        SubsystemCore core = _core = new SubsystemCore(options);
        JobRunner runner = new(core);
        DiskChecks diskChecks = new(core);
        DiskExports exports = new(core);
        OpenedMarks marks = new(core);
        RemoteCaches remote = new(core);
        DiskOpener diskOpener = _diskOpener = new DiskOpener(core);
        ReliabilityRecords reliability = _reliability = new ReliabilityRecords(core);
        FailingDisks failing = new(core, reliability);
        Snapshots snapshots = _snapshots = new Snapshots(core, runner, reliability);
        VirtualDiskDecisions decisions = new(core, remote);

        Jobs = new JobService(core, runner);
        Repairs = new RepairService(core, runner, reliability);
        Scrubs = new ScrubService(core, runner, Repairs);
        Rebalance = new RebalanceService(core, runner);
        TierOptimizer = new TierOptimizer(core, runner);
        VirtualDiskOpener disks = new(core, exports, runner, reliability, marks);
        Rejoins rejoins = new(core, disks);
        JobResumption resumption = new(Repairs, TierOptimizer, Rebalance);
        PoolOpener opener = _opener = new PoolOpener(core, disks, rejoins, resumption, Repairs, runner, reliability);
        MissingDisks missing = _missing = new MissingDisks(core, diskOpener, opener, rejoins, Repairs);

        DiskPaths paths = _paths = new DiskPaths(core, diskOpener);
        PhysicalDisks = new PhysicalDiskService(core, diskOpener, opener, diskChecks, snapshots, reliability, failing, paths);
        EmulatedDisks = new EmulatedDiskService(core, snapshots);
        Reliability = new ReliabilityService(core, reliability, failing, snapshots);
        Pools = new PoolService(core, diskOpener, opener, diskChecks, missing, marks, new PoolRemoval(core, diskOpener, opener, remote, marks), snapshots);
        WriteCaches = new WriteCacheService(core, disks, remote, snapshots);
        VirtualDisks = new VirtualDiskService(core, decisions, disks, exports, WriteCaches, snapshots, runner, reliability);
        Placements = new PlacementService(core, decisions, snapshots);
        Tiers = new TierService(core, snapshots);
        TierSchedules = new TierScheduleService(core);
        Pins = new PinService(core, runner, TierOptimizer, snapshots);
        Heat = new HeatService(core);
        Slices = new SliceService(core);
        Traces = new TraceService(core);

        _known = new KnownPools(core);
        _loops =
        [
            _known.Run,
            new HeldDisks(core, diskOpener, opener).Run,
            new MemberWatch(core).Run,
            new ScheduleLoop(core, reliability, Scrubs, new TierUpkeep(core, runner, TierOptimizer)).Run,
            new Healing(core, missing, new LostPools(core, diskOpener, opener, disks), disks, failing, WriteCaches, Repairs, remote, paths).Run,
        ];
    }

    /// <summary>Raised on the lane when pools have been opened, with their virtual disks, whatever opened them.</summary>
    public event Action? PoolsOpened
    {
        add => _core.PoolsOpened += value;
        remove => _core.PoolsOpened -= value;
    }

    /// <summary>Physical disks.</summary>
    public PhysicalDiskService PhysicalDisks { get; }

    /// <summary>Faults of emulated disks.</summary>
    public EmulatedDiskService EmulatedDisks { get; }

    /// <summary>Reliability counters of physical disks.</summary>
    public ReliabilityService Reliability { get; }

    /// <summary>Storage pools and their members.</summary>
    public PoolService Pools { get; }

    /// <summary>Spreading the slabs of pools over their disks.</summary>
    public RebalanceService Rebalance { get; }

    /// <summary>Virtual disks.</summary>
    public VirtualDiskService VirtualDisks { get; }

    /// <summary>Write caches of virtual disks.</summary>
    public WriteCacheService WriteCaches { get; }

    /// <summary>Placement of virtual disks that exist or are planned, and their possible sizes.</summary>
    public PlacementService Placements { get; }

    /// <summary>Storage tiers and their templates.</summary>
    public TierService Tiers { get; }

    /// <summary>Optimization of tiers.</summary>
    public TierOptimizer TierOptimizer { get; }

    /// <summary>Schedules of the optimization of tiers.</summary>
    public TierScheduleService TierSchedules { get; }

    /// <summary>Pins.</summary>
    public PinService Pins { get; }

    /// <summary>Heat, exported and imported.</summary>
    public HeatService Heat { get; }

    /// <summary>Slices of tiered virtual disks.</summary>
    public SliceService Slices { get; }

    /// <summary>Traces of requests.</summary>
    public TraceService Traces { get; }

    /// <summary>Storage jobs.</summary>
    public JobService Jobs { get; }

    /// <summary>Repairs of virtual disks.</summary>
    public RepairService Repairs { get; }

    /// <summary>Verification of virtual disks.</summary>
    public ScrubService Scrubs { get; }

    /// <summary>The verb queue, for callers on the lane.</summary>
    internal VerbQueue Verbs => _core.Verbs;

    /// <summary>Finds the registered disks and opens the pools on them; completes when they are open.</summary>
    public static Task<StorageSubsystem> StartAsync(SubsystemOptions options) =>
        options.Lane.InvokeAsync(async LaneTask<StorageSubsystem> () =>
        {
            StorageSubsystem subsystem = new(options);
            await subsystem.Begin();
            await subsystem.WaitUntilStarted();
            return subsystem;
        });

    /// <summary>Finds the registered disks and begins to open the pools on them. Verbs can be asked from then on.</summary>
    public static Task<StorageSubsystem> BeginAsync(SubsystemOptions options) =>
        options.Lane.InvokeAsync(async LaneTask<StorageSubsystem> () =>
        {
            StorageSubsystem subsystem = new(options);
            await subsystem.Begin();
            return subsystem;
        });

    /// <summary>Completes when the pools that can be opened at the start are open.</summary>
    public Task WaitUntilStartedAsync() => _core.Lane.InvokeAsync(WaitUntilStarted);

    /// <summary>Returns every object as it is now, taken on the lane in one piece. Values are computed where they are read.</summary>
    /// <param name="withReliability">Whether the reliability counters of the disks are gathered and taken, too.</param>
    public Task<SubsystemSnapshot> SnapshotAsync(bool withReliability = false) =>
        Verbs.Look(() => withReliability ? _snapshots.TakeWithReliability() : _snapshots.Take());

    /// <summary>Stops everything cleanly: the next start finds nothing to resync.</summary>
    public Task<bool> StopAsync() => _core.Lane.InvokeAsync(async LaneTask<bool> () =>
    {
        Verbs.Stop();
        await _missing.WaitForLooks();   // they hold disks open
        await _paths.WaitForLooks();
        return await Verbs.Enqueue(CloseAll);
    });

    private async LaneTask<Nothing> WaitUntilStarted()
    {
        while (!_isStarted)
        {
            await _startEnded.Wait();
        }

        return default;
    }

    private async LaneTask<Nothing> Begin()
    {
        NoticeDamage(await _core.Disks.Load());
        NoticeDamage(await _reliability.Load());
        NoticeDamage(await _known.Load());
        foreach (ManagedPool known in _core.Pools.All)
        {
            _core.Openings.Show(known, "opening its physical disks");
        }

        Start().Forget();
        return default;
    }

    private async LaneTask Start()
    {
        await Verbs.Enqueue(OpenAll);
        foreach (Func<LaneTask> loop in _loops)
        {
            loop().Forget();
        }

        _isStarted = true;
        _startEnded.NotifyAll();
    }

    private async LaneTask<Nothing> OpenAll()
    {
        HashSet<RegisteredDisk> unopened = [.. _core.Disks.All];
        _core.Openings.ShowDisks(unopened);
        foreach (LaneTask<Nothing> opening in _core.Disks.All.Select(disk => Open(disk, unopened)).ToArray())   // one that hangs holds up no other
        {
            await opening;
        }

        await _paths.Merge();
        await _opener.Open(onlyWhole: _core.Disks.HasHeldDisks);
        foreach (ManagedPool pool in _core.Pools.All)
        {
            _core.Openings.End(pool);   // those of which no disk is there
        }

        return default;
    }

    private async LaneTask<Nothing> Open(RegisteredDisk disk, HashSet<RegisteredDisk> unopened)
    {
        await _diskOpener.Open(disk);
        unopened.Remove(disk);
        _core.Openings.ShowDisks(unopened);
        return default;
    }

    private void NoticeDamage(string damage)
    {
        if (damage.Length > 0)
        {
            _core.Notice(damage);
        }
    }

    private async LaneTask<bool> CloseAll()
    {
        await _known.Save();
        Dictionary<ManagedPool, bool> clean = [];
        foreach (ManagedPool pool in _core.Pools.All.ToArray())
        {
            clean[pool] = await _opener.StopDisks(pool);
        }

        foreach ((ManagedPool pool, bool isClean) in clean)
        {
            await pool.Close(isClean);
        }

        await _reliability.Save();
        foreach (RegisteredDisk disk in _core.Disks.All)
        {
            await disk.Device.Close();
        }

        return clean.Values.All(static isClean => isClean);
    }
}
