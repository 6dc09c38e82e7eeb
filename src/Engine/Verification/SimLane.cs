using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Verification;

// Lanes of one world share its clock, its seed and its steps: which lane runs next, and what it runs, is one seeded choice.

/// <summary>
/// The deterministic twin of a lane: virtual time, one seed for every choice. Ready work is run in a seeded order; when
/// none is ready the clock jumps to the next timer. A world that crashed is simply not pumped any more.
/// </summary>
public sealed class SimLane : ILane
{
    private const int BlockingCallNsMax = 2_000_000;
    private const int PostNsMax = 1_000_000;

    private readonly SimSteps _steps;
    private bool _isOutside;

    /// <summary>A lane whose every choice follows from <paramref name="seed"/>.</summary>
    public SimLane(ulong seed)
        : this(new SimSteps(seed), "sim")
    {
    }

    private SimLane(SimSteps steps, string name)
    {
        _steps = steps;
        Name = name;
        Created?.Invoke(this);
    }

    /// <summary>Raised on the thread that makes a lane: a process that makes many worlds gives their memory back.</summary>
    internal static event Action<SimLane>? Created;

    /// <summary>The seed.</summary>
    public ulong Seed => _steps.Seed;

    /// <inheritdoc/>
    public string Name { get; }

    /// <inheritdoc/>
    public long NowNs => _steps.NowNs;

    /// <inheritdoc/>
    public DateTimeOffset UtcNow => new DateTimeOffset(2030, 1, 1, 0, 0, 0, TimeSpan.Zero).AddTicks(NowNs / 100);

    /// <inheritdoc/>
    public BufferPool Buffers { get; } = new(RecycledMemory.Instance);

    /// <inheritdoc/>
    /// <remarks>Between two steps every lane is current: tests call the engine there.</remarks>
    public bool IsCurrent => !_isOutside && (_steps.Current is null || _steps.Current == this);

    /// <summary>Called when work outside the lane begins (true) and ends (false); null: no call.</summary>
    internal Action<bool>? OutsideChanged { get; set; }

    /// <summary>Steps run so far, of all lanes of the world: the unit in which crash points are numbered.</summary>
    public long Steps => _steps.Count;

    /// <summary>Running hash over the order of events: equal seeds give equal hashes.</summary>
    public ulong TraceHash => _steps.TraceHash;

    /// <summary>Fault: the lane runs nothing until this is over.</summary>
    internal bool IsStuck { get; set; }

    /// <summary>The lane whose work runs now; null between two steps.</summary>
    internal SimLane? Running => _steps.Current;

    /// <summary>The least time that what other lanes post takes to get here, and up to twice that; 0: none, or up to a millisecond.</summary>
    internal long LateNs { get; set; }

    /// <summary>Another lane of the same world.</summary>
    public SimLane Beside(string name) => new(_steps, name);

    /// <inheritdoc/>
    public ulong NextRandom() => _steps.NextRandom();

    /// <summary>A number in [0, <paramref name="bound"/>).</summary>
    public int Next(int bound) => _steps.Next(bound);

    /// <inheritdoc/>
    public Guid NewGuid()
    {
        Span<byte> bytes = stackalloc byte[16];
        BitConverter.TryWriteBytes(bytes, NextRandom());
        BitConverter.TryWriteBytes(bytes[8..], NextRandom());
        return new Guid(bytes);
    }

    /// <inheritdoc/>
    public LaneTask Delay(long nanoseconds) => Await(After(nanoseconds));

    /// <inheritdoc/>
    public LaneTask Yield()
    {
        LaneCompletion<Nothing> gate = LaneCompletion<Nothing>.Rent();
        LaneTask<Nothing> task = gate.Task;
        Post(() => gate.Complete(default));
        return Await(task);
    }

    /// <inheritdoc/>
    public LaneTask Offload(Action work)
    {
        work();
        return Yield();
    }

    /// <inheritdoc/>
    public async LaneTask OffloadBlocking(Action work)
    {
        await Delay(Next(BlockingCallNsMax));
        work();
    }

    /// <inheritdoc/>
    /// <remarks>A message of another lane may take a while: each lane has its own turns.</remarks>
    public void Post(Action work)
    {
        if (_steps.Current is null || _steps.Current == this)
        {
            _steps.Add(this, work);
        }
        else if (LateNs > 0)
        {
            Schedule(LateNs + Next((int)LateNs), work);
        }
        else if (Next(2) == 0)
        {
            _steps.Add(this, work);
        }
        else
        {
            Schedule(Next(PostNsMax), work);
        }
    }

    /// <summary>Runs <paramref name="work"/> at once, with <see cref="IsCurrent"/> false meanwhile: what happens outside takes no virtual time.</summary>
    public void PostOutside(Action work)
    {
        bool before = _isOutside;
        _isOutside = true;
        OutsideChanged?.Invoke(true);
        try
        {
            work();
        }
        finally
        {
            _isOutside = before;
            OutsideChanged?.Invoke(false);
        }
    }

    /// <summary>Runs <paramref name="work"/> after a time.</summary>
    public void Schedule(long afterNs, Action work) => _steps.Schedule(this, afterNs, work);

    /// <summary>Mixes a fact into the trace hash.</summary>
    public void Trace(ulong fact) => _steps.Trace(fact);

    /// <summary>Pumps until <paramref name="task"/> has ended and gives its result.</summary>
    /// <exception cref="InvalidOperationException">Nothing is left to run, or virtual time ran out: a hang.</exception>
    public T Run<T>(LaneTask<T> task, long withinNs = 3_600_000_000_000)
    {
        T result = default!;
        Exception? error = null;
        bool ended = false;
        Watch().Forget();
        PumpWhile(() => !ended, withinNs);
        return error is null ? result : throw new InvalidOperationException(error.Message, error);

        async LaneTask Watch()
        {
            try
            {
                result = await task;
            }
            catch (Exception e)
            {
                error = e;
            }

            ended = true;
        }
    }

    /// <inheritdoc cref="Run{T}(LaneTask{T}, long)"/>
    public void Run(LaneTask task, long withinNs = 3_600_000_000_000) => Run(Wrap(task), withinNs);

    /// <summary>Pumps until the condition is false, nothing is left to run, or the time is over.</summary>
    public void PumpWhile(Func<bool> condition, long withinNs)
    {
        long endNs = NowNs + withinNs;
        while (condition())
        {
            if (!Step() || NowNs > endNs)
            {
                throw new InvalidOperationException($"seed {Seed}: the engine hangs at step {Steps}, time {NowNs} ns.");
            }
        }
    }

    /// <summary>Runs everything due within a stretch of virtual time.</summary>
    public void Advance(long nanoseconds)
    {
        bool done = false;
        Schedule(nanoseconds, () => done = true);
        PumpWhile(() => !done, long.MaxValue / 2);
    }

    /// <summary>Runs one piece of work of any lane of the world; false when there is none.</summary>
    public bool Step() => _steps.Run();

    private LaneTask<Nothing> After(long nanoseconds)
    {
        LaneCompletion<Nothing> gate = LaneCompletion<Nothing>.Rent();
        LaneTask<Nothing> task = gate.Task;
        Schedule(nanoseconds, () => gate.Complete(default));
        return task;
    }

    private static async LaneTask Await(LaneTask<Nothing> task) => await task;

    private static async LaneTask<Nothing> Wrap(LaneTask task)
    {
        await task;
        return default;
    }
}
