using System.Runtime.InteropServices;
using TierSpaces.Engine.Exports.Nbd;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Tests.Exports.Nbd;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.VirtualDisks;

/// <summary>A random load of two NBD clients over a few blocks of one virtual disk, with waits of every kind, and a model of what may be read.</summary>
internal sealed class WaitLoad
{
    private const ushort NbdWrite = 1, NbdFlush = 3, NbdTrim = 4, NbdWriteZeroes = 6;
    private const int Cell = 512;
    private const int Block = 4096;
    private const int Mebibyte = 1 << 20;
    private const long Millisecond = 1_000_000;
    private const int RequestsMax = 8;

    private readonly string _kind;
    private readonly ulong _seed;
    private readonly Random _random;
    private readonly int[] _places;
    private readonly Dictionary<int, CellModel> _cells = [];
    private readonly List<(ushort Command, int Start, int End)> _changes = [default];   // by number, from 1
    private readonly Client[] _clients = new Client[2];
    private PoolWorld _world;
    private NbdServer _server = null!;
    private NbdExport _export = null!;
    private int _faults;       // generation: older ones end without effect

    internal WaitLoad(string kind, ulong seed)
    {
        (_kind, _seed, _random) = (kind, seed, new Random((int)seed));
        _world = WaitWorld.NewWorld(kind == "parity behind a cache" ? "parity cache" : kind, seed);
        int end = kind == "tiers" ? 2 * Mebibyte : 4 * Mebibyte;
        _places = [0, Block, 2 * Block, Mebibyte - (2 * Block), Mebibyte, end - (8 * Block), end - (4 * Block), end / 2];
        Assert.Equal("", _world.Lane.Run(_world.Open(isNew: true)));
        Serve();
    }

    /// <summary>Changes so far.</summary>
    internal int Changes => _changes.Count - 1;

    /// <summary>Changes of clients that went that ended with an error or were never taken.</summary>
    internal int Dropped { get; private set; }

    private SimLane Lane => _world.Lane;

    internal void Run(int changes)
    {
        while (Changes < changes)
        {
            int until = Math.Min(changes, Changes + 2 + _random.Next(12));   // few: a later change of the same block hides what was wrong
            while (Changes < until)
            {
                Step();
            }

            Verify();
            if (_random.Next(30) == 0)
            {
                KillHost();
            }
            else if (_random.Next(4) == 0)
            {
                Empty();
            }
        }

        Lane.Run(_server.Close());
    }

    private void Step()
    {
        int number = _random.Next(2);
        Client client = _clients[number];
        client.TakeReplies(this);
        switch (_random.Next(100))
        {
            case < 74 when client.Outstanding < RequestsMax - 2:
                Change(client);
                break;
            case < 78 when client.Outstanding < RequestsMax - 2:
                client.Flush();
                break;
            case < 83:
                Leave(number);
                break;
            case < 89:
                SlowDown();
                break;
            case < 92:
                Fill();
                break;
            case < 94 when _kind == "tiers":
                _world.MoveSlices(new SimPacer(Lane)).Forget();
                break;
            default:
                break;
        }

        Lane.Advance(_random.Next(20) == 0 ? _random.Next(200) * Millisecond : _random.Next(3000) * 1000L);
    }

    private void Change(Client client)
    {
        bool isLong = _random.Next(12) == 0;
        bool isPart = !isLong && _random.Next(8) == 0;
        ushort command = _random.Next(isLong ? 2 : 4) switch
        {
            0 => isPart ? NbdWriteZeroes : NbdTrim,
            1 => NbdWriteZeroes,
            _ => NbdWrite,
        };
        int start = _places[_random.Next(_places.Length)] + (isPart ? _random.Next(8) * Cell : 0);
        int length = isLong ? Math.Min(Mebibyte + Block, _places[^2] + (4 * Block) - start) : (isPart ? Cell : Block) * (1 + _random.Next(4));
        int index = _changes.Count;
        _changes.Add((command, start / Cell, (start + length) / Cell));
        foreach (int place in _places)
        {
            for (int cell = place / Cell; cell < (place / Cell) + 40; cell++)
            {
                if (cell >= start / Cell && cell < (start + length) / Cell && command != NbdWrite)
                {
                    Of(cell).NewestZero = index;
                }
            }
        }

        byte[]? data = null;
        if (command == NbdWrite)
        {
            data = new byte[length];
            MemoryMarshal.Cast<byte, long>(data.AsSpan()).Fill(index);
        }

        client.Send(index, command, start, length, data);
    }

    /// <summary>A client goes, half of the time with more requests on their way than the server takes at once. Another one comes.</summary>
    private void Leave(int number)
    {
        Client client = _clients[number];
        Client other = _clients[1 - number];
        bool isMany = _random.Next(2) == 0;
        if (isMany)
        {
            SlowDown();
        }

        for (int left = isMany ? 3 * RequestsMax : 0; left > 0; left--)
        {
            Change(client);
        }

        client.TakeReplies(this);
        Dropped += client.Outstanding;
        client.Nbd.Socket.ClientCloses();
        other.TakeReplies(this);
        for (int left = _random.Next(4); left > 0 && other.Outstanding < RequestsMax - 2; left--)
        {
            Change(other);
        }

        _clients[number] = new Client(new TestClient(Lane, _server).Enter(structured: false));
    }

    /// <summary>Unmaps everything: the next changes make rows and slices again.</summary>
    private void Empty()
    {
        int index = _changes.Count;
        int end = _places[^2] + (4 * Block);
        _changes.Add((NbdTrim, 0, end / Cell));
        foreach (CellModel model in _cells.Values)
        {
            model.NewestZero = index;
        }

        _clients[0].Send(index, NbdTrim, 0, end, null);
        Lane.PumpWhile(() => _clients[0].TakeReplies(this) > 0, 300_000 * Millisecond);
        Lane.Advance(500 * Millisecond);
        SlowDown();
    }

    private void SlowDown()
    {
        long longer = (1 + _random.Next(30)) * Millisecond;
        SimDisk[] slow = _random.Next(2) == 0 ? _world.Disks : [_world.Disks[_random.Next(_world.Disks.Length)]];
        Array.ForEach(slow, disk => disk.WriteTakesLonger = (_, _) => longer);
        EndLater(_random.Next(300) * Millisecond);
    }

    private void Fill()
    {
        SimDisk[] full = _random.Next(2) == 0 ? _world.Disks : [_world.Disks[_random.Next(_world.Disks.Length)]];
        Array.ForEach(full, static disk => disk.Full = true);
        EndLater(_random.Next(4000) * Millisecond);
    }

    private void EndLater(long nanoseconds)
    {
        int generation = ++_faults;
        Lane.Schedule(nanoseconds, () =>
        {
            if (generation == _faults)
            {
                EndFaults();
            }
        });
    }

    private void EndFaults() => Array.ForEach(_world.Disks, static disk => (disk.Full, disk.WriteTakesLonger, disk.ReadTakesLonger) = (false, null, null));

    /// <summary>Lets everything end, and reads every block.</summary>
    private void Verify()
    {
        _faults++;
        EndFaults();
        foreach (Client client in _clients)
        {
            Lane.PumpWhile(() => client.TakeReplies(this) > 0, 300_000 * Millisecond);
        }

        Lane.PumpWhile(() => _server.Connections > _clients.Length, 300_000 * Millisecond);
        foreach (int place in _places)
        {
            IoBuffer buffer = Lane.Buffers.Rent(4 * Block);
            Assert.Equal(IoError.None, Lane.Run(_world.Store.Read(place, buffer)));
            for (int at = 0; at < buffer.Length; at += Cell)
            {
                Check((place + at) / Cell, MemoryMarshal.Cast<byte, long>(buffer.Span.Slice(at, Cell)));
            }

            Lane.Buffers.Return(buffer);
        }
    }

    private void Check(int cell, ReadOnlySpan<long> words)
    {
        CellModel model = Of(cell);
        long value = words[0];
        Assert.True(words.IndexOfAnyExcept(value) < 0, $"{_kind}, seed {_seed}: sector {cell} holds parts of several changes.");
        bool isNewEnough = value == model.Base && model.Acknowledged <= model.BaseIndex;
        isNewEnough |= value == 0 ? model.NewestZero >= model.Acknowledged && model.NewestZero > model.BaseIndex
            : value >= model.Acknowledged && value > model.BaseIndex && value < _changes.Count && Covers(value, cell);
        Assert.True(
            isNewEnough,
            $"{_kind}, seed {_seed}, change {Changes}: sector {cell} holds {value}; acknowledged was {model.Acknowledged}, before it was {model.Base}.");
        (model.Base, model.BaseIndex) = (value, Changes);
    }

    private bool Covers(long index, int cell) => _changes[(int)index] is { Command: NbdWrite } change && cell >= change.Start && cell < change.End;

    /// <summary>The host dies with dirty regions and begins again: their parts are resynced when they are asked for.</summary>
    private void KillHost()
    {
        for (int i = _random.Next(6); i >= 0; i--)
        {
            Change(_clients[i % 2]);
        }

        Array.ForEach(_clients, client => Lane.PumpWhile(() => client.TakeReplies(this) > 0, 300_000 * Millisecond));
        _world = _world.Kill((ulong)_random.Next(1 << 30), static () => true);
        Assert.Equal("", Lane.Run(_world.Open()));
        Array.ForEach(_world.Disks, static disk => disk.ReadTakesLonger = static (_, _) => 5 * Millisecond);
        Serve();
        EndLater(100 * Millisecond);
    }

    private void Serve()
    {
        _server = new NbdServer(Lane, new NbdLimits { MaxRequests = RequestsMax });
        _export = new NbdExport(Guid.NewGuid(), "d", "", _world.VirtualDisk!.Disk, isReadOnly: false);
        _server.Add(_export);
        for (int i = 0; i < _clients.Length; i++)
        {
            _clients[i] = new Client(new TestClient(Lane, _server).Enter(structured: false));
        }
    }

    private void NoteAcknowledged(int index)
    {
        (_, int start, int end) = _changes[index];
        foreach (int place in _places)
        {
            for (int cell = Math.Max(start, place / Cell); cell < Math.Min(end, (place / Cell) + 40); cell++)
            {
                CellModel model = Of(cell);
                model.Acknowledged = Math.Max(model.Acknowledged, index);
            }
        }
    }

    private CellModel Of(int cell)
    {
        if (!_cells.TryGetValue(cell, out CellModel? model))
        {
            _cells[cell] = model = new CellModel();
        }

        return model;
    }

    /// <summary>Changes of 512 bytes so far.</summary>
    private sealed class CellModel
    {
        internal long Base { get; set; }            // what was read last: the number of its write, or 0

        internal int BaseIndex { get; set; }        // changes that had come by then

        internal int Acknowledged { get; set; }     // the newest one

        internal int NewestZero { get; set; }
    }

    private sealed class Client(TestClient nbd)
    {
        private readonly Dictionary<ulong, int> _outstanding = [];   // by cookie; 0: a flush

        internal TestClient Nbd => nbd;

        internal int Outstanding => _outstanding.Count;

        internal void Send(int index, ushort command, int start, int length, byte[]? data) =>
            _outstanding.Add(nbd.Request(command, (ulong)start, (uint)length, payload: data), index);

        internal void Flush() => _outstanding.Add(nbd.Request(NbdFlush), 0);

        /// <summary>Takes the replies that have come; returns the number of requests without one.</summary>
        internal int TakeReplies(WaitLoad load)
        {
            while (nbd.Socket.ReceivedByClient >= 16)
            {
                Reply reply = nbd.TakeReply();
                Assert.True(_outstanding.Remove(reply.Cookie, out int index));
                if (index > 0 && reply.Error == 0)
                {
                    load.NoteAcknowledged(index);
                }
            }

            return _outstanding.Count;
        }
    }
}
