using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Simulation;

// A mirror on a whole pool over several starts of its host, and what can be in the place of one of its disks meanwhile:
//
//   older    an image that was made of the disk before, while the host was stopped or ran
//   liar     the disk itself, which confirmed flushes and lost them after a good stop
//   away     nothing; later the disk again, or an older image of it
//   other    a disk of another history: all images and the host's folder were copied, and the copy was opened, written and closed
//
// One fault is under way at a time: the next one waits until the copies are whole again. Checked after every start: every sector against the oracle, twice,
// and once more with each disk away; a disk of another history is neither a member nor changed; a disk that lost nothing is taken back.

/// <summary>Runs one seed of a mirror whose disks are exchanged.</summary>
internal sealed class MemberSimulation
{
    private const int Starts = 7;
    private const int ChunkBytes = 64 << 10;
    private const uint OtherValues = 1_000_000;

    private readonly SpaceScenario _scenario;
    private readonly Random _choices;
    private readonly BlockOracle _oracle;
    private readonly Dictionary<int, SimMedia> _older = [];   // images that a later stop or departure of the disk has outdated
    private readonly Dictionary<int, SimMedia> _made = [];    // images made in this session
    private PoolWorld _world;
    private uint _lastValue;
    private ulong _nextSeed;
    private int _away = -1;
    private int _stranger = -1;
    private ulong _strangerHash;
    private SimMedia? _kept;   // the disk that is away, or whose place a stranger has
    private ulong _trace;

    private MemberSimulation(SpaceScenario scenario, ulong seed)
    {
        _scenario = scenario;
        _choices = new Random((int)seed);
        _nextSeed = seed * 1000;
        _world = PoolWorld.New(
            scenario.Disks, SpaceScenario.PoolDiskBytes, scenario.SectorSize, _nextSeed++, scenario.Spec(seed), hasDataLane: SpaceScenario.HasDataLane(seed));
        _oracle = new BlockOracle(scenario.Length);
    }

    private string? Violation { get; set; }

    private long Judged { get; set; }

    internal static SimulationResult Run(SpaceScenario scenario, ulong seed)
    {
        MemberSimulation simulation = new(scenario, seed);
        try
        {
            simulation.Drive();
        }
        catch (Exception error)
        {
            simulation.Report("exception", error.ToString());
        }

        simulation._world.Release();
        return new SimulationResult(simulation.Judged, simulation.Violation, simulation._trace);
    }

    private void Drive()
    {
        if (_world.Lane.Run(_world.Open(isNew: true)) is { Length: > 0 } rejected)
        {
            Report("creation", rejected);
            return;
        }

        for (int start = 1; start <= Starts && Violation is null; start++)
        {
            int liar = _away < 0 && _stranger < 0 && _choices.Next(6) == 0 ? _choices.Next(_world.Disks.Length) : -1;
            if (liar >= 0)
            {
                _world.Disks[liar].FlushLies = true;
            }

            Load();
            if (liar < 0 && _away < 0 && _stranger < 0 && _choices.Next(3) == 0)
            {
                PullAndReturn();
            }

            if (Violation is null)
            {
                StopAndStart($"start {start}", mustBeClean: liar >= 0);
                CrashSimulation.Count(liar >= 0, "a liar lost a session");
            }
        }
    }

    private void Load()
    {
        SimLane lane = _world.Lane;
        VerifiedLoad load = new(_world, _oracle, _scenario.Length, _scenario.Shape.RowSize, 4096, Report)
        {
            LastValue = _lastValue,
            MayBeShort = () => _away >= 0 || _stranger >= 0,
        };
        for (int left = 5 + _choices.Next(30); left > 0 && Violation is null; left--)
        {
            lane.Run(_choices.Next(10) switch
            {
                < 5 => load.WriteSome(WriteFlags.None),
                < 7 => load.FlushAll(),
                7 => load.UnmapSome(_choices.Next(2) == 0),
                8 => load.ReadSome(),
                _ => MakeImage(),
            });
        }

        _lastValue = load.LastValue;
    }

    /// <summary>An image of a disk, and then a change of the pool's records: what is put back later is older than that.</summary>
    private async LaneTask<Nothing> MakeImage()
    {
        int disk = _choices.Next(_world.Disks.Length);
        if (disk != _away && disk != _stranger)
        {
            _made[disk] = _world.CopyOf(disk);
            CommitResult committed = await _world.Pool!.Commit(new JobRecord(new Guid(disk + 1, 0, 0, new byte[8]), [(byte)_choices.Next(255)]));
            if (!committed.Succeeded)
            {
                Report("commit", committed.Reason);
            }
        }

        return default;
    }

    /// <summary>A disk goes while the host runs, and it or an older image of it comes.</summary>
    private void PullAndReturn()
    {
        int disk = _choices.Next(_world.Disks.Length);
        _world.Disks[disk].Pulled = true;
        _world.Lane.Run(_world.Pool!.Evict(new DiskNumber((ushort)(disk + 1)), "it was pulled"));
        Outdate(disk);
        _away = disk;
        Load();
        SimMedia? image = _choices.Next(2) == 0 ? _older.GetValueOrDefault(disk) : null;
        CrashSimulation.Count(image is not null, "an older image returned while the host ran");
        _world.Lane.PumpWhile(() => Violation is null && !_world.CanReturn(disk), 60_000_000_000);   // until its lane has released the disk
        string rejected = Violation is not null ? ""
            : _world.Lane.Run(image is null ? _world.Return(disk) : _world.Return(disk, image.Snapshot()));
        _away = -1;
        if (rejected.Length > 0)
        {
            Report("return", rejected);
            return;
        }

        if (_choices.Next(2) == 0)
        {
            Load();
        }

        Repair("after a return");
    }

    private void Outdate(int disk)
    {
        if (_made.Remove(disk, out SimMedia? image))
        {
            _older[disk] = image;
        }
    }

    private void StopAndStart(string where, bool mustBeClean)
    {
        bool clean = mustBeClean || _choices.Next(3) > 0;
        if (clean)
        {
            IoError closed = _world.Lane.Run(_world.Close());
            if (closed != IoError.None)
            {
                Report(where, $"close: {closed}");
                return;
            }

            _oracle.ProcessCrash();
            foreach (int disk in _made.Keys.Where(disk => disk != _away && disk != _stranger).ToArray())
            {
                Outdate(disk);
            }
        }
        else
        {
            _oracle.PowerCut();
            _made.Clear();   // images of a session that crashed are not found
            _older.Clear();
        }

        _trace = (_trace ^ _world.Lane.TraceHash) * 1099511628211;
        if (_stranger >= 0 && _world.Disks[_stranger].Media.Hash() != _strangerHash)
        {
            Report(where, $"disk {_stranger + 1} of another history was written");
        }

        (int Disk, SimMedia? Media)[] swapped = mustBeClean ? [] : Exchange(clean);
        PoolWorld next = _world.Restart(_nextSeed++, swapped);
        _world.Release();
        _world = next;
        Open(where);
    }

    /// <summary>Content of the place of a disk at the next start; at most one place.</summary>
    private (int Disk, SimMedia? Media)[] Exchange(bool clean)
    {
        if (_away >= 0 || _stranger >= 0)
        {
            int place = Math.Max(_away, _stranger);
            SimMedia? older = _away >= 0 && clean && _choices.Next(3) == 0 ? _older.GetValueOrDefault(place) : null;
            bool stays = _away >= 0 && _choices.Next(3) == 0;
            CrashSimulation.Count(!stays && older is not null, "an older image in the place of a disk that was away");
            SimMedia kept = _kept!;
            if (stays)
            {
                return [(place, null)];
            }

            (_away, _stranger, _kept) = (-1, -1, null);
            return [(place, (older ?? kept).Snapshot())];
        }

        int disk = _choices.Next(_world.Disks.Length);
        switch (_choices.Next(4))
        {
            case 0 when clean && _older.TryGetValue(disk, out SimMedia? image):
                CrashSimulation.Count("an older image in the place of a member");
                return [(disk, image.Snapshot())];
            case 1 when clean:
                CrashSimulation.Count("a disk of another history");
                (_stranger, _kept) = (disk, _world.CopyOf(disk));
                SimMedia stranger = OtherHistory(disk);
                _strangerHash = stranger.Hash();
                return [(disk, stranger)];
            case 2:
                CrashSimulation.Count("a disk away at a start");
                _away = disk;
                PoolWorld stopped = _world.Restart(_nextSeed++);
                _kept = stopped.CopyOf(disk);
                stopped.Release();
                return [(disk, null)];
            default:
                return [];
        }
    }

    /// <summary>A disk of the copy of all images, which went on for as many sessions as this history will have had, or more or fewer.</summary>
    private SimMedia OtherHistory(int disk)
    {
        PoolWorld other = _world.Restart(_nextSeed++ + 7);
        string rejected = other.Lane.Run(other.Open());
        IoBuffer buffer = other.Lane.Buffers.Rent(ChunkBytes);
        for (long at = 0; at < _scenario.Length && rejected.Length == 0; at += ChunkBytes)
        {
            BlockOracle.Fill(buffer.Span, at, OtherValues);
            IoError error = other.Lane.Run(other.Store.Write(at, buffer, WriteFlags.None));
            rejected = error == IoError.None ? "" : error.ToString();
        }

        other.Lane.Buffers.Return(buffer);
        if (rejected.Length == 0)
        {
            other.Lane.Run(other.Close());
        }

        SimMedia image = other.CopyOf(disk);
        other.Release();

        // This history goes on too: else the other would only be its continuation.
        PoolWorld on = _world.Restart(_nextSeed++);
        string again = on.Lane.Run(on.Open());
        if (again.Length == 0)
        {
            on.Lane.Run(on.Close());
        }

        _kept = on.CopyOf(disk);
        _world.Release();
        _world = on;
        if (rejected.Length > 0 || again.Length > 0)
        {
            Report("other history", rejected + again);
        }

        return image;
    }

    private void Open(string where)
    {
        string rejected = _world.Lane.Run(_world.Open());
        Judged++;
        if (rejected.Length > 0)
        {
            Report(where, $"does not open: {rejected}");
            return;
        }

        int expected = _world.Disks.Length - (_away >= 0 || _stranger >= 0 ? 1 : 0);
        if (_world.Pool!.View.Members.Length != expected)
        {
            Report(where, $"{_world.Pool.View.Members.Length} members, not {expected}");
        }

        if (ReadAll(_world, where, isFirst: true) && ReadAll(_world, $"{where}, read again", isFirst: false))
        {
            Repair(where);
            WithoutEachDisk(where);
        }
    }

    private void Repair(string where)
    {
        for (int attempt = 0; attempt < 20 && Violation is null && _world.Spaces.BytesToResync > 0; attempt++)
        {
            _world.Lane.Run(_world.Spaces.Resync(new SimPacer(_world.Lane)));
        }

        if (Violation is null && _world.Spaces.BytesToResync > 0)
        {
            Report(where, $"the repair does not come to an end: {_world.Spaces.BytesToResync} bytes");
        }
    }

    private void WithoutEachDisk(string where)
    {
        for (int disk = 0; disk < _world.Disks.Length && Violation is null && _away < 0 && _stranger < 0; disk++)
        {
            PoolWorld without = _world.Fork(_nextSeed++);
            without.Remove(disk);
            string rejected = without.Lane.Run(without.Open());
            Judged++;
            if (rejected.Length > 0)
            {
                Report(where, $"does not open without disk {disk + 1}: {rejected}");
            }
            else
            {
                ReadAll(without, $"{where}, without disk {disk + 1}", isFirst: false);
            }

            without.Release();
        }
    }

    private bool ReadAll(PoolWorld world, string where, bool isFirst)
    {
        for (long at = 0; at < _scenario.Length && Violation is null; at += ChunkBytes)
        {
            IoBuffer buffer = world.Lane.Buffers.Rent(ChunkBytes);
            IoError error = world.Lane.Run(world.Store.Read(at, buffer));
            string? wrong = error != IoError.None ? $"read at {at}: {error}"
                : isFirst ? _oracle.Observe(at, buffer.Span) : _oracle.CheckServing(at, buffer.Span);
            world.Lane.Buffers.Return(buffer);
            if (wrong is not null)
            {
                Report(where, wrong);
            }
        }

        return Violation is null;
    }

    private void Report(string where, string what) =>
        Violation ??= $"members, {_scenario.Copies} copies{(_scenario.Checksums ? "" : ", no checksums")}, away {_away + 1}, stranger {_stranger + 1}, {where}: {what}";
}
