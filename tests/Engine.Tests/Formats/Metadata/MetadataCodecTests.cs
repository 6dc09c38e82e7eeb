using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tests.Formats;

public sealed class MetadataCodecTests
{
    private const int Cases = 100_000;

    [Fact]
    public void Every_kind_has_a_sample() =>
        Assert.Equal(Enum.GetValues<RecordKind>().Order(), RecordSamples.All.Select(static sample => sample.Record.Kind).Order());

    [Fact]
    public void Records_come_back_as_they_were()
    {
        Random random = new(1);
        for (int i = 0; i < Cases; i++)
        {
            byte[] bytes = Encode(RecordSamples.Next(random));
            List<MetadataRecord> read = [];
            Assert.True(MetadataCodec.TryDecodeAll(bytes, read, out string reason), reason);
            Assert.Equal(bytes, Encode(read.Single()));
        }
    }

    [Fact]
    public void Samples_come_back_as_they_were()
    {
        foreach ((MetadataRecord record, _) in RecordSamples.All)
        {
            byte[] bytes = Encode(record);
            List<MetadataRecord> read = [];
            Assert.True(MetadataCodec.TryDecodeAll(bytes, read, out string reason), reason);
            Assert.Equal(bytes, Encode(read.Single()));
        }
    }

    // These bytes are untrusted: the test assumes that an attacker has corrected the checksum.
    [Fact]
    public void Changed_bytes_never_throw_and_never_make_much_of_little()
    {
        Random random = new(2);
        for (int i = 0; i < Cases; i++)
        {
            byte[] bytes = Encode(RecordSamples.Next(random));
            for (int change = random.Next(1, 4); change > 0; change--)
            {
                bytes[random.Next(bytes.Length)] = (byte)random.Next(256);
            }

            List<MetadataRecord> read = [];
            long before = GC.GetAllocatedBytesForCurrentThread();
            MetadataCodec.TryDecodeAll(bytes.AsSpan(0, random.Next(bytes.Length + 1)), read, out _);
            Assert.True(GC.GetAllocatedBytesForCurrentThread() - before < 64 << 10, $"case {i} allocates without bound");
        }
    }

    [Fact]
    public void Unknown_records_are_refused_unless_they_may_be_skipped()
    {
        List<MetadataRecord> read = [];
        Assert.False(MetadataCodec.TryDecodeAll([0xFF, 0x7F, 1, 0, 2, 0, 0, 0, 9, 9], read, out string reason));
        Assert.Contains("kind 32767", reason);
        Assert.True(MetadataCodec.TryDecodeAll([0xFF, 0x7F, 1, 1, 2, 0, 0, 0, 9, 9], read, out _));
        Assert.Empty(read);
    }

    [Fact]
    public void Fields_that_a_later_release_appends_are_ignored()
    {
        byte[] bytes = [.. Encode(new DiskRemoved(new(7))), 1, 2, 3];
        bytes[4] += 3;
        List<MetadataRecord> read = [];
        Assert.True(MetadataCodec.TryDecodeAll(bytes, read, out _));
        Assert.Equal(new DiskRemoved(new(7)), read.Single());
    }

    [Fact]
    public void A_virtual_disk_recorded_before_there_were_caches_and_tiers_has_none()
    {
        const int settingFields = 8 + 8 + 8;
        const int tierFields = 4 + 4 + settingFields;
        const int cacheFields = 4 + 1 + 1 + 8 + 8 + 1 + 2 + tierFields;
        byte[] bytes = Shorter(Encode(new VirtualDiskChanged(RecordSamples.VirtualDisk)), cacheFields);
        List<MetadataRecord> read = [];
        Assert.True(MetadataCodec.TryDecodeAll(bytes, read, out string reason), reason);
        VirtualDiskDescription disk = Assert.IsType<VirtualDiskChanged>(read.Single()).VirtualDisk;
        Assert.Equal((SpaceId.None, DestageSettings.Default, false, TierSettings.Default), (disk.CacheSpace, disk.Destage, disk.IsTiered, disk.TierSettings));
        Assert.True(MetadataCodec.TryDecodeAll(Shorter(Encode(new VirtualDiskChanged(RecordSamples.VirtualDisk)), tierFields), [], out reason), reason);
        Assert.True(MetadataCodec.TryDecodeAll(Shorter(Encode(new VirtualDiskChanged(RecordSamples.VirtualDisk)), settingFields), [], out reason), reason);
        Assert.False(MetadataCodec.TryDecodeAll(Shorter(bytes, 1), [], out _));

        static byte[] Shorter(byte[] bytes, int by)
        {
            byte[] cut = bytes[..^by];
            BitConverter.TryWriteBytes(cut.AsSpan(4), cut.Length - 8);
            return cut;
        }
    }

    [Fact]
    public void A_cache_elsewhere_and_a_lent_ring_are_of_a_version_that_former_releases_refuse()
    {
        SpaceDescription ring = new(new SpaceId(1), RecordSamples.VirtualDisk.Id, SpaceKind.WriteCache, 1, 2);
        PoolId other = new(Guid.NewGuid());
        foreach ((MetadataRecord own, MetadataRecord elsewhere) in (ReadOnlySpan<(MetadataRecord, MetadataRecord)>)
        [
            (new VirtualDiskCreated(RecordSamples.VirtualDisk), new VirtualDiskCreated(RecordSamples.VirtualDisk with { CachePool = other })),
            (new VirtualDiskChanged(RecordSamples.VirtualDisk), new VirtualDiskChanged(RecordSamples.VirtualDisk with { CachePool = other })),
            (new SpaceCreated(ring), new SpaceCreated(ring with { OwnerPool = other })),
        ])
        {
            Assert.Equal((1, 2), (Encode(own)[2], Encode(elsewhere)[2]));
            Assert.Equal(Encode(own).Length + 16, Encode(elsewhere).Length);
        }
    }

    [Fact]
    public void A_pool_recorded_before_it_could_lend_lends_without_limit()
    {
        byte[] bytes = Encode(new PoolChanged(RecordSamples.Pool with { LentWriteCacheSizeMax = 5 }))[..^8];
        BitConverter.TryWriteBytes(bytes.AsSpan(4), bytes.Length - 8);
        List<MetadataRecord> read = [];
        Assert.True(MetadataCodec.TryDecodeAll(bytes, read, out string reason), reason);
        Assert.Equal(ulong.MaxValue, Assert.IsType<PoolChanged>(read.Single()).Pool.LentWriteCacheSizeMax);
    }

    private static byte[] Encode(MetadataRecord record)
    {
        ByteWriter to = new();
        MetadataCodec.Encode(record, to);
        return to.Written.ToArray();
    }
}
