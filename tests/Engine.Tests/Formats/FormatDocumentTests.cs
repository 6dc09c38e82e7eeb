using System.Globalization;
using System.Text;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Tests.Architecture;

namespace TierSpaces.Engine.Tests.Formats;

/// <summary>
/// Prints every layout into docs/on-disk-format.md and compares. A difference is a change of the format: on purpose, run
/// with TIERSPACES_UPDATE_SNAPSHOTS=1 and commit it; otherwise it is a mistake.
/// </summary>
public sealed class FormatDocumentTests
{
    private const string Begin = "<!-- tables: printed by FormatDocumentTests, do not edit by hand -->";
    private const string End = "<!-- end of tables -->";

    [Fact]
    public void The_document_shows_the_format()
    {
        string path = Path.Combine(SourceTree.Root(), "docs", "on-disk-format.md");
        string text = File.ReadAllText(path);
        int begin = text.IndexOf(Begin, StringComparison.Ordinal) + Begin.Length;
        int end = text.IndexOf(End, StringComparison.Ordinal);
        Assert.True(begin >= Begin.Length && end >= begin, $"{path} lacks the marks around its tables.");
        string tables = Print();
        if (Environment.GetEnvironmentVariable("TIERSPACES_UPDATE_SNAPSHOTS") == "1")
        {
            File.WriteAllText(path, text[..begin] + tables + text[end..]);
            return;
        }

        Assert.Equal(tables, text[begin..end]);
    }

    private static string Print()
    {
        StringBuilder to = new();
        Areas(to);
        Block(to, "Header of every pool metadata block", PoolBlock.Layout, null);
        Block(to, "Label", DiskLabel.Layout, PoolBlockTests.Make("label"));
        Block(to, "Superblock", Superblock.Layout, PoolBlockTests.Make("superblock"));
        Block(to, "Lease block", LeaseBlock.Layout, null);
        Block(to, "Claim to the lease", LeaseClaim.Layout, null);
        Block(to, "Metadata journal block", MetadataBlock.Layout, PoolBlockTests.Make("journal block"));
        Block(to, "Checkpoint page", CheckpointPage.Layout, PoolBlockTests.Make("checkpoint page"));
        Records(to);
        Block(to, "Journal block of a space", JournalBlock.Layout, null);
        Block(to, "Checksum page sector", ChecksumSector.Layout, null);
        Block(to, "Integrity log record", IntegrityRecord.Layout, null);
        Block(to, "Header of a write cache's record", CacheRecord.Layout, null);
        Block(to, "Beginning of the payload of a summary in a write cache", CacheSummary.Layout, null);
        Block(to, "Write cache anchor", CacheAnchor.Layout, null);
        Block(to, "Block of a snapshot of heat", HeatSnapshot.Layout, null);
        return to.ToString();
    }

    private static void Areas(StringBuilder to)
    {
        to.Append("\n\n### Areas by size of the disk\n\nA pool whose smallest disk has this size; MiB unless said.\n\n");
        to.Append("| Disk | Slab | Checksum pages of a slab | Journal ring | Checkpoint heap | First slab at | Slabs | Not for data |\n");
        to.Append("|---|---|---|---|---|---|---|---|\n");
        foreach (long bytes in (long[])[16 << 20, 64 << 20, 256 << 20, 512 << 20, 1L << 30, 8L << 30, 64L << 30, 1L << 40, 16L << 40])
        {
            SlabGeometry slabs = SlabGeometry.ForSmallestDisk(bytes);
            Assert.True(DiskLayout.TryCreate(bytes, slabs, out DiskLayout layout, out _));
            string share = (layout.ReservedBytes * 100.0 / bytes).ToString("0.0", CultureInfo.InvariantCulture);
            to.Append(CultureInfo.InvariantCulture,
                $"| {Size(bytes)} | {Size(slabs.DataBytes)} | {slabs.ChecksumPages} | {Size(layout.JournalBytes)} | {Size(layout.HeapBytes)} "
                + $"| {Size(layout.SlabArea)} | {layout.SlabCount} | {share} % |\n");
        }

        to.Append(CultureInfo.InvariantCulture, $"\nThe smallest disk has {DiskLayout.SmallestDisk} bytes.\n");
    }

    private static void Block(StringBuilder to, string name, IReadOnlyList<(int Offset, int Length, string Name)> layout, byte[]? sample)
    {
        to.Append(CultureInfo.InvariantCulture, $"\n### {name}\n\n| Offset | Bytes | Field |\n|---|---|---|\n");
        foreach ((int offset, int length, string field) in layout)
        {
            bool follows = length == 0 || (offset == 0 && field.StartsWith("view", StringComparison.Ordinal));
            to.Append(CultureInfo.InvariantCulture, $"| {(offset == 0 && follows ? "then" : offset)} | {(follows ? "varies" : length)} | {field} |\n");
        }

        if (sample is not null)
        {
            to.Append(CultureInfo.InvariantCulture, $"\nThe test's sample has CRC32C {Crc32c.Compute(sample):X8}.\n");
        }
    }

    private static void Records(StringBuilder to)
    {
        to.Append("\n### Metadata records\n\nFrame: kind (2), version (1), flags (1: may be skipped), bytes of body (4), body. ");
        to.Append("A name or text is its length in bytes (2) and UTF-8.\n\n| Kind | Record | Body | Sample: bytes, CRC32C |\n|---|---|---|---|\n");
        foreach ((MetadataRecord record, string body) in RecordSamples.All)
        {
            ByteWriter bytes = new();
            MetadataCodec.Encode(record, bytes);
            to.Append(CultureInfo.InvariantCulture,
                $"| {(ushort)record.Kind} | {record.Kind} | {body} | {bytes.Length}, {Crc32c.Compute(bytes.Written):X8} |\n");
        }
    }

    private static string Size(long bytes) => bytes switch
    {
        >= 1L << 40 when bytes % (1L << 40) == 0 => $"{bytes >> 40} TiB",
        >= 1L << 30 when bytes % (1L << 30) == 0 => $"{bytes >> 30} GiB",
        >= 1L << 20 when bytes % (1L << 20) == 0 => $"{bytes >> 20}",
        _ => $"{bytes >> 10} KiB",
    };
}
