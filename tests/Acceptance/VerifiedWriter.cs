using System.Diagnostics;
using System.Net.Sockets;
using System.Runtime.InteropServices;

namespace TierSpaces.Acceptance;

/// <summary>
/// Random writes, zeroing, FUA and flushes on an export, where asked for large writes and reads among them, with the memory of what was acknowledged.
/// Every 4 KiB block carries the number of its write; requests under way never overlap. When the host dies, a block holds its last acknowledged write,
/// flushed or not, or the one that was under way; what is read then stays.
/// </summary>
internal sealed class VerifiedWriter(int blocks, int seed)
{
    private const int Block = 4096;
    private const int Depth = 16;
    private const int ZeroedMax = 64;
    private const int LargeMax = 256;
    private const int ReadMax = 64;
    private const int ChunkBytes = 256 << 10;

    private readonly Random _random = new(seed);
    private readonly uint[] _acknowledged = new uint[blocks];
    private readonly Dictionary<int, uint> _underWay = [];   // by block; what a dead host left under way stays until the next check
    private readonly Dictionary<ulong, (int First, int Count, uint Value)> _requests = [];
    private readonly Dictionary<ulong, (int First, int Count)> _reads = [];
    private readonly byte[] _block = new byte[Block];
    private readonly byte[] _large = new byte[LargeMax * Block];
    private uint _lastValue;
    private ulong _lastNumber;

    /// <summary>Writes acknowledged, those of zeros too.</summary>
    internal long Acknowledged { get; private set; }

    /// <summary>Blocks that it writes to, all of them unless said otherwise.</summary>
    internal (int First, int Count) Window { get; set; } = (0, blocks);

    /// <summary>Longest time without an answer while requests were under way.</summary>
    internal TimeSpan LongestPause { get; private set; }

    /// <summary>Whether a part of the requests are reads of up to 256 KiB, compared at once, and writes of up to 1 MiB.</summary>
    internal bool IsMixed { get; init; }

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
                Step(client);
            }
        }
        catch (SocketException)
        {
            _requests.Clear();
            _reads.Clear();
        }
    }

    /// <summary>Writes until something has happened, and waits for the answers; a request that fails is thrown, as is a host that dies.</summary>
    internal void WriteUntil(string uri, Func<bool> hasEnded)
    {
        using NbdClient client = new(uri);
        while (!hasEnded())
        {
            Step(client);
        }

        while (_requests.Count + _reads.Count > 0)
        {
            TakeAnswer(client);
        }
    }

    /// <summary>Writes every block.</summary>
    internal void Fill(NbdClient client)
    {
        for (int first = 0; first < blocks; first += LargeMax)
        {
            WriteLarge(client, first, Math.Min(LargeMax, blocks - first));
            TakeAnswer(client);
        }
    }

    /// <summary>Unmaps or zeroes blocks, one request for each range.</summary>
    internal void Unmap(NbdClient client, ushort command, IEnumerable<(int First, int Count)> ranges)
    {
        foreach ((int first, int count) in ranges)
        {
            client.Send(++_lastNumber, command, 0, (long)first * Block, count * Block);
            Assert.Equal((_lastNumber, 0u), client.NextAnswer());
            Array.Clear(_acknowledged, first, count);
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

    private void Step(NbdClient client)
    {
        while (_requests.Count + _reads.Count < Depth)
        {
            Issue(client);
        }

        TakeAnswer(client);
    }

    private void TakeAnswer(NbdClient client)
    {
        long begin = Stopwatch.GetTimestamp();
        (ulong number, uint error) = client.NextAnswer();
        TimeSpan pause = Stopwatch.GetElapsedTime(begin);
        LongestPause = pause > LongestPause ? pause : LongestPause;
        Assert.True(error == 0, $"Request {number} was answered with error {error}.");
        if (_reads.Remove(number, out (int First, int Count) read))
        {
            client.Receive(_large.AsSpan(0, read.Count * Block));
            for (int i = 0; i < read.Count; i++)
            {
                string? wrong = Judge(read.First + i, _large.AsSpan(i * Block, Block));
                Assert.True(wrong is null, $"Under load, seed {seed}: {wrong}");
            }
        }
        else
        {
            End(number);
        }
    }

    private void Issue(NbdClient client)
    {
        int kind = _random.Next(32);
        if (IsMixed && kind >= 24)
        {
            IssueMixed(client, kind);
            return;
        }

        int count = kind == 0 ? 1 + _random.Next(ZeroedMax) : 1;
        int first = Window.First + _random.Next(Window.Count - count + 1);
        if (kind == 1)
        {
            _requests[++_lastNumber] = default;
            client.Send(_lastNumber, NbdClient.Flush, 0, 0, 0);
        }
        else if (IsFree(first, count))
        {
            Write(client, first, count, kind);
        }
    }

    /// <summary>Reads, or writes much at once; never both at a time, so that neither side waits until the other one reads its socket.</summary>
    private void IssueMixed(NbdClient client, int kind)
    {
        int count = 1 + _random.Next(Math.Min(Window.Count, kind == 31 ? LargeMax : ReadMax));
        int first = Window.First + _random.Next(Window.Count - count + 1);
        if (!IsFree(first, count))
        {
            return;
        }

        if (kind < 31)
        {
            _reads[++_lastNumber] = (first, count);
            client.Send(_lastNumber, NbdClient.Read, 0, (long)first * Block, count * Block);
        }
        else if (_reads.Count == 0)
        {
            WriteLarge(client, first, count);
        }
    }

    private void WriteLarge(NbdClient client, int first, int count)
    {
        uint value = ++_lastValue;
        _requests[++_lastNumber] = (first, count, value);
        for (int i = 0; i < count; i++)
        {
            _underWay[first + i] = value;
            Fill(_large.AsSpan(i * Block, Block), first + i, value);
        }

        client.Send(_lastNumber, NbdClient.Write, 0, (long)first * Block, count * Block, _large.AsSpan(0, count * Block));
    }

    /// <summary>Whether no request under way concerns any of some blocks.</summary>
    private bool IsFree(int first, int count) => Enumerable.Range(first, count).All(block => !_underWay.ContainsKey(block))
        && _reads.Values.All(read => first + count <= read.First || read.First + read.Count <= first);

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
