using System.Globalization;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Resiliency;

/// <summary>Findings of the verification of a space. A copy of a block counts as one block.</summary>
public sealed class ScrubFindings
{
    /// <summary>Copies of written blocks that were read and judged.</summary>
    public long BlocksVerified { get; private set; }

    /// <summary>Copies of blocks that were wrong or unreadable and have been rewritten from a good copy.</summary>
    public long BlocksHealed { get; private set; }

    /// <summary>Blocks that no copy could give: reading them fails until they are written again.</summary>
    public long BlocksLost { get; private set; }

    /// <summary>
    /// Blocks whose copies differ where there are no checksums. The right copy cannot be known, so nothing is changed: only
    /// writing the block again settles it.
    /// </summary>
    public long BlocksDiffering { get; private set; }

    /// <summary>Sectors of checksum pages, log and pool metadata that were damaged on one disk and have been rewritten.</summary>
    public long MetadataHealed { get; private set; }

    /// <summary>Sectors of checksum pages that no copy could give: the blocks they describe are lost.</summary>
    public long MetadataLost { get; private set; }

    /// <summary>Whether everything was as it should be.</summary>
    public bool IsClean => BlocksHealed + BlocksLost + BlocksDiffering + MetadataHealed + MetadataLost == 0;

    /// <summary>Copies of written blocks have been read and judged.</summary>
    internal void NoteVerified(long blocks = 1) => BlocksVerified += blocks;

    /// <summary>Copies of blocks have been rewritten from a good copy.</summary>
    internal void NoteHealed(long blocks = 1) => BlocksHealed += blocks;

    /// <summary>No copy could give a block.</summary>
    internal void NoteLost() => BlocksLost++;

    /// <summary>The copies of a block differ, and it is not known which is right.</summary>
    internal void NoteDiffering() => BlocksDiffering++;

    /// <summary>Damaged sectors of metadata have been rewritten.</summary>
    internal void NoteMetadataHealed(int sectors) => MetadataHealed += sectors;

    /// <summary>No copy could give some sectors of a checksum page.</summary>
    internal void NoteMetadataLost(int sectors) => MetadataLost += sectors;

    /// <summary>In words, for people.</summary>
    public override string ToString()
    {
        List<string> parts = [string.Create(CultureInfo.InvariantCulture, $"{CountText.Of(BlocksVerified, "block")} verified")];
        Add(parts, BlocksHealed, "healed");
        Add(parts, MetadataHealed, "metadata sectors healed");
        Add(parts, BlocksLost, "lost");
        Add(parts, MetadataLost, "metadata sectors lost");
        Add(parts, BlocksDiffering, "differ between copies without checksums (which copy is right cannot be known)");
        return string.Join(", ", parts);
    }

    private static void Add(List<string> parts, long count, string what)
    {
        if (count > 0)
        {
            parts.Add(string.Create(CultureInfo.InvariantCulture, $"{count} {what}"));
        }
    }
}

/// <summary>Result of one stride of a verification.</summary>
/// <param name="Cursor">Position at which the next stride begins.</param>
/// <param name="Bytes">Bytes of <see cref="Space.ScrubBytes"/> it went over.</param>
/// <param name="IsDone">Whether the end is reached.</param>
/// <param name="Error">Error because of which it cannot go on; a lost block is a finding and no such error.</param>
public readonly record struct ScrubStride(long Cursor, long Bytes, bool IsDone, IoError Error);
