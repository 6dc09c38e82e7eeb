using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Simulation;

/// <summary>Outcome of one seed.</summary>
/// <param name="CrashStates">Crash states recovered and checked.</param>
/// <param name="Violation">The broken promise, or null.</param>
/// <param name="TraceHash">Hash over the order of events of the first world.</param>
public sealed record SimulationResult(long CrashStates, string? Violation, ulong TraceHash);

/// <summary>
/// A space, or a virtual disk on a whole pool, under a random load. At random requests the world is forked and stopped: by a power cut that keeps some of the
/// pending sectors, or by a crash of the process. Every fork is opened again, in part crashed again while it opens, and judged by the oracle: every sector,
/// every copy alone, once more after a clean stop.
/// </summary>
public sealed class CrashSimulation
{
    /// <summary>Chance of a request to be one before which the world is stopped.</summary>
    public const double ForkChance = 0.0092;

    private const int BlockBytes = 4096;   // smaller requests write the rest of a block with them: a sick disk may then cost a flushed neighbour (P3's limit)
    private const double RareForks = 0.3;   // moves make many requests: about as many crash states for a seed of a tiered disk as for others
    private const int ExhaustiveWrites = 3;   // up to so many pending writes, every subset of them is tried

    private readonly SpaceScenario _scenario;
    private readonly ulong _seed;
    private readonly ISimWorld _world;
    private readonly BlockOracle _oracle;
    private readonly VerifiedLoad _load;
    private readonly double _forkChance;
    private readonly bool _whileMoving;    // stopped only while slices move
    private readonly Random _illness;      // of the sick disk
    private readonly int _sick = -1;       // the disk that rots, loses writes, fails reads or lies about flushes; -1: none
    private readonly HashSet<int> _returning = [];   // disks that are on their way back into the view
    private readonly HashSet<int> _lostAgain = [];   // of those, the ones that were lost meanwhile
    private int _pulled;
    private long _scrubCursor;
    private int _scrubbed;   // which of the spaces
    private bool _nested;
    private bool _isWhole;   // of the world that is being stopped: a disk may die with it

    private CrashSimulation(SpaceScenario scenario, ulong seed, double forkChance, bool whileMoving)
    {
        _whileMoving = whileMoving;
        _scenario = scenario;
        _seed = seed;
        _forkChance = scenario.TierSlices.Length > 0 ? forkChance * RareForks : forkChance;
        _world = scenario.NewWorld(seed);
        _oracle = new BlockOracle(scenario.Length)
        {
            StripeBytes = scenario.Parities > 0 ? scenario.Shape.DataColumns * scenario.Shape.Interleave : 0,
            GathersStripes = scenario is { Parities: > 0, CacheBlocks: > 0 },
        };
        _load = new VerifiedLoad(_world, _oracle, scenario.Length, scenario.Shape.RowSize, scenario.RequestUnit, Report)
        {
            MayBeShort = () => _scenario.Redundancy == 0 && _pulled > 0,   // no copy of a new row is on a disk that is there
        };
        _illness = new Random((int)seed);
        if (scenario is { Checksums: true, Copies: > 1, RequestUnit: BlockBytes } && seed % 3 == 0)
        {
            _sick = _illness.Next(_world.Disks.Length);
            _oracle.HasSickDisk = true;
        }
    }

    /// <summary>Crash states so far.</summary>
    public long CrashStates { get; private set; }

    /// <summary>The first violation.</summary>
    public string? Violation { get; private set; }

    /// <summary>Times that hard cases were reached, by name, over all seeds of this process.</summary>
    public static SortedDictionary<string, long> Sometimes { get; } = [];

    /// <summary>Runs one seed.</summary>
    public static SimulationResult Run(SpaceScenario scenario, ulong seed, int operations = 60, double forkChance = ForkChance, bool whileMoving = false)
    {
        using RecycledMemory.Scope memory = RecycledMemory.Keep();
        if (scenario.ExchangesMembers)
        {
            return MemberSimulation.Run(scenario, seed);
        }

        if (scenario.MeetsFaultPairs)
        {
            return FaultPairSimulation.Run(scenario, seed);
        }

        if (scenario.Neighbor is not null)
        {
            return LaneSimulation.Run(scenario, seed);
        }

        if (scenario.DisksReturn)
        {
            return JoinSimulation.Run(scenario, seed);
        }

        if (scenario.LosesTooMany)
        {
            return LossSimulation.Run(scenario, seed);
        }

        SpaceScenario played = (seed % 4 == 2 ? scenario.WithShortJournal() : scenario).WithSummaries(seed);
        CrashSimulation simulation = new(played, seed, forkChance, whileMoving);
        try
        {
            simulation.Drive(operations);
        }
        catch (Exception error)
        {
            simulation.Report("exception", error.ToString());
        }

        ulong hash = simulation._world.Lane.TraceHash;
        simulation._world.Release();
        return new SimulationResult(simulation.CrashStates, simulation.Violation, hash);
    }

    private void Drive(int operations)
    {
        SimLane lane = _world.Lane;
        if (lane.Run(_world.Open(isNew: true)) is { Length: > 0 } rejected)
        {
            Report("creation", rejected);
            return;
        }

        foreach (SimDisk disk in _world.Disks)
        {
            disk.OnRequest = (_, _, _) => MaybeCrash();
        }

        if (_sick >= 0)
        {
            FallIll(_world.Disks[_sick]);
        }

        int running = 0;
        for (int i = 0; i < operations && Violation is null; i++)
        {
            running++;
            Operate(() => running--).Forget();
            int parallel = 1 + lane.Next(6);
            lane.PumpWhile(() => running >= parallel && Violation is null, 600_000_000_000);
        }

        lane.PumpWhile(() => running > 0 && Violation is null, 600_000_000_000);
        if (Violation is null)
        {
            Finish();
        }
    }

    private void FallIll(SimDisk disk)
    {
        int lost = _illness.Next(3) == 0 ? 12 : int.MaxValue;
        int failing = _illness.Next(3) == 0 ? 4 : int.MaxValue;
        disk.FlushLies = _illness.Next(3) == 0;
        disk.WriteLost = (_, _) => Falls(lost, "write lost");
        disk.ReadFails = (_, _) => Falls(failing, "read failed");
        Count(disk.FlushLies, "disk that lies about flushes");

        bool Falls(int one, string what)
        {
            bool falls = _illness.Next(one) == 0;
            Count(falls, what);
            return falls;
        }
    }

    /// <summary>At the end: a clean stop leaves nothing dirty, and everything is there afterwards.</summary>
    private void Finish()
    {
        foreach (SimDisk disk in _world.Disks)
        {
            disk.OnRequest = null;
            disk.Wake();   // what hung to the end comes late now
        }

        _world.Lane.Advance(1_000_000_000);
        IoError closed = _world.Lane.Run(_world.Close());
        if (closed != IoError.None)
        {
            Report("close", closed.ToString());
            return;
        }

        Count(_world.Spaces.HedgesWon > 0, "read answered by the other copy");
        Count(_world.Spaces.Counters.Rows.BytesPunched > 0, "unmap passed down to the disks");
        if (_world.Disks.Sum(disk => disk.ReusedBuffers) is > 0 and var reused)
        {
            Report("memory", $"{reused} writes in flight found other bytes in their memory");
        }

        ISimWorld again = _world.Fork(_seed + 1);
        Carry(_world, again);
        BlockOracle oracle = _oracle.Clone();
        oracle.ProcessCrash();
        Judge(again, oracle, "clean stop", depth: 3);
        if (Violation is null && _sick < 0 && again.Spaces.Counters.Repair.RegionsResynced != 0)
        {
            Report("clean stop", $"{again.Spaces.Counters.Repair.RegionsResynced} regions had to be resynced");
        }

        again.Release();
    }

    private async LaneTask Operate(Action done)
    {
        SimLane lane = _world.Lane;
        if (_sick >= 0 && _illness.Next(4) == 0)
        {
            Count("bit rot");
            _world.Disks[_sick].Media.Rot(_illness);
        }

        if (_scenario.TierSlices.Length > 0 && lane.Next(5) == 0)
        {
            RepairEnd end = await _world.MoveSlices(new SimPacer(lane, lane.Next(4) == 0 ? 1 + lane.Next(12) : 0));
            Count(end == RepairEnd.Done, "slices moved under load");
        }

        if (_scenario is { Parities: > 0, CacheBlocks: > 0 } && lane.Next(10) == 0)
        {
            int stripe = (int)_oracle.StripeBytes;
            await _load.WriteInSequence(5 * stripe, stripe * 3 / 2);
        }

        if (_scenario.ScattersWrites && lane.Next(8) == 0)
        {
            await _load.ScatterWrites(24);
        }

        switch (lane.Next(20))
        {
            case < 9:
                await _load.WriteSome(lane.Next(8) == 0 ? WriteFlags.ForceUnitAccess : WriteFlags.None);
                break;
            case < 12:
                await _load.ReadSome();
                break;
            case < 15:
                await _load.FlushAll();
                break;
            case < 17:
                await _load.UnmapSome(lane.Next(2) == 0);
                break;
            case 17:
                await lane.Delay(8_000_000_000);   // long enough that idle regions are cleaned
                break;
            case 19 when lane.Next(3) == 0:
                RepairEnd moved = await _world.MoveSome(new SimPacer(lane, lane.Next(4) == 0 ? 1 + lane.Next(8) : 0));
                Count(moved == RepairEnd.Done, "slab moved under load");
                break;
            case 19 when lane.Next(2) == 0:
                await ScrubSome();
                break;
            case 18 when lane.Next(2) == 0 && Returnable() is >= 0 and var back:
                await ReturnAndRepair(back);
                break;
            case 18 when lane.Next(4) == 0 && _pulled < _scenario.Redundancy:
                _pulled++;
                LoseDisk(_sick >= 0 ? _sick : lane.Next(_world.Disks.Length));   // what is lost stays within the redundancy
                break;
            default:
                await lane.Delay(lane.Next(5_000_000));
                break;
        }

        if (_world.FaultReason.Length > 0)
        {
            Report("serving", $"it failed: {_world.FaultReason}");
        }

        done();
    }

    /// <summary>A disk is pulled, or hangs with whatever is in flight: for good, or until after its deadline, or not that long.</summary>
    private void LoseDisk(int number)
    {
        SimLane lane = _world.Lane;
        SimDisk disk = _world.Disks[number];
        _lostAgain.UnionWith(_returning.Where(returning => returning == number));
        if (lane.Next(2) == 0)
        {
            Count("disk pulled");
            disk.Pulled = true;
            return;
        }

        Count("disk hung");
        disk.Hang();
        if (lane.Next(3) > 0)
        {
            lane.Schedule((1 + lane.Next(30)) * 1_000_000_000L, () =>
            {
                Count(disk.TotalInFlight > 0, "hung requests ended late");
                disk.Wake();
            });
        }
    }

    /// <summary>Some strides of a scrub, or the rest of its pass. Nothing is ever lost, and only a sick or missing disk gives it something to heal.</summary>
    private async LaneTask<Nothing> ScrubSome()
    {
        ScrubFindings findings = new();
        ScrubStride stride = new(_scrubCursor, 0, false, IoError.None);
        for (int left = _world.Lane.Next(3) == 0 ? int.MaxValue : 1 + _world.Lane.Next(8); left > 0 && stride is { IsDone: false, Error: IoError.None }; left--)
        {
            stride = await _world.Spaces[_scrubbed].Scrub(stride.Cursor, findings);
        }

        _scrubCursor = stride.IsDone ? 0 : stride.Cursor;
        _scrubbed = stride.IsDone ? (_scrubbed + 1) % _world.Spaces.Count : _scrubbed;
        Count("scrubbed under load");
        Count(stride.IsDone, "scrub went through to the end");
        Count(findings.BlocksHealed > 0, "block healed by a scrub under load");
        bool mayHeal = _sick >= 0 || _pulled > 0;
        if (findings.BlocksLost + findings.MetadataLost + findings.BlocksDiffering > 0 || !(mayHeal || findings.IsClean))
        {
            Report("scrub", findings.ToString());
        }

        return default;
    }

    /// <summary>A disk that may come back, or −1. A sick one stays away: what it would bring may be anything.</summary>
    private int Returnable() => _sick >= 0 ? -1
        : Enumerable.Range(0, _world.Disks.Length).FirstOrDefault(disk => _world.CanReturn(disk) && !_returning.Contains(disk), -1);

    /// <summary>A pulled disk comes back and is made whole under load, in as many attempts as its pacer makes of it.</summary>
    private async LaneTask<Nothing> ReturnAndRepair(int disk)
    {
        Count("disk returned under load");
        _returning.Add(disk);
        string rejected = await _world.Return(disk);
        _returning.Remove(disk);
        bool isLostAgain = _lostAgain.Remove(disk);
        if (rejected.Length > 0)
        {
            Count(isLostAgain, "disk lost again while it was returning");
            if (!isLostAgain)
            {
                Report("return", rejected);
            }

            return default;
        }

        for (int attempt = 0; Violation is null; attempt++)
        {
            RepairEnd end = await _world.Spaces.Resync(new SimPacer(_world.Lane, _world.Lane.Next(3) == 0 ? 1 + _world.Lane.Next(8) : 0));
            Count(end == RepairEnd.Stopped, "repair stopped and taken up again");
            if (end != RepairEnd.Stopped && _world.Spaces.BytesToResync == 0)
            {
                bool isIn = !_world.CanReturn(disk);
                _pulled -= isIn ? 1 : 0;
                Count(isIn, "repaired under load");
                Count(!isIn, "a late failure takes a returned disk out again");
                break;
            }

            if (end == RepairEnd.Incomplete && attempt > 100)
            {
                Report("repair", $"does not come to an end: {_world.Spaces.BytesToResync} bytes, {_world.Spaces.StaleRegions} regions");
            }
        }

        return default;
    }

    private void MaybeCrash()
    {
        if (_nested || Violation is not null || (_whileMoving && _world.Doing.Length == 0) || _world.Lane.NextRandom() > ulong.MaxValue * _forkChance)
        {
            return;
        }

        _nested = true;
        Crash(_world, _oracle, 0, _world.Lane.NextRandom(), "");
        _nested = false;
    }

    /// <summary>Forks the world into several crash states and judges each.</summary>
    private void Crash(ISimWorld world, BlockOracle oracle, int depth, ulong seed, string before)
    {
        Random random = new((int)(seed >> 32) ^ (int)seed);
        int[] pending = world.PendingWrites();
        int total = pending.Sum();
        bool exhaustive = depth == 0 && total <= ExhaustiveWrites;
        int cuts = exhaustive ? 1 << total : depth == 0 ? 7 : 1;
        Count(exhaustive, "every subset of the pending writes kept");
        for (int plan = 0; plan <= cuts && Violation is null; plan++)
        {
            bool kill = plan == cuts;
            int subset = plan;
            Func<int, int, int, bool> keep = exhaustive ? (disk, write, _) => (subset >> KeptWrites.Index(pending, disk, write) & 1) != 0 : plan switch
            {
                0 => KeptWrites.None,
                1 => KeptWrites.All,
                2 when total > 0 => KeptWrites.OnlyOne(random.Next(total), pending),
                3 when total > 0 => KeptWrites.AllButOne(random.Next(total), pending),
                4 => KeptWrites.Prefixes(random, pending),
                _ => KeptWrites.Random(random),
            };
            BlockOracle judged = oracle.Clone();
            bool keepsMemory = !kill && random.Next(3) == 0;   // an enclosure loses power and the machine does not: the first-write journal is kept
            ISimWorld crashed = kill ? world.Kill(seed + (ulong)plan, () => random.Next(2) == 0) : world.Cut(seed + (ulong)plan, keep, keepsMemory);
            if (!kill)
            {
                judged.PowerCut(keepsMemory);
            }
            else if (depth == 0)
            {
                judged.ProcessCrash();
            }

            Carry(world, crashed);
            bool wasWhole = _isWhole;
            _isWhole = depth == 0
                ? _sick < 0 && _scenario.Redundancy > 0 && world.MissingDisks == 0 && world.Spaces is { StaleRegions: 0, BytesToResync: 0 }
                    && !Array.Exists(world.Disks, static disk => disk.Pulled || disk.Hung)   // also one whose absence is not detected yet
                : wasWhole;
            LoseOneToo(crashed, new Random((int)seed + plan));
            CrashStates++;
            Count(world.Doing.Length > 0, $"crash in {world.Doing}");
            Count(world.HasSlicesAhead, "crash while slices had places ahead of their first writes");
            Count(kill ? $"process crash at depth {depth}" : $"power cut{(keepsMemory ? " of the disks alone" : "")} at depth {depth}");
            Judge(crashed, judged, $"{before}{(kill ? "process crash" : $"power cut{(keepsMemory ? " of the disks alone" : "")}, plan {plan}")} at step {world.Lane.Steps}", depth);
            crashed.Release();
            _isWhole = wasWhole;
        }
    }

    private static void Carry(ISimWorld from, ISimWorld to)
    {
        for (int i = 0; i < from.Disks.Length; i++)
        {
            if (from.Disks[i].Pulled)
            {
                to.Remove(i);
            }
        }
    }

    /// <summary>
    /// Now and then a disk dies with the rest: where nothing was missing or stale, the others have everything that was flushed. A world
    /// that is stopped while it recovers was whole if the world that was stopped first was.
    /// </summary>
    private void LoseOneToo(ISimWorld crashed, Random random)
    {
        if (_isWhole && random.Next(3) == 0)
        {
            _isWhole = false;
            Count("disk lost in a crash");
            crashed.Remove(random.Next(crashed.Disks.Length));
        }
    }

    /// <summary>Opens a stopped world and holds it against the oracle; on the way it may be crashed again.</summary>
    private void Judge(ISimWorld world, BlockOracle oracle, string where, int depth)
    {
        Random random = new((int)world.Lane.Seed);
        oracle.MissesDisk |= world.MissingDisks > 0;
        if (depth < 2 && random.Next(3) == 0)
        {
            int at = 1 + random.Next(40);
            foreach (SimDisk disk in world.Disks)
            {
                disk.OnRequest = (_, _, _) =>
                {
                    if (--at == 0 && Violation is null)
                    {
                        Crash(world, oracle, depth + 1, world.Lane.NextRandom(), where + ", ");
                    }
                };
            }
        }

        if (world.Lane.Run(world.Open(isNew: false)) is { Length: > 0 } rejected)
        {
            Report(where, $"does not open: {rejected}");
            return;
        }

        Count(world.UsedSummaries, "write cache opened by its summaries");
        oracle.MissesDisk |= MissesWrites(world);
        ReadAll(world, oracle, where, observe: true);
        foreach (SimDisk disk in world.Disks)
        {
            disk.OnRequest = null;
        }

        ReadAll(world, oracle, where + ", read again", observe: false);
        if (_sick < 0 && Violation is null && random.Next(3) == 0)
        {
            ReturnAll(world, oracle, where, depth, random);
        }

        if (Violation is null && random.Next(4) == 0)
        {
            JudgeEachCopy(world, oracle, where);
        }

        if (Violation is null && depth == 0 && random.Next(4) == 0)
        {
            oracle.PowerCut();
            ISimWorld cut = world.Cut(world.Lane.Seed + 77, (_, _, _) => random.Next(2) == 0);
            Carry(world, cut);
            LoseOneToo(cut, new Random((int)world.Lane.Seed));
            CrashStates++;
            Count("power cut again after serving");
            if (cut.Lane.Run(cut.Open(isNew: false)) is { Length: > 0 } shut)
            {
                Report(where, $"does not open once more: {shut}");
                return;
            }

            oracle.MissesDisk |= MissesWrites(cut);
            ReadAll(cut, oracle, where + ", cut again after serving", observe: true);
            JudgeEachCopy(cut, oracle, where + ", cut again after serving");
            cut.Release();
        }

        Count(world.Spaces.Counters.Repair.RegionsResynced > 0, "region resynced");
        Count(world.Spaces.Counters.Repair.BlocksRecovered > 0, "unlogged first write kept after a process crash");
    }

    /// <summary>Whether a disk is away, or was and has not been made whole since: either is out for the lines that it misses.</summary>
    private static bool MissesWrites(ISimWorld world) => world.MissingDisks > 0 || world.Spaces.StaleRegions > 0;

    /// <summary>After a crash the disks that were away come back and are made whole; on the way it may be crashed again.</summary>
    private void ReturnAll(ISimWorld world, BlockOracle oracle, string where, int depth, Random random)
    {
        CrashAfter(world, oracle, depth, 1 + random.Next(300), where + ", disks returned");
        bool any = false;
        for (int disk = 0; disk < world.Disks.Length && Violation is null; disk++)
        {
            world.Lane.PumpWhile(() => world.Disks[disk].InFlight > 0, 60_000_000_000);
            if (world.CanReturn(disk))
            {
                any = true;
                if (world.Lane.Run(world.Return(disk)) is { Length: > 0 } rejected)
                {
                    Report(where, $"disk {disk} does not return: {rejected}");
                }
            }
        }

        bool crashes = world.Spaces.BytesToResync > 0;
        Repair(world, where);
        CrashAfter(world, oracle, depth, 0, where);
        Count(any, "disk returned after a crash");
        Count(crashes, "repair after a crash");
        ReadAll(world, oracle, where + ", repaired", observe: false);
    }

    private void CrashAfter(ISimWorld world, BlockOracle oracle, int depth, int requests, string where)
    {
        int at = requests;
        foreach (SimDisk disk in world.Disks)
        {
            disk.OnRequest = depth >= 2 || at == 0 ? null : (_, _, _) =>
            {
                if (--at == 0 && Violation is null)
                {
                    Crash(world, oracle, depth + 1, world.Lane.NextRandom(), where + ", ");
                }
            };
        }
    }

    private void Repair(ISimWorld world, string where)
    {
        RepairEnd end = Violation is null ? world.Lane.Run(world.Spaces.Resync(new SimPacer(world.Lane))) : RepairEnd.Stopped;
        for (int again = 0; again < 10 && _scenario.CacheBlocks > 0 && (end == RepairEnd.Incomplete || world.Spaces.BytesToResync > 0); again++)
        {
            end = world.Lane.Run(world.Spaces.Resync(new SimPacer(world.Lane)));   // destaging goes on: it marks what it missed, and gives rows back
        }

        if (Violation is null && (world.Spaces.BytesToResync > 0 || (end != RepairEnd.Done && !MayStayIncomplete(world))))
        {
            Report(where, $"repair ended as {end} with {world.Spaces.BytesToResync} bytes left; {world.FaultReason}");
        }
    }

    /// <summary>A disk is away. Beside a cache, whose destaging may still have requests on it, also one that has left and cannot return yet.</summary>
    private bool MayStayIncomplete(ISimWorld world) =>
        Enumerable.Range(0, world.Disks.Length).Any(disk => world.Disks[disk].Pulled || world.CanReturn(disk))
        || (_scenario.CacheBlocks > 0 && world.MissingDisks > 0);

    private void JudgeEachCopy(ISimWorld world, BlockOracle oracle, string where)
    {
        if (world.MissingDisks >= _scenario.Redundancy || (_scenario.Parities > 0 && oracle.MayBeTorn))
        {
            return;   // a block that was torn takes the redundancy of its parity line along
        }

        Repair(world, where);   // what is stale may not be the only copy left

        for (int pulled = 0; pulled < world.Disks.Length && Violation is null; pulled++)
        {
            if (_sick >= 0 && pulled != _sick)
            {
                continue;   // the other copy would be that of the sick disk
            }

            ISimWorld without = world.Fork(world.Lane.Seed + 1000 + (ulong)pulled);
            Carry(world, without);
            without.Remove(pulled);
            if (without.Lane.Run(without.Open(isNew: false)) is { Length: > 0 } rejected)
            {
                Report(where, $"does not open without disk {pulled}: {rejected}");
            }
            else
            {
                ReadAll(without, oracle, $"{where}, without disk {pulled}", observe: false);
            }

            Count("read with one disk pulled");
            without.Release();
        }
    }

    private void ReadAll(ISimWorld world, BlockOracle oracle, string where, bool observe)
    {
        if (Violation is null && StoreReading.ReadAll(world, oracle, _scenario.Length, observe, _scenario.Parities > 0) is { } wrong)
        {
            Report(where, wrong);
        }
    }

    private void Report(string where, string what) =>
        Violation ??= $"seed {_seed}, {_scenario}: {where}: {what}";

    internal static void Count(string what) => Count(true, what);

    internal static void Count(bool happened, string what)
    {
        if (happened)
        {
            lock (Sometimes)
            {
                Sometimes[what] = Sometimes.GetValueOrDefault(what) + 1;
            }
        }
    }
}
