using TierSpaces.Engine.Caching;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Verification;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Tests.Caching;

/// <summary>A write cache that is opened by the summaries in its ring, and what it does without them.</summary>
public class RingSummaryTests
{
    private const int Block = 4096;
    private const int RingBytes = 16 << 20;
    private const int RingBlocks = (RingBytes / Block) - CacheAnchor.Slots;
    private const int Every = 256;   // blocks of the ring
    private const int PlaceOfFirstExtent = 32 + 12;   // in the payload of a summary

    private static readonly Guid s_owner = new(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Of_a_full_ring_of_short_records_the_summaries_are_read(bool isKilled)
    {
        PoolWorld world = NewWorld();
        Fill(world, 1500);
        world.Lane.Advance(100_000_000);   // the newest summary is named
        (PoolWorld again, long read) = Reopen(world, isKilled);
        WriteCache cache = again.VirtualDisk!.Cache!;
        Assert.InRange(cache.SummariesUsed, 10, 12);   // of 3 000 blocks; the newest one ends behind the last that is durable, or is not there yet
        Assert.InRange(read, 1, 14 << 19);             // of 12 MiB: behind the last summary 5 MiB are read ahead
        Check(again, 1500);
    }

    // Where no copy gives one whole, the headers of the records it repeats are read.
    [Theory]
    [InlineData(0, 0)]
    [InlineData(3, 0)]
    [InlineData(3, 7)]
    [InlineData(10, 9)]
    public void A_damaged_summary_is_done_without(int first, int second)
    {
        PoolWorld world = NewWorld();
        Fill(world, 1500);
        world.Lane.Advance(100_000_000);
        List<long> summaries = Summaries(world);
        Array.ForEach([first, second], index => Damage(world, summaries[index]));
        (PoolWorld again, _) = Reopen(world, isKilled: false);
        Assert.InRange(again.VirtualDisk!.Cache!.SummariesUsed, first == 10 ? 0 : 8, first == second ? 11 : 10);
        Check(again, 1500);
    }

    // A bit in the place of the first record's block: only the checksum of the summary's payload says that it is wrong.
    [Fact]
    public void A_summary_with_a_flipped_bit_puts_no_block_elsewhere()
    {
        PoolWorld world = NewWorld();
        Fill(world, 1500);
        world.Lane.Advance(100_000_000);
        Damage(world, Summaries(world)[3], static sector => [.. sector.Select(static (value, i) => i == PlaceOfFirstExtent ? (byte)(value ^ 1) : value)]);
        (PoolWorld again, _) = Reopen(world, isKilled: false);
        Check(again, 1500);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_summary_on_its_way_is_written_and_named_before_the_ring_is_left(bool isClosed)
    {
        PoolWorld world = NewWorld(every: 4 * Every);
        Array.ForEach(world.Disks, static disk => disk.WriteTakesLonger = static (_, length) => length > 2 * Block ? 300_000_000 : 0);   // no record does
        Fill(world, 2 * Every);
        WriteCache cache = world.VirtualDisk!.Cache!;
        Assert.Empty(Summaries(world));
        world.Lane.Run(isClosed ? Closed(cache) : cache.Leave());
        Assert.NotEmpty(Summaries(world));
        Assert.Equal(0, world.Disks.Sum(static disk => disk.TotalInFlight));
        int late = 0;
        foreach (RingPlace place in Places(world))
        {
            world.Disks[place.Disk].OnRequest += (kind, offset, _) => late += kind == SimOperation.Write && offset >= place.Start && offset < place.End ? 1 : 0;
        }

        world.Lane.Advance(2_000_000_000);
        Assert.Equal(0, late);

        static async LaneTask<Nothing> Closed(WriteCache cache)
        {
            Assert.Equal(IoError.None, await cache.Close());
            return default;
        }
    }

    // Records are destaged, and the ring goes round twice: the tail is among the records that a summary repeats.
    [Theory]
    [InlineData(300)]
    [InlineData(777)]
    [InlineData(1999)]
    public void The_tail_may_be_anywhere(int kept)
    {
        PoolWorld world = NewWorld();
        Fill(world, 1500);
        Drain(world, 0);
        Fill(world, 1700);
        Drain(world, 0);
        Fill(world, 1000);
        Drain(world, kept);
        (PoolWorld again, _) = Reopen(world, isKilled: true);
        WriteCache cache = again.VirtualDisk!.Cache!;
        Assert.Equal(world.VirtualDisk!.Cache!.DirtyBytes, cache.DirtyBytes);
        Assert.True(cache.SummariesUsed >= (kept / Every) - 1);
        Check(again, 1700, from: 1000);
        Check(again, 1000);
        Assert.Equal(IoError.None, again.Lane.Run(again.Close()));
    }

    [Fact]
    public void A_ring_goes_on_with_summaries_after_an_opening()
    {
        PoolWorld world = NewWorld();
        Fill(world, 300);
        for (int round = 0; round < 5; round++)
        {
            (world, _) = Reopen(world, isKilled: round % 2 == 0);
            Fill(world, 100 + (round * 50));
            world.Lane.Advance(100_000_000);
        }

        int before = world.VirtualDisk!.Cache!.SummariesUsed;
        (PoolWorld again, _) = Reopen(world, isKilled: false);
        Assert.True(again.VirtualDisk!.Cache!.SummariesUsed > before);
        Check(again, 300);
    }

    // A pool of an older version: no summary is written, so that older releases can read the ring.
    [Fact]
    public void Without_summaries_a_ring_is_read_as_before()
    {
        PoolWorld world = NewWorld(every: 0);
        Fill(world, 1500);
        Assert.Empty(Summaries(world));
        (PoolWorld again, _) = Reopen(world, isKilled: true);
        Assert.Equal(0, again.VirtualDisk!.Cache!.SummariesUsed);
        Check(again, 1500);
    }

    [Fact]
    public void Records_of_zeros_that_no_summary_has_room_for_are_read_one_by_one()
    {
        PoolWorld world = NewWorld();
        Fill(world, 600);
        for (int i = 0; i < 600; i += 2)
        {
            Assert.Equal(IoError.None, world.Lane.Run(world.Store.Unmap((long)i * Block, Block)));
        }

        Fill(world, 700, from: 600);
        world.Lane.Advance(100_000_000);
        (PoolWorld again, _) = Reopen(world, isKilled: false);
        for (int i = 0; i < 600; i++)
        {
            Assert.Equal(i % 2 == 0 ? 0 : ValueOf(i), Read(again, i));
        }

        Check(again, 700, from: 600);
    }

    [Fact]
    public void A_summary_says_what_the_headers_said()
    {
        BufferPool buffers = new();
        RingSummary summary = new(buffers, 64, CacheRecord.MaxPayloadBlocks);
        List<(CacheRecord Record, uint Checksum, byte[] Header)> records = [];
        long position = 1000;
        uint previous = 77;
        Random random = new(5);
        while (!summary.IsDue)
        {
            byte[] header = new byte[Block];
            int count = 1 + random.Next(5);
            int payload = 0;
            for (int i = 0; i < count; i++)
            {
                CacheExtent extent = new(random.Next(100_000), 1 + random.Next(3), (CacheExtentKind)(1 + random.Next(2)));
                CacheRecord.WriteExtent(header, i, extent);
                payload += extent.Kind == CacheExtentKind.Data ? extent.Count : 0;
            }

            for (int i = 0; i < payload; i++)
            {
                CacheRecord.Checksums(header)[i] = (uint)random.Next();
            }

            CacheRecord record = new(s_owner, 9, position, 900, previous, count, payload);
            previous = record.Seal(header);
            records.Add((record, previous, header));
            summary.Add(header, record, previous);
            position = record.End;
        }

        summary.Note(500, 12);
        records.ForEach(one => summary.Add(one.Header, one.Record, one.Checksum));
        CacheRecord last = new(s_owner, 9, position, 900, previous, 0, summary.PayloadBlocks);
        uint sealing = summary.Seal(last);
        ReadOnlySpan<byte> written = summary.Record.Span;
        Assert.True(CacheRecord.TryRead(written[..Block], s_owner, position, out CacheRecord found, out uint checksum));
        Assert.Equal((true, 1, sealing), (found.IsSummary, found.Earlier, checksum));
        Assert.Equal((500L, 12u), CacheSummary.EarlierAt(written, 0));
        CacheSummary.Reader reader = new(written[Block..]);
        Assert.Equal((1000L, 77u), (reader.First, reader.Before));
        byte[] copy = new byte[Block];
        foreach ((CacheRecord record, uint sum, byte[] header) in records)
        {
            Assert.True(reader.Read());
            Assert.Equal((record.Position, record.Extents), (reader.Position, reader.Extents));
            Assert.Equal((record.PayloadBlocks, sum), (reader.PayloadBlocks, reader.Checksum));
            reader.CopyTo(copy);
            for (int i = 0; i < record.Extents; i++)
            {
                Assert.Equal(CacheRecord.ExtentAt(header, i), CacheRecord.ExtentAt(copy, i));
            }

            Assert.Equal(CacheRecord.Checksums(header)[..record.PayloadBlocks].ToArray(), CacheRecord.Checksums(copy)[..record.PayloadBlocks].ToArray());
        }

        Assert.True(reader is { IsAtEnd: true } && !reader.Read());
    }

    // With any content of a payload the reader stays inside it.
    [Fact]
    public void Any_payload_can_be_read()
    {
        Random random = new(3);
        byte[] payload = new byte[2 * Block];
        for (int round = 0; round < 2000; round++)
        {
            random.NextBytes(payload);
            payload.AsSpan(4, Block).Fill((byte)(round % 5));   // few extents, little payload
            CacheSummary.Reader reader = new(payload);
            int read = 0;
            while (reader.Read())
            {
                reader.CopyTo(new byte[Block]);
                read++;
            }

            Assert.InRange(read, 0, payload.Length / 12);
        }
    }

    private static PoolWorld NewWorld(int every = Every)
    {
        PoolWorld world = PoolWorld.New(
            4, 64 << 20, 4096, 1, new VirtualDiskDescription
            {
                FriendlyName = "d",
                ResiliencySettingName = "Mirror",
                SizeBytes = 16 << 20,
                NumberOfColumns = 1,
                NumberOfDataCopies = 2,
                PhysicalDiskRedundancy = 1,
                Interleave = 64 << 10,
                LogicalSectorSize = 4096,
                ProvisioningType = ProvisioningType.Fixed,
                Checksum = ChecksumKind.CRC32C,
                WriteCacheSize = RingBytes,
                Destage = new DestageSettings { Hold = true },
            },
            cacheSummaryBlocks: every);
        Assert.Equal("", world.Lane.Run(world.Open(isNew: true)));
        return world;
    }

    /// <summary>Writes blocks one by one: a record each, of two blocks.</summary>
    private static void Fill(PoolWorld world, int end, int from = 0)
    {
        IoBuffer source = world.Lane.Buffers.Rent(Block);
        for (int i = from; i < end; i++)
        {
            source.Span.Fill(ValueOf(i));
            Assert.Equal(IoError.None, world.Lane.Run(world.Store.Write((long)i * Block, source, WriteFlags.None)));
        }

        world.Lane.Buffers.Return(source);
    }

    private static byte ValueOf(int block) => (byte)(1 + (block % 251));

    private static byte Read(PoolWorld world, int block)
    {
        IoBuffer target = world.Lane.Buffers.Rent(Block);
        Assert.Equal(IoError.None, world.Lane.Run(world.Store.Read((long)block * Block, target)));
        byte value = target.Span[0];
        Assert.False(target.Span.ContainsAnyExcept(value));
        world.Lane.Buffers.Return(target);
        return value;
    }

    private static void Check(PoolWorld world, int end, int from = 0)
    {
        for (int i = from; i < end; i++)
        {
            Assert.Equal(ValueOf(i), Read(world, i));
        }
    }

    /// <summary>Destages until at most so many blocks of the ring are in use.</summary>
    private static void Drain(PoolWorld world, int blocks)
    {
        WriteCache cache = world.VirtualDisk!.Cache!;
        int percent = blocks * 100 / RingBlocks;
        cache.TakeSettings(new DestageSettings
        {
            StartPercent = Math.Max(1, percent), StopPercent = Math.Max(0, percent - 1), IdleNs = blocks == 0 ? 0 : DestageSettings.IdleNsMax,
        });
        world.Lane.Advance(20_000_000_000);
        Assert.True(cache.DirtyBytes <= ((blocks * 2L) + 64) * Block, $"{cache.DirtyBytes / Block} of {blocks} blocks are left.");
        cache.TakeSettings(new DestageSettings { Hold = true });
    }

    private static (PoolWorld World, long BytesRead) Reopen(PoolWorld world, bool isKilled)
    {
        if (!isKilled)
        {
            Assert.Equal(IoError.None, world.Lane.Run(world.Close()));
        }

        PoolWorld again = isKilled ? world.Kill(2, static () => true) : world.Cut(2, static (_, _, _) => false);
        long read = 0;
        foreach (RingPlace place in Places(world))
        {
            again.Disks[place.Disk].OnRequest += (kind, offset, length) =>
                read += kind == SimOperation.Read && offset >= place.Start && offset < place.End ? length : 0;
        }

        Assert.Equal("", again.Lane.Run(again.Open()));
        return (again, read);
    }

    /// <summary>Offsets in the ring, in bytes, of the summaries that the first copy has, in the order of their positions.</summary>
    private static List<long> Summaries(PoolWorld world)
    {
        List<(long Position, long Offset)> found = [];
        byte[] header = new byte[Block];
        foreach (RingPlace place in Places(world).Where(static place => place.Copy == 0))
        {
            for (long at = place.Start; at < place.End; at += Block)
            {
                world.Disks[place.Disk].Media.Read(at, header);
                Guid owner = new(header.AsSpan(8, 16));
                if (owner != Guid.Empty && CacheRecord.TryRead(header, owner, CacheRecord.PositionIn(header), out CacheRecord record, out _)
                    && record.IsSummary)
                {
                    found.Add((record.Position, place.Offset + at - place.Start));
                }
            }
        }

        return [.. found.Order().Select(static summary => summary.Offset)];
    }

    /// <summary>Damages the first block of payload of a summary on every copy.</summary>
    private static void Damage(PoolWorld world, long summary) => Damage(world, summary, static sector => [.. sector.Select(static value => (byte)~value)]);

    private static void Damage(PoolWorld world, long summary, Func<byte[], byte[]> change)
    {
        foreach (RingPlace place in Places(world).Where(place => summary + Block >= place.Offset && summary + Block < place.Offset + place.End - place.Start))
        {
            world.Disks[place.Disk].Media.Corrupt(place.Start + summary + Block - place.Offset, change);
        }
    }

    private static IEnumerable<RingPlace> Places(PoolWorld world)
    {
        SpaceState ring = world.Pool!.State.Space(world.VirtualDisk!.Description.CacheSpace)!;
        long slab = world.Pool.State.Pool!.Slabs.DataBytes;
        foreach ((int index, RowState row) in ring.EnumerateRows())
        {
            SlabRef[] sources = row.Mapping.Sources.ToArray();
            for (int copy = 0; copy < sources.Length; copy++)
            {
                long start = PoolMemberHost.PlaceOf(world.Pool.State, sources[copy]).DataOffset;
                yield return new RingPlace(sources[copy].Disk.Value - 1, start, start + slab, index * slab, copy);
            }
        }
    }

    private readonly record struct RingPlace(int Disk, long Start, long End, long Offset, int Copy);
}
