using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Tests.Resiliency;

/// <summary>The decision table of recovery, a row at a time.</summary>
public sealed class JudgementTests : IDisposable
{
    private const int Block = 4096;
    private const byte V0 = 10, V1 = 11, V2 = 12, Rot = 99;

    private readonly BufferPool _buffers = new();

    public void Dispose() => _buffers.Dispose();

    /// <summary>
    /// Rows: entry ("-" never written, "L" poisoned, "U" unknown, "M" marked v0, "0" to "2" v0 to v2), records, images, away, may adopt, expected.
    /// </summary>
    [Theory]
    // Nothing recorded: the entry decides.
    [InlineData("0", "", "0", false, false, "proven 0")]
    [InlineData("0", "", "r0", false, false, "proven 1")]
    [InlineData("0", "", "rr", false, false, "lost")]
    [InlineData("0", "", "r", true, false, "doubt")]
    [InlineData("0", "", "", false, false, "lost")]
    [InlineData("-", "", "rr", false, true, "never")]
    [InlineData("L", "", "rr", false, true, "lost")]
    [InlineData("U", "", "rr", true, true, "doubt")]
    // After a stop of the machine a value without proof is taken, but for what is marked or has records.
    [InlineData("0", "", "rr", false, true, "adopted 0")]
    [InlineData("0", "", ".r", true, true, "adopted 1")]
    [InlineData("0", "", "r0", false, true, "proven 1")]
    [InlineData("0", "", "..", false, true, "lost")]
    [InlineData("M", "", "rr", false, true, "lost")]
    [InlineData("M", "", "r0", false, true, "proven 1")]
    [InlineData("0", "1?", "rr", false, true, "lost")]
    // A write in flight leaves both values legal, the newer one first.
    [InlineData("0", "1?", "01", false, false, "proven 1")]
    [InlineData("0", "1?", "00", false, false, "proven 0")]
    [InlineData("0", "1?", "0r", false, false, "proven 0")]
    [InlineData("0", "1?2?", "012", false, false, "proven 2")]
    // An acknowledged one is never undone.
    [InlineData("0", "1a", "0", false, false, "lost")]
    [InlineData("0", "1a", "0", true, false, "doubt")]
    [InlineData("0", "1a", "01", false, false, "proven 1")]
    [InlineData("0", "1a2?", "01", false, false, "proven 1")]
    [InlineData("0", "1a2?", "20", false, false, "proven 0")]
    [InlineData("0", "1?2a", "11", false, false, "lost")]
    [InlineData("-", "1a", "r", false, false, "lost")]
    [InlineData("L", "1a", "1", false, false, "proven 0")]
    [InlineData("U", "1a", "1", false, false, "proven 0")]
    // First writes in flight: nothing was there before.
    [InlineData("-", "1?", "r", false, false, "never")]
    [InlineData("-", "1?", "1", false, false, "proven 0")]
    // Zeroing is proven by its record, and nothing older counts.
    [InlineData("0", "z", "00", false, false, "never")]
    [InlineData("0", "1az", "11", false, false, "never")]
    [InlineData("0", "z1?", "01", false, false, "proven 1")]
    [InlineData("0", "z1?", "00", false, false, "never")]
    [InlineData("0", "z1a", "00", false, false, "lost")]
    // A write that the entry names was flushed: nothing older counts, although its record is not acknowledged after lost caches.
    [InlineData("1", "z1?", "rr", false, false, "lost")]
    [InlineData("1", "z1?", "rr", true, false, "doubt")]
    [InlineData("1", "z1?", "r1", false, false, "proven 1")]
    [InlineData("2", "1?2?", "1r", false, false, "lost")]
    [InlineData("2", "1?2?", "12", false, false, "proven 1")]
    [InlineData("1", "1?2?", "1r", false, false, "proven 0")]
    [InlineData("1", "1?z", "rr", false, false, "never")]
    // Writes in flight arrive in part: every sector has to be one of a legal recorded write.
    [InlineData("0", "1a2?", "m", false, false, "proven 0")]
    [InlineData("0", "1?2?", "m", false, false, "proven 0")]
    [InlineData("0", "2?", "m", false, false, "lost")]
    [InlineData("0", "1?2a", "m", false, false, "lost")]
    public void A_block_is_what_the_table_says(string entry, string records, string images, bool isAway, bool mayAdopt, string expected)
    {
        ushort generation = entry switch
        {
            "-" => ChecksumSector.NeverWritten,
            "L" => ChecksumSector.Poisoned,
            "U" => ChecksumSector.Unknown,
            "M" => ChecksumSector.Marked,
            _ => 5,
        };
        uint checksum = entry switch { "0" or "M" => Checksum(V0), "1" => Checksum(V1), "2" => Checksum(V2), _ => 0 };
        BlockEvidence evidence = new(generation, checksum, RecordsOf(records), isAway, mayAdopt);
        IoBuffer buffers = _buffers.Rent(Math.Max(1, images.Length) * Block);
        int answered = 0;
        for (int image = 0; image < images.Length; image++)
        {
            Fill(images[image], buffers.Slice(image * Block, Block).Span);
            answered |= images[image] == '.' ? 0 : 1 << image;
        }

        Conclusion conclusion = Judgement.Of(evidence, new BlockImages(buffers, Block, 0, answered));
        Assert.Equal(expected, conclusion.Verdict switch
        {
            Verdict.Proven => $"proven {conclusion.Image}",
            Verdict.Adopted => $"adopted {conclusion.Image}",
            Verdict.NeverWritten => "never",
            Verdict.InDoubt => "doubt",
            _ => "lost",
        });
        _buffers.Return(buffers);
    }

    [Theory]
    [InlineData("", V0)]
    [InlineData("1?", V0)]
    [InlineData("1a2?", V1)]
    public void A_marked_block_is_to_have_the_newest_value_that_cannot_be_undone(string records, byte expected) => Assert.Equal(
        Checksum(expected), Judgement.ExpectedChecksum(new BlockEvidence(5, Checksum(V0), RecordsOf(records), false, false)));

    private static List<WriteRecord>? RecordsOf(string records)
    {
        List<WriteRecord> list = [];
        for (int i = 0; i < records.Length; i++)
        {
            if (records[i] == 'z')
            {
                list.Add(new WriteRecord(1, 0, true, true, null));
                continue;
            }

            byte value = (byte)(V0 + (records[i] - '0'));
            list.Add(new WriteRecord(1, Checksum(value), false, records[++i] == 'a', SectorChecksums.Of(Filled(value))));
        }

        return list.Count == 0 ? null : list;
    }

    private static void Fill(char image, Span<byte> block)
    {
        block.Fill(image switch { '0' => V0, '1' => V1, '2' => V2, _ => Rot });
        if (image == 'm')
        {
            block[..2048].Fill(V1);
            block[2048..].Fill(V2);
        }
    }

    private static byte[] Filled(byte value)
    {
        byte[] block = new byte[Block];
        block.AsSpan().Fill(value);
        return block;
    }

    private static uint Checksum(byte value) => Crc32c.Compute(Filled(value));
}
