using System.Collections.Immutable;
using System.Text;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Formats;

/// <summary>Bytes of a virtual disk.</summary>
/// <param name="Offset">First byte.</param>
/// <param name="Length">Bytes, at least 1.</param>
public readonly record struct PinnedRange(long Offset, long Length)
{
    /// <summary>The byte behind the last.</summary>
    public long End => Offset + Length;
}

/// <summary>
/// A range of a tiered virtual disk, or a file on it, is to be on a tier. A pin of many pieces has several parts, numbered from 0, which follow
/// each other in the disk; they come and go together.
/// </summary>
/// <param name="Id">Identity of the pin.</param>
/// <param name="Part">Number of the part.</param>
/// <param name="Disk">The virtual disk.</param>
/// <param name="Tier">Identity of the tier.</param>
/// <param name="Label">Path of the file, or empty for a range; in part 0 only.</param>
/// <param name="Ranges">Pieces, 1 to <see cref="RangesMax"/>, ascending and apart from each other.</param>
public sealed record PinSet(Guid Id, uint Part, VirtualDiskId Disk, Guid Tier, string Label, ImmutableArray<PinnedRange> Ranges) : MetadataRecord
{
    /// <summary>Most pieces of a part.</summary>
    public const int RangesMax = 128;

    /// <summary>Most parts of a pin.</summary>
    public const int PartsMax = 1024;

    /// <summary>Most bytes of the label in UTF-8.</summary>
    public const int LabelBytesMax = 1024;

    private const int RangeBytes = 16;

    internal override RecordKind Kind => RecordKind.PinSet;

    /// <summary>Whether every value is in its range.</summary>
    public bool IsPossible => Part < PartsMax && (Part == 0 || Label.Length == 0) && Encoding.UTF8.GetByteCount(Label) <= LabelBytesMax
        && Ranges is { IsDefault: false, Length: >= 1 and <= RangesMax } && AreApart();

    internal override void EncodeBody(ByteWriter to)
    {
        to.Guid(Id);
        to.U32(Part);
        to.Guid(Disk.Value);
        to.Guid(Tier);
        to.Text(Label);
        to.U32((uint)Ranges.Length);
        foreach (PinnedRange range in Ranges)
        {
            to.I64(range.Offset);
            to.I64(range.Length);
        }
    }

    internal static MetadataRecord Decode(ref ByteReader from)
    {
        Guid id = from.Guid();
        uint part = from.U32();
        VirtualDiskId disk = new(from.Guid());
        Guid tier = from.Guid();
        string label = from.Text();
        PinnedRange[] ranges = new PinnedRange[from.Count(RangeBytes)];
        for (int i = 0; i < ranges.Length; i++)
        {
            ranges[i] = new PinnedRange(from.I64(), from.I64());
        }

        return new PinSet(id, part, disk, tier, label, [.. ranges]);
    }

    private bool AreApart()
    {
        long end = -1;
        foreach (PinnedRange range in Ranges)
        {
            if (range.Offset <= end || range.Length < 1 || range.Length > long.MaxValue - range.Offset)
            {
                return false;
            }

            end = range.End;
        }

        return true;
    }
}
