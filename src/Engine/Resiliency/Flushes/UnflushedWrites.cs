namespace TierSpaces.Engine.Resiliency;

// The writes that a disk of the space may lose when it leaves: those that have ended since the last flush round that has completed.
//
// Invariants
//  1. A write that ends while a round runs is covered by the next one. So there are two lists: the writes that the next round covers, and those that the
//     round under way covers.
//  2. A list that a completed round covers is of no use any more, and is emptied with the next write.
//  3. A list is complete as long as it has room; IsComplete says so.

/// <summary>Writes that have ended since the last completed flush round.</summary>
/// <param name="clock">Numbers of the rounds.</param>
/// <param name="max">Most writes of a list.</param>
internal sealed class UnflushedWrites(FlushClock clock, int max = UnflushedWrites.Max)
{
    /// <summary>Most writes of a list: 1.5 MB of memory.</summary>
    internal const int Max = 65_536;

    private List<WrittenLines> _open = [];      // covered by round _openRound
    private List<WrittenLines> _closing = [];   // covered by round _closingRound
    private ulong _openRound;
    private ulong _closingRound;
    private bool _openIsComplete = true;
    private bool _closingIsComplete = true;

    /// <summary>Whether no write that is not covered is missing in <see cref="Uncovered"/>.</summary>
    internal bool IsComplete => (_openIsComplete || _openRound <= clock.Covered) && (_closingIsComplete || _closingRound <= clock.Covered);

    /// <summary>Bytes of each position that the writes went to, those that overlap counted each time.</summary>
    internal long Bytes
    {
        get
        {
            long bytes = 0;
            foreach (WrittenLines lines in Uncovered)
            {
                bytes += lines.Length;
            }

            return bytes;
        }
    }

    /// <summary>The writes that no completed round covers.</summary>
    internal IEnumerable<WrittenLines> Uncovered =>
        (_openRound > clock.Covered ? _open : Enumerable.Empty<WrittenLines>()).Concat(_closingRound > clock.Covered ? _closing : []);

    /// <summary>A write has ended, however it has.</summary>
    /// <param name="row">Its row.</param>
    /// <param name="group">Its group of positions.</param>
    /// <param name="slabOffset">First byte in the slabs.</param>
    /// <param name="length">Bytes in each slab.</param>
    internal void Note(SpaceRow row, int group, int slabOffset, int length)
    {
        if (_openRound != clock.Next)
        {
            TurnOver();
        }

        if (_open.Count > 0 && _open[^1] is var last && last.Row == row && last.Group == group
            && slabOffset >= last.SlabOffset && slabOffset <= last.SlabOffset + last.Length)
        {
            _open[^1] = last with { Length = Math.Max(last.Length, slabOffset + length - last.SlabOffset) };   // a stream, or the next strip of the same lines
        }
        else if (_open.Count < max)
        {
            _open.Add(new WrittenLines(row, group, slabOffset, length));
        }
        else
        {
            _openIsComplete = false;
        }
    }

    /// <summary>Another round has begun since the last write.</summary>
    private void TurnOver()
    {
        (_open, _closing) = (_closing, _open);
        (_closingRound, _closingIsComplete) = (_openRound, _openIsComplete);
        (_openRound, _openIsComplete) = (clock.Next, true);
        _open.Clear();
        if (_closingRound <= clock.Covered)
        {
            _closing.Clear();
        }
    }
}

/// <summary>Lines of a group that a write went to.</summary>
/// <param name="Row">The row.</param>
/// <param name="Group">The group of positions.</param>
/// <param name="SlabOffset">First byte in the slabs.</param>
/// <param name="Length">Bytes in each slab.</param>
internal readonly record struct WrittenLines(SpaceRow Row, int Group, int SlabOffset, int Length);
