using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Verification;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Simulation;

// Disks leave one after another, one more than the virtual disk can do without, before those that have come back are whole again. In each round
//
//   a disk is pulled, or taken out of the pool, under load; it may come back while the next one leaves, and a repair of it may have begun
//   requests that need more than what is there fail; so does the virtual disk, if all copies of one of its logs are away: it is opened again
//   the host may be killed at any request: the next one starts with all disks, or without one that comes later
//   all disks come back with what they held, in any order
//
// No disk loses its power, so every write that was acknowledged is on the disks. Checked at the end of each round and after every kill: no row is given up,
// the repair comes to an end, and every sector reads as the last acknowledged write, or as one that failed since, without an error. A mirror whose host is
// killed while all copies of something are away may forget what was written for the first time and not flushed.

/// <summary>Runs one seed of a virtual disk that loses more disks than it can do without.</summary>
internal sealed class LossSimulation
{
    private const int Rounds = 2;
    private const int Clients = 4;
    private const int KillsMax = 8;
    private const double KillChance = 0.0002;
    private const double KillChanceWithLosses = 0.0015;   // while disks are away
    private const long Millisecond = 1_000_000;
    private const long LongestWaitNs = 120_000 * Millisecond;

    private readonly SpaceScenario _scenario;
    private readonly ulong _seed;
    private readonly PoolWorld _world;
    private readonly BlockOracle _oracle;
    private readonly VerifiedLoad _load;
    private readonly List<int> _away = [];   // disks that have left in this round and are not whole yet
    private bool _isKilling;
    private bool _isComingBack;
    private bool _wasOpenedAgain;   // blocks of whole stripes that were not flushed may be lost since
    private int _clients;
    private bool _stops;

    private LossSimulation(SpaceScenario scenario, ulong seed)
    {
        _scenario = scenario;
        _seed = seed;
        _world = PoolWorld.New(
            scenario.Disks, SpaceScenario.PoolDiskBytes, scenario.SectorSize, seed * 1000, scenario.Spec(seed), hasDataLane: SpaceScenario.HasDataLane(seed));
        _oracle = new BlockOracle(scenario.Length)
        {
            StripeBytes = scenario.Parities > 0 ? scenario.Shape.DataColumns * scenario.Shape.Interleave : 0, GathersStripes = scenario.CacheBlocks > 0,
        };
        _load = new VerifiedLoad(_world, _oracle, scenario.Length, scenario.Shape.RowSize, 4096, Report)
        {
            MayBeShort = () => _away.Count > 0, MayFail = () => HasLostTooMany, MayHang = () => HasLostTooMany,
        };
    }

    private string? Violation { get; set; }

    private long Kills { get; set; }

    private bool HasLostTooMany => _away.Count > _scenario.Redundancy;

    private SimLane Lane => _world.Lane;

    internal static SimulationResult Run(SpaceScenario scenario, ulong seed)
    {
        LossSimulation simulation = new(scenario, seed);
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
        return new SimulationResult(simulation.Kills, simulation.Violation, hash);
    }

    private void Drive()
    {
        if (Lane.Run(_world.Open(isNew: true)) is { Length: > 0 } rejected)
        {
            Report("creation", rejected);
            return;
        }

        foreach (SimDisk disk in _world.Disks)
        {
            disk.OnRequest = (_, _, _) => MaybeKill();
            disk.WriteTakesLonger = (_, _) => Lane.Next(4) == 0 ? Lane.Next(3) * Millisecond : 0;
        }

        for (int round = 0; round < Rounds && Violation is null; round++)
        {
            Start();
            Lane.Advance(Lane.Next(20) * Millisecond);
            LoseTooMany();
            Lane.Advance((Lane.Next(4) == 0 ? 1000 + Lane.Next(1000) : Lane.Next(100)) * Millisecond);   // what has failed is done again each second
            _stops = true;
            Lane.PumpWhile(() => Violation is null && (_clients > 0 || _isComingBack), LongestWaitNs);
            ComeBack(_world, _away, "round");
            Judge(_world, _oracle, $"round {round + 1}", isFirst: false);
            _away.Clear();
        }
    }

    private void Start()
    {
        _stops = false;
        for (; _clients < Clients; _clients++)
        {
            Client().Forget();
        }
    }

    private async LaneTask Client()
    {
        while (!_stops && Violation is null)
        {
            switch (Lane.Next(12))
            {
                case < 7:
                    await _load.WriteSome(WriteFlags.None);
                    break;
                case 7:
                    await _load.UnmapSome(unmap: true);
                    break;
                case 8:
                    await _load.FlushAll();
                    break;
                case < 11:
                    await _load.ReadSome();
                    break;
                default:
                    await Lane.Delay(Lane.Next(20) * Millisecond);
                    break;
            }

            await Lane.Delay(1 + (Lane.Next(2) * Millisecond));
        }

        _clients--;
    }

    private void LoseTooMany()
    {
        HashSet<int> voters = [.. _world.Pool!.View.Votes.Disks.Select(static disk => disk.Value - 1)];
        int votesToLose = voters.Count / 2;   // with the witness more than half are left
        for (int losses = 0; losses <= _scenario.Redundancy && Violation is null; losses++)
        {
            int[] left = [.. Enumerable.Range(0, _world.Disks.Length).Where(disk => !_away.Contains(disk) && (votesToLose > 0 || !voters.Contains(disk)))];
            int victim = left[Lane.Next(left.Length)];
            votesToLose -= voters.Contains(victim) ? 1 : 0;
            _away.Add(victim);
            bool isPulled = Lane.Next(3) > 0;
            _world.Disks[victim].Pulled = isPulled;
            if (!isPulled || Lane.Next(2) == 0)
            {
                Evict(victim).Forget();
            }

            CrashSimulation.Count(HasLostTooMany, "one disk more lost than there is redundancy");
            Lane.Advance(Lane.Next(80) * Millisecond);
            if (losses < _scenario.Redundancy && Lane.Next(4) > 0)
            {
                _isComingBack = true;
                ComeBackSoon(victim).Forget();
                Lane.Advance(Lane.Next(80) * Millisecond);
            }
        }
    }

    private async LaneTask Evict(int disk)
    {
        CommitResult left = await _world.OnPoolLane(() => _world.Pool!.Evict(_world.NumberOf(disk), "it is taken out"));
        if (!left.Succeeded && !HasLostTooMany)
        {
            Report("eviction", left.Reason);
        }
    }

    /// <summary>A disk comes back under load and begins to be made whole.</summary>
    private async LaneTask ComeBackSoon(int disk)
    {
        for (int tries = 0; tries < 50 && !_stops && !await HasJoined(_world, disk); tries++)
        {
            await Lane.Delay(Millisecond);
        }

        if (Lane.Next(2) == 0)
        {
            await _world.Spaces.Resync(new SimPacer(Lane, 1 + Lane.Next(8)));
        }

        _isComingBack = false;
    }

    private static async LaneTask<bool> HasJoined(PoolWorld world, int disk)
    {
        await world.TryReturn(disk, hasLostPower: false);
        return world.Pool!.View.Contains(world.NumberOf(disk));
    }

    private void ComeBack(PoolWorld world, IReadOnlyList<int> disks, string where)
    {
        foreach (int disk in disks)
        {
            for (int tries = 0; Violation is null && (world.Disks[disk].Pulled || !world.Pool!.View.Contains(world.NumberOf(disk))); tries++)
            {
                if (tries == 200)
                {
                    Report(where, $"disk {disk + 1} does not come back: {world.Lane.Run(world.TryReturn(disk, hasLostPower: false)).Reason}");
                }

                if (world.Pool!.View.Contains(world.NumberOf(disk)))
                {
                    world.Lane.Run(world.OnPoolLane(() => world.Pool!.Evict(world.NumberOf(disk), "nothing has met it")));
                }

                world.Lane.Run(HasJoined(world, disk));
                world.Lane.Advance(50 * Millisecond);
            }
        }

        OpenAgain(world);
    }

    /// <summary>A virtual disk that has failed is opened again, as a host does.</summary>
    private void OpenAgain(PoolWorld world)
    {
        if (Violation is null && world.VirtualDisk!.Fault != IoError.None)
        {
            CrashSimulation.Count("virtual disk opened again after too many losses");
            _wasOpenedAgain |= world == _world;
            _oracle.MissesDisk |= world == _world;   // what was not flushed is as after a crash without these disks
            world.VirtualDisks[0].Serve(world.Lane.Run(VirtualDiskStack.Reopen(world.Pool!, world.VirtualDisk)));
        }
    }

    /// <summary>All disks are there: everything becomes whole, and every sector is right.</summary>
    private void Judge(PoolWorld world, BlockOracle oracle, string where, bool isFirst, bool isKilled = false)
    {
        if (Violation is null && (world.VirtualDisk!.Fault != IoError.None || world.UnreadableReason.Length > 0))
        {
            Report(where, $"{world.VirtualDisk!.FaultReason} {world.UnreadableReason}");
        }

        for (int attempt = 0; attempt < 20 && Violation is null && world.Spaces.BytesToResync > 0; attempt++)
        {
            world.Lane.Advance(2000 * Millisecond);   // what has failed is done again each second
            world.Lane.Run(world.Spaces.Resync(new SimPacer(world.Lane)));
            OpenAgain(world);   // a flush fails that covers writes of which the last copy has been away
        }

        if (Violation is null && world.Spaces.BytesToResync > 0)
        {
            Report(where, $"the repair does not come to an end: {world.Spaces.BytesToResync} bytes");
        }

        bool hasParity = (isKilled || _wasOpenedAgain) && _scenario.Parities > 0;
        if (Violation is null && StoreReading.ReadAll(world, oracle, _scenario.Length, isFirst, hasParity) is { } wrong)
        {
            Report(where, wrong);
        }
    }

    private void MaybeKill()
    {
        double chance = _away.Count > 0 ? KillChanceWithLosses : KillChance;
        if (_isKilling || Violation is not null || Kills >= KillsMax || Lane.NextRandom() > ulong.MaxValue * chance)
        {
            return;
        }

        _isKilling = true;
        Kill(Lane.NextRandom());
        _isKilling = false;
    }

    /// <summary>The host is killed. The next one finds all disks, or all but one that was away, which comes later.</summary>
    private void Kill(ulong seed)
    {
        Random random = new((int)(seed >> 32) ^ (int)seed);
        PoolWorld killed = _world.Kill(seed, () => random.Next(2) == 0);
        BlockOracle judged = _oracle.Clone();
        if (HasLostTooMany && _scenario is { Copies: > 1, Checksums: true })
        {
            judged.PowerCut();   // the copies that first-write records speak of are not there: the records end with the opening
        }
        else
        {
            judged.ProcessCrash();
        }

        judged.MissesDisk = _away.Count > 0;
        Kills++;
        int late = _away.Count > 0 && random.Next(2) == 0 ? _away[random.Next(_away.Count)] : -1;
        for (int disk = 0; disk < killed.Disks.Length; disk++)
        {
            killed.Disks[disk].Pulled = disk == late;
        }

        string where = $"kill {Kills} at step {Lane.Steps}, away {string.Join(", ", _away.Select(static disk => disk + 1))}, late {late + 1}";
        string rejected = killed.Lane.Run(killed.Open());
        if (rejected.Length > 0 && late < 0)
        {
            Report(where, $"does not open: {rejected}");
        }

        if (late >= 0)
        {
            CrashSimulation.Count(rejected.Length > 0 || killed.UnreadableReason.Length > 0, "disk away at a start that it was needed for");
            ReadBeforeItComes(killed);
            ComeBack(killed, [late], where);
        }

        Judge(killed, judged, where, isFirst: true, isKilled: true);
        Judge(killed, judged, $"{where}, read again", isFirst: false, isKilled: true);
        killed.Release();
    }

    /// <summary>Reads everything once while a disk is missed: what cannot be given is an error now, and is not given up.</summary>
    private void ReadBeforeItComes(PoolWorld world)
    {
        for (long at = 0; at < _scenario.Length && world.VirtualDisk?.Fault == IoError.None; at += 64 << 10)
        {
            IoBuffer buffer = world.Lane.Buffers.Rent((int)Math.Min(64 << 10, _scenario.Length - at));
            world.Lane.Run(world.Store.Read(at, buffer));
            world.Lane.Buffers.Return(buffer);
        }
    }

    private void Report(string where, string what) =>
        Violation ??= $"losses, seed {_seed}, {_scenario.Copies} copies, {_scenario.Parities} parities, {where}: {what}";
}
