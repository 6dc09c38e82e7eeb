using TierSpaces.Engine.Journals;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Resiliency;

/// <summary>Blocks of a ring as the medium of a journal of its own: a space with parity keeps two journals in one ring.</summary>
/// <param name="ring">The ring.</param>
/// <param name="first">First block, in blocks of 4096 bytes.</param>
/// <param name="blocks">Count of blocks.</param>
internal sealed class RingPart(RingMedium ring, int first, int blocks) : IJournalMedium
{
    private readonly long _offset = (long)first * Formats.JournalBlock.Size;

    /// <inheritdoc/>
    public int Copies => ring.Copies;

    /// <inheritdoc/>
    public int Blocks => blocks;

    /// <inheritdoc/>
    public bool IsCopyAway => ring.IsCopyAway;

    /// <inheritdoc/>
    public LaneTask<IoError> Read(int copy, long offset, IoBuffer target) => ring.Read(copy, _offset + offset, target);

    /// <inheritdoc/>
    public LaneTask<IoError> Write(long offset, IoBuffer source) => ring.Write(_offset + offset, source);

    /// <inheritdoc/>
    public LaneTask<IoError> Flush() => ring.Flush();
}
