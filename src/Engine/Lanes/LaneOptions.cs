using TierSpaces.Engine.Lanes.Uring;

namespace TierSpaces.Engine.Lanes;

/// <summary>I/O backend of a lane.</summary>
public enum LaneBackend
{
    /// <summary>One io_uring.</summary>
    Uring,

    /// <summary>Positioned reads and writes on a bounded set of threads, for kernels and containers that refuse io_uring.</summary>
    Threads,
}

/// <summary>Settings of a lane.</summary>
public sealed record LaneOptions
{
    /// <summary>
    /// Longest time a lane looks for new work before it sleeps, in nanoseconds; 0 (the default) sleeps at once, 50 000 is
    /// the sensible most. Shortens the answer at queue depth 1 and costs up to a core. The lane shortens it by itself when
    /// it does not pay, and never spins while disk I/O is outstanding. Only the io_uring backend spins.
    /// </summary>
    public long SpinNs { get; init; }

    /// <summary>Most blocking calls on one file that the lane's threads make at a time, 1 to 64. A file that hangs keeps so many threads.</summary>
    public int CallsPerFile { get; init; } = 16;

    /// <summary>Makes the calls of the threads; null: the system calls.</summary>
    internal FileCall? FileCall { get; init; }

    /// <summary>Ways to set io_uring up; the first that the kernel takes is used.</summary>
    internal IReadOnlyList<RingSetup> RingSetups { get; init; } = UringProbe.Setups;
}
