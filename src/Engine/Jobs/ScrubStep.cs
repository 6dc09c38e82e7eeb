using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Jobs;

/// <summary>Verifies every written block of one part of a virtual disk on every copy and heals what is wrong.</summary>
/// <param name="disk">The virtual disk.</param>
/// <param name="part">Number of the part.</param>
/// <param name="order">Whether it does so; null: it does.</param>
/// <param name="tier">Name of the tier; empty where there are none.</param>
public sealed class ScrubStep(OpenVirtualDisk disk, int part, VerifyOrder? order = null, string tier = "") : IJobStep
{
    private long _total = -1;   // found when its first piece begins

    /// <inheritdoc/>
    public string Name => tier.Length == 0 ? "Verify" : $"Verify {tier}";

    /// <inheritdoc/>
    public bool IsOnDiskLane => true;

    /// <inheritdoc/>
    public long BytesTotal => _total;

    /// <summary>
    /// Findings since this process began or resumed the step. The lane of its pieces writes them, and after the step the next one of the job may; other lanes
    /// see each number whole.
    /// </summary>
    public ScrubFindings Findings { get; } = new();

    /// <inheritdoc/>
    public string Outcome => IsWanted ? Findings.ToString() : "";

    private bool IsWanted => order is not { IsGiven: false };

    private Space Space => disk.Parts.First(one => one.Number == part).Space;

    /// <inheritdoc/>
    public long Measure() => _total >= 0 ? _total : IsWanted ? Space.ScrubBytes : 0;

    /// <inheritdoc/>
    public void Reset() => _total = -1;

    /// <inheritdoc/>
    public async LaneTask<JobAdvance> Advance(long cursor)
    {
        if (!IsWanted)
        {
            return new JobAdvance(cursor, 0, true);
        }

        Space space = Space;
        _total = _total >= 0 ? _total : space.ScrubBytes;
        ScrubStride stride = await space.Scrub(cursor, Findings);
        return new JobAdvance(
            stride.Cursor, stride.Bytes, stride.IsDone, stride.Error,
            stride.Error == IoError.None ? "" : space.FaultReason.Length > 0 ? space.FaultReason : $"verifying stopped at {cursor}: {stride.Error}");
    }
}
