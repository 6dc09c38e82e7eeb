using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

/// <summary>One block of the journal as every disk is to have it.</summary>
/// <param name="Header">Header of the block.</param>
/// <param name="Chain">Running checksum with it.</param>
/// <param name="Payload">Its bytes of records.</param>
internal sealed record JournalEntry(MetadataBlock Header, uint Chain, ReadOnlyMemory<byte> Payload)
{
    private const int MostBlocksAtOnce = 16;

    /// <summary>The journal up to and with this block.</summary>
    internal JournalPosition Position => new(Header.Sequence, Header.Session, Chain);

    /// <summary>Cuts records into the blocks of one group that follows <paramref name="head"/>.</summary>
    internal static List<JournalEntry> Cut(ReadOnlyMemory<byte> bytes, JournalPosition head, ulong session, ulong durable)
    {
        int count = Math.Max(1, (bytes.Length + MetadataBlock.PayloadCapacity - 1) / MetadataBlock.PayloadCapacity);
        List<JournalEntry> entries = new(count);
        for (int i = 0; i < count; i++)
        {
            int start = i * MetadataBlock.PayloadCapacity;
            ReadOnlyMemory<byte> payload = bytes.Slice(start, Math.Min(MetadataBlock.PayloadCapacity, bytes.Length - start));
            MetadataBlock header = new(session, head.Sequence + 1, durable, head.Chain, (ushort)i, (ushort)count);
            JournalEntry entry = new(header, header.Chain(payload.Span), payload);
            entries.Add(entry);
            head = entry.Position;
        }

        return entries;
    }

    /// <summary>Writes blocks with rising sequences to their places on one disk, and flushes.</summary>
    internal static async LaneTask<IoError> Write(MemberDisk member, List<JournalEntry> entries)
    {
        for (int at = 0; at < entries.Count;)
        {
            int count = RunLength(member.Layout, entries, at);
            byte[] bytes = new byte[count * PoolBlock.Size];
            for (int i = 0; i < count; i++)
            {
                JournalEntry entry = entries[at + i];
                PoolBlock place = member.Place(member.Layout.JournalBlock(entry.Header.Sequence));
                entry.Header.Encode(bytes.AsSpan(i * PoolBlock.Size), place, entry.Payload.Span);
            }

            IoError error = await member.Write(member.Layout.JournalBlock(entries[at].Header.Sequence), bytes);
            if (error != IoError.None)
            {
                return error;
            }

            at += count;
        }

        IoError flushed = await member.Flush();
        if (flushed == IoError.None && entries.Count > 0)
        {
            member.ConfirmJournal(entries[^1].Position);
        }

        return flushed;
    }

    // Blocks that are contiguous on the disk: up to the ring's end or a gap.
    private static int RunLength(DiskLayout layout, List<JournalEntry> entries, int at)
    {
        int count = 1;
        while (at + count < entries.Count && count < MostBlocksAtOnce
            && entries[at + count].Header.Sequence == entries[at].Header.Sequence + (ulong)count
            && layout.JournalBlock(entries[at + count].Header.Sequence) != DiskLayout.Journal)
        {
            count++;
        }

        return count;
    }
}
