using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Jobs;

/// <summary>Verifies the pool's own records on every disk and heals what is wrong. A piece is one disk; the cursor is its number.</summary>
/// <param name="pool">The pool.</param>
/// <param name="findings">Receives the number of repairs.</param>
/// <param name="note">Called for every finding, for the reliability counters of the disk.</param>
/// <param name="order">Whether it does so; null: it does.</param>
public sealed class MetadataScrubStep(Pool pool, ScrubFindings findings, Action<DiskDescription, DiskFinding, int> note, VerifyOrder? order = null) : IJobStep
{
    /// <inheritdoc/>
    public string Name => "Verify metadata";

    /// <inheritdoc/>
    public long BytesTotal => IsWanted ? pool.State.Disks.Keys.Sum(BytesOf) : 0;

    private bool IsWanted => order is not { IsGiven: false };

    /// <inheritdoc/>
    public async LaneTask<JobAdvance> Advance(long cursor)
    {
        DiskState? next = pool.State.Disks.Values.Where(disk => disk.Description.Number.Value > cursor).MinBy(static disk => disk.Description.Number.Value);
        if (next is null || !IsWanted)
        {
            return new JobAdvance(cursor, 0, true);
        }

        DiskNumber number = next.Description.Number;
        int damaged = await pool.ScrubMetadata(number);
        findings.NoteMetadataHealed(damaged);
        if (damaged > 0)
        {
            note(next.Description, DiskFinding.ChecksumMismatch, damaged);
            note(next.Description, DiskFinding.Healed, damaged);
        }

        return new JobAdvance(number.Value, BytesOf(number), false);
    }

    private long BytesOf(DiskNumber disk) => pool.Layout(disk).JournalBytes;
}
