using System.Numerics;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

// Recovery judges a block by its entry, the recorded writes and the bytes that its copies hold: one table, for all layouts and all callers.
//
// Legal values, newest first
//   the recorded writes behind the last one that is final; the final one; without a final one also the value of the entry
//   final: a zeroing, a loss, and an acknowledged write; where the disks may have lost what they had not flushed no write counts as acknowledged. A write
//   that the entry names is final, too: entries become durable after what they name, and records stay a while after the flush that covers them
//
//   evidence                                                    verdict
//   nothing newer is proven than that the block was lost        Lost
//   a legal value is "never written"                            NeverWritten: its record alone proves it; nothing older counts
//   an image has a legal value                                  Proven: the newest one that any image has
//   each sector of an image is one of a legal recorded write    Proven: writes in flight arrive in part
//   none of these; the machine has stopped since, the region    Adopted: the first image that was read. The block has no records and no mark,
//     was dirty                                                   and its entry is known
//   none of these; a disk is away that may hold a legal value   InDoubt
//   none of these                                               Lost
//
// Invariants
//  1. Nothing but a legal value is proven: not because it answers first, not because all images agree.
//  2. A final value is never undone by an older one.
//  3. Only Adopted makes a value final that nothing proves.

/// <summary>Kinds of conclusion about a block.</summary>
internal enum Verdict : byte
{
    /// <summary>No legal value is proven, and nothing that is away could prove one.</summary>
    Lost,

    /// <summary>No legal value is proven by what is there; a disk that is away may.</summary>
    InDoubt,

    /// <summary>The block was never written, or was zeroed.</summary>
    NeverWritten,

    /// <summary>An image holds a legal value.</summary>
    Proven,

    /// <summary>After a stop of the machine an image is taken for a write that no flush covered.</summary>
    Adopted,
}

/// <summary>A verdict, and the image that it names.</summary>
/// <param name="Verdict">The verdict.</param>
/// <param name="Image">Number of the image that holds the value; −1 where the verdict names none.</param>
internal readonly record struct Conclusion(Verdict Verdict, int Image = -1);

/// <summary>Images of a block: the bytes that its copies hold, or that a reconstruction gives.</summary>
/// <param name="buffers">Memory with a stretch of every image, one after the other.</param>
/// <param name="stride">Bytes of a stretch.</param>
/// <param name="index">Number of the block in each stretch.</param>
/// <param name="answered">Images that were read, bit per image.</param>
internal readonly ref struct BlockImages(IoBuffer buffers, int stride, int index, int answered)
{
    /// <summary>Images that were read, bit per image.</summary>
    internal int Answered { get; } = answered;

    /// <summary>An image.</summary>
    internal ReadOnlySpan<byte> this[int image] =>
        buffers.Span.Slice((image * stride) + (index * SpaceShape.BlockSize), SpaceShape.BlockSize);
}

/// <summary>Evidence about a block beside its images.</summary>
/// <param name="Generation">Generation of its entry.</param>
/// <param name="Checksum">Checksum of its entry.</param>
/// <param name="Records">Recorded writes of the block, oldest first; null: none.</param>
/// <param name="IsAway">Whether a disk is away that may hold a legal value.</param>
/// <param name="MayAdopt">Whether the machine has stopped since the region was dirty, and the region is judged for the first time since.</param>
internal readonly record struct BlockEvidence(ushort Generation, uint Checksum, List<WriteRecord>? Records, bool IsAway, bool MayAdopt)
{
    /// <summary>Whether the block is marked as lost or in doubt.</summary>
    internal bool IsMarked => ChecksumSector.IsMark(Generation);

    /// <summary>Whether the entry says what the block holds.</summary>
    internal bool HasEntry => ChecksumSector.HasValue(Generation);
}

/// <summary>The decision table of recovery.</summary>
internal static class Judgement
{
    private static readonly List<WriteRecord> s_none = [];

    /// <summary>Judges a block.</summary>
    internal static Conclusion Of(in BlockEvidence evidence, in BlockImages images)
    {
        List<WriteRecord> records = evidence.Records ?? s_none;
        int final = FinalOf(evidence);
        for (int i = records.Count - 1; i >= Math.Max(final, 0); i--)
        {
            if (records[i].IsZeroed)
            {
                return FindMixed(records, i + 1, images) is >= 0 and var mixed ? new(Verdict.Proven, mixed) : new(Verdict.NeverWritten);
            }

            if (records[i].IsLost)
            {
                return FindMixed(records, i + 1, images) is >= 0 and var later ? new(Verdict.Proven, later) : new(Verdict.Lost);
            }

            if (Find(records[i].Checksum, images) is >= 0 and var image)
            {
                return new(Verdict.Proven, image);
            }
        }

        if (FindMixed(records, Math.Max(final, 0), images) is >= 0 and var partly)
        {
            return new(Verdict.Proven, partly);
        }

        if (final < 0 && evidence.Generation == ChecksumSector.NeverWritten)
        {
            return new(Verdict.NeverWritten);
        }

        if (final < 0 && evidence.HasEntry && Find(evidence.Checksum, images) is >= 0 and var entered)
        {
            return new(Verdict.Proven, entered);
        }

        bool mayAdopt = evidence is { MayAdopt: true, IsMarked: false, HasEntry: true } && records.Count == 0;
        return mayAdopt && images.Answered != 0 ? new(Verdict.Adopted, BitOperations.TrailingZeroCount(images.Answered))
            : new(evidence.IsAway ? Verdict.InDoubt : Verdict.Lost);
    }

    /// <summary>
    /// Judges a block by its good copies, and where these prove nothing by all that are there: a copy that misses writes may hold the newest value that cannot
    /// be undone, and proves nothing that is newer.
    /// </summary>
    /// <param name="evidence">The evidence.</param>
    /// <param name="buffers">An image of the block from each copy.</param>
    /// <param name="answered">Copies that were read, bit per copy.</param>
    /// <param name="good">Copies that miss no write, bit per copy.</param>
    internal static Conclusion OfCopies(in BlockEvidence evidence, IoBuffer buffers, int answered, int good)
    {
        Conclusion conclusion = Of(evidence, new BlockImages(buffers, SpaceShape.BlockSize, 0, answered & good));
        if (conclusion.Verdict is not (Verdict.Lost or Verdict.InDoubt))
        {
            return conclusion;
        }

        BlockEvidence withoutUndecided = evidence with { Records = Final(evidence) is { } final ? [final] : null };
        return Of(withoutUndecided, new BlockImages(buffers, SpaceShape.BlockSize, 0, answered));
    }

    /// <summary>Returns the newest record that cannot be undone; null: the entry is older than all records.</summary>
    internal static WriteRecord? Final(in BlockEvidence evidence) =>
        evidence.Records is { } records && FinalOf(evidence) is >= 0 and var final ? records[final] : null;

    /// <summary>Returns the checksum that a marked block is to have: that of the newest value which cannot be undone.</summary>
    internal static uint ExpectedChecksum(in BlockEvidence evidence) => Final(evidence)?.Checksum ?? evidence.Checksum;

    /// <summary>Number of the last record that nothing older counts beyond; −1: none.</summary>
    private static int FinalOf(in BlockEvidence evidence)
    {
        List<WriteRecord> records = evidence.Records ?? s_none;
        int i = records.Count - 1;
        while (i >= 0 && records[i] is { IsData: true, IsAcknowledged: false } && !(evidence.HasEntry && records[i].Checksum == evidence.Checksum))
        {
            i--;
        }

        return i;
    }

    /// <summary>Returns the first image with a checksum; −1: none.</summary>
    private static int Find(uint checksum, in BlockImages images)
    {
        for (int rest = images.Answered; rest != 0; rest &= rest - 1)
        {
            int image = BitOperations.TrailingZeroCount(rest);
            if (Crc32c.Compute(images[image]) == checksum)
            {
                return image;
            }
        }

        return -1;
    }

    /// <summary>Returns the first image each sector of which is one of some recorded writes, from a record on; −1: none.</summary>
    private static int FindMixed(List<WriteRecord> records, int first, in BlockImages images)
    {
        for (int rest = first < records.Count ? images.Answered : 0; rest != 0; rest &= rest - 1)
        {
            int image = BitOperations.TrailingZeroCount(rest);
            if (IsMixOf(records, first, SectorChecksums.Of(images[image])))
            {
                return image;
            }
        }

        return -1;
    }

    private static bool IsMixOf(List<WriteRecord> records, int first, in SectorChecksums found)
    {
        for (int sector = 0; sector < SectorChecksums.Count; sector++)
        {
            bool isRecorded = false;
            for (int i = first; i < records.Count && !isRecorded; i++)
            {
                isRecorded = records[i].Sectors is { } sectors && sectors[sector] == found[sector];
            }

            if (!isRecorded)
            {
                return false;
            }
        }

        return true;
    }
}
