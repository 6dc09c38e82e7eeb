using System.Net.Sockets;
using System.Runtime.InteropServices;

namespace TierSpaces.Acceptance;

/// <summary>
/// Random writes, zeroing, FUA and flushes on an export, with the memory of what was acknowledged. Every 4 KiB block carries the number of
/// its write; requests under way never overlap. When the host dies, a block holds its last acknowledged write, flushed or not, or the one
/// that was under way; what is read then stays.
/// </summary>
internal sealed class VerifiedWriter(int blocks, int seed)
{
    private const int Block = 4096;
    private const int Depth = 16;
    private const int ZeroedMax = 64;
    private const int ChunkBytes = 256 << 10;

    private readonly Random _random = new(seed);
    private readonly uint[] _acknowledged = new uint[blocks];
    private readonly Dictionary<int, uint> _underWay = [];   // by block; what a dead host left under way stays until the next check
    private readonly Dictionary<ulong, (int First, int Count, uint Value)> _requests = [];
    private readonly byte[] _block = new byte[Block];
    private uint _lastValue;
    private ulong _lastNumber;

    /// <summary>Writes acknowledged, those of zeros too.</summary>
    internal long Acknowledged { get; private set; }

    /// <summary>Blocks that it writes to, all of them unless said otherwise.</summary>
    internal (int First, int Count) Window { get; set; } = (0, blocks);

    /// <summary>Blocks compared.</summary>
    internal long Compared { get; private set; }

    /// <summary>Writes until the host dies; a request that it refuses is thrown.</summary>
    internal void WriteUntilItDies(string uri)
    {
        try
        {
            using NbdClient client = new(uri);
            while (true)
            {
                while (_requests.Count < Depth)
                {
                    Issue(client);
                }

                (ulong number, uint error) = client.NextAnswer();
                Assert.True(error == 0, $"Request {number} was answered with error {error}.");
                End(number);
            }
        }
        catch (SocketException)
        {
            _requests.Clear();
        }
    }

    /// <summary>Reads every block; the first one that holds something else than it may, in words, or null.</summary>
    internal string? Check(NbdClient client)
    {
        byte[] chunk = new byte[ChunkBytes];
        string? wrong = null;
        for (int first = 0; first < blocks && wrong is null; first += ChunkBytes / Block)
        {
            int length = Math.Min(ChunkBytes, (blocks - first) * Block);
            client.Send(++_lastNumber, NbdClient.Read, 0, (long)first * Block, length);
            Assert.Equal((_lastNumber, 0u), client.NextAnswer());
            client.Receive(chunk.AsSpan(0, length));
            for (int at = 0; at < length && wrong is null; at += Block)
            {
                wrong = Judge(first + (at / Block), chunk.AsSpan(at, Block));
            }
        }

        _underWay.Clear();
        return wrong;
    }

    private void Issue(NbdClient client)
    {
        int kind = _random.Next(32);
        int count = kind == 0 ? 1 + _random.Next(ZeroedMax) : 1;
        int first = Window.First + _random.Next(Window.Count - count + 1);
        if (kind == 1)
        {
            _requests[++_lastNumber] = default;
            client.Send(_lastNumber, NbdClient.Flush, 0, 0, 0);
        }
        else if (Enumerable.Range(first, count).All(block => !_underWay.ContainsKey(block)))
        {
            Write(client, first, count, kind);
        }
    }

    private void Write(NbdClient client, int first, int count, int kind)
    {
        uint value = kind == 0 ? 0 : ++_lastValue;
        _requests[++_lastNumber] = (first, count, value);
        for (int block = first; block < first + count; block++)
        {
            _underWay[block] = value;
        }

        Fill(_block, first, value);
        ushort flags = kind is 2 or 3 ? NbdClient.ForceUnitAccess : (ushort)0;
        client.Send(
            _lastNumber, kind == 0 ? NbdClient.WriteZeroes : NbdClient.Write, flags, (long)first * Block, count * Block, kind == 0 ? default : _block);
    }

    private void End(ulong number)
    {
        Assert.True(_requests.Remove(number, out (int First, int Count, uint Value) ended), $"Nothing was asked for under number {number}.");
        Acknowledged += Math.Sign(ended.Count);
        for (int block = ended.First; block < ended.First + ended.Count; block++)
        {
            _acknowledged[block] = ended.Value;
            _underWay.Remove(block);
        }
    }

    private string? Judge(int block, ReadOnlySpan<byte> data)
    {
        Compared++;
        bool isOpen = _underWay.TryGetValue(block, out uint underWay);
        if (Holds(data, block, _acknowledged[block]))
        {
            return null;
        }

        if (isOpen && Holds(data, block, underWay))
        {
            _acknowledged[block] = underWay;
            return null;
        }

        ReadOnlySpan<uint> words = MemoryMarshal.Cast<byte, uint>(data);
        return $"block {block} reads as write {words[0]} of block {words[1]}; acknowledged: {_acknowledged[block]}{(isOpen ? $", under way: {underWay}" : "")}";
    }

    private bool Holds(ReadOnlySpan<byte> data, int block, uint value)
    {
        Fill(_block, block, value);
        return data.SequenceEqual(_block);
    }

    private static void Fill(Span<byte> data, int block, uint value)
    {
        Span<uint> words = MemoryMarshal.Cast<byte, uint>(data);
        words.Clear();
        for (int i = 0; i < words.Length && value != 0; i++)
        {
            words[i] = i % 2 == 0 ? value : (uint)block;
        }
    }
}
