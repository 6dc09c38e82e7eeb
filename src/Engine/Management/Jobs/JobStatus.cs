using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Jobs;

namespace TierSpaces.Engine.Management;

/// <summary>Current status of a job.</summary>
public sealed record JobStatus
{
    private const string Regeneration = "Regeneration";

    /// <summary>Identity.</summary>
    public required Guid UniqueId { get; init; }

    /// <summary>Repair, Scrub …; Regeneration for a repair that the pool began by itself, and that no call has joined.</summary>
    public required string Name { get; init; }

    /// <summary>Description of its work, one sentence.</summary>
    public required string Description { get; init; }

    /// <summary>Pool it works in.</summary>
    public required Guid PoolId { get; init; }

    /// <summary>Virtual disk it works on.</summary>
    public required Guid VirtualDisk { get; init; }

    /// <summary>Friendly name that it had when the job began; empty for a job of a pool.</summary>
    public string VirtualDiskName { get; init; } = "";

    /// <summary>State of the job.</summary>
    public required JobState State { get; init; }

    /// <summary>Kind of the job.</summary>
    public JobKind Kind { get; init; }

    /// <summary>Whether it does nothing any more.</summary>
    public bool HasEnded { get; init; }

    /// <summary>The step under way, or the result in the end.</summary>
    public string Status { get; init; } = "";

    /// <summary>Error that stopped the job, in words; empty otherwise.</summary>
    public string ErrorDescription { get; init; } = "";

    /// <summary>Percent done, 0 to 100.</summary>
    public int PercentComplete { get; init; }

    /// <summary>Bytes gone through.</summary>
    public long BytesProcessed { get; init; }

    /// <summary>Bytes there are to go through.</summary>
    public long BytesTotal { get; init; }

    /// <summary>Time spent on it.</summary>
    public TimeSpan Elapsed { get; init; }

    /// <summary>Time it may still take; null while nothing can be said.</summary>
    public TimeSpan? TimeLeft { get; init; }

    /// <summary>Time of the request.</summary>
    public DateTimeOffset TimeSubmitted { get; init; }

    /// <summary>Time at which the job began, in this process.</summary>
    public DateTimeOffset StartTime { get; init; }

    /// <summary>Time of the last change of <see cref="State"/>.</summary>
    public DateTimeOffset TimeOfLastStateChange { get; init; }

    /// <summary>Findings of its steps; null for a job that verifies nothing.</summary>
    public ScrubCounts? Found { get; init; }

    /// <summary>Bytes that an optimization of tiers brought to faster ones.</summary>
    public long BytesPromoted { get; init; }

    /// <summary>Bytes that it brought to slower ones.</summary>
    public long BytesDemoted { get; init; }

    internal static JobStatus Of(StorageJob job) => new()
    {
        UniqueId = job.Spec.Id,
        Name = job.Spec is { Kind: JobKind.Repair, Verify.IsGiven: false } ? Regeneration : job.Spec.Name,
        Description = job.Spec.Description,
        PoolId = job.Spec.Pool,
        VirtualDisk = job.Spec.VirtualDisk,
        VirtualDiskName = job.Spec.VirtualDiskName,
        State = job.State,
        Kind = job.Spec.Kind,
        HasEnded = job.HasEnded,
        Status = job.Status,
        ErrorDescription = job.ErrorDescription,
        PercentComplete = job.PercentComplete,
        BytesProcessed = job.BytesProcessed,
        BytesTotal = job.BytesTotal,
        Elapsed = TimeSpan.FromTicks(job.ElapsedNs / 100),
        TimeLeft = job.TimeLeftNs is { } left ? TimeSpan.FromTicks(left / 100) : null,
        TimeSubmitted = job.TimeSubmitted,
        StartTime = job.StartTime,
        TimeOfLastStateChange = job.TimeOfLastStateChange,
        Found = job.Spec.Verify is not { IsGiven: false } && job.Spec.Steps.OfType<ScrubStep>().Any()
            ? job.Spec.Steps.OfType<ScrubStep>().Select(static step => step.Findings)
                .Aggregate(new ScrubCounts(0, 0, 0, 0), static (sum, found) => new ScrubCounts(
                sum.Verified + found.BlocksVerified, sum.Healed + found.BlocksHealed + found.MetadataHealed, sum.Lost + found.BlocksLost + found.MetadataLost,
                sum.Differing + found.BlocksDiffering))
            : null,
        BytesPromoted = job.Spec.Steps.OfType<OptimizeTiersStep>().Sum(static step => step.BytesPromoted),
        BytesDemoted = job.Spec.Steps.OfType<OptimizeTiersStep>().Sum(static step => step.BytesDemoted),
    };
}

/// <summary>Findings of a job that verifies.</summary>
/// <param name="Verified">Copies of blocks judged.</param>
/// <param name="Healed">Copies of blocks and sectors of metadata rewritten.</param>
/// <param name="Lost">Blocks, and sectors of checksum pages, that no copy could give.</param>
/// <param name="Differing">Blocks whose copies differ where no checksum says which is right.</param>
public sealed record ScrubCounts(long Verified, long Healed, long Lost, long Differing);
