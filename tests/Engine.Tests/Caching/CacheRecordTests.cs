using TierSpaces.Engine.Formats;

namespace TierSpaces.Engine.Tests.Caching;

public class CacheRecordTests
{
    private static readonly Guid s_owner = new(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);

    [Fact]
    public void A_record_comes_back_as_it_was_written()
    {
        byte[] header = Sealed(out CacheRecord written, out uint checksum);
        Assert.True(CacheRecord.TryRead(header, s_owner, 77, out CacheRecord read, out uint found));
        Assert.Equal((written, checksum), (read, found));
        Assert.True(read.IsSound(header, 1000, 1000));
        Assert.False(read.IsSound(header, 1000, 900));
        Assert.Equal(new CacheExtent(500, 3, CacheExtentKind.Data), CacheRecord.ExtentAt(header, 0));
        Assert.Equal(new CacheExtent(10, 990, CacheExtentKind.Unmapped), CacheRecord.ExtentAt(header, 1));
        Assert.Equal([7u, 8u, 9u], CacheRecord.Checksums(header)[..3].ToArray());
    }

    [Fact]
    public void Any_flipped_bit_and_any_other_place_or_owner_is_noticed()
    {
        byte[] header = Sealed(out _, out _);
        for (int at = 0; at < header.Length; at++)
        {
            header[at] ^= (byte)(1 << (at % 8));
            Assert.False(CacheRecord.TryRead(header, s_owner, 77, out _, out _), $"byte {at}");
            header[at] ^= (byte)(1 << (at % 8));
        }

        Assert.False(CacheRecord.TryRead(header, s_owner, 78, out _, out _));
        Assert.False(CacheRecord.TryRead(header, Guid.Empty, 77, out _, out _));
    }

    [Theory]
    [InlineData(-1, 1, CacheExtentKind.Unmapped)]
    [InlineData(0, 0, CacheExtentKind.Unmapped)]
    [InlineData(999, 2, CacheExtentKind.Unmapped)]
    [InlineData(0, int.MaxValue, CacheExtentKind.Unmapped)]
    [InlineData(long.MaxValue, 1, CacheExtentKind.Unmapped)]
    [InlineData(0, 1, (CacheExtentKind)3)]
    [InlineData(0, 2, CacheExtentKind.Data)]
    public void Extents_that_make_no_sense_are_refused(long block, int count, CacheExtentKind kind)
    {
        byte[] header = new byte[4096];
        CacheRecord.WriteExtent(header, 0, new CacheExtent(block, count, kind));
        new CacheRecord(s_owner, 1, 0, 0, 0, 1, kind == CacheExtentKind.Data ? 1 : 0).Seal(header);
        Assert.True(CacheRecord.TryRead(header, s_owner, 0, out CacheRecord record, out _));
        Assert.False(record.IsSound(header, 1000, 1000));
    }

    [Fact]
    public void An_anchor_comes_back_and_any_flipped_bit_is_noticed()
    {
        CacheAnchor anchor = new(s_owner, 3, 9, 100, 120, 55);
        byte[] block = new byte[4096];
        anchor.Encode(block);
        Assert.True(CacheAnchor.TryRead(block, s_owner, out CacheAnchor read));
        Assert.Equal(anchor, read);
        for (int at = 0; at < block.Length; at++)
        {
            block[at] ^= (byte)(1 << (at % 8));
            Assert.False(CacheAnchor.TryRead(block, s_owner, out _), $"byte {at}");
            block[at] ^= (byte)(1 << (at % 8));
        }
    }

    [Fact]
    public void The_layouts_cover_their_blocks()
    {
        foreach (IReadOnlyList<(int Offset, int Length, string Name)> layout in new[] { CacheRecord.Layout, CacheAnchor.Layout })
        {
            Assert.Equal(layout.Select(field => field.Offset + field.Length), layout.Skip(1).Select(field => field.Offset).Append(4096));
        }
    }

    private static byte[] Sealed(out CacheRecord record, out uint checksum)
    {
        byte[] header = new byte[4096];
        Array.Fill(header, (byte)0xA5);
        CacheRecord.WriteExtent(header, 0, new CacheExtent(500, 3, CacheExtentKind.Data));
        CacheRecord.WriteExtent(header, 1, new CacheExtent(10, 990, CacheExtentKind.Unmapped));
        uint[] checksums = [7, 8, 9];
        checksums.CopyTo(CacheRecord.Checksums(header));
        record = new CacheRecord(s_owner, 42, 77, 70, 12345, 2, 3);
        checksum = record.Seal(header);
        return header;
    }
}
