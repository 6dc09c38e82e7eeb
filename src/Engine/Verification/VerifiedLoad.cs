using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Verification;

// Requests at random against a store, each told to the oracle before it is issued and after it has ended. Requests that run at once never
// overlap, so that the order of any two writes to a sector is known.

/// <summary>The random load that the crash tests stop: writes, FUA, flushes, zeroing, unmaps and reads, half of them on few blocks.</summary>
/// <param name="world">World or virtual disk whose store is loaded; its lane makes every choice.</param>
/// <param name="oracle">Model of the store's answers.</param>
/// <param name="length">Length of the store in bytes.</param>
/// <param name="rowBytes">Length of a row: the most that is unmapped at once.</param>
/// <param name="unit">Unit of offsets and lengths in bytes, 512 or 4096.</param>
/// <param name="report">Called for each violation: the request, and its description.</param>
public sealed class VerifiedLoad(ISimStore world, BlockOracle oracle, long length, long rowBytes, int unit, Action<string, string> report)
{
    private const int Block = 4096;
    private const int HotBlocks = 24;
    private const int Attempts = 10;

    private readonly List<(long Offset, long Length)> _busy = [];
    private uint _nextValue = 1;

    /// <summary>Whether ENOSPC is an answer: too few disks are left for a new row.</summary>
    public Func<bool> MayBeShort { get; init; } = static () => false;

    /// <summary>Whether an I/O error is an answer to a write: more is lost than there is redundancy.</summary>
    public Func<bool> MayFail { get; init; } = static () => false;

    /// <summary>Whether an error is an answer to any request: its disk may not answer, and there is no other copy.</summary>
    internal Func<bool> MayHang { get; init; } = static () => false;

    /// <summary>Called with its offset when a read beside other requests begins; what it returns is called when it has ended.</summary>
    internal Func<long, Action>? Reading { get; init; }

    /// <summary>Called when a write, zeroing or unmap has been acknowledged.</summary>
    internal Action? Acknowledged { get; init; }

    /// <summary>Number of the last write. A store that was written before goes on from there.</summary>
    public uint LastValue
    {
        get => _nextValue - 1;
        init => _nextValue = value + 1;
    }

    /// <summary>Writes that ended, zeroing and unmaps among them.</summary>
    public long Writes { get; private set; }

    /// <summary>Flushes and FUA writes that ended.</summary>
    public long Flushes { get; private set; }

    /// <summary>Writes a random range.</summary>
    public async LaneTask<Nothing> WriteSome(WriteFlags flags)
    {
        if (Take(world.Lane.Next(4) == 0 ? 40 : 4, unit) is not { } range)
        {
            return default;
        }

        WriteEnded("write", range, await WriteOne(range, flags));
        return default;
    }

    /// <summary>Writes one unit each at places all over the store, at once, and reads each as soon as it is written.</summary>
    /// <param name="writes">Writes at most: a place that is in use is left out.</param>
    public async LaneTask<Nothing> ScatterWrites(int writes)
    {
        WaitGroup ends = WaitGroup.Rent();
        for (int i = 0; i < writes; i++)
        {
            (long Offset, long Length) range = (world.Lane.Next((int)(length / unit)) * (long)unit, unit);
            if (!IsBusy(range))
            {
                _busy.Add(range);
                ends.Add(WriteAndRead(range));
            }
        }

        await ends.Wait();
        return default;
    }

    private async LaneTask<IoError> WriteAndRead((long Offset, long Length) range)
    {
        IoError written = await WriteOne(range, WriteFlags.None);
        IoBuffer buffer = world.Lane.Buffers.Rent((int)range.Length);
        if (written == IoError.None && await world.Store.Read(range.Offset, buffer) == IoError.None
            && oracle.CheckServing(range.Offset, buffer.Span) is { } wrong)
        {
            report("read after its write", wrong);
        }

        world.Lane.Buffers.Return(buffer);
        WriteEnded("scattered write", range, written);
        return IoError.None;
    }

    /// <summary>Writes a random range in sequence, in requests of random sizes, several of them under way at a time.</summary>
    /// <param name="bytesMax">The most that is written, in bytes.</param>
    /// <param name="requestMax">The largest request, in bytes.</param>
    public async LaneTask<Nothing> WriteInSequence(long bytesMax, int requestMax)
    {
        if (Take((int)(bytesMax / Block), unit) is not { } range)
        {
            return default;
        }

        long next = range.Offset;
        WaitGroup streams = WaitGroup.Rent();
        for (int depth = 2 + world.Lane.Next(5); depth > 0; depth--)
        {
            streams.Add(Stream());
        }

        IoError error = await streams.Wait();
        WriteEnded("write in sequence", range, error);
        return default;

        async LaneTask<IoError> Stream()
        {
            IoError error = IoError.None;
            while (error == IoError.None && next < range.Offset + range.Length)
            {
                long offset = next;
                next += Math.Min((1 + world.Lane.Next(requestMax / unit)) * unit, range.Offset + range.Length - offset);
                error = await WriteOne((offset, next - offset), WriteFlags.None);
            }

            return error;
        }
    }

    /// <summary>Zeroes or unmaps a random range; what is unmapped are whole blocks, since no less is given back.</summary>
    public async LaneTask<Nothing> UnmapSome(bool unmap)
    {
        if (Take(world.Lane.Next(3) == 0 ? (int)(rowBytes / Block) : 8, unmap ? Block : unit) is not { } range)
        {
            return default;
        }

        await Unmap(range, unmap);
        return default;
    }

    /// <summary>Unmaps a whole row. <see cref="ReadBeside"/> may read it meanwhile.</summary>
    public async LaneTask<Nothing> UnmapRow(int row)
    {
        (long Offset, long Length) range = (row * rowBytes, rowBytes);
        if (!IsBusy(range))
        {
            _busy.Add(range);
            await Unmap(range, unmap: true);
        }

        return default;
    }

    private async LaneTask Unmap((long Offset, long Length) range, bool unmap) => WriteEnded("unmap", range, await ZeroAt(range.Offset, range.Length, unmap));

    /// <summary>Reads a random range, which has to be what was acknowledged last.</summary>
    public async LaneTask<Nothing> ReadSome()
    {
        if (Take(16, unit) is not { } range)
        {
            return default;
        }

        IoBuffer buffer = world.Lane.Buffers.Rent((int)range.Length).AllowKeeping();
        IoError error = await world.Store.Read(range.Offset, buffer);
        buffer = world.Lane.Buffers.Settle(buffer);
        string? wrong = error == IoError.None ? oracle.CheckServing(range.Offset, buffer.Span) : MayHang() && IsOfHang(error) ? null : error.ToString();
        world.Lane.Buffers.Return(buffer);
        _busy.Remove(range);
        if (wrong is not null)
        {
            report("read", wrong);
        }

        return default;
    }

    /// <summary>Reads a random range of a row whatever else is under way there: old and new are right.</summary>
    public async LaneTask<Nothing> ReadBeside(int row)
    {
        long blocks = rowBytes / Block;
        long first = world.Lane.Next((int)blocks);
        (long offset, int bytes) = ((row * rowBytes) + (first * Block), (int)Math.Min(16, blocks - first) * Block);
        IoBuffer buffer = world.Lane.Buffers.Rent(bytes).AllowKeeping();
        BlockOracle.ReadBeside read = oracle.BeginRead(offset, bytes);
        Action? ended = Reading?.Invoke(offset);
        IoError error = await world.Store.Read(offset, buffer);
        ended?.Invoke();
        buffer = world.Lane.Buffers.Settle(buffer);
        string? wrong = oracle.EndRead(read, error == IoError.None ? buffer.Span : default);
        wrong = error == IoError.None || (MayHang() && IsOfHang(error)) ? wrong : error.ToString();
        world.Lane.Buffers.Return(buffer);
        if (wrong is not null)
        {
            report("read beside other requests", wrong);
        }

        return default;
    }

    /// <summary>Flushes the store.</summary>
    public async LaneTask<Nothing> FlushAll()
    {
        IoError error = await TryFlush();
        if (error != IoError.None && (!MayHang() || !IsOfHang(error)))
        {
            report("flush", error.ToString());
        }

        return default;
    }

    /// <summary>Writes a range. Returns the answer.</summary>
    internal LaneTask<IoError> WriteAt(long offset, int length) => WriteOne((offset, length), WriteFlags.None);

    /// <summary>Zeroes or unmaps a range. Returns the answer.</summary>
    internal async LaneTask<IoError> ZeroAt(long offset, long length, bool unmap)
    {
        oracle.Issue(offset, length, 0);
        IoError error = unmap ? await world.Store.Unmap(offset, length)
            : await world.Store.WriteZeroes(offset, length, world.Lane.Next(2) == 0 ? WriteFlags.NoHole : WriteFlags.None);
        oracle.Complete(offset, length, 0, error == IoError.None);
        return error;
    }

    /// <summary>Flushes the store. Returns the answer.</summary>
    internal async LaneTask<IoError> TryFlush()
    {
        (uint[] Values, long Issues) begun = oracle.BeginFlush();
        List<(long First, int Count, uint Value)> inFlight = oracle.InFlight();
        IoError error = await world.Store.Flush();
        if (error == IoError.None)
        {
            oracle.EndFlush(begun, inFlight);
            Flushes++;
        }

        return error;
    }

    private async LaneTask<IoError> WriteOne((long Offset, long Length) range, WriteFlags flags)
    {
        uint value = _nextValue++;
        IoBuffer buffer = world.Lane.Buffers.Rent((int)range.Length).AllowKeeping();
        BlockOracle.Fill(buffer.Span, range.Offset, value);
        oracle.Issue(range.Offset, range.Length, value);
        IoError error = await world.Store.Write(range.Offset, buffer, flags);
        oracle.Complete(range.Offset, range.Length, value, error == IoError.None);
        if (error == IoError.None && flags != WriteFlags.None)
        {
            oracle.Harden(range.Offset, range.Length, value);
            Flushes++;
        }

        world.Lane.Buffers.Return(buffer);
        return error;
    }

    private void WriteEnded(string what, (long Offset, long Length) range, IoError error)
    {
        _busy.Remove(range);
        Writes++;
        if (error == IoError.None)
        {
            Acknowledged?.Invoke();
        }

        if (error != IoError.None && !(error == IoError.NoSpace && MayBeShort()) && !(error == IoError.Io && MayFail())
            && !(MayHang() && IsOfHang(error)))
        {
            report(what, error.ToString());
        }
    }

    private static bool IsOfHang(IoError error) => error is IoError.Io or IoError.TimedOut or IoError.DeviceGone;

    private bool IsBusy((long Offset, long Length) range) =>
        _busy.Exists(other => other.Offset < range.Offset + range.Length && range.Offset < other.Offset + other.Length);

    private (long Offset, long Length)? Take(int blocksMax, int step)
    {
        SimLane lane = world.Lane;
        int perBlock = Block / step;
        for (int attempt = 0; attempt < Attempts; attempt++)
        {
            long units = length / step;
            long hot = lane.Next(2) == 0 ? Math.Min(units, HotBlocks * perBlock) : units;   // half of the load on few blocks
            long first = lane.Next((int)hot);
            long count = Math.Min(1 + lane.Next(blocksMax * perBlock), units - first);
            (long Offset, long Length) range = (first * step, count * step);
            if (!IsBusy(range))
            {
                _busy.Add(range);
                return range;
            }
        }

        return null;
    }
}
