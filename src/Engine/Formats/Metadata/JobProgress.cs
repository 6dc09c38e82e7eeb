namespace TierSpaces.Engine.Formats;

/// <summary>Kind of work that a job's state describes.</summary>
public enum JobKind : byte
{
    /// <summary>A virtual disk is repaired: brought up to date, rebuilt, verified.</summary>
    Repair = 1,

    /// <summary>A virtual disk is verified.</summary>
    Scrub = 2,

    /// <summary>The slabs of a pool are spread evenly over its disks.</summary>
    Optimize = 3,

    /// <summary>The slices of a tiered virtual disk are brought to the tiers that they belong on.</summary>
    OptimizeTiers = 4,

    /// <summary>The pinned slices of a tiered virtual disk are moved to their tiers.</summary>
    PlacePins = 5,

    /// <summary>Not a job: the time at which a virtual disk was last verified to its end. Its record has the virtual disk's id.</summary>
    LastScrub = 64,

    /// <summary>Not a job: the interval at which the virtual disks of the pool are verified. Its record has the pool's id.</summary>
    ScrubInterval = 65,

    /// <summary>
    /// Not a job: the schedule by which the tiers of the pool's virtual disks are optimized. Step: times of the day, in minutes. Cursor: enabled (bit 0),
    /// continuous (bit 1). Bytes: the free reserve in percent. Limits: of the runs.
    /// </summary>
    TierSchedule = 66,
}

/// <summary>
/// The state of a <see cref="JobRecord"/>: enough to go on after a restart, on whichever machine opens the pool. A step is kept by
/// name, so that a version with other steps finds its place or begins again.
/// </summary>
public sealed record JobProgress
{
    private const byte Version = 1;
    private const byte VersionWithLimits = 2;   // written only when a limit is set: others are read by hosts that know no limits

    /// <summary>Kind of the work.</summary>
    public required JobKind Kind { get; init; }

    /// <summary>Id of the virtual disk, or of the pool for <see cref="JobKind.Optimize"/> and <see cref="JobKind.ScrubInterval"/>.</summary>
    public required Guid Subject { get; init; }

    /// <summary>Time of the request (for <see cref="JobKind.LastScrub"/>: of the end), as ticks of UTC.</summary>
    public required long UtcTicks { get; init; }

    /// <summary>Name of the step under way.</summary>
    public string Step { get; init; } = "";

    /// <summary>Position at which that step resumes; for <see cref="JobKind.ScrubInterval"/> the interval in seconds, 0 for never.</summary>
    public long Cursor { get; init; }

    /// <summary>Bytes done.</summary>
    public long BytesProcessed { get; init; }

    /// <summary>Time spent, in nanoseconds.</summary>
    public long ElapsedNs { get; init; }

    /// <summary>Most bytes that a run of <see cref="JobKind.OptimizeTiers"/> moves; 0: no limit.</summary>
    public long BytesMax { get; init; }

    /// <summary>Mean latency of clients that such a run keeps to, in nanoseconds; 0: none.</summary>
    public long LatencyTargetNs { get; init; }

    private bool HasLimits => BytesMax > 0 || LatencyTargetNs > 0;

    /// <summary>The state as bytes, at most <see cref="JobRecord.MaxStateBytes"/>.</summary>
    public byte[] Encode()
    {
        ByteWriter to = new();
        to.U8(HasLimits ? VersionWithLimits : Version);
        to.U8((byte)Kind);
        to.Guid(Subject);
        to.I64(UtcTicks);
        to.Text(Step);
        to.I64(Cursor);
        to.I64(BytesProcessed);
        to.I64(ElapsedNs);
        if (HasLimits)
        {
            to.I64(BytesMax);
            to.I64(LatencyTargetNs);
        }

        return to.Written.ToArray();
    }

    /// <summary>Reads a state; null for one of another version or with anything impossible in it: such a job is not resumed.</summary>
    public static JobProgress? TryDecode(ReadOnlySpan<byte> bytes)
    {
        ByteReader from = new(bytes);
        byte version = from.U8();
        if (version is not (Version or VersionWithLimits))
        {
            return null;
        }

        JobProgress progress = new()
        {
            Kind = (JobKind)from.U8(),
            Subject = from.Guid(),
            UtcTicks = from.I64(),
            Step = from.Text(),
            Cursor = from.I64(),
            BytesProcessed = from.I64(),
            ElapsedNs = from.I64(),
            BytesMax = version == VersionWithLimits ? from.I64() : 0,
            LatencyTargetNs = version == VersionWithLimits ? from.I64() : 0,
        };
        bool isPossible = !from.Failed && from.Remaining == 0 && Enum.IsDefined(progress.Kind)
            && progress is { Cursor: >= 0, BytesProcessed: >= 0, ElapsedNs: >= 0, UtcTicks: >= 0, BytesMax: >= 0, LatencyTargetNs: >= 0 }
            && progress.HasLimits == (version == VersionWithLimits)
            && progress.UtcTicks <= DateTime.MaxValue.Ticks;
        return isPossible ? progress : null;
    }
}
