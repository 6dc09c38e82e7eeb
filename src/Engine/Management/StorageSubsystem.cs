using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Exports.Nbd;
using TierSpaces.Engine.Jobs;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

/// <summary>What a subsystem is made of.</summary>
/// <param name="Lane">Lane of pools, virtual disks and exports.</param>
/// <param name="Network">Sockets of that lane; null: nothing is exported.</param>
/// <param name="Factory">Opens disks.</param>
/// <param name="State">The host's state folder.</param>
/// <param name="ExportFolder">Folder of the export sockets.</param>
/// <param name="NodeId">Identity of this host.</param>
/// <param name="Notice">Takes events in words, on the lane.</param>
public sealed record SubsystemOptions(
    ILane Lane, ILaneNetwork? Network, IDiskFactory Factory, IHostState State, string ExportFolder, Guid NodeId, Action<string> Notice)
{
    /// <summary>How much of the machine jobs may have.</summary>
    public JobPacing JobPacing { get; init; } = new();

    /// <summary>How long member disks may take.</summary>
    public IoDeadlines Deadlines { get; init; } = IoDeadlines.Default;

    /// <summary>When pools do something about their disks by themselves.</summary>
    public HealingTimes Healing { get; init; } = HealingTimes.Default;
}

// Every verb of the product over the engine. Verbs run on the lane, those that change something one after another; a verb
// checks everything it can before it changes anything.
//
// Invariants
//  1. A registered disk that is not a member of an open pool is open here (and so locked), or says why not.
//  2. A pool is opened as soon as enough of its members are registered, and stays open until it is removed or the host stops.
//  3. Every virtual disk of an open pool is open; it is exported while its description says connected. One that is attached by hand only
//     is no longer connected when its pool is first opened after a start of the machine.

/// <summary>Pools, disks and virtual disks of one host.</summary>
public sealed partial class StorageSubsystem
{
    private readonly SubsystemOptions _options;
    private readonly ILane _lane;
    private readonly DiskRegistry _registry;
    private readonly DiskWatch _watch;
    private readonly NbdBudget _payload = new();   // of all exports: they are on one lane
    private readonly Dictionary<PoolId, ManagedPool> _pools = [];
    private readonly HashSet<PoolId> _opened = [];   // since the machine started: each has a mark in the host's state
    private readonly LaneSignal _verbEnded = new();
    private bool _verbRunning;
    private bool _stopped;

    private StorageSubsystem(SubsystemOptions options)
    {
        _options = options;
        _lane = options.Lane;
        _registry = new DiskRegistry(options.State);
        _jobs = new JobList(_lane);
        _reliability = new ReliabilityLedger(options.State);
        _watch = new DiskWatch(options.Lane, options.Deadlines);
    }

    /// <summary>Finds the registered disks and opens the pools on them.</summary>
    public static Task<StorageSubsystem> StartAsync(SubsystemOptions options) =>
        options.Lane.InvokeAsync(async LaneTask<StorageSubsystem> () =>
        {
            StorageSubsystem subsystem = new(options);
            string problem = subsystem._registry.Load();
            if (problem.Length > 0)
            {
                options.Notice(problem);
            }

            if (subsystem._reliability.Load() is { Length: > 0 } damage)
            {
                options.Notice(damage);
            }

            foreach (RegisteredDisk disk in subsystem._registry.Disks)
            {
                await subsystem.OpenRegistered(disk);
            }

            await subsystem.OpenPools(onlyWhole: subsystem.HasHeldDisks);
            subsystem.AwaitHeldDisks().Forget();
            subsystem.WatchMembers().Forget();
            subsystem.WatchSchedule().Forget();
            subsystem.TendPools().Forget();
            return subsystem;
        });

    /// <summary>Stops everything cleanly: the next start finds nothing to resync.</summary>
    public Task<bool> StopAsync() => _lane.InvokeAsync(async LaneTask<bool> () =>
    {
        _stopped = true;
        while (_looks > 0)
        {
            await _lookEnded.Wait();   // they hold disks open
        }

        return await InTurn(CloseAll);
    });

    private async LaneTask<bool> CloseAll()
    {
        Dictionary<ManagedPool, bool> clean = [];
        foreach (ManagedPool pool in _pools.Values.ToArray())
        {
            clean[pool] = await StopDisks(pool);
        }

        foreach ((ManagedPool pool, bool isClean) in clean)
        {
            await ClosePool(pool, isClean);
        }

        SaveReliability();

        foreach (RegisteredDisk disk in _registry.Disks)
        {
            if (disk.Disk is { } open)
            {
                disk.Disk = null;
                await open.Close();
            }
        }

        return clean.Values.All(static isClean => isClean);
    }

    /// <summary>Runs a verb that reads.</summary>
    private Task<T> Look<T>(Func<T> look) => _lane.InvokeAsync(() => LaneTask.FromResult(look()));

    /// <summary>Runs a verb that changes something, after those that came before it.</summary>
    private Task<T> Change<T>(Func<LaneTask<T>> verb) => _lane.InvokeAsync(() => InTurn(verb));

    internal async LaneTask<T> InTurn<T>(Func<LaneTask<T>> verb)
    {
        while (_verbRunning)
        {
            await _verbEnded.Wait();
        }

        _verbRunning = true;
        try
        {
            return await verb();
        }
        finally
        {
            _verbRunning = false;
            _verbEnded.NotifyAll();
        }
    }
}
