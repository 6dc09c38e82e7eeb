using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tests.Devices;

/// <summary>A lane in virtual time whose timers come late, and whose thread can be kept busy, as on a real machine.</summary>
internal sealed class LateLane(SimLane inner, long lateNs) : ILane
{
    public string Name => inner.Name;

    /// <summary>Time that the thread has spent on work.</summary>
    public long BusyNs { get; set; }

    public long NowNs => inner.NowNs + BusyNs;

    public DateTimeOffset UtcNow => inner.UtcNow;

    public BufferPool Buffers => inner.Buffers;

    public bool IsCurrent => inner.IsCurrent;

    public ulong NextRandom() => inner.NextRandom();

    public Guid NewGuid() => inner.NewGuid();

    public LaneTask Delay(long nanoseconds) => inner.Delay(nanoseconds + lateNs);

    public LaneTask Yield() => inner.Yield();

    public LaneTask Offload(Action work) => inner.Offload(work);

    public LaneTask OffloadBlocking(Action work) => inner.OffloadBlocking(work);

    public void Post(Action work) => inner.Post(work);

    public void PostOutside(Action work) => inner.PostOutside(work);
}
