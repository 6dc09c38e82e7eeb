using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.Resiliency.Layouts;
using TierSpaces.Engine.Tiering;

namespace TierSpaces.Fuzz.Targets;

/// <summary>Blocks of fixed size as they are on a disk. Each decoder answers with its status; none may throw.</summary>
internal static class FormatTargets
{
    private const int Slot = 8192;
    private const int HalfSlots = 16;   // of a record memory

    private static readonly PoolBlock s_place = new(Samples.Pool, Samples.Disk, Slot / PoolBlock.Size);
    private static readonly SpaceShape s_parity = new(3, 1, 65536, 1 << 20, true, 1);
    private static readonly ChecksumPlace s_checksums = new(0x1122334455667788, 7, 3, 1, 2);

    internal static IReadOnlyList<FuzzTarget> All { get; } =
    [
        Block("label", static block => Sealing.PoolBlock(block), Label, Made(static block => Samples.Label.Encode(block, Slot))),
        Block("superblock", static block => Sealing.PoolBlock(block), Superblock, Superblocks()),
        Block("metadata-block", static block => Sealing.MetadataBlock(block), MetadataBlock, MetadataBlocks()),
        Block("checkpoint-page", static block => Sealing.PoolBlock(block), CheckpointPage, CheckpointPages()),
        Block("witness", static block => Sealing.PoolBlock(block),
        Witness, [new WitnessRecord(Samples.Pool, Samples.Id, 4, Samples.View) { History = Samples.History }.Encode()]),
        Block("journal-block", static block => Sealing.JournalBlock(block), JournalBlock, JournalBlocks()),
        Block("checksum-sector", static sector => Sealing.ChecksumSector(sector), ChecksumSector, ChecksumSectors()),
        new("heat-snapshot", [HeatSnapshotOf(20, 400), HeatSnapshotOf(900, 1800)], HeatSnapshot) { IsFixedLength = true,
        Reseal = static blocks => Sealing.HeatSnapshot(blocks) },
        new("heat-file", [HeatSnapshotOf(20, 400), HeatSnapshotOf(900, 1800)], HeatFile) { IsFixedLength = true,
        Reseal = static blocks => Sealing.HeatSnapshot(blocks) },
        new("integrity-log", [IntegrityPayload()], Integrity) { MaxLength = Engine.Formats.JournalBlock.PayloadCapacity },
        new("parity-journal", [ParityPayload()], ParityJournal) { MaxLength = Engine.Formats.JournalBlock.PayloadCapacity, AllocationPerByte = 512 },
        new("crash-notes", [RecordMemoryOf(3, 2), RecordMemoryOf(0, 16)], Notes) { IsFixedLength = true },
        new("foreign-signature", [new byte[8192], Signatures()], Signature) { MaxLength = 300 << 10, Weight = 20 },
    ];

    private static FuzzTarget Block(string name, Action<byte[]> reseal, Func<byte[], string> run, IReadOnlyList<byte[]> seeds) =>
        new(name, seeds, run) { IsFixedLength = true, Reseal = reseal };

    private static byte[][] Made(Action<byte[]> encode)
    {
        byte[] block = new byte[PoolBlock.Size];
        encode(block);
        return [block];
    }

    private static string Label(byte[] block)
    {
        BlockStatus status = DiskLabel.Decode(block, Slot, out DiskLabel? label);
        if ((status == BlockStatus.Intact) != label is not null)
        {
            throw new WrongAnswerException($"a label that is {status} and {(label is null ? "not " : "")}there");
        }

        if (label is not null && DiskLayout.TryCreate(label.DiskBytes, label.Slabs, out DiskLayout layout, out _)
            && (layout.Heap < 0 || layout.SlabCount == 0 || layout.SlabOffset(layout.SlabCount - 1) + layout.Slabs.Stride > layout.SuperblockRingB))
        {
            throw new WrongAnswerException("a label whose areas overlap");
        }

        return $"{status} {label?.Features.UnsupportedReason}";
    }

    private static byte[][] Superblocks() =>
    [
        .. Made(static block => Samples.Superblock.Encode(block, Samples.Pool, Samples.Disk, Slot)),
        .. Made(static block =>
            (Samples.Superblock with { View = Samples.View with { Prior = null }, IsForming = true }).Encode(block, Samples.Pool, Samples.Disk, Slot)),
    ];

    private static string Superblock(byte[] block)
    {
        BlockStatus status = Engine.Formats.Superblock.Decode(block, Samples.Pool, Samples.Disk, Slot, out Superblock? read);
        if (read is null)
        {
            return status == BlockStatus.Intact ? throw new WrongAnswerException("an intact superblock that is not there") : $"{status}";
        }

        Judge(read.View);
        return $"{status} {read.IsClean} {read.IsForming} {read.Features.UnsupportedReason} {read.View.Prior is null} {read.View.Votes.WitnessVotes}";
    }

    private static void Judge(PoolView view)
    {
        if (view.MetadataDisks.Length is < 1 or > PoolView.MaxMetadataDisks || view.Members.Length is < 1 or > PoolView.MaxMembers
            || view.Contains(DiskNumber.None) || view.Prior is { Disks.Length: < 1 or > PoolView.MaxMetadataDisks })
        {
            throw new WrongAnswerException("a view that cannot be");
        }
    }

    private static byte[][] MetadataBlocks()
    {
        byte[] records = Samples.Encode([.. Samples.Records.Take(3)]);
        return
        [
            .. Made(block => new MetadataBlock(3, 91, 90, 0xABCDEF01, 0, 2).Encode(block, s_place, records)),
            .. Made(static block => new MetadataBlock(3, 1, 0, 0, 0, 1).Encode(block, s_place, [])),
        ];
    }

    private static string MetadataBlock(byte[] block) =>
        Engine.Formats.MetadataBlock.TryDecode(block, s_place, out MetadataBlock header, out _, out ReadOnlySpan<byte> payload)
            ? $"whole {header.IsLast} {MetadataCodec.TryDecodeAll(payload, [], out string reason)} {reason}"
            : "refused";

    private static byte[][] CheckpointPages()
    {
        byte[] root = Samples.Encode(static to =>
        {
            to.U64(7);
            new JournalPosition(90, 3, 0xABCDEF01).Encode(to);
            new PageReference(12, 0x12345678).Encode(to);
        });
        return
        [
            .. Made(block => new CheckpointPage(7, new PageKey(PageKind.Root, default, 0, 0)).Encode(block, s_place, root)),
            .. Made(block => new CheckpointPage(7, new PageKey(PageKind.Table, default, 0, 1)).Encode(block, s_place, root.AsSpan(28))),
            .. Made(static block =>
                new CheckpointPage(7, new PageKey(PageKind.Disk, Samples.Id, 4, 2)).Encode(block, s_place, Samples.Encode(Samples.Records[1]))),
        ];
    }

    private static string CheckpointPage(byte[] block)
    {
        if (!Engine.Formats.CheckpointPage.TryDecode(block, s_place, out CheckpointPage page, out ReadOnlySpan<byte> contents))
        {
            return "refused";
        }

        ByteReader from = new(contents);
        if (page.Key.Kind == PageKind.Root)
        {
            _ = from.U64();
            JournalPosition.Decode(ref from);
        }

        if (page.Key.Kind is not (PageKind.Root or PageKind.Table))
        {
            return $"{page.Key.Kind} {MetadataCodec.TryDecodeAll(contents, [], out string reason)} {reason}";
        }

        PageReference.DecodeAll(ref from);
        return $"{page.Key.Kind} {from.Failed}";
    }

    private static string Witness(byte[] block)
    {
        if (WitnessRecord.Decode(block, Samples.Pool, Samples.Id) is not { } record)
        {
            return "refused";
        }

        Judge(record.View);
        return $"read {record.View.Prior is null}";
    }

    private static byte[][] JournalBlocks()
    {
        byte[] block = new byte[Engine.Formats.JournalBlock.Size];
        byte[] payload = IntegrityPayload();
        payload.CopyTo(block, Engine.Formats.JournalBlock.PayloadOffset);
        new JournalBlock(Samples.Id, 9, 40, 39, 30, 0x1234, payload.Length).Seal(block);
        return [block];
    }

    private static string JournalBlock(byte[] block) =>
        Engine.Formats.JournalBlock.TryRead(block, Samples.Id, out JournalBlock header, out _)
            ? $"whole {Walk(block.AsSpan(Engine.Formats.JournalBlock.PayloadOffset, header.PayloadLength))}"
            : "refused";

    private static byte[][] ChecksumSectors()
    {
        byte[] sector = new byte[Engine.Formats.ChecksumSector.Size];
        Engine.Formats.ChecksumSector.Write(sector, s_checksums, 5, 77, new uint[64], new ushort[64]);
        return [sector];
    }

    private static string ChecksumSector(byte[] sector)
    {
        Span<uint> checksums = stackalloc uint[Engine.Formats.ChecksumSector.Entries];
        Span<ushort> generations = stackalloc ushort[Engine.Formats.ChecksumSector.Entries];
        return Engine.Formats.ChecksumSector.TryRead(sector, s_checksums, 5, out _, checksums, generations) ? "whole" : "refused";
    }

    private static byte[] HeatSnapshotOf(int first, int second)
    {
        HeatMap map = new(HeatSettings.Default, 2000);
        map.Record(first << 20, 4096, isWrite: false, 0);
        map.Record(second << 20, 1 << 20, isWrite: true, 0);
        HeatSnapshotWriter writer = new(map, Samples.Id, 3, 638_000_000_000_000_000, 0);
        byte[] area = new byte[2 * Engine.Formats.HeatSnapshot.BlockSize];
        writer.Next(area);
        writer.Next(area.AsSpan(Engine.Formats.HeatSnapshot.BlockSize));
        return area;
    }

    private static string HeatFile(byte[] file)
    {
        HeatFileReader reader = new(HeatSettings.Default with { SliceBytes = 4 << 20 }, 500, 639_000_000_000_000_000, 5);
        string? trouble = null;
        for (int at = 0; at < file.Length; at += Engine.Formats.HeatSnapshot.BlockSize)
        {
            trouble = reader.Add(file.AsSpan(at));
        }

        double total = reader.Map?.Total(5) ?? 0;
        return (reader.Map is null || trouble is null) && total is >= 0 and < 1e30
            ? $"{(reader.Map is null ? "none" : "whole")} {total > 0}"
            : throw new WrongAnswerException($"a heat of {total}, {trouble}");
    }

    private static string HeatSnapshot(byte[] area)
    {
        HeatSnapshotReader? reader = HeatSnapshotReader.Newest(
            area, [], static () => new HeatSnapshotReader(Samples.Id, HeatSettings.Default, 2000, 639_000_000_000_000_000, 5));
        double total = reader?.Map?.Total(5) ?? 0;
        return total is >= 0 and < 1e30
            ? $"{(reader is null ? "none" : "whole")} {total > 0}"
            : throw new WrongAnswerException($"a heat of {total}");
    }

    private static byte[] ParityPayload()
    {
        byte[] strips = new byte[2 * SpaceShape.BlockSize];
        byte[] payload = new byte[Engine.Formats.JournalBlock.PayloadCapacity];
        Span<byte> to = payload;
        ParityRecord.WriteHead(to, new ParityRecordHead(7, 6, 1, 4096, 4096, 0, 0b1, 0b100));
        ParityRecord.WriteVoid(to[ParityRecord.HeadSize..], 6);
        to = to[(ParityRecord.HeadSize + ParityRecord.VoidSize)..];
        ParityRecord.WriteHead(to, new ParityRecordHead(8, 6, 0, 0, 4096, 0b110, 0b1, 0));
        to = to[ParityRecord.HeadSize..];
        ParityRecord.WriteData(to, strips.AsSpan(0, to.Length - ParityRecord.DataHeadSize));
        return payload;
    }

    // The payload twice: a record whose bytes do not fit in one block goes on in the next.
    private static string ParityJournal(byte[] payload)
    {
        try
        {
            (List<FoundParityRecord> records, _) = FoundParityRecords.Parse([(1, payload), (2, payload)], s_parity, rows: 4);
            foreach (FoundParityRecord record in records)
            {
                if (record.Head.Row > 3 || record.Head.SlabOffset > s_parity.UsableSize - record.Head.Length || (record.Head.Written >> 3) != 0)
                {
                    throw new WrongAnswerException("a record outside its space");
                }
            }

            return string.Concat(records.Select(static record => $"{Letters.Of((uint)record.Head.Written)} {Letters.Of((uint)record.Head.Poisoned)},"));
        }
        catch (InvalidDataException damage)
        {
            return damage.Message;
        }
    }

    private static byte[] IntegrityPayload()
    {
        byte[] payload = new byte[200];
        IntegrityRecord.WriteMark(payload, IntegrityKind.Dirty, 3, 1, 7);
        IntegrityRecord.WriteMark(payload.AsSpan(8), IntegrityKind.Clean, 3, 1, 7);
        IntegrityRecord.WriteEntries(payload.AsSpan(16), 3, 1, 0, [new(5, 1, 0x1234), new(511, 0, 0)]);
        IntegrityRecord.WriteZeroed(payload.AsSpan(44), 3, 0, 8, 20);
        IntegrityRecord.WriteFound(payload.AsSpan(60), 3, 1, 9, 0x5678, true, [1, 2, 3, 4, 5, 6, 7, 8]);
        return payload;
    }

    private static string Integrity(byte[] payload) => Walk(payload);

    private static string Walk(ReadOnlySpan<byte> payload)
    {
        int kinds = 0;
        try
        {
            while (IntegrityRecord.TryTake(ref payload, out IntegrityItem item))
            {
                kinds |= 1 << (int)item.Kind;
                long sum = item.Row + item.Column + item.Region;
                sum += item.Kind == IntegrityKind.Zeroed ? item.FirstBlock + item.BlockCount : 0;
                sum += item.Kind == IntegrityKind.Found && item.HasSectors ? item.Checksum + item.Sector(IntegrityRecord.SectorsPerBlock - 1) : 0;
                for (int i = 0; item.Kind == IntegrityKind.Entries && i < item.EntryCount; i++)
                {
                    sum += item.Entry(i).Block + item.Page;
                }

                kinds |= sum == long.MinValue ? 1 : 0;   // every field has been read
            }

            return $"ends after {Letters.Of((uint)kinds)}";
        }
        catch (InvalidDataException problem)
        {
            return problem.Message;
        }
    }

    private static byte[] RecordMemoryOf(int first, int second) => NativeCopy.Use(new byte[RecordMemory.SizeFor(HalfSlots)], memory =>
    {
        RecordMemory notes = new(memory);
        notes.Start(9, WriteKnowledge.Whole);
        for (int i = 0; i < first; i++)
        {
            notes.Add(i, (uint)i, SectorChecksums.Of(new byte[4096]));
        }

        notes.Switch();
        for (int i = 0; i < second; i++)
        {
            notes.AddZeroed(i);
        }

        return memory.Span.ToArray();
    });

    private static string Notes(byte[] bytes) => NativeCopy.Use(bytes, static memory =>
    {
        List<WriteRecord> notes = new RecordMemory(memory).TakeOver(9).Records;
        return notes.Count > 2 * HalfSlots ? throw new WrongAnswerException($"{notes.Count} notes in {2 * HalfSlots} slots") : $"{notes.Count > 0}";
    });

    private static byte[] Signatures()
    {
        byte[] disk = new byte[70 << 10];
        "EFI PART"u8.CopyTo(disk.AsSpan(512));
        disk[510] = 0x55;
        disk[511] = 0xAA;
        return disk;
    }

    private static string Signature(byte[] disk) => ForeignSignature.Find(
        disk.AsSpan(0, Math.Min(disk.Length, ForeignSignature.HeadBytes)), disk.AsSpan(Math.Max(0, disk.Length - ForeignSignature.TailBytes)), disk.Length);
}
