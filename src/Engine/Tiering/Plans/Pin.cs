using System.Collections.Immutable;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tiering;

/// <summary>A range of a virtual disk, or a file on it, that is to be on a tier.</summary>
/// <param name="Id">Identity.</param>
/// <param name="Tier">The tier, counted from 0, the fastest.</param>
/// <param name="Label">Path of the file, or empty for a range.</param>
/// <param name="Ranges">Its pieces, ascending and apart from each other.</param>
public sealed record Pin(Guid Id, int Tier, string Label, ImmutableArray<PinnedRange> Ranges)
{
    /// <summary>Most pieces that a pin can have.</summary>
    public const int RangesMax = PinSet.RangesMax * PinSet.PartsMax;

    /// <summary>Bytes of its pieces.</summary>
    public long Bytes => Ranges.Sum(static range => range.Length);

    /// <summary>Sorts pieces and joins those that touch or overlap, as <see cref="Ranges"/> must be.</summary>
    /// <param name="ranges">Pieces with an offset of 0 or more and a length of 1 or more, none beyond <see cref="long.MaxValue"/>.</param>
    public static ImmutableArray<PinnedRange> Join(IEnumerable<PinnedRange> ranges)
    {
        List<PinnedRange> joined = [];
        foreach (PinnedRange range in ranges.OrderBy(static range => range.Offset))
        {
            if (joined.Count > 0 && range.Offset <= joined[^1].End)
            {
                joined[^1] = joined[^1] with { Length = Math.Max(joined[^1].End, range.End) - joined[^1].Offset };
            }
            else
            {
                joined.Add(range);
            }
        }

        return [.. joined];
    }

    /// <summary>The records that keep it, to be committed together.</summary>
    /// <param name="disk">The virtual disk.</param>
    /// <param name="tier">Identity of its tier.</param>
    public IReadOnlyList<PinSet> ToRecords(VirtualDiskId disk, Guid tier) =>
    [
        .. Ranges.Chunk(PinSet.RangesMax).Select((ranges, part) => new PinSet(Id, (uint)part, disk, tier, part == 0 ? Label : "", [.. ranges])),
    ];
}

/// <summary>A pin was refused; nothing has changed.</summary>
/// <param name="Reason">Reason, and the action to take.</param>
/// <param name="FittingBytes">Bytes that could still be pinned to the tier.</param>
public sealed record PinError(string Reason, long FittingBytes);
