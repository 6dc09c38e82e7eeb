using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.Verification;

namespace TierSpaces.Simulation;

// A mirror without checksums on a whole pool whose disks leave and return under load. Only stale marks tell which copy is right, and they are late: the
// disks take milliseconds for each write of the pool's metadata. In each round
//
//   one disk loses its power, and with it what was in its cache; the host notices, and clients go on writing and flushing
//   it returns at once, later, or at the next start, where the power is cut while marks are queued or the pool is being opened
//   another disk may fail writes that it took before: then more is lost than there is redundancy, and such a write must be an error
//
// Checked after every cut: every sector against the oracle, twice, after the repair, and with each disk away.

/// <summary>Runs one seed of a mirror whose disks leave and return while it is recorded what they missed.</summary>
internal sealed class JoinSimulation
{
    private const int Rounds = 3;
    private const int Clients = 3;
    private const int CutsMax = 50;
    private const double CutChance = 0.002;
    private const double CutChanceInWindow = 0.03;   // while a disk leaves or returns
    private const double CutChanceAtFlush = 0.5;     // then, when a flush has just been acknowledged
    private const long Millisecond = 1_000_000;
    private const long LongestWaitNs = 60_000 * Millisecond;

    private readonly SpaceScenario _scenario;
    private readonly ulong _seed;
    private readonly Random _choices;
    private readonly PoolWorld _world;
    private readonly BlockOracle _oracle;
    private readonly VerifiedLoad _load;
    private int _victim = -1;
    private bool _isReturning;
    private bool _hasFailed;   // another disk failed a write while the victim was away
    private bool _isCutting;
    private int _clients;
    private bool _stops;

    private JoinSimulation(SpaceScenario scenario, ulong seed)
    {
        _scenario = scenario;
        _seed = seed;
        _choices = new Random((int)seed);
        _world = PoolWorld.New(
            scenario.Disks, SpaceScenario.PoolDiskBytes, scenario.SectorSize, seed * 1000, scenario.Spec(seed), hasDataLane: SpaceScenario.HasDataLane(seed));
        _oracle = new BlockOracle(scenario.Length);
        _load = new VerifiedLoad(_world, _oracle, scenario.Length, scenario.Shape.RowSize, 4096, Report) { MayFail = () => _hasFailed };
    }

    private string? Violation { get; set; }

    private long Cuts { get; set; }

    internal static SimulationResult Run(SpaceScenario scenario, ulong seed)
    {
        JoinSimulation simulation = new(scenario, seed);
        try
        {
            simulation.Drive();
        }
        catch (Exception error)
        {
            simulation.Report("exception", error.ToString());
        }

        ulong hash = simulation._world.Lane.TraceHash;
        simulation._world.Release();
        return new SimulationResult(simulation.Cuts, simulation.Violation, hash);
    }

    private void Drive()
    {
        SimLane lane = _world.Lane;
        if (lane.Run(_world.Open(isNew: true)) is { Length: > 0 } rejected)
        {
            Report("creation", rejected);
            return;
        }

        for (int disk = 0; disk < _world.Disks.Length; disk++)
        {
            SlowDown(disk);
        }

        for (int round = 0; round < Rounds && Violation is null; round++)
        {
            _stops = false;
            for (int client = 0; client < Clients; client++)
            {
                _clients++;
                Client().Forget();
            }

            lane.Advance(lane.Next(20) * Millisecond);
            Depart();
            lane.Advance((20 + lane.Next(60)) * Millisecond);
            _stops = true;
            lane.PumpWhile(() => Violation is null && (_clients > 0 || _isReturning), LongestWaitNs);
            if (Violation is null)
            {
                ComeBack();
            }
        }
    }

    private void SlowDown(int disk)
    {
        SimDisk device = _world.Disks[disk];
        int failures = 0;
        device.OnRequest = (_, _, _) => MaybeCut(_victim >= 0 ? CutChanceInWindow : CutChance);
        device.WriteTakesLonger = (offset, _) =>
            !IsSlab(offset) ? _world.Lane.Next(12) * Millisecond
            : _victim < 0 && IsSharedWith(disk, offset) is >= 0 ? _world.Lane.Next(4) == 0 ? _world.Lane.Next(30) * Millisecond : 0
            : 0;
        device.WriteFails = (offset, _) =>
        {
            bool fails = _scenario.Copies == 2 && _victim >= 0 && disk != _victim && IsSharedWith(disk, offset) == _victim
                && !_world.Pool!.View.Contains(Number(_victim)) && (_seed + (ulong)failures) % 3 == 0;
            failures += fails ? 1 : 0;
            _hasFailed |= fails;
            CrashSimulation.Count(fails, "write failed on the last copy");
            return fails;
        };
    }

    private async LaneTask Client()
    {
        SimLane lane = _world.Lane;
        while (!_stops && Violation is null)
        {
            switch (lane.Next(10))
            {
                case < 5:
                    await _load.WriteSome(WriteFlags.None);
                    break;
                case < 8:
                    await _load.FlushAll();
                    MaybeCut(_victim >= 0 ? CutChanceAtFlush : CutChance);
                    break;
                case 8:
                    await _load.ReadSome();
                    break;
                default:
                    await lane.Delay(lane.Next(5) * Millisecond);
                    break;
            }

            await lane.Delay(1 + (lane.Next(3) * Millisecond));
        }

        _clients--;
    }

    /// <summary>
    /// A disk loses its power. The host notices, at once or by a request that fails; the disk returns while that is being recorded, or later.
    /// </summary>
    private void Depart()
    {
        _victim = _world.Lane.Next(_world.Disks.Length);
        _world.Disks[_victim].Pulled = true;
        _world.Disks[_victim].Media.LosePower(static (_, _) => false);
        CrashSimulation.Count("disk lost its power under load");
        if (_world.Lane.Next(2) == 0)
        {
            Evict(_victim).Forget();
        }

        _clients++;
        FlushWithout(_victim).Forget();
        if (_world.Lane.Next(3) > 0)
        {
            _isReturning = true;
            ReturnSoon(_victim).Forget();
        }
    }

    /// <summary>A client flushes as soon as the view without a disk is in force, while it is being recorded what the disk missed.</summary>
    private async LaneTask FlushWithout(int disk)
    {
        while (_world.Pool!.View.Contains(Number(disk)) && !_stops)
        {
            await _world.Lane.Delay(Millisecond / 50);
        }

        for (int times = _world.Lane.Next(4); times > 0 && Violation is null; times--)
        {
            await _load.FlushAll();
            MaybeCut(CutChanceAtFlush);
            MaybeCut(CutChanceAtFlush);
        }

        _clients--;
    }

    private async LaneTask Evict(int disk)
    {
        CommitResult left = await _world.Pool!.Evict(Number(disk), "it lost its power");
        if (!left.Succeeded)
        {
            Report("eviction", left.Reason);
        }
    }

    private async LaneTask ReturnSoon(int disk)
    {
        while (!_world.CanReturn(disk) && !_stops)
        {
            await _world.Lane.Delay(Millisecond / 50);
        }

        if (_world.Lane.Next(2) == 0)
        {
            await _world.Lane.Delay(_world.Lane.Next(20) * Millisecond);
        }

        if (_world.CanReturn(disk))
        {
            CrashSimulation.Count("disk returned while marks were written");
            await Return(disk);
            await _world.Spaces.Resync(new SimPacer(_world.Lane, 1 + _world.Lane.Next(8)));
        }

        _isReturning = false;
    }

    private async LaneTask<Nothing> Return(int disk)
    {
        string rejected = await _world.Return(disk);
        if (rejected.Length > 0)
        {
            Report("return", rejected);
        }

        return default;
    }

    /// <summary>At the end of a round everything is whole again.</summary>
    private void ComeBack()
    {
        if (_world.Pool!.View.Contains(Number(_victim)) && _world.Disks[_victim].Pulled)
        {
            Evict(_victim).Forget();   // nothing has met it
        }

        _world.Lane.PumpWhile(() => Violation is null && _world.Disks[_victim].Pulled && !_world.CanReturn(_victim), LongestWaitNs);
        if (Violation is null && _world.CanReturn(_victim))
        {
            _world.Lane.Run(Return(_victim));
        }

        _victim = -1;
        Repair(_world, "round");
        _hasFailed = false;
        ReadAll(_world, _oracle, "round", isFirst: false);
    }

    private void MaybeCut(double chance)
    {
        if (_isCutting || Violation is not null || Cuts >= CutsMax || _world.Lane.NextRandom() > ulong.MaxValue * chance)
        {
            return;
        }

        _isCutting = true;
        Cut(_world, _oracle, _world.Lane.NextRandom(), depth: 0);
        _isCutting = false;
    }

    /// <summary>The power goes; a disk that was away is there at the next start, or is not.</summary>
    private void Cut(PoolWorld world, BlockOracle oracle, ulong seed, int depth)
    {
        Random random = new((int)(seed >> 32) ^ (int)seed);
        int kept = random.Next(3);
        Func<int, int, int, bool> keep =
            kept == 0 ? KeptWrites.None : kept == 1 ? KeptWrites.Random(random) : KeptWrites.Prefixes(random, world.PendingWrites());
        PoolWorld cut = world.Cut(seed, keep);
        BlockOracle judged = oracle.Clone();
        judged.PowerCut();
        Cuts++;
        bool returns = _victim >= 0 && cut.Disks[_victim].Pulled && random.Next(3) > 0;
        if (returns)
        {
            CrashSimulation.Count("disk returned at the start after a cut");
            cut.Disks[_victim].Pulled = false;
        }

        Judge(cut, judged, $"cut {Cuts} at step {world.Lane.Steps}, depth {depth}, disk {_victim + 1}{(returns ? " returns" : "")}", random, depth);
        cut.Release();
    }

    private void Judge(PoolWorld world, BlockOracle oracle, string where, Random random, int depth)
    {
        int at = depth < 2 && random.Next(3) == 0 ? 1 + random.Next(60) : 0;
        foreach (SimDisk disk in world.Disks)
        {
            disk.OnRequest = at == 0 ? null : (_, _, _) =>
            {
                if (--at == 0 && Violation is null)
                {
                    CrashSimulation.Count($"cut while opening at depth {depth + 1}");
                    Cut(world, oracle, world.Lane.NextRandom(), depth + 1);
                }
            };
        }

        if (world.Lane.Run(world.Open()) is { Length: > 0 } rejected)
        {
            Report(where, $"does not open: {rejected}");
            return;
        }

        ReadAll(world, oracle, where, isFirst: true);
        Array.ForEach(world.Disks, static disk => disk.OnRequest = null);
        ReadAll(world, oracle, $"{where}, read again", isFirst: false);
        Repair(world, where);
        ReadAll(world, oracle, $"{where}, repaired", isFirst: false);
        for (int disk = 0; disk < world.Disks.Length && Violation is null && depth == 0 && world.MissingDisks == 0; disk++)
        {
            PoolWorld without = world.Fork(world.Lane.Seed + (ulong)disk + 1);
            without.Remove(disk);
            if (without.Lane.Run(without.Open()) is { Length: > 0 } shut)
            {
                Report(where, $"does not open without disk {disk + 1}: {shut}");
            }

            ReadAll(without, oracle, $"{where}, without disk {disk + 1}", isFirst: false);
            without.Release();
        }
    }

    private void Repair(PoolWorld world, string where)
    {
        for (int attempt = 0; attempt < 20 && Violation is null && world.MissingDisks == 0 && world.Spaces.BytesToResync > 0; attempt++)
        {
            world.Lane.Run(world.Spaces.Resync(new SimPacer(world.Lane)));
        }

        if (Violation is null && world.MissingDisks == 0 && world.Spaces.BytesToResync > 0)
        {
            Report(where, $"the repair does not come to an end: {world.Spaces.BytesToResync} bytes");
        }
    }

    private void ReadAll(PoolWorld world, BlockOracle oracle, string where, bool isFirst)
    {
        if (Violation is null && StoreReading.ReadAll(world, oracle, _scenario.Length, isFirst, hasParity: false) is { } wrong)
        {
            Report(where, wrong);
        }
    }

    private bool IsSlab(long offset) =>
        offset >= _world.Pool!.Layout(Number(0)).SlabOffset(0)
            && offset < _world.Pool.Layout(Number(0)).SlabOffset(_world.Pool.State.Disk(Number(0))!.Description.SlabCount);

    /// <summary>The disk (counted from 0) with the other copy of what is at an offset of a disk; −1 where there is no data, or more copies.</summary>
    private int IsSharedWith(int disk, long offset)
    {
        Pool pool = _world.Pool!;
        uint slab = (uint)((offset - pool.Layout(Number(disk)).SlabOffset(0)) / pool.Slabs.Stride);
        foreach (TierDescription part in _world.VirtualDisk!.Description.Parts)
        {
            foreach ((int _, RowState row) in pool.State.Space(part.DataSpace)!.EnumerateRows())
            {
                SlabRef[] sources = row.Mapping.Sources.ToArray();
                int position = Array.IndexOf(sources, new SlabRef(Number(disk), slab));
                if (position >= 0)
                {
                    return sources.Length == 2 ? sources[1 - position].Disk.Value - 1 : -1;
                }
            }
        }

        return -1;
    }

    private static DiskNumber Number(int disk) => new((ushort)(disk + 1));

    private void Report(string where, string what) => Violation ??= $"joins, seed {_seed}, {_scenario.Copies} copies, {where}: {what}";
}
