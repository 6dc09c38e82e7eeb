using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.Verification;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Simulation;

// Two virtual disks of one pool, each on a lane of its own, under load at once; the pool is on a third lane. Messages between lanes take up to a millisecond,
// and in many rounds those to one of the lanes several. In each round
//
//   clients write, flush, read and unmap whole rows; slabs are moved as a plan of some milliseconds ago says
//   one disk fails: it loses its power, fails the requests of one lane, hangs, or the pool takes it out of its view
//   it returns as soon as the pool lets it, later, or at the next start
//
// Checked after every power cut and kill: every sector of both virtual disks against its oracle, twice, after the repair, and with a disk away.
//
// Virtual disks without redundancy lose no disk: their disks hang until after their deadline, while rows change hands.

/// <summary>Runs one seed of two virtual disks on lanes of their own.</summary>
internal sealed class LaneSimulation
{
    private const int Rounds = 6;
    private const int Clients = 3;   // of each virtual disk
    private const int ReadersOfUnmappedRow = 5;
    private const int CutsMax = 14;
    private const int CutsOfRoundMax = 3;
    private const double CutChance = 0.0003;
    private const double CutChanceInWindow = 0.002;   // while a disk leaves or returns
    private const double CutChanceAtFlush = 0.05;      // then, when a flush has just been acknowledged
    private const double CutChanceWithoutDisk = 0.3;   // and when it was the first without the disk
    private const int DisksTakenAway = 2;              // after a stop, one at a time
    private const uint ValuesOfNeighbor = 1 << 24;     // data of one virtual disk is never right on the other
    private const long Millisecond = 1_000_000;
    private const long Lateness = 400 * Millisecond;   // a message of any lane is there by then
    private const long LongestWaitNs = 120_000 * Millisecond;

    private static readonly IoDeadlines s_deadlines = new(HedgeNs: 50 * Millisecond, PatienceNs: 500 * Millisecond, StallNs: 4_000 * Millisecond);

    private readonly SpaceScenario _scenario;
    private readonly ulong _seed;
    private readonly PoolWorld _world;
    private readonly LoadedDisk[] _loaded;
    private readonly HashSet<(int Disk, SimLane Lane)> _joins = [];   // disks that have joined and whose return a lane may not have taken yet
    private readonly List<SimDisk> _replaced = [];   // disks that have lost their power and come back
    private readonly int _aged;                      // this disk may come back as it was at the beginning
    private SimMedia? _older;                        // what it was
    private int _victim = -1;
    private SimLane? _failsFor;   // the victim fails the requests of this lane
    private bool _isOld;        // what the disk of this round held may be wrong if a rule is broken: see StopAfterReturn
    private int _slowMetadata = 4;   // a write of the pool's metadata takes up to so many milliseconds
    private bool _isReturning;
    private bool _isCutting;
    private int _running;
    private int _views;        // changes of the members so far
    private int _olderViews;   // when the older copy was made
    private int _viewsAtDeparture;
    private int _cutsOfRound;
    private bool _stops;

    private LaneSimulation(SpaceScenario scenario, ulong seed)
    {
        _scenario = scenario;
        _seed = seed;
        SpaceScenario[] scenarios = [scenario, scenario.Neighbor!];
        VirtualDiskDescription[] specs =
        [
            scenario.Spec(seed) with { ProvisioningType = ProvisioningType.Thin },
            scenario.Neighbor!.Spec(seed) with { FriendlyName = "e", ProvisioningType = ProvisioningType.Thin },
        ];
        _world = PoolWorld.New(scenario.Disks, SpaceScenario.PoolDiskBytes, scenario.SectorSize, seed * 1000, specs, scenario.CachePoolDisks, s_deadlines);
        _loaded = [.. scenarios.Select((one, i) => new LoadedDisk(this, one, _world.VirtualDisks[i], (uint)i * ValuesOfNeighbor))];
        _aged = PoolLane.Next(scenario.Disks);
    }

    private string? Violation { get; set; }

    private long Cuts { get; set; }

    private bool HasRedundancy => _scenario.Redundancy > 0;

    private SimLane PoolLane => _world.PoolLane;

    internal static SimulationResult Run(SpaceScenario scenario, ulong seed)
    {
        LaneSimulation simulation = new(scenario, seed);
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
        simulation._older?.Release();
        simulation._replaced.ForEach(static disk => disk.Media.Release());
        return new SimulationResult(simulation.Cuts, simulation.Violation, hash);
    }

    private void Drive()
    {
        if (PoolLane.Run(_world.Open(isNew: true)) is { Length: > 0 } rejected)
        {
            Report("creation", rejected);
            return;
        }

        Array.ForEach(Enumerable.Range(0, _world.Disks.Length).ToArray(), SlowDown);
        Watch();
        for (int round = 0; round < Rounds && Violation is null; round++)
        {
            BeLate();
            _cutsOfRound = 0;
            _slowMetadata = PoolLane.Next(2) == 0 ? 12 : 4;
            if (HasRedundancy && _older is null)
            {
                _older = _world.Disks[_aged].Media.Snapshot();
                _olderViews = _views;
            }

            _stops = false;
            foreach (LoadedDisk disk in _loaded)
            {
                for (int client = 0; client < Clients; client++)
                {
                    Start(disk.Disk.Lane, () => Client(disk));
                }

                Start(PoolLane, () => Mover(disk));
            }

            PoolLane.Advance(PoolLane.Next(20) * Millisecond);
            Depart();
            PoolLane.Advance((30 + PoolLane.Next(60)) * Millisecond);
            if (_world.Disks[_victim].Hung)
            {
                PoolLane.PumpWhile(() => Violation is null && _world.Disks[_victim].Hung, LongestWaitNs);
                PoolLane.Advance(PoolLane.Next(200) * Millisecond);   // late requests, and new ones
            }

            _stops = true;
            PoolLane.PumpWhile(() => Violation is null && (_running > 0 || _isReturning), LongestWaitNs);
            if (Violation is null)
            {
                ComeBack();
            }
        }

        if (Violation is null && _world.Disks.Concat(_replaced).Sum(static disk => disk.ReusedBuffers) is > 0 and var reused)
        {
            Report("memory", $"{reused} writes in flight found other bytes in their memory");
        }
    }

    private void Start(SimLane lane, Func<LaneTask> work)
    {
        _running++;
        lane.Post(() => Run().Forget());

        async LaneTask Run()
        {
            await work();
            _running--;
        }
    }

    /// <summary>In many rounds one of the lanes gets its messages late.</summary>
    private void BeLate()
    {
        SimLane[] lanes = [PoolLane, .. _world.VirtualDisks.Select(static disk => disk.Lane)];
        int late = PoolLane.Next(5);   // 1, 2: a data lane; 3: both; 4: that of the pool
        for (int i = 0; i < lanes.Length; i++)
        {
            bool isLate = i == 0 ? late == 4 : late == i || late == 3;
            lanes[i].LateNs = isLate ? (4 + PoolLane.Next(36)) * Millisecond : 0;
        }
    }

    private void SlowDown(int disk)
    {
        SimDisk device = _world.Disks[disk];
        device.OnRequest = (_, _, _) =>
        {
            CountJoin(disk);
            MaybeCut(_victim >= 0 ? CutChanceInWindow : CutChance);
        };
        device.WriteTakesLonger = (offset, _) =>
            !IsSlab(disk, offset) ? PoolLane.Next(_slowMetadata) * Millisecond
            : disk == _victim || PoolLane.Next(6) == 0 ? PoolLane.Next(16) * Millisecond : 0;
        device.ReadTakesLonger = (_, _) => PoolLane.Next(3) == 0 ? PoolLane.Next(40) * Millisecond : 0;
        device.WriteFails = (offset, _) => IsFailing(disk, offset);
        device.ReadFails = (offset, _) => IsFailing(disk, offset);
    }

    private bool IsFailing(int disk, long offset) => disk == _victim && _failsFor is not null && PoolLane.Running == _failsFor && IsSlab(disk, offset);

    private bool IsSlab(int disk, long offset)
    {
        Pool pool = _world.PoolOf(disk)!;
        DiskNumber number = _world.NumberOf(disk);
        DiskLayout layout = pool.Layout(number);
        return offset >= layout.SlabOffset(0) && offset < layout.SlabOffset(pool.State.Disk(number)!.Description.SlabCount);
    }

    private async LaneTask Client(LoadedDisk loaded)
    {
        SimLane lane = loaded.Disk.Lane;
        while (!_stops && Violation is null)
        {
            bool mayFlush = HasRedundancy || _victim < 0;   // a flush that fails on the only copy ends the virtual disk
            int row = lane.Next(loaded.Scenario.Rows);
            switch (lane.Next(16))
            {
                case < 6:
                    await loaded.Load.WriteSome(mayFlush && lane.Next(8) == 0 ? WriteFlags.ForceUnitAccess : WriteFlags.None);
                    break;
                case < 9 when mayFlush:
                    await loaded.Load.FlushAll();
                    MaybeCut(_victim >= 0 ? CutChanceAtFlush : CutChance);
                    break;
                case 9:
                    await loaded.Load.ReadSome();
                    break;
                case < 12:
                    await loaded.Load.ReadBeside(row);
                    break;
                case < 14:
                    for (int readers = ReadersOfUnmappedRow; readers > 0; readers--)
                    {
                        Start(lane, async () => await loaded.Load.ReadBeside(row));
                    }

                    await lane.Delay(lane.Next(2) * Millisecond);
                    await loaded.Load.UnmapRow(row);
                    break;
                case 14:
                    await loaded.Load.UnmapSome(lane.Next(2) == 0);
                    break;
                default:
                    await lane.Delay(lane.Next(5) * Millisecond);
                    break;
            }

            await lane.Delay(1 + (lane.Next(3) * Millisecond));
        }
    }

    /// <summary>On the lane of the pool: moves slabs as a plan says, some time after it was made.</summary>
    private async LaneTask Mover(LoadedDisk loaded)
    {
        while (!_stops && Violation is null)
        {
            SlabMove[] slabs = loaded.Disk.Slabs();
            await PoolLane.Delay((1 + PoolLane.Next(60)) * Millisecond);
            for (int moves = PoolLane.Next(4); moves > 0 && slabs.Length > 0 && !_stops; moves--)
            {
                SlabMove move = slabs[PoolLane.Next(slabs.Length)];
                bool isOld = !loaded.Disk.Slabs().Contains(move);
                SimLane lane = loaded.Disk.Lane;
                SimPacer pacer = new(lane, PoolLane.Next(4) == 0 ? 1 + PoolLane.Next(4) : 0);
                RepairEnd end = await new SlabMover(_world.Pool!, loaded.Disk.Open!).Move(move, [], pacer);
                bool hasAgedOnTheWay = !isOld && end == RepairEnd.Incomplete && !loaded.Disk.Slabs().Contains(move);
                CrashSimulation.Count(isOld, "slab move ordered from an older state than the pool's");
                CrashSimulation.Count(hasAgedOnTheWay, "slab moved or freed while the order to move it was on its way to its lane");
                CrashSimulation.Count(end == RepairEnd.Done, "slab moved beside another lane");
            }
        }
    }

    /// <summary>A disk fails, in one of four ways. It returns while the lanes are late, or later.</summary>
    private void Depart()
    {
        _victim = ChooseVictim();
        _isOld = false;
        _viewsAtDeparture = _views;
        SimDisk disk = _world.Disks[_victim];
        switch (HasRedundancy ? PoolLane.Next(4) : 3)
        {
            case 0:
                CrashSimulation.Count("disk lost its power under two lanes");
                disk.Pulled = true;
                disk.Media.LosePower(static (_, _) => false);
                if (PoolLane.Next(2) == 0)
                {
                    Start(PoolLane, () => Evict(_victim));
                }

                break;
            case 1:
                CrashSimulation.Count("disk failed the requests of one lane");
                _failsFor = _loaded[PoolLane.Next(_loaded.Length)].Disk.Lane;
                break;
            case 2:
                CrashSimulation.Count("pool took a disk out of its view under two lanes");
                Start(PoolLane, () => Evict(_victim));
                break;
            default:
                CrashSimulation.Count("disk hung under two lanes");
                _isOld = true;
                disk.WakeTakesNs = (int)((10 + (PoolLane.Next(2) * 150)) * Millisecond);
                disk.Hang();
                PoolLane.Schedule((100 + PoolLane.Next(1400)) * Millisecond, disk.Wake);
                break;
        }

        foreach (LoadedDisk loaded in HasRedundancy ? _loaded : [])
        {
            int victim = _victim;
            Start(loaded.Disk.Lane, () => FlushWithout(loaded, victim));
        }

        if (HasRedundancy && PoolLane.Next(4) > 0)
        {
            _isReturning = true;
            Start(_world.Lane, () => ReturnSoon(_victim, hasLostPower: disk.Pulled || (!disk.Hung && PoolLane.Next(2) == 0)));
        }
    }

    /// <summary>A client flushes as soon as its lane has the table without a disk, while it is being recorded what the disk missed.</summary>
    private async LaneTask FlushWithout(LoadedDisk loaded, int disk)
    {
        PoolLink link = loaded.Disk.Open!.Pool;
        while (_world.PoolOf(disk) == _world.Pool && link.View.Contains(_world.NumberOf(disk)) && !_stops)
        {
            await loaded.Disk.Lane.Delay(Millisecond / 50);
        }

        for (int times = loaded.Disk.Lane.Next(4); times > 0 && Violation is null; times--)
        {
            await loaded.Load.FlushAll();
            MaybeCut(CutChanceWithoutDisk);
        }
    }

    /// <summary>Any disk; without redundancy one that holds none of the pool's metadata, so that it stays in the view while it hangs.</summary>
    private int ChooseVictim()
    {
        int[] disks = [.. Enumerable.Range(0, _world.Disks.Length).Where(disk => HasRedundancy || !_world.Pool!.View.IsMetadata(_world.NumberOf(disk)))];
        return _older is not null && PoolLane.Next(3) == 0 ? _aged : disks[PoolLane.Next(disks.Length)];
    }

    private async LaneTask Evict(int disk)
    {
        CommitResult left = await _world.PoolOf(disk)!.Evict(_world.NumberOf(disk), "it is taken out");
        if (!left.Succeeded)
        {
            Report("eviction", left.Reason);
        }
    }

    /// <summary>The disk is there again at once; the pool refuses it until every lane has released it.</summary>
    private async LaneTask ReturnSoon(int disk, bool hasLostPower)
    {
        SimLane lane = _world.Lane;
        bool isIn = false;
        while (!isIn && !_stops && Violation is null)
        {
            await lane.Delay(Millisecond / 20);
            if (IsOut(disk) && _world.Disks[disk] is { Hung: false } device && (hasLostPower || device.InFlight == 0))
            {
                CommitResult joined = await Return(disk, hasLostPower);
                isIn = joined.Succeeded;
                hasLostPower = false;   // its handles are new
                CrashSimulation.Count(joined.Status == CommitStatus.Refused, "return refused while a lane had not released the disk");
            }
        }

        if (isIn)
        {
            CrashSimulation.Count("disk returned while lanes were late");
            _failsFor = null;
            foreach (LoadedDisk loaded in _loaded)
            {
                Start(loaded.Disk.Lane, () => Resync(loaded));
            }
        }

        _isReturning = false;
    }

    /// <summary>A disk that has lost its power may be an older copy of itself: the pool knows it by the views that it has missed.</summary>
    private async LaneTask<CommitResult> Return(int disk, bool hasLostPower)
    {
        SimMedia? older = null;
        if (hasLostPower)
        {
            _replaced.Add(_world.Disks[disk]);
            if (disk == _aged && _older is not null && _viewsAtDeparture > _olderViews)
            {
                (older, _older) = (_older, null);
                _isOld = true;
            }
        }

        CommitResult joined = await _world.TryReturn(disk, hasLostPower, older);
        CrashSimulation.Count(older is not null && joined.Reason.Length > 0, "older copy of a disk returned under two lanes");
        return joined;
    }

    private static async LaneTask Resync(LoadedDisk loaded) =>
        await loaded.Disk.Spaces.Resync(new SimPacer(loaded.Disk.Lane, 1 + loaded.Disk.Lane.Next(8)));

    private bool IsOut(int disk) => !_world.PoolOf(disk)!.View.Contains(_world.NumberOf(disk));

    /// <summary>At the end of a round everything is whole again.</summary>
    private void ComeBack()
    {
        bool hasFailed = _world.Disks[_victim].Pulled || _failsFor is not null;
        _failsFor = null;
        if (hasFailed && !IsOut(_victim))
        {
            Start(PoolLane, () => Evict(_victim));   // nothing has met it
        }

        PoolLane.PumpWhile(() => Violation is null && (_running > 0 || (hasFailed && !IsOut(_victim))), LongestWaitNs);
        PoolLane.PumpWhile(() => Violation is null && IsOut(_victim) && IsOwed(_victim), LongestWaitNs);
        if (Violation is null && IsOut(_victim))
        {
            PoolLane.PumpWhile(() => Violation is null && _world.Disks[_victim].TotalInFlight > 0, LongestWaitNs);
            CommitResult joined = PoolLane.Run(Return(_victim, hasLostPower: _world.Disks[_victim].Pulled));
            for (int again = 0; again < 10 && joined.Status == CommitStatus.Refused; again++)
            {
                PoolLane.Advance(Lateness);   // its last request has ended, and the lane that gave it has not seen that yet
                joined = PoolLane.Run(Return(_victim, hasLostPower: false));
            }

            if (!joined.Succeeded)
            {
                Report("return", joined.Reason);
            }
        }

        int victim = _victim;
        _victim = -1;
        PoolLane.Advance(Lateness);   // every lane has taken the return
        CheckHandles();
        foreach (LoadedDisk loaded in _loaded.Where(static loaded => loaded.Disk.Open!.Fault != IoError.None && loaded.Load.MayHang()))
        {
            CrashSimulation.Count("virtual disk opened again after its only copy did not answer");
            loaded.Disk.Serve(PoolLane.Run(VirtualDiskStack.Reopen(_world.Pool!, loaded.Disk.Open!)));
        }

        StopAfterReturn(victim);
        Repair(_world, "round");
        ReadAll(_world, [.. _loaded.Select(static loaded => loaded.Oracle)], "round", isFirst: false);
    }

    /// <summary>
    /// After a disk hung, or came back as an older copy: late requests must not have changed what it holds, and nothing of the copy may count as new. So it is
    /// read without each of the other disks.
    /// </summary>
    private void StopAfterReturn(int victim)
    {
        if (Violation is not null || !_isOld || !HasRedundancy)
        {
            return;
        }

        _isCutting = true;
        PoolWorld killed = _world.Kill(PoolLane.NextRandom(), static () => true);
        BlockOracle[] judged = [.. _loaded.Select(static loaded => loaded.Oracle.Clone())];
        Array.ForEach(judged, static oracle => oracle.ProcessCrash());
        Cuts++;
        if (Opens(killed, "after a return"))
        {
            ReadAll(killed, judged, "after a return", isFirst: true);
            Repair(killed, "after a return");
            for (int disk = 0; disk < killed.Disks.Length; disk++)
            {
                if (disk != victim)
                {
                    ReadWithout(killed, judged, disk, "after a return");
                }
            }
        }

        killed.Release();
        _isCutting = false;
    }

    private void ReadWithout(PoolWorld world, BlockOracle[] oracles, int disk, string where)
    {
        PoolWorld without = world.Fork(world.Lane.Seed + (ulong)disk + 1);
        without.Remove(disk);
        if (Violation is null && Opens(without, $"{where}, without disk {disk + 1}"))
        {
            ReadAll(without, oracles, $"{where}, without disk {disk + 1}", isFirst: false);
        }

        without.Release();
    }

    /// <summary>Each lane has one handle of a disk, and none of one that has gone.</summary>
    private void CheckHandles()
    {
        if (_world.Disks.FirstOrDefault(disk => disk.Handles > _loaded.Length) is { } disk)
        {
            Report("handles", $"{disk.Identity.Uri} has {disk.Handles} of {_loaded.Length} lanes");
        }

        if (_replaced.Exists(static disk => disk.Handles > 0))
        {
            Report("handles", "one of a disk that has gone is open");
        }
    }

    private bool IsOwed(int disk) => _world.PoolOf(disk)!.IsOwed(_world.NumberOf(disk));

    // Observations, for the counters.

    private void Watch()
    {
        foreach (Pool pool in new[] { _world.Pool, _world.CachePool }.OfType<Pool>())
        {
            pool.MessageArrives = sender => OnMessage(pool, sender);
            pool.MembershipChanged += change => OnMembershipChanged(pool, change);
        }
    }

    /// <summary>A message of a lane runs at the pool: the other lane may have writes open on the disk that is leaving.</summary>
    private void OnMessage(Pool pool, PoolLink sender)
    {
        if (_victim >= 0 && _world.PoolOf(_victim) == pool && (pool.Members.IsLeaving(_world.NumberOf(_victim).Value) || IsOwed(_victim)))
        {
            bool isOpen = _loaded.Any(loaded => loaded.Disk.Lane != sender.Lane && _world.Disks[_victim].WritesInFlight(loaded.Disk.Lane) > 0);
            CrashSimulation.Count(isOpen, "message of a lane while another one has a write open on the disk that leaves");
        }
    }

    private void OnMembershipChanged(Pool pool, MembershipChange change)
    {
        _views++;
        if (change.Kind == MembershipChangeKind.Joined && _victim >= 0 && _world.PoolOf(_victim) == pool && change.Disk == _world.NumberOf(_victim))
        {
            foreach (LoadedDisk loaded in _loaded)
            {
                _joins.Add((_victim, loaded.Disk.Lane));
            }
        }
    }

    /// <summary>A request of a lane: it may not have taken yet that a disk has joined.</summary>
    private void CountJoin(int disk)
    {
        if (_joins.Count == 0 || _loaded.FirstOrDefault(loaded => loaded.Disk.Lane == PoolLane.Running) is not { } loaded)
        {
            return;
        }

        foreach ((int Disk, SimLane Lane) join in _joins.Where(join => join.Lane == loaded.Disk.Lane && join.Disk != disk).ToArray())
        {
            bool isTaken = loaded.Disk.Open!.Pool.View.Contains(_world.NumberOf(join.Disk)) || _world.PoolOf(join.Disk) != _world.Pool;
            CrashSimulation.Count(!isTaken, "request of a lane that has not taken the return of a disk");
            if (isTaken)
            {
                _joins.Remove(join);
            }
        }
    }

    /// <summary>A lane has acknowledged a write: the other one may still have a table with a disk that this one does without.</summary>
    private void OnAcknowledged(LoadedDisk loaded)
    {
        PoolView view = loaded.Disk.Open!.Pool.View;
        bool isAhead = _victim >= 0 && _world.PoolOf(_victim) == _world.Pool && _world.NumberOf(_victim) is var number && !view.Contains(number)
            && _loaded.Any(other => other != loaded && other.Disk.Open!.Pool.View.Contains(number));
        CrashSimulation.Count(isAhead, "write acknowledged under a table that another lane has not taken");
    }

    // Stops.

    private void MaybeCut(double chance)
    {
        if (_isCutting || Violation is not null || Cuts >= CutsMax || _cutsOfRound >= CutsOfRoundMax || PoolLane.NextRandom() > ulong.MaxValue * chance)
        {
            return;
        }

        _isCutting = true;
        _cutsOfRound++;
        Stop(_world, [.. _loaded.Select(static loaded => loaded.Oracle)], PoolLane.NextRandom(), depth: 0);
        _isCutting = false;
    }

    /// <summary>The power goes, or the process is killed; a disk that was away is there at the next start, or is not.</summary>
    private void Stop(PoolWorld world, BlockOracle[] oracles, ulong seed, int depth)
    {
        Random random = new((int)(seed >> 32) ^ (int)seed);
        bool isKill = random.Next(4) == 0;
        int kept = random.Next(3);
        Func<int, int, int, bool> keep =
            kept == 0 ? KeptWrites.None : kept == 1 ? KeptWrites.Random(random) : KeptWrites.Prefixes(random, world.PendingWrites());
        bool ofDisksAlone = !isKill && random.Next(3) == 0;
        PoolWorld stopped = isKill ? world.Kill(seed, () => random.Next(2) == 0) : world.Cut(seed, keep, keepsMemory: ofDisksAlone);
        BlockOracle[] judged = Array.ConvertAll(oracles, static oracle => oracle.Clone());
        bool returns = _victim >= 0 && stopped.Disks[_victim].Pulled && random.Next(3) > 0;   // without what it had not flushed
        if (returns)
        {
            stopped.Disks[_victim].Pulled = false;
        }

        foreach (BlockOracle oracle in judged)
        {
            if (!isKill || returns)
            {
                oracle.PowerCut(ofDisksAlone);
            }
            else if (depth == 0)
            {
                oracle.ProcessCrash();
            }
        }

        Cuts++;

        CrashSimulation.Count(returns, "disk of two lanes returned at the start after a stop");
        CrashSimulation.Count(isKill ? $"kill of two lanes at depth {depth}" : $"power cut of two lanes at depth {depth}");
        Judge(stopped, judged, $"{(isKill ? "kill" : "power cut")} {Cuts} at step {world.Lane.Steps}, depth {depth}, disk {_victim + 1}{(returns ? " returns" : "")}",
            random, depth);
        stopped.Release();
    }

    private void Judge(PoolWorld world, BlockOracle[] oracles, string where, Random random, int depth)
    {
        int at = depth < 2 && random.Next(3) == 0 ? 1 + random.Next(80) : 0;
        foreach (SimDisk disk in world.Disks)
        {
            disk.OnRequest = at == 0 ? null : (_, _, _) =>
            {
                if (--at == 0 && Violation is null)
                {
                    Stop(world, oracles, world.PoolLane.NextRandom(), depth + 1);
                }
            };
        }

        SetMissing(world, oracles);
        if (!Opens(world, where))
        {
            return;
        }

        SetMissing(world, oracles);
        ReadAll(world, oracles, where, isFirst: true);
        Array.ForEach(world.Disks, static disk => disk.OnRequest = null);
        ReadAll(world, oracles, $"{where}, read again", isFirst: false);
        Repair(world, where);
        ReadAll(world, oracles, $"{where}, repaired", isFirst: false);
        for (int times = depth == 0 && HasRedundancy ? DisksTakenAway : 0; times > 0 && Violation is null && world.MissingDisks == 0; times--)
        {
            ReadWithout(world, oracles, random.Next(world.Disks.Length), where);
        }
    }

    private bool Opens(PoolWorld world, string where)
    {
        string rejected = world.PoolLane.Run(world.Open());
        if (rejected.Length > 0)
        {
            Report(where, $"does not open: {rejected}");
        }

        world.PoolLane.Advance(5 * Millisecond);   // every lane has taken the disks that have joined
        return rejected.Length == 0;
    }

    private static void SetMissing(PoolWorld world, BlockOracle[] oracles)
    {
        for (int i = 0; i < oracles.Length; i++)
        {
            oracles[i].MissesDisk |= world.MissingDisks > 0 || (world.VirtualDisks[i].Open is not null && world.VirtualDisks[i].Spaces.StaleRegions > 0);
        }
    }

    private void Repair(PoolWorld world, string where)
    {
        foreach (SimVirtualDisk disk in world.VirtualDisks)
        {
            for (int attempt = 0; attempt < 20 && Violation is null && world.MissingDisks == 0 && disk.Spaces.BytesToResync > 0; attempt++)
            {
                world.PoolLane.Run(disk.Spaces.Resync(new SimPacer(disk.Lane)));
            }

            if (Violation is null && world.MissingDisks == 0 && disk.Spaces.BytesToResync > 0)
            {
                Report(where, $"the repair does not come to an end: {disk.Spaces.BytesToResync} bytes");
            }
        }
    }

    private void ReadAll(PoolWorld world, BlockOracle[] oracles, string where, bool isFirst)
    {
        for (int i = 0; i < oracles.Length; i++)
        {
            SpaceScenario scenario = _loaded[i].Scenario;
            if (Violation is null
                && StoreReading.ReadAll(world.VirtualDisks[i], oracles[i], scenario.Length, isFirst, scenario.Parities > 0) is { } wrong)
            {
                Report(where, $"virtual disk {i + 1}: {wrong}");
            }
        }
    }

    private void Report(string where, string what) => Violation ??= $"lanes, seed {_seed}, {_scenario.Members} disks: {where}: {what}";

    /// <summary>A virtual disk and its load.</summary>
    private sealed class LoadedDisk
    {
        internal LoadedDisk(LaneSimulation simulation, SpaceScenario scenario, SimVirtualDisk disk, uint firstValue)
        {
            Scenario = scenario;
            Disk = disk;
            Oracle = new BlockOracle(scenario.Length)
            {
                StripeBytes = scenario.Parities > 0 ? scenario.Shape.DataColumns * scenario.Shape.Interleave : 0,
                GathersStripes = scenario is { Parities: > 0, CacheBlocks: > 0 },
            };
            Load = new VerifiedLoad(disk, Oracle, scenario.Length, scenario.Shape.RowSize, 4096, simulation.Report)
            {
                LastValue = firstValue,
                MayHang = () => !simulation.HasRedundancy,
                Acknowledged = () => simulation.OnAcknowledged(this),
                Reading = OnReading,
            };
        }

        internal SpaceScenario Scenario { get; }

        internal SimVirtualDisk Disk { get; }

        internal BlockOracle Oracle { get; }

        internal VerifiedLoad Load { get; }

        /// <summary>A read begins; returns what to call when it has ended.</summary>
        private Action OnReading(long offset)
        {
            int row = (int)(offset / Scenario.Shape.RowSize);
            bool wasMapped = Disk.Open!.Space.IsReserved(row);
            SlabMove[] slabs = SlabsOf(row);
            return () =>
            {
                bool isMapped = Disk.Open!.Space.IsReserved(row);
                CrashSimulation.Count(wasMapped && !isMapped, "row freed while it was read");
                CrashSimulation.Count(wasMapped && isMapped && !SlabsOf(row).SequenceEqual(slabs), "slab of a row moved while it was read");
            };
        }

        private SlabMove[] SlabsOf(int row) => Array.FindAll(Disk.Slabs(), slab => slab.Row == row);
    }
}
