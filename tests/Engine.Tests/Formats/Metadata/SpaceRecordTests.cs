using TierSpaces.Engine.Formats;

namespace TierSpaces.Engine.Tests.Formats;

public class SpaceRecordTests
{
    private const int Cases = 100_000;

    [Fact]
    public void A_journal_block_reads_back_and_no_flipped_byte_is_accepted()
    {
        Random random = new(21);
        byte[] block = new byte[JournalBlock.Size];
        Guid owner = Guid.NewGuid();
        for (int i = 0; i < Cases; i++)
        {
            random.NextBytes(block);
            ulong sequence = 1 + (ulong)random.NextInt64(1 << 40);
            JournalBlock header = new(
                owner, (ulong)random.NextInt64(), sequence, (ulong)random.NextInt64((long)sequence), 1 + (ulong)random.NextInt64((long)sequence),
                (uint)random.Next(), random.Next(JournalBlock.PayloadCapacity + 1));
            header.Seal(block);
            Assert.True(JournalBlock.TryRead(block, owner, out JournalBlock read, out _));
            Assert.Equal(header, read);
            block[random.Next(block.Length)] ^= (byte)(1 << random.Next(8));
            Assert.False(JournalBlock.TryRead(block, owner, out _, out _));
        }
    }

    [Fact]
    public void A_checksum_sector_reads_back_only_at_its_place_and_no_flipped_byte_is_accepted()
    {
        Random random = new(22);
        byte[] sector = new byte[ChecksumSector.Size];
        uint[] checksums = new uint[ChecksumSector.Entries], readChecksums = new uint[ChecksumSector.Entries];
        ushort[] generations = new ushort[ChecksumSector.Entries], readGenerations = new ushort[ChecksumSector.Entries];
        for (int i = 0; i < Cases; i++)
        {
            ChecksumPlace place = new((ulong)random.NextInt64(), (uint)random.Next(), random.Next(), random.Next(65536), random.Next(65536));
            for (int k = 0; k < checksums.Length; k++)
            {
                checksums[k] = (uint)random.Next();
                generations[k] = (ushort)random.Next(65536);
            }

            int index = random.Next(8);
            ulong sequence = (ulong)random.NextInt64();
            ChecksumSector.Write(sector, place, index, sequence, checksums, generations);
            Assert.True(ChecksumSector.TryRead(sector, place, index, out ulong read, readChecksums, readGenerations));
            Assert.Equal(sequence, read);
            Assert.True(checksums.AsSpan().SequenceEqual(readChecksums) && generations.AsSpan().SequenceEqual(readGenerations));
            Assert.False(ChecksumSector.TryRead(sector, place with { Row = place.Row ^ 1 }, index, out _, readChecksums, readGenerations));
            Assert.False(ChecksumSector.TryRead(sector, place, index ^ 1, out _, readChecksums, readGenerations));
            sector[random.Next(sector.Length)] ^= (byte)(1 << random.Next(8));
            Assert.False(ChecksumSector.TryRead(sector, place, index, out _, readChecksums, readGenerations));
        }
    }

    [Fact]
    public void Integrity_records_read_back_in_order_and_random_bytes_never_do_more_than_end_or_refuse()
    {
        Random random = new(23);
        byte[] payload = new byte[JournalBlock.PayloadCapacity];
        for (int i = 0; i < Cases; i++)
        {
            Array.Clear(payload);
            int row = random.Next(), column = random.Next(64), page = random.Next(128);
            IntegrityEntry[] entries = new IntegrityEntry[1 + random.Next(20)];
            for (int k = 0; k < entries.Length; k++)
            {
                entries[k] = new IntegrityEntry((ushort)random.Next(512), (ushort)random.Next(65536), (uint)random.Next());
            }

            IntegrityRecord.WriteMark(payload, IntegrityKind.Dirty, row, column, 7);
            IntegrityRecord.WriteEntries(payload.AsSpan(IntegrityRecord.MarkSize), row, column, page, entries);
            int end = IntegrityRecord.MarkSize + IntegrityRecord.EntriesHeaderSize + (entries.Length * IntegrityRecord.EntrySize);
            IntegrityRecord.WriteZeroed(payload.AsSpan(end), row, column, 3, 9);
            IntegrityRecord.WriteFound(payload.AsSpan(end + IntegrityRecord.ZeroedSize), row, column, 11, 0xABCD, true, [1, 2, 3, 4, 5, 6, 7, 8]);
            Check(payload, row, column, page, entries);
            random.NextBytes(payload);
            Walk(payload);
        }
    }

    private static void Check(ReadOnlySpan<byte> payload, int row, int column, int page, IntegrityEntry[] entries)
    {
        Assert.True(IntegrityRecord.TryTake(ref payload, out IntegrityItem mark));
        Assert.Equal((IntegrityKind.Dirty, row, column, 7), (mark.Kind, mark.Row, mark.Column, mark.Region));
        Assert.True(IntegrityRecord.TryTake(ref payload, out IntegrityItem logged));
        Assert.Equal((IntegrityKind.Entries, row, column, page, entries.Length), (logged.Kind, logged.Row, logged.Column, logged.Page, logged.EntryCount));
        for (int k = 0; k < entries.Length; k++)
        {
            Assert.Equal(entries[k], logged.Entry(k));
        }

        Assert.True(IntegrityRecord.TryTake(ref payload, out IntegrityItem zeroed));
        Assert.Equal((IntegrityKind.Zeroed, 3, 9), (zeroed.Kind, zeroed.FirstBlock, zeroed.BlockCount));
        Assert.True(IntegrityRecord.TryTake(ref payload, out IntegrityItem first));
        Assert.Equal((IntegrityKind.Found, row, column, 11, 0xABCDu), (first.Kind, first.Row, first.Column, first.FirstBlock, first.Checksum));
        Assert.Equal((true, 1u, 8u), (first.HasSectors, first.Sector(0), first.Sector(IntegrityRecord.SectorsPerBlock - 1)));
        Assert.False(IntegrityRecord.TryTake(ref payload, out _));
    }

    private static void Walk(ReadOnlySpan<byte> payload)
    {
        try
        {
            for (int taken = 0; IntegrityRecord.TryTake(ref payload, out IntegrityItem item); taken++)
            {
                Assert.True(taken < JournalBlock.PayloadCapacity && item.Kind is >= IntegrityKind.Dirty and <= IntegrityKind.Found);
            }
        }
        catch (InvalidDataException)
        {
            // refused: what random bytes deserve
        }
    }
}
