using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

// The blocks of a parity journal as records. Void ones are left out, and so is one whose last blocks are missing: it was never durable, so nothing of its
// change is in place. The remaining records are possible in the space: their rows, lines and strips exist.

/// <summary>Reads the records of a parity journal. Pure.</summary>
internal static class FoundParityRecords
{
    private const int BlockSize = SpaceShape.BlockSize;

    /// <summary>Returns the records that are to be done again, in their order, and the number of the next one.</summary>
    /// <param name="blocks">Blocks of the journal, in their order.</param>
    /// <param name="shape">Shape of the space.</param>
    /// <param name="rows">Rows of the space.</param>
    /// <exception cref="InvalidDataException">A block is damaged, or a record cannot be in this space.</exception>
    internal static (List<FoundParityRecord> Records, ulong Next) Parse(
        IReadOnlyList<(ulong Sequence, byte[] Payload)> blocks, in SpaceShape shape, int rows)
    {
        List<FoundParityRecord> records = [];
        ulong voidBefore = 0;
        ulong next = 1;
        foreach ((_, byte[] payload) in blocks)
        {
            int offset = 0;
            while (ParityRecord.TryTake(payload, ref offset, out ParityPart part))
            {
                switch (part.Kind)
                {
                    case ParityPartKind.Begin:
                        records.Add(new FoundParityRecord(part.Head));
                        next = Math.Max(next, part.Head.Number + 1);
                        voidBefore = Math.Max(voidBefore, part.Head.VoidBefore);
                        break;
                    case ParityPartKind.Data when records.Count > 0:
                        records[^1].Data.AddRange(payload.AsSpan(part.Start, part.Count));
                        break;
                    case ParityPartKind.Void:
                        voidBefore = Math.Max(voidBefore, part.Head.VoidBefore);
                        break;
                    default:
                        break;   // data of a record that began before the tail: that record is void
                }
            }
        }

        records.RemoveAll(record => record.Head.Number < voidBefore || !record.IsWhole);
        foreach (FoundParityRecord record in records)
        {
            if (WhyImpossible(record.Head, shape, rows) is { Length: > 0 } why)
            {
                throw new InvalidDataException($"record {record.Head.Number}: {why}");
            }
        }

        return (records, Math.Max(next, voidBefore));
    }

    private static string WhyImpossible(in ParityRecordHead head, in SpaceShape shape, int rows)
    {
        ulong strips = shape.Columns == 64 ? ulong.MaxValue : (1UL << shape.Columns) - 1;
        bool areLines = head.SlabOffset >= 0 && head.Length > 0 && (head.SlabOffset | head.Length) % BlockSize == 0
            && head.SlabOffset < shape.UsableSize && head.Length <= shape.UsableSize - head.SlabOffset
            && head.SlabOffset / shape.Interleave == (head.SlabOffset + head.Length - 1) / shape.Interleave;
        return head.Row < 0 || head.Row >= rows ? $"row {head.Row} of {rows}"
            : !areLines ? $"{ByteText.Range(head.SlabOffset, head.Length)} of slabs of {ByteText.Exact(shape.UsableSize)}"
            : ((head.Written | head.Zeroed | head.Poisoned) & ~strips) != 0 ? "strips beyond the last one"
            : ((head.Written & head.Zeroed) | (head.Written & head.Poisoned) | (head.Zeroed & head.Poisoned)) != 0 ? "a strip that changes twice"
            : "";
    }
}
