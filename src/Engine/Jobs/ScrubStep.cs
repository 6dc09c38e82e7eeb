using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Jobs;

/// <summary>Verifies every written block of a space on every copy and heals what is wrong.</summary>
public sealed class ScrubStep(Space space, string tier = "") : IJobStep
{
    private long _total = -1;   // found when its first piece begins

    /// <inheritdoc/>
    public string Name => tier.Length == 0 ? "Verify" : $"Verify {tier}";

    /// <inheritdoc/>
    public long BytesTotal => _total >= 0 ? _total : space.ScrubBytes;

    /// <summary>Findings since this process began or resumed the step.</summary>
    public ScrubFindings Findings { get; } = new();

    /// <inheritdoc/>
    public string Outcome => Findings.ToString();

    /// <inheritdoc/>
    public void Reset() => _total = -1;

    /// <inheritdoc/>
    public async LaneTask<JobAdvance> Advance(long cursor)
    {
        _total = _total >= 0 ? _total : space.ScrubBytes;
        ScrubStride stride = await space.Scrub(cursor, Findings);
        return new JobAdvance(
            stride.Cursor, stride.Bytes, stride.IsDone, stride.Error,
            stride.Error == IoError.None ? "" : space.FaultReason.Length > 0 ? space.FaultReason : $"verifying stopped at {cursor}: {stride.Error}");
    }
}
