using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Tests.Management;

/// <summary>Metadata is counted where it is read and written, apart from data: commits, log, checksum pages.</summary>
public sealed class MetadataCounterTests
{
    private const int Block = 4096;
    private const long Mebibyte = 1 << 20;

    private readonly SubsystemWorld _world = new();

    [Fact]
    public void A_commit_of_the_pool_is_counted_as_metadata_of_its_disks()
    {
        _world.NewPool(3);
        long before = Sum(static counters => counters.MetadataWrites), data = Sum(static counters => counters.WriteOperations - counters.MetadataWrites);
        _world.Run(_world.Subsystem.Pools.SetAsync(_world.Pool, static pool => pool with { FriendlyName = "renamed" }));
        Assert.True(Sum(static counters => counters.MetadataWrites) > before);
        Assert.True(Sum(static counters => counters.MetadataWriteBytes) >= Block * Sum(static counters => counters.MetadataWrites));
        Assert.Equal(data, Sum(static counters => counters.WriteOperations - counters.MetadataWrites));
    }

    [Fact]
    public void Data_is_no_metadata_and_the_checksum_pages_of_a_new_row_are()
    {
        _world.NewPool(2);
        Guid id = _world.NewMirror("m", 8 * Mebibyte, filled: false);
        IoCounters[] before = [.. Enumerable.Range(0, 2).Select(number => _world.Physical(number).Counters!)];
        SpaceIoCounters space = Space();
        _world.Write(id, 0, 16 * Block);
        for (int number = 0; number < 2; number++)
        {
            IoCounters now = _world.Physical(number).Counters!;
            Assert.True(now.MetadataWrites > before[number].MetadataWrites);
            Assert.InRange(DataBytes(now) - DataBytes(before[number]), 16 * Block, (16 + 8) * Block);   // and a few blocks of the log
        }

        Assert.True(Space().MetadataWrites > space.MetadataWrites);
        Assert.True(Space().MetadataBytesWritten > space.MetadataBytesWritten);
    }

    [Fact]
    public void A_read_of_a_disk_that_was_just_opened_counts_its_checksum_page()
    {
        _world.NewPool(2);
        Guid id = _world.NewMirror("m", 8 * Mebibyte);
        _world.Write(id, 0, Block);
        _world.Restart();
        SpaceIoCounters before = Space();
        _world.Read(id, 0, Block);
        Assert.True(Space().MetadataReads > before.MetadataReads);
        Assert.Equal(Block * Space().MetadataReads, Space().MetadataBytesRead);

        _world.Read(id, 0, Block);
        long reads = Space().MetadataReads;
        _world.Read(id, 0, Block);
        Assert.Equal(reads, Space().MetadataReads);   // it is in memory
    }

    private static long DataBytes(IoCounters counters) => counters.WriteBytes - counters.MetadataWriteBytes;

    private long Sum(Func<IoCounters, long> value) => Enumerable.Range(0, 3).Sum(number => value(_world.Physical(number).Counters!));

    private SpaceIoCounters Space() => Assert.Single(_world.Run(_world.Subsystem.VirtualDisks.ListAsync())).SpaceCounters!.Io;
}
