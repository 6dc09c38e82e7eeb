using TierSpaces.Engine.Primitives;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Exports.Nbd;

/// <summary>
/// A store in memory that completes at once, or later in random order, or when the test says so. It checks what the
/// server owes a store: aligned memory, whole blocks, ranges inside.
/// </summary>
internal sealed class TestStore(SimLane lane, long length = 1 << 20, int blockSize = 512) : IBlockStore
{
    public byte[] Bytes { get; } = new byte[length];

    public int MaxTransfer { get; init; } = 32 << 20;

    /// <summary>Largest delay of a call, in virtual nanoseconds; 0 completes at once.</summary>
    public int MaxDelayNs { get; set; }

    /// <summary>Whether calls wait for <see cref="ReleaseAll"/>.</summary>
    public bool IsHeld { get; set; }

    /// <summary>Answer of every call.</summary>
    public IoError Answer { get; set; }

    /// <summary>Calls whose text begins so answer with an I/O error and do nothing.</summary>
    public string? Fails { get; set; }

    /// <summary>Called with the flags of every write; null: no call.</summary>
    public Action<WriteFlags>? Writing { get; set; }

    /// <summary>Exception of every call before it does anything.</summary>
    public Exception? Throws { get; set; }

    /// <summary>Exception of every call instead of an answer, in a turn of its own.</summary>
    public Exception? EndsWith { get; set; }

    public long ExtraLength { get; set; }

    public List<string> Calls { get; } = [];

    /// <summary>Offsets of the prefetch hints that it got.</summary>
    public List<long> Expected { get; } = [];

    public int Running { get; private set; }

    public int MostRunning { get; private set; }

    private readonly List<Action> _held = [];

    public StoreGeometry Geometry => new(length + ExtraLength, blockSize, blockSize, MaxTransfer);

    public void ReleaseAll()
    {
        IsHeld = false;
        Action[] held = [.. _held];
        _held.Clear();
        foreach (Action release in held)
        {
            release();
        }
    }

    public void Prefetch(long offset) => Expected.Add(offset);

    public LaneTask<IoError> Read(long offset, IoBuffer target)
    {
        Check(offset, target.Length);
        Assert.True(target.IsAligned(512));
        Assert.InRange(target.Length, 1, MaxTransfer);
        return Do($"read {offset}+{target.Length}", () => Bytes.AsSpan((int)offset, target.Length).CopyTo(target.Span));
    }

    public LaneTask<IoError> Write(long offset, IoBuffer source, WriteFlags flags)
    {
        Check(offset, source.Length);
        Assert.True(source.IsAligned(512));
        Assert.InRange(source.Length, 1, MaxTransfer);
        Writing?.Invoke(flags);
        return Do($"write {offset}+{source.Length} {flags.WithoutClient()}", () => source.Span.CopyTo(Bytes.AsSpan((int)offset)));
    }

    public LaneTask<IoError> Flush() => Do("flush", () => { });

    public LaneTask<IoError> Unmap(long offset, long size)
    {
        Check(offset, size);
        return Do($"unmap {offset}+{size}", () => Bytes.AsSpan((int)offset, (int)size).Clear());
    }

    public LaneTask<IoError> WriteZeroes(long offset, long size, WriteFlags flags)
    {
        Check(offset, size);
        return Do($"zero {offset}+{size} {flags.WithoutClient()}", () => Bytes.AsSpan((int)offset, (int)size).Clear());
    }

    /// <summary>Blocks of zeros are holes.</summary>
    public LaneTask<IoError> Status(long offset, long size, List<StoreExtent> extents)
    {
        Check(offset, size);
        return Do($"status {offset}+{size}", () =>
        {
            int first = extents.Count;
            for (long at = offset; at < offset + size; at += blockSize)
            {
                bool isZero = Bytes.AsSpan((int)at, blockSize).IndexOfAnyExcept((byte)0) < 0;
                ExtentState state = isZero ? ExtentState.Hole | ExtentState.Zero : ExtentState.Data;
                if (extents.Count > first && extents[^1].State == state)
                {
                    extents[^1] = new StoreExtent(extents[^1].Length + blockSize, state);
                }
                else
                {
                    extents.Add(new StoreExtent(blockSize, state));
                }
            }
        });
    }

    private void Check(long offset, long size)
    {
        Assert.Equal(0, (offset | size) & (blockSize - 1));
        Assert.InRange(offset, 0, length);
        Assert.InRange(size, 1, length - offset);
    }

    private LaneTask<IoError> Do(string call, Action effect)
    {
        if (Throws is { } thrown)
        {
            throw thrown;
        }

        Calls.Add(call);
        MostRunning = Math.Max(MostRunning, ++Running);
        LaneCompletion<IoError> gate = LaneCompletion<IoError>.Rent();
        LaneTask<IoError> task = gate.Task;
        Action complete = () =>
        {
            Running--;
            IoError answer = Fails is { } failing && call.StartsWith(failing, StringComparison.Ordinal) ? IoError.Io : Answer;
            if (answer == IoError.None)
            {
                effect();
            }

            gate.Complete(answer);
        };
        if (EndsWith is { } end)
        {
            lane.Schedule(1000, () =>
            {
                Running--;
                gate.Fail(end);
            });
            return task;
        }

        if (IsHeld)
        {
            _held.Add(complete);
        }
        else if (MaxDelayNs > 0 && lane.Next(4) > 0)
        {
            lane.Schedule(lane.Next(MaxDelayNs), complete);
        }
        else
        {
            complete();
        }

        return task;
    }
}
