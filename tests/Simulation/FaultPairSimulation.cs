using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.Resiliency.Layouts;
using TierSpaces.Engine.Verification;

namespace TierSpaces.Simulation;

// A space that meets two faults: damage, and a stop with or without disks that are away, while something is going on (FaultPair). After the stop it is opened,
// read, written beside the damage, often stopped once more, and in the end all disks come back. The stop finds writes and flushes near the damage anywhere
// between their begin and their end.
//
// Checked, with oracle and disks:
//  1. A value is one of those that may be read. Only after a power cut may a damaged block be what one of its copies holds, and only where no copy that is
//     there has its durable value.
//  2. An error needs a reason: more of the positions of its block are damaged, away, or lack its last write than there is redundancy. So the value of a block
//     that a disk away holds is there once the disk is.
//  3. A verdict stays: a value is no other value and no error later, an error no value, unless a disk comes back or the block is written.
//  4. A world does not open, or stops to serve, only where more copies of a log, a ring or a page are damaged or away than there may be.

/// <summary>Runs one seed of a space that meets pairs of faults.</summary>
internal sealed class FaultPairSimulation
{
    private const int Block = 4096;
    private const int PairsPerSeed = 10;
    private const int RarePerSeed = 3;   // after these
    private const int PairsPerSeedOfPool = 9;
    private const long Second = 1_000_000_000;

    private readonly SpaceScenario _scenario;
    private readonly FaultPair _pair;
    private readonly Random _random;
    private readonly string _seed;
    private readonly bool _discards;
    private bool _isRare;   // chosen because chance meets it rarely: what it does aims at that
    private readonly string _layout;
    private readonly SpaceShape _shape;
    private readonly int _blocks;
    private readonly BlockOracle _oracle;
    private readonly HashSet<int>[] _lacks;          // by block: disks that lack its last write; with parity, a write of its line
    private readonly bool[] _unflushed;
    private readonly int[] _writes;                  // by block: writes that have begun
    private readonly bool[] _isAcknowledged;         // by block: its last write was
    private readonly bool[] _isNew;                  // by block: written since the last stop
    private readonly bool[] _isError;                // by block: read as an error last
    private readonly Dictionary<int, byte[]> _adopted = [];
    private readonly HashSet<int> _gone = [];        // disks that are away
    private readonly List<string> _story = [];
    private readonly HashSet<int> _hurt = [];        // blocks that the damage covers
    private bool _hurtsAll;                          // the damage is of a log, a ring or a page
    private int _hurtDisk = -1;
    private bool _wasCut;
    private bool _hasLostMemory;                     // of a stop that leaves no records: a power cut, or one in good order
    private WorldStop _lastStop;
    private int _underWay;                           // writes and flushes that have begun and not ended
    private readonly byte[] _garbage = new byte[Block];   // content of the damaged block
    private bool _isStopping;
    private bool _hasPartialLog;                     // the current copy of a log may be on one disk alone
    private bool _isClosed;                          // it does not open any more
    private readonly HashSet<int> _unprovable = [];  // blocks whose value nothing has any more, whatever comes back
    private readonly HashSet<int> _failed = [];      // blocks whose last write was answered with an error: old, new, or an error
    private readonly HashSet<int> _hurtBefore = [];  // blocks that were damaged before an unflushed write
    private readonly HashSet<int> _badBefore = [];   // blocks that were lost before an unflushed write
    private bool _hasReturned;                       // a disk has come back since every block was read
    private bool _isRead;                            // every block was read since the last stop
    private FaultWorld _place;
    private VerifiedLoad _load;
    private long _states;

    private FaultPairSimulation(SpaceScenario scenario, in FaultPair pair, Random random, string seed, bool discards)
    {
        _discards = discards;
        _scenario = scenario;
        _pair = pair;
        _random = random;
        _seed = seed;
        _shape = scenario.Shape;
        _blocks = (int)(scenario.Length / Block);
        HashSet<int>[] byLine = [.. Enumerable.Range(0, _blocks).Select(static _ => new HashSet<int>())];
        _lacks = scenario.Parities == 0 ? byLine : [.. Enumerable.Range(0, _blocks).Select(block => byLine[FirstOfLine(block)])];
        _unflushed = new bool[_blocks];
        _writes = new int[_blocks];
        _isAcknowledged = new bool[_blocks];
        _isError = new bool[_blocks];
        _isNew = new bool[_blocks];
        _oracle = new BlockOracle(scenario.Length)
        {
            StripeBytes = scenario.Parities > 0 ? _shape.DataColumns * _shape.Interleave : 0,
            GathersStripes = scenario is { Parities: > 0, CacheBlocks: > 0 },
        };
        ulong first = (ulong)random.Next();
        _place = FaultWorld.New(scenario, first);
        _layout = LayoutName(scenario, first);
        _load = NewLoad(0);
    }

    private string? Violation { get; set; }

    private ISimWorld World => _place.World;

    private SimLane Lane => World.Lane;

    internal static SimulationResult Run(SpaceScenario scenario, ulong seed)
    {
        Random random = new((int)seed);
        long states = 0;
        ulong trace = 0;
        string? violation = null;
        bool discards = new Random((int)seed ^ 0x5EED).Next(2) == 0;   // what some of its writes are
        int pairs = scenario.IsWholePool ? PairsPerSeedOfPool : PairsPerSeed;
        for (int i = 0; i < pairs + RarePerSeed && violation is null; i++)
        {
            FaultPair pair = i < pairs ? FaultPair.Choose(scenario, random, (seed * (ulong)pairs) + (ulong)i) : FaultPair.ChooseRare(scenario, random);
            FaultPairSimulation simulation = new(scenario, pair, new Random(random.Next()), $"seed {seed}, {i}", discards) { _isRare = i >= pairs };
            try
            {
                simulation.Drive();
            }
            catch (Exception error)
            {
                simulation.Report("exception", error.ToString());
            }

            pair.NoteMet(scenario, simulation._layout);
            trace = (trace ^ simulation.Lane.TraceHash) * 1099511628211;
            simulation.World.Release();
            states += simulation._states;
            violation = simulation.Violation;
        }

        return new SimulationResult(states, violation, trace);
    }

    private static string LayoutName(SpaceScenario scenario, ulong seed) =>
        $"{(scenario.Parities == 2 ? "dual parity" : scenario.Parities == 1 ? "parity" : scenario.Copies == 1 ? "simple" : $"{scenario.Copies} copies")}"
        + $"{(scenario.Columns > 1 && scenario.Parities == 0 ? ", two columns" : "")}{(scenario.CacheBlocks > 0 ? ", cache" : "")}"
        + (scenario.TierSlices.Length > 0 ? ", tiers" : "") + (scenario.IsWholePool ? $", {scenario.Spec(seed).ProvisioningType}" : "");

    private void Drive()
    {
        if (Lane.Run(World.Open(isNew: true)) is { Length: > 0 } rejected)
        {
            Report("creation", rejected);
            return;
        }

        Write(24 + _random.Next(24));
        Flush();
        if (_random.Next(2) == 0)
        {
            Lane.Advance(60 * Second);   // regions are clean, pages written
        }

        int target = ChooseTarget();
        _story.Clear();
        Tell($"block {target} on {string.Join(",", PlacesOf(target).Select(static place => place.Disk))}");
        if (_pair.Away is Absence.UsedUp or Absence.BackBefore)
        {
            LeaveBefore(target);
        }

        WriteBlock(target + _random.Next(2), mayDiscard: true);
        Write(_random.Next(6));
        if (_random.Next(2) == 0)
        {
            Flush();
        }

        for (int again = _pair.Fault == PlantedFault.LogBlock ? _isRare ? 2 : _random.Next(3) : 0; again > 0; again--)
        {
            WriteBlock(target);   // the log that loses its end has an older change of the block
        }

        Lane.Advance(Second / 4);   // the ends of logs and rings are stated
        Damage(target);
        if (_random.Next(2) == 0 && Violation is null)
        {
            ReadBlock("read after the damage", target, isFirst: false, mayHeal: true);
        }

        NoteUnprovable();
        Work(target);
        StopAndOpen(_pair.Stop, target, "opened");
        if (Violation is null && !_isClosed && _random.Next(2) == 0)
        {
            WriteBlock(target ^ 1);
            Work(target);
            StopAndOpen((WorldStop)_random.Next(5), target, "opened again");
        }

        if (Violation is null && !_isClosed)
        {
            ComeBack();
        }

        if (Violation is null && !_isClosed)
        {
            StopAndOpen((WorldStop)_random.Next(5), target, "whole, opened again");
        }
    }

    /// <summary>A block that was written, of which some disk holds the data.</summary>
    private int ChooseTarget()
    {
        byte[] found = new byte[Block];
        int start = _random.Next(_blocks);
        for (int i = 0; i < _blocks; i++)
        {
            int block = (start + i) % _blocks;
            if (PlacesOf(block).Any(place => IsWritten(place, found)))
            {
                return block;
            }
        }

        return 0;

        bool IsWritten(BlockPlace place, byte[] data)
        {
            World.Disks[place.Disk].Media.Read(place.Offset, data);
            return _oracle.Allows(0, data) || data.AsSpan().ContainsAnyExcept((byte)0);
        }
    }

    private void LeaveBefore(int target)
    {
        HashSet<int> first = _isRare && _pair.Fault == PlantedFault.LogBlock ? [.. _place.Logs.Select(static log => log.Disk)] : [];
        int[] disks = [.. PlacesOf(target).Select(static place => place.Disk).Distinct().OrderBy(_ => _random.Next()).OrderByDescending(first.Contains)];
        int count = _pair.Away == Absence.UsedUp ? Math.Min(_scenario.Redundancy, disks.Length) : 1;
        for (int i = 0; i < count; i++)
        {
            Leave(disks[i]);
        }

        Write(1 + _random.Next(8));
        Flush();
        if (_pair.Away == Absence.BackBefore)
        {
            Return(disks[0]);
            bool isWhole = _random.Next(2) == 0 && Lane.Run(World.Spaces.Resync(new SimPacer(Lane))) == RepairEnd.Done && World.Spaces.BytesToResync == 0;
            MadeWhole(isWhole);
        }
    }

    /// <summary>A disk leaves while the world serves.</summary>
    private void Leave(int disk)
    {
        Tell($"{disk} leaves");
        World.Disks[disk].Pulled = true;
        _gone.Add(disk);
        _place.Evict(disk);
        if (_scenario.CacheBlocks > 0)
        {
            Lane.Advance(Second);
        }
    }

    private void Return(int disk)
    {
        Lane.PumpWhile(() => !World.CanReturn(disk), 60 * Second);
        Tell($"{disk} returns");
        string rejected = Lane.Run(World.Return(disk));
        if (rejected.Length > 0)
        {
            Report("return", rejected);
        }

        _gone.Remove(disk);
        _hasReturned = true;
    }

    private void NoteUnprovable()
    {
        for (int block = 0; block < _blocks; block++)
        {
            HashSet<int> lacking = [.. _lacks[block]];
            lacking.IntersectWith(PlacesOf(block).Select(static place => place.Disk));
            if (lacking.Count + (IsHurt(block) && !lacking.Contains(_hurtDisk) ? 1 : 0) > _scenario.Redundancy)
            {
                _unprovable.Add(block);
            }
        }
    }

    private void MadeWhole(bool isWhole)
    {
        for (int block = 0; block < _blocks && isWhole; block++)
        {
            if (!MayBeError(block))
            {
                _lacks[block].IntersectWith(_gone);
            }
        }
    }

    private void Damage(int target)
    {
        BlockPlace[] there = [.. PlacesOf(target).Where(place => !World.Disks[place.Disk].Pulled && !_lacks[target].Contains(place.Disk))];
        if (there.Length == 0)
        {
            return;
        }

        (int disk, long offset, long page) = there[_random.Next(there.Length)];
        _hurtDisk = disk;
        Tell($"damage on {disk}");
        SimMedia media = World.Disks[disk].Media;
        switch (_pair.Fault)
        {
            case PlantedFault.Bit:
                FlipBit(media, offset + _random.Next(Block));
                _hurt.Add(target);
                break;
            case PlantedFault.Block:
                Garble(media, offset);
                _hurt.Add(target);
                break;
            case PlantedFault.Stale:
                byte[] before = new byte[Block];
                media.Read(offset, before);
                WriteBlock(target);
                Put(media, offset, before);
                _hurt.Add(target);
                break;
            case PlantedFault.FailedWrite:
                World.Disks[disk].WriteFails = (at, length) => at <= offset && offset < at + length;
                _hurt.Add(target);
                WriteBlock(target);
                World.Disks[disk].WriteFails = null;
                Garble(media, offset);
                _hurt.Add(target);
                NoteGone();
                break;
            case PlantedFault.PageSector:
                FlipBit(media, page + _random.Next(Block));
                _hurtsAll = true;
                break;
            case PlantedFault.LogBlock:
                DamageRing(_place.Logs, JournalBlock.Size);
                break;
            default:
                DamageRing(_place.Rings, Block);
                break;
        }

        media.Read(offset, _garbage);
    }

    /// <summary>Damages a block of a log or ring that was written; the newest one most of the time.</summary>
    private void DamageRing(IEnumerable<RingStretch> stretches, int size)
    {
        RingStretch[] there = [.. stretches.Where(stretch => !World.Disks[stretch.Disk].Pulled)];
        if (there.Length == 0)
        {
            return;
        }

        _hurtDisk = there[_random.Next(there.Length)].Disk;
        SimMedia media = World.Disks[_hurtDisk].Media;
        byte[] block = new byte[size];
        List<(Guid Owner, ulong Sequence, long Offset)> found = [];
        foreach (RingStretch stretch in there.Where(stretch => stretch.Disk == _hurtDisk))
        {
            for (long at = stretch.Offset; at < stretch.Offset + stretch.Length; at += size)
            {
                media.Read(at, block);
                bool isForeign = BitConverter.ToUInt32(block) >> 16 == 0xF0E1;
                if (!isForeign && block.AsSpan().ContainsAnyExcept((byte)0))
                {
                    found.Add((new Guid(block.AsSpan(8, 16)), BitConverter.ToUInt64(block.AsSpan(32)), at));
                }
            }
        }

        if (found.Count > 0)
        {
            Guid[] owners = [.. found.Select(static block => block.Owner).Distinct()];   // an integrity log, and a parity journal
            if (_pair.Fault == PlantedFault.LogBlock && owners.Length > 1)
            {
                Guid owner = owners[_random.Next(owners.Length)];
                found.RemoveAll(block => block.Owner != owner);
            }

            bool isNewest = (_isRare || _random.Next(3) > 0) && _pair.Fault == PlantedFault.LogBlock;
            long at = isNewest ? found.MaxBy(static block => block.Sequence).Offset : found[_random.Next(found.Count)].Offset;
            FlipBit(media, at + _random.Next(size));
            _hurtsAll = true;
        }
    }

    private void Work(int target)
    {
        if (Violation is not null)
        {
            return;
        }

        switch (_pair.Work)
        {
            case Meanwhile.WriteNear:
                WriteBlock(target ^ 1);
                BeginWrites(target);
                break;
            case Meanwhile.Move or Meanwhile.Rebuild:
                Tell("moves");
                for (int i = 0; i < 4; i++)
                {
                    (_random.Next(2) == 0 ? World.MoveSome(new SimPacer(Lane)) : World.MoveSlices(new SimPacer(Lane))).Forget();
                    RunSome();
                }

                break;
            case Meanwhile.Resync:
                if (_gone.Count > 0 && World.CanReturn(_gone.First()))
                {
                    Return(_gone.First());
                }

                Tell("resync begins");
                World.Spaces.Resync(new SimPacer(Lane)).Forget();
                RunSome();
                break;
            case Meanwhile.Destage:
                Lane.Advance(_random.Next(40) * Second / 100);
                break;
            default:
                break;
        }

        if (_pair.Work is not (Meanwhile.WriteNear or Meanwhile.Idle) && _random.Next(2) == 0)
        {
            BeginWrites(target);
        }
    }

    /// <summary>Begins writes, most of them near the damage, and perhaps a flush, that the stop finds anywhere between their begin and their end.</summary>
    private void BeginWrites(int target)
    {
        NoteGone();
        HashSet<int> taken = [.. _adopted.Keys];   // what was taken stays legal until the write, which may not be carried out
        for (int writes = 1 + _random.Next(4); writes > 0; writes--)
        {
            int block = _random.Next(4) switch
            {
                0 => target,
                1 => target ^ 1,
                2 => FirstOfLine(target) + (_random.Next(_shape.DataColumns) * (_shape.Interleave / Block)),
                _ => _random.Next(_blocks),
            };
            int[] blocks = [.. Enumerable.Range(block, _random.Next(3) == 0 ? 1 + _random.Next(6) : 1)];
            if (blocks[^1] < _blocks && !taken.Overlaps(blocks))
            {
                taken.UnionWith(blocks);
                WriteBeside(block, blocks.Length, isDiscard: _discards && _random.Next(4) == 0).Forget();
            }

            if (_random.Next(6) == 0)
            {
                FlushBeside().Forget();
            }

            RunSteps(_random.Next(4) * 4);
        }

        RunSteps(_random.Next(1 << _random.Next(9)));
    }

    private void RunSteps(int steps)
    {
        while (steps-- > 0 && Lane.Step())
        {
        }
    }

    private async LaneTask WriteBeside(int block, int count, bool isDiscard)
    {
        FaultWorld place = _place;
        _underWay++;
        NoteIssued(block, count, isDiscard ? "discard begins" : "write begins");
        for (int written = block; written < block + count; written++)
        {
            _isAcknowledged[written] = false;
            _isError[written] = false;   // it is an error or the new value
            _lacks[written].UnionWith(_gone);
        }

        IoError error = await (isDiscard ? _load.ZeroAt((long)block * Block, count * Block, unmap: _random.Next(2) == 0)
            : _load.WriteAt((long)block * Block, count * Block));
        if (_place != place)
        {
            return;
        }

        _underWay--;
        NoteGone();
        if (error != IoError.None && !_isStopping && !MayFailToWrite(block, count))
        {
            Report("write beside others", $"block {block}: {error} {World.FaultReason}");
        }

        NoteWritten(block, count, error, isDiscard ? "discard ends" : "write ends");
    }

    private async LaneTask FlushBeside()
    {
        FaultWorld place = _place;
        int[] covered = [.. Enumerable.Range(0, _blocks).Where(block => _unflushed[block] && _isAcknowledged[block])];
        int[] writes = [.. covered.Select(block => _writes[block])];
        foreach (int block in covered)
        {
            _isAcknowledged[block] = false;   // its record may have ended
        }

        _underWay++;
        Tell("flush begins");
        IoError error = await _load.TryFlush();
        if (_place != place)
        {
            return;
        }

        _underWay--;
        Tell($"flush ends{(error == IoError.None ? "" : $" {error}")}");
        for (int i = 0; i < covered.Length && error == IoError.None; i++)
        {
            _unflushed[covered[i]] &= _writes[covered[i]] != writes[i];
        }
    }

    private void RunSome()
    {
        RunSteps(_random.Next(3) == 0 ? 5000 : _random.Next(120));
    }

    private void StopAndOpen(WorldStop stop, int target, string where)
    {
        if (Violation is not null)
        {
            return;
        }

        ulong seed = (ulong)_random.Next();
        NoteGone();
        _lastStop = stop;
        _hasLostMemory |= stop is WorldStop.PowerCut or WorldStop.LostCaches or WorldStop.Stop;
        FaultWorld next;
        switch (stop)
        {
            case WorldStop.Stop:
                Lane.PumpWhile(() => _underWay > 0, 60 * Second);
                IoError closed = Lane.Run(World.Close());
                if (closed != IoError.None && !MayFail())
                {
                    Report(where, $"close: {closed} {World.FaultReason}");
                }

                next = _place.Stopped(closed == IoError.None ? World.Fork(seed) : World.Kill(seed, () => true));
                _oracle.ProcessCrash();
                break;
            case WorldStop.Reopening:
                _isStopping = true;
                _hasPartialLog |= !_scenario.IsWholePool;   // no quorum decides there which disks the last block of a log counted on
                next = _place.LoseAllDisks(seed);
                _isStopping = false;
                _oracle.ProcessCrash();
                break;
            case WorldStop.LostCaches:
                next = _place.Stopped(World.Cut(seed, KeptWrites.Random(_random), keepsMemory: true));
                _oracle.PowerCut(ofDisksAlone: true);
                break;
            case WorldStop.PowerCut:
                next = _place.Stopped(World.Cut(seed, KeptWrites.Random(_random)));
                _oracle.PowerCut();
                _wasCut = true;
                break;
            default:
                next = _place.Stopped(World.Kill(seed, () => _random.Next(2) == 0));
                _oracle.ProcessCrash();
                break;
        }

        _states++;
        Tell($"{stop}, gone {string.Join(",", _gone)}");
        foreach (int disk in _gone)
        {
            next.World.Remove(disk);
        }

        if (_gone.Count == 0 && _pair.Away is Absence.One or Absence.BackAfter && where == "opened")
        {
            int[] others = [.. PlacesOf(target).Select(static place => place.Disk).Where(disk => disk != _hurtDisk)];
            int away = others.Length > 0 ? others[_random.Next(others.Length)] : PlacesOf(target).FirstOrDefault().Disk;
            Tell($"{away} removed");
            next.World.Remove(away);
            _gone.Add(away);
        }

        for (int block = 0; block < _blocks; block++)
        {
            if (_unflushed[block])
            {
                _lacks[block].UnionWith(_gone);   // what they have not flushed is gone once they come back
            }
        }

        NoteUnprovable();
        if (stop is WorldStop.PowerCut or WorldStop.LostCaches)
        {
            _hurt.UnionWith(_hurtBefore);
            _unprovable.UnionWith(_badBefore);   // the write that made them good again may be gone
        }

        _oracle.MissesDisk |= _gone.Count > 0;
        World.Release();
        _place = next;
        _underWay = 0;
        Open(where);
    }

    private void Open(string where)
    {
        _isRead = false;
        Array.Clear(_isNew);
        NoteGone();
        string rejected = Lane.Run(World.Open(isNew: false));
        if (rejected.Length > 0)
        {
            if (!MayFail() && !(_hasPartialLog && _gone.Count > 0))
            {
                Report(where, $"does not open: {rejected}");
                return;
            }

            CrashSimulation.Count("fault pair: does not open until a disk is back");
            OpenWithAll($"{where}, with all disks");
            return;
        }

        _load = NewLoad(_load.LastValue);
        ReadAll(where);
        ReadAll($"{where}, read again");
        if (_pair.Away == Absence.BackAfter && _gone.Count > 0 && Violation is null)
        {
            ComeBack();
        }
    }

    /// <summary>A space that does not open without a disk is opened with it, as a host does when the disk is back.</summary>
    private void OpenWithAll(string where)
    {
        FaultWorld next = _place.Stopped(World.Fork((ulong)_random.Next()));
        for (int disk = 0; disk < World.Disks.Length; disk++)
        {
            next.BringBack(disk);
        }

        _gone.Clear();
        World.Release();
        _place = next;
        string rejected = Lane.Run(World.Open(isNew: false));
        if (rejected.Length > 0)
        {
            // No copy of the log is whole any more: what the damaged block alone held cannot be told from the rest.
            CrashSimulation.Count(_pair.Fault == PlantedFault.LogBlock, "fault pair: the only current copy of a log is damaged");
            _isClosed = true;
            if (_pair.Fault != PlantedFault.LogBlock)
            {
                Report(where, $"does not open: {rejected}");
            }

            return;
        }

        _load = NewLoad(_load.LastValue);
        Resync(where);
        ReadAll(where, mayHeal: true);
    }

    private void ComeBack()
    {
        bool any = _gone.Count > 0 || World.Spaces.BytesToResync > 0;   // or is back, and not asked yet
        foreach (int disk in _gone.ToArray())
        {
            if (World.CanReturn(disk))
            {
                Return(disk);
            }
        }

        Resync("all disks back");
        ReadAll("all disks back", mayHeal: any);
        ReadAll("all disks back, read again");
    }

    private void Resync(string where)
    {
        for (int attempt = 0; attempt < 30 && Violation is null && World.Spaces.BytesToResync > 0; attempt++)
        {
            Lane.Run(World.Spaces.Resync(new SimPacer(Lane)));
            Lane.Advance(Second);
        }

        if (Violation is null && World.Spaces.BytesToResync > 0 && !MayFail() && _gone.Count == 0 && _hurt.Count == 0)
        {
            Report(where, $"the repair does not come to an end: {World.Spaces.BytesToResync} bytes");
        }

        Tell($"{where}, {World.Spaces.BytesToResync} bytes to resync");
        MadeWhole(World.Spaces.BytesToResync == 0);
    }

    private void ReadAll(string where, bool mayHeal = false)
    {
        NoteGone();
        for (int block = 0; block < _blocks && Violation is null; block++)
        {
            ReadBlock(where, block, isFirst: !_isRead, mayHeal || _hasReturned);
        }

        _hasReturned = World.Spaces.BytesToResync > 0;   // a disk that is back is not asked for everything yet
        _isRead = true;
    }

    private void ReadBlock(string where, int block, bool isFirst, bool mayHeal)
    {
        IoBuffer buffer = Lane.Buffers.Rent(Block);
        IoError error = Lane.Run(World.Store.Read((long)block * Block, buffer));
        byte[] data = buffer.Span.ToArray();
        Lane.Buffers.Return(buffer);
        NoteGone();
        if (error != IoError.None)
        {
            bool may = MayBeError(block);
            CrashSimulation.Count(may, "fault pair: block is an error");
            if (!may)
            {
                Report(where, $"block {block}: {error} {World.FaultReason}");
            }

            if (!_isError[block])
            {
                Tell($"{where}: {block} is an error");
            }

            _isError[block] = true;
            return;
        }

        bool mayBeProven = isFirst && (_scenario.Parities > 0   // the parity journal may prove a block when it is replayed
            || (_lastStop is WorldStop.PowerCut or WorldStop.LostCaches && _unflushed[block]));   // an older value is legal again
        if (_isError[block] && !mayHeal && !mayBeProven)
        {
            Report(where, $"block {block} was an error, and is a value without a disk that came back");
        }

        bool wasError = _isError[block];
        _isError[block] = false;
        if (_adopted.TryGetValue(block, out byte[]? adopted))
        {
            if (!data.AsSpan().SequenceEqual(adopted))
            {
                Report(where, $"block {block} is another value than the one that was taken");
            }

            return;
        }

        if (_isNew[block])
        {
            if (_oracle.CheckServing((long)block * Block, data) is { } other)
            {
                Report(where, $"block {block}: {other}");
            }

            return;
        }

        if (!_oracle.Allows((long)block * Block, data) && (wasError ? mayHeal : isFirst) && MayAdopt(block, data))
        {
            CrashSimulation.Count("fault pair: damaged block taken after a power cut");
            _adopted[block] = data;
            return;
        }

        if (_oracle.Observe((long)block * Block, data) is { } wrong)
        {
            Report(where, $"block {block}: {wrong}");
        }
    }

    /// <summary>After a power cut a block is what one of its copies holds, where none that is there has its durable value.</summary>
    private bool MayAdopt(int block, byte[] data)
    {
        if (!_wasCut || !IsHurt(block) || IsForeign(data))
        {
            return false;
        }

        bool isThere = false;
        bool hasDurable = false;
        byte[] copy = new byte[Block];
        foreach ((int disk, long offset, long _) in PlacesOf(block))
        {
            if (!_gone.Contains(disk))
            {
                World.Disks[disk].Media.Read(offset, copy);
                isThere |= copy.AsSpan().SequenceEqual(data);
                hasDurable |= _scenario.Parities == 0 && !_lacks[block].Contains(disk) && _oracle.IsDurable((long)block * Block, copy);
            }
        }

        return isThere && !hasDurable;
    }

    /// <summary>Whether a sector is zeros that were neither written nor planted: what a rebuild left where it had nothing to write.</summary>
    private bool IsForeign(byte[] data)
    {
        bool isForeign = false;
        for (int at = 0; at < Block && !isForeign; at += 512)
        {
            isForeign = !data.AsSpan(at, 512).ContainsAnyExcept((byte)0) && _garbage.AsSpan(at, 512).ContainsAnyExcept((byte)0);
        }

        return isForeign;
    }

    private bool MayBeError(int block)
    {
        if ((MayFail() && !IsRecorded(block)) || _oracle.TryLose((long)block * Block, Block))
        {
            return true;
        }

        HashSet<int> bad = LackingOf(block);
        return _failed.Contains(block) || _unprovable.Contains(block) || bad.Count + (IsHurt(block) && !bad.Contains(_hurtDisk) ? 1 : 0) > _scenario.Redundancy;
    }

    /// <summary>
    /// Whether the last write of a block has a record that proves it whatever a log has lost: it was acknowledged, only processes died since, and a disk that
    /// is there has it.
    /// </summary>
    private bool IsRecorded(int block)
    {
        bool isLogAlone = _pair.Fault == PlantedFault.LogBlock && !_hasLostMemory && _scenario.CacheBlocks == 0 && _gone.Count <= _scenario.Redundancy;
        IEnumerable<BlockPlace> own = PlacesOf(block).Take(_scenario.Parities > 0 ? 1 : int.MaxValue);
        return isLogAlone && _unflushed[block] && _isAcknowledged[block]
            && own.Any(place => !_gone.Contains(place.Disk) && !_lacks[block].Contains(place.Disk));
    }

    private bool IsHurt(int block) => _hurt.Any(hurt => hurt == block || (_scenario.Parities > 0 && FirstOfLine(hurt) == FirstOfLine(block)));

    /// <summary>Disks of the positions of a block that are away or lack its last write.</summary>
    private HashSet<int> LackingOf(int block)
    {
        HashSet<int> lacking = [.. _lacks[block]];
        lacking.UnionWith(_gone);
        lacking.IntersectWith(PlacesOf(block).Select(static place => place.Disk));
        return lacking;
    }

    /// <summary>Whether so many copies of logs, rings or pages are damaged or away that the world need not serve.</summary>
    private bool MayFail()
    {
        int away = _gone.Count + (_lacks.Any(static lacks => lacks.Count > 0) ? _lacks.Max(static lacks => lacks.Count) : 0);
        bool hasFailed = _pair.Fault == PlantedFault.FailedWrite && _hurtDisk >= 0;   // its disk may leave
        return ((_hurtsAll || hasFailed) && away + 1 > _scenario.Redundancy) || _gone.Count > Math.Max(1, _scenario.Redundancy);
    }

    private void NoteGone()
    {
        for (int disk = 0; disk < World.Disks.Length; disk++)
        {
            if (World.Disks[disk].Pulled || !_place.IsInView(disk))
            {
                _gone.Add(disk);
            }
        }

        for (int block = 0; block < _blocks && _scenario.CacheBlocks > 0; block++)
        {
            _lacks[block].UnionWith(_gone);   // it may be written to its home at any time
        }
    }

    private void Write(int writes)
    {
        for (int i = 0; i < writes && Violation is null; i++)
        {
            WriteBlock(_random.Next(_blocks), 1 + _random.Next(6), mayDiscard: true);
        }
    }

    private void WriteBlock(int block, int count = 1, bool mayDiscard = false)
    {
        count = Math.Min(count, _blocks - block);
        if (Violation is not null || block >= _blocks)
        {
            return;
        }

        NoteGone();
        NoteIssued(block, count, "");
        bool isDiscard = mayDiscard && _discards && _random.Next(4) == 0;
        IoError error = Lane.Run(isDiscard ? _load.ZeroAt((long)block * Block, count * Block, unmap: _random.Next(2) == 0)
            : _load.WriteAt((long)block * Block, count * Block));
        NoteGone();
        if (error != IoError.None && !MayFailToWrite(block, count))
        {
            Report("write", $"block {block}: {error} {World.FaultReason}");
        }

        NoteWritten(block, count, error, isDiscard ? "discard" : "write");
    }

    private void NoteIssued(int block, int count, string what)
    {
        if (what.Length > 0)
        {
            Tell($"{what} {block}{(count > 1 ? $" +{count}" : "")}");
        }

        _badBefore.UnionWith(Enumerable.Range(block, count).Where(MayBeError));
        for (int written = block; written < block + count; written++)
        {
            _writes[written]++;
            _unflushed[written] = true;
            _isNew[written] = true;
        }
    }

    private void NoteWritten(int block, int count, IoError error, string what)
    {
        Tell($"{what} {block}{(count > 1 ? $" +{count}" : "")}{(error == IoError.None ? "" : $" {error}")}");
        for (int written = block; written < block + count; written++)
        {
            _isAcknowledged[written] = error == IoError.None;
            _ = error == IoError.None ? _failed.Remove(written) : _failed.Add(written);
            if (_scenario.Parities == 0)
            {
                _lacks[written].Clear();
            }

            _lacks[written].UnionWith(_gone);
            if (error == IoError.None && _scenario.Parities == 0 && _hurt.Remove(written))   // else the damage may be on another disk of the line
            {
                _hurtBefore.Add(written);
            }

            _unprovable.Remove(error == IoError.None ? written : -1);
            _adopted.Remove(error == IoError.None ? written : -1);
            _isError[written] &= error != IoError.None;
        }
    }

    private bool MayFailToWrite(int block, int count) =>
        MayFail() || _scenario.Redundancy == 0 || (_pair.Fault == PlantedFault.FailedWrite && World.Spaces.BytesToResync > 0)   // the other copy is stale
            || _gone.Count >= _scenario.Redundancy || Enumerable.Range(block, count).Any(MayBeError);

    private void Flush()
    {
        if (Violation is not null)
        {
            return;
        }

        IoError error = Lane.Run(_load.TryFlush());
        Tell($"flush{(error == IoError.None ? "" : $" {error}")}");
        NoteGone();
        if (error == IoError.None)
        {
            Array.Clear(_unflushed);
            _badBefore.Clear();
            _hurtBefore.Clear();
        }
        else if (!MayFail() && _scenario.Redundancy > 0 && _gone.Count < _scenario.Redundancy)
        {
            Report("flush", $"{error} {World.FaultReason}");
        }
    }

    private VerifiedLoad NewLoad(uint lastValue) => new(World, _oracle, _scenario.Length, _shape.RowSize, Block, Report) { LastValue = lastValue };

    /// <summary>Returns the first block of data of the parity line of a block.</summary>
    private int FirstOfLine(int block)
    {
        int perStrip = _shape.Interleave / Block;
        int perStripe = perStrip * _shape.DataColumns;
        return (block / perStripe * perStripe) + (block % perStripe % perStrip);
    }

    private BlockPlace[] PlacesOf(int block) => _place.PlacesOf((long)block * Block);

    private void Garble(SimMedia media, long offset)
    {
        byte[] garbage = new byte[Block];
        _random.NextBytes(garbage);
        Put(media, offset, garbage);
    }

    private void FlipBit(SimMedia media, long offset) => Corrupt(media, offset, sector =>
    {
        sector[offset % media.SectorSize] ^= (byte)(1 << _random.Next(8));
        return sector;
    });

    private static void Put(SimMedia media, long offset, byte[] data)
    {
        for (int at = 0; at < data.Length; at += media.SectorSize)
        {
            int start = at;
            Corrupt(media, offset + at, _ => data[start..(start + media.SectorSize)]);
        }
    }

    private static void Corrupt(SimMedia media, long offset, Func<byte[], byte[]> change) => media.Change(offset, change);

    private void Report(string where, string what) =>
        Violation ??= $"fault pair, {_seed}, {_layout}, {_pair}: {where}: {what}; hurt {string.Join(",", _hurt)}{(_hurtsAll ? " all" : "")} "
            + $"on {_hurtDisk}, gone {string.Join(",", _gone)}; {string.Join("; ", _story)}";

    private void Tell(string what) => _story.Add(what);
}
