using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Verification;

// One machine's life with bad mains: a pool of emulated disks with a volatile cache, a virtual disk of the layout in question, a random
// load, with slices that move between tiers, and the power gone at a random request. Of each cut several crash states are judged, each with other
// writes kept; the last of them is the machine that goes on, so that what one recovery leaves behind is there at the next cut.
//
// Invariants
//  1. The seed decides everything: time is virtual, and no thread but the caller's takes part.
//  2. A world that was cut is not pumped any more.
//  3. After a violation the test begins with a new machine: the same damage is not counted again at every later cut.

/// <summary>Proves, or refutes, what a layout promises about power cuts, with the engine as it is.</summary>
public sealed class PowerCutTest
{
    private const int StatesPerCut = 4;
    private const int RequestsBetweenCutsMax = 400;
    private const int RequestsAtOnceMax = 6;
    private const int DescriptionsMax = 10;
    private const long PatienceNs = 600_000_000_000;   // virtual: an engine that is silent for longer hangs

    private readonly PowerCutPlan _plan;
    private readonly Func<bool> _mayGoOn;
    private readonly Random _random;
    private readonly CrashJudge _judge;
    private readonly List<string> _descriptions = [];
    private PoolWorld? _world;
    private BlockOracle _oracle = null!;
    private VirtualDiskDescription _layout = null!;
    private uint _lastValue;
    private int _cuts;
    private long _states;
    private long _writes;
    private long _flushes;
    private long _destaged;
    private long _moved;
    private long _violations;

    private PowerCutTest(PowerCutPlan plan, Func<bool> mayGoOn)
    {
        _plan = plan;
        _mayGoOn = mayGoOn;
        _random = new Random((int)(plan.Seed ^ (plan.Seed >> 32)));
        _judge = new CrashJudge(_random, plan.FlushLies, Report);
    }

    /// <summary>Runs a power-cut test.</summary>
    /// <param name="plan">Plan of the test.</param>
    /// <param name="mayGoOn">Called between two crash states; once it returns false, the findings so far are the result.</param>
    /// <exception cref="InvalidOperationException">The virtual disk cannot be made.</exception>
    public static PowerCutResult Run(PowerCutPlan plan, Func<bool> mayGoOn)
    {
        using RecycledMemory.Scope memory = RecycledMemory.Keep();
        PowerCutTest test = new(plan, mayGoOn);
        try
        {
            test.Begin();
            while (test._cuts < plan.Cuts && mayGoOn())
            {
                test.CutOnce();
            }

            return test.Result();
        }
        finally
        {
            test._world?.Release();
        }
    }

    private PowerCutResult Result() => new()
    {
        Layout = _layout,
        Cuts = _cuts,
        CutsWhileRecovering = _judge.CutsWhileRecovering,
        CrashStates = _states,
        SectorsVerified = _judge.SectorsVerified,
        Writes = _writes,
        Flushes = _flushes,
        CacheDestaged = _destaged,
        SlicesMoved = _moved,
        Violations = _violations,
        ViolationDescriptions = _descriptions,
    };

    private void Begin()
    {
        _world?.Release();
        _world = PoolWorld.New(_plan.Disks, _plan.DiskBytes, _plan.SectorSize, (ulong)_random.NextInt64(), _plan.Disk);
        Pool pool = _world.Lane.Run(_world.CreatePool());
        _layout = _plan.Disk ?? _plan.Layout(pool);
        if (_world.Lane.Run(_world.CreateVirtualDisk(_layout)) is { Length: > 0 } rejected)
        {
            throw new InvalidOperationException(rejected);
        }

        _layout = _world.VirtualDisk!.Description;
        _judge.Prepare(_world);
        TierDescription part = _layout.Parts[0];
        _oracle = new BlockOracle(_layout.SizeBytes) { StripeBytes = part.Parities > 0 ? part.DataColumns * (int)part.Interleave : 0 };
        _lastValue = 0;
    }

    private void CutOnce()
    {
        long before = _violations;
        _cuts++;
        try
        {
            Load(before);
            if (_violations == before)
            {
                Judge(before);
            }
        }
        catch (Exception error)
        {
            Report("an engine that throws or hangs", error.ToString());
        }

        if (_violations > before)
        {
            Begin();
        }
    }

    /// <summary>Random requests until the chosen request reaches a disk.</summary>
    private void Load(long before)
    {
        PoolWorld world = _world!;
        VerifiedLoad load = new(
            world, _oracle, _layout.SizeBytes, VirtualDiskLayout.ShapeOf(world.Pool!, _layout).RowSize, _layout.LogicalSectorSize, Report)
        {
            LastValue = _lastValue,
        };
        int left = 1 + _random.Next(RequestsBetweenCutsMax);
        int running = 0;
        foreach (SimDisk disk in world.Disks)
        {
            disk.OnRequest = (_, _, _) => left--;
        }

        while (left > 0 && _violations == before)
        {
            running++;
            Operate(load, world, () => running--).Forget();
            int atOnce = 1 + world.Lane.Next(RequestsAtOnceMax);
            world.Lane.PumpWhile(() => running >= atOnce && left > 0 && _violations == before, PatienceNs);
        }

        _lastValue = load.LastValue;
        _writes += load.Writes;
        _flushes += load.Flushes;
        _destaged += world.VirtualDisk?.Cache?.Counters.DestagedBytes ?? 0;
        _moved += world.VirtualDisk?.Tiers?.SlicesMoved ?? 0;
    }

    private async LaneTask Operate(VerifiedLoad load, PoolWorld world, Action ended)
    {
        SimLane lane = world.Lane;
        LaneTask<Nothing> request = lane.Next(20) switch
        {
            < 9 => load.WriteSome(lane.Next(8) == 0 ? WriteFlags.ForceUnitAccess : WriteFlags.None),
            < 12 => load.ReadSome(),
            < 15 => load.FlushAll(),
            < 17 => load.UnmapSome(lane.Next(2) == 0),
            17 => Pause(lane, 8_000_000_000),   // long enough that a write cache is destaged
            18 when _layout.IsTiered => MoveSlices(world),
            _ => Pause(lane, lane.Next(5_000_000)),
        };
        await request;
        if (world.FaultReason.Length > 0)
        {
            Report("serving", $"the virtual disk failed: {world.FaultReason}");
        }

        ended();
    }

    private static async LaneTask<Nothing> MoveSlices(PoolWorld world)
    {
        await world.MoveSlices(new SimPacer(world.Lane));
        return default;
    }

    private static async LaneTask<Nothing> Pause(SimLane lane, long nanoseconds)
    {
        await lane.Delay(nanoseconds);
        return default;
    }

    private void Judge(long before)
    {
        PoolWorld stopped = _world!;
        int[] pending = stopped.PendingWrites();
        for (int state = 0; state < StatesPerCut && _violations == before && (state == 0 || _mayGoOn()); state++)
        {
            BlockOracle oracle = _oracle.Clone();
            oracle.PowerCut();
            PoolWorld after = stopped.Cut((ulong)_random.NextInt64(), Kept(state, pending));
            _states++;
            after = _judge.Verify(after, oracle, $"state {state + 1}");
            if (state == StatesPerCut - 1)
            {
                (_world, after, _oracle) = (after, stopped, oracle);
            }

            after.Release();
        }
    }

    private Func<int, int, int, bool> Kept(int state, int[] pending) => (state, pending.Sum()) switch
    {
        (0, _) => KeptWrites.None,
        (1, _) => KeptWrites.Prefixes(_random, pending),
        (2, > 0 and var total) when _random.Next(2) == 0 => KeptWrites.OnlyOne(_random.Next(total), pending),
        (2, > 0 and var total) => KeptWrites.AllButOne(_random.Next(total), pending),
        (2, _) => KeptWrites.All,
        _ => KeptWrites.Random(_random),
    };

    private void Report(string where, string what)
    {
        _violations++;
        if (_descriptions.Count < DescriptionsMax)
        {
            _descriptions.Add($"seed {_plan.Seed}, cut {_cuts}, {where}: {what}");
        }
    }
}
