using System.Numerics;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Caching;

// Reads a ring in windows, the next ones while the current one is looked at, from its copies in rotation: a full ring is read about as fast as its
// disks stream together. Another copy than the window's is read block by block, and so are headers that lie far apart.

/// <summary>Gives single blocks of a ring while it is read from front to back.</summary>
internal sealed class RingWindow(BufferPool buffers, RingMedium medium)
{
    private const int WindowBytesMax = 1 << 20;
    private const int WindowBytesMin = 64 << 10;
    private const int AheadMax = 4;   // windows on their way: two for each disk of a mirror

    private readonly int _windowBytes = Math.Clamp(
        (int)BitOperations.RoundUpToPowerOf2((uint)Math.Min(medium.Blocks / 16L * CacheRing.BlockSize, WindowBytesMax)), WindowBytesMin, WindowBytesMax);
    private readonly Queue<Window> _ahead = new(AheadMax);
    private Window? _current;

    /// <summary>Moves the window to an offset of the ring, or closes it for an isolated block. Returns the copy to begin with.</summary>
    internal async LaneTask<int> CopyAt(long offset, bool isAlone)
    {
        long start = offset - (offset % _windowBytes);
        if (isAlone)
        {
            await Release();
            return FirstLive((int)(start / _windowBytes % medium.Copies));
        }

        if (_current?.Start != start)
        {
            await Advance(start);
        }

        return _current!.Copy;
    }

    /// <summary>Reads a block of a copy at the offset that was named last; false when it cannot be read.</summary>
    internal async LaneTask<bool> Read(int copy, long offset, IoBuffer block)
    {
        if (_current?.Copy != copy)
        {
            return await medium.Read(copy, offset, block) == IoError.None;
        }

        bool isThere = await _current.Wait() == IoError.None;
        if (isThere)
        {
            _current.Buffer.Span.Slice((int)(offset - _current.Start), block.Length).CopyTo(block.Span);
        }

        return isThere;
    }

    /// <summary>Gives its memory back, once no read is under way.</summary>
    internal async LaneTask<Nothing> Release()
    {
        await Drop(_current);
        _current = null;
        while (_ahead.TryDequeue(out Window? next))
        {
            await Drop(next);
        }

        return default;
    }

    private async LaneTask<Nothing> Advance(long start)
    {
        await Drop(_current);
        _current = null;
        while (_ahead.TryPeek(out Window? next) && next.Start != start)
        {
            await Drop(_ahead.Dequeue());
        }

        Window last = _current = _ahead.TryDequeue(out Window? first) ? first : Begin(start);
        foreach (Window ahead in _ahead)
        {
            last = ahead;
        }

        while (_ahead.Count < AheadMax)
        {
            last = Begin(last.Start + _windowBytes < RingBytes ? last.Start + _windowBytes : 0);
            _ahead.Enqueue(last);
        }

        return default;
    }

    private long RingBytes => (long)medium.Blocks * CacheRing.BlockSize;

    private Window Begin(long start)
    {
        int copy = FirstLive((int)(start / _windowBytes % medium.Copies));
        IoBuffer buffer = buffers.Rent((int)Math.Min(_windowBytes, RingBytes - start));
        return new Window(start, copy, buffer, medium.Read(copy, start, buffer));
    }

    private int FirstLive(int preferred)
    {
        for (int i = 0; i < medium.Copies; i++)
        {
            if (!medium.IsStale((preferred + i) % medium.Copies))
            {
                return (preferred + i) % medium.Copies;
            }
        }

        return preferred;
    }

    private async LaneTask<Nothing> Drop(Window? window)
    {
        if (window is not null)
        {
            await window.Wait();
            buffers.Return(window.Buffer);
        }

        return default;
    }

    private sealed class Window(long start, int copy, IoBuffer buffer, LaneTask<IoError> read)
    {
        private LaneTask<IoError> _read = read;
        private IoError? _result;

        internal long Start { get; } = start;

        internal int Copy { get; } = copy;

        internal IoBuffer Buffer { get; } = buffer;

        internal async LaneTask<IoError> Wait()
        {
            _result ??= await _read;
            return _result.Value;
        }
    }
}
