using TierSpaces.Engine.Caching;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.Verification;
using TierSpaces.Engine.VirtualDisks;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.VirtualDisks;

/// <summary>A write cache in another pool: made, changed and taken away with the power cut at every step, and used with disks of that pool failing.</summary>
public sealed class RemoteCacheTests
{
    private const int Block = 4096;
    private const int OwnerDisks = 3;
    private const int CachePoolDisks = 3;
    private const long Slab = 1 << 20;
    private static readonly byte[] s_first = Pattern(1);
    private static readonly byte[] s_second = Pattern(2);

    [Fact]
    public void What_is_acknowledged_stands_in_the_other_pool()
    {
        PoolWorld world = Open();
        Assert.Equal(SpaceId.None, world.Pool!.State.Spaces.Keys.FirstOrDefault(id => world.Pool.State.Space(id)!.Description.Kind == SpaceKind.WriteCache));
        Assert.Equal(2 * Slab, Used(world.CachePool!) * Slab);
        long owner = world.VirtualDisk!.Space.Counters.Io.DataBytesWritten;
        Write(world, 0, s_first);
        Assert.Equal(1, world.VirtualDisk.Cache!.Counters.Writes(WriteReason.Cache));
        Assert.Equal(owner, world.VirtualDisk.Space.Counters.Io.DataBytesWritten);
        Flush(world);
        Assert.Equal(owner, world.VirtualDisk.Space.Counters.Io.DataBytesWritten);
        PoolWorld after = Cut(world, 0);
        Assert.Equal("", after.Lane.Run(after.Open()));
        Assert.Equal(s_first, Read(after, 0));
        Assert.True(after.VirtualDisk!.Cache!.Counters.HitBytes > 0);
    }

    [Fact]
    public void A_flush_that_a_destaged_write_needs_reaches_both_pools()
    {
        PoolWorld world = Open(new DestageSettings { IdleNs = 0 });
        Write(world, 0, s_first);
        world.Lane.PumpWhile(() => world.VirtualDisk!.Cache!.DirtyBytes > 0, 60_000_000_000);
        PoolWorld after = Cut(world, 0);   // nothing that a disk had only in its cache is left
        Assert.Equal("", after.Lane.Run(after.Open()));
        Assert.Equal(s_first, Read(after, 0));
    }

    // Its first part goes into the ring and fills it, the rest passes by: that the home is flushed makes the first part no more durable.
    [Fact]
    public void A_large_write_in_two_places_that_is_written_through_is_durable_in_both_pools()
    {
        PoolWorld world = Open();
        WriteCache cache = world.VirtualDisk!.Cache!;
        cache.TakeSettings(new DestageSettings { StartPercent = 100, IdleNs = long.MaxValue });
        for (int i = 0; i < 20; i++)
        {
            Write(world, i == 0 ? 0 : (120 + (i * 8)) * Block, s_second);   // 180 of 248 blocks; the next 62 are the last
        }

        IoBuffer buffer = world.Lane.Buffers.Rent(100 * Block);
        s_first.CopyTo(buffer.Span);
        Assert.Equal(IoError.None, world.Lane.Run(cache.Write(0, buffer, WriteFlags.ForceUnitAccess)));
        Assert.Equal(1, cache.Counters.Writes(WriteReason.BypassFull));
        PoolWorld after = Cut(world, 0);
        Assert.Equal("", after.Lane.Run(after.Open()));
        Assert.Equal(s_first, Read(after, 0));
    }

    [Fact]
    public void Creation_is_done_or_leaves_nothing()
    {
        (int none, int whole) = (0, 0);
        EachCut(
            () =>
            {
                PoolWorld world = PoolWorld.New(OwnerDisks, 48 << 20, 4096, 1, Spec(), CachePoolDisks);
                world.Lane.Run(world.CreatePool());
                return world;
            },
            static async world => await world.CreateVirtualDisk(Spec()),
            (after, _) =>
            {
                string rejected = after.Lane.Run(after.Open());
                if (rejected == "no virtual disk")
                {
                    Tidy(after);
                    Assert.Equal((0, 0), (Used(after.Pool!), Used(after.CachePool!)));
                    none++;
                    return;
                }

                Assert.Equal("", rejected);
                Write(after, 0, s_first);
                Assert.Equal(1, after.VirtualDisk!.Cache!.Counters.Writes(WriteReason.Cache));
                whole++;
            });
        Assert.True(none > 5 && whole > 0, $"{none} none, {whole} whole");
    }

    [Theory]
    [InlineData(2 * Slab)]
    [InlineData(0)]
    public void Another_size_keeps_what_was_flushed(long size)
    {
        HashSet<long> sizes = [];
        EachCut(
            () => Filled(),
            async world => await CacheExchange.ResizeCache(world.Pool!, world.VirtualDisk!, size, world.CachePool),
            (after, ended) =>
            {
                Assert.Equal("", after.Lane.Run(after.Open()));
                Assert.Equal(s_first, Read(after, 0));
                Assert.Equal(s_second, Read(after, 40 * Block));
                VirtualDiskDescription disk = after.VirtualDisk!.Description;
                Assert.Equal(disk.WriteCacheSize * 2, Used(after.CachePool!) * Slab);   // what was made in vain, or was there before, has been given back
                Assert.True(!ended || disk.WriteCacheSize == size);
                sizes.Add(disk.WriteCacheSize);
            });
        Assert.Equal([Math.Min(size, Slab), Math.Max(size, Slab)], sizes.Order());
    }

    [Fact]
    public void Removal_is_done_or_not_begun()
    {
        (int there, int gone) = (0, 0);
        EachCut(
            () => Filled(),
            async world =>
            {
                await world.VirtualDisk!.Close();
                await VirtualDiskBuilder.Remove(world.Pool!, world.VirtualDisk.Description.Id);
            },
            (after, _) =>
            {
                string rejected = after.Lane.Run(after.Open());
                if (rejected == "no virtual disk")
                {
                    Tidy(after);
                    Assert.Equal((0, 0), (Used(after.Pool!), Used(after.CachePool!)));
                    gone++;
                    return;
                }

                Assert.Equal("", rejected);
                Assert.Equal(s_first, Read(after, 0));
                there++;
            });
        Assert.True(there > 0 && gone > 0, $"{there} there, {gone} gone");
    }

    [Fact]
    public void A_disk_of_the_other_pool_is_lost_and_made_up_for()
    {
        PoolWorld world = Filled();
        int lost = RingDisks(world)[0];
        world.Disks[lost].Pulled = true;
        Write(world, 80 * Block, s_second);
        Flush(world);
        Assert.Equal(WriteCacheState.Active, world.VirtualDisk!.Cache!.State);
        Assert.True(world.VirtualDisk.Cache.IsDegraded);
        PoolWorld alone = Cut(world, 0);
        Assert.Equal("", alone.Lane.Run(alone.Open()));
        Assert.Equal(s_second, Read(alone, 80 * Block));

        Assert.Equal("", world.Lane.Run(world.Return(lost)));
        Assert.True(world.VirtualDisk.BytesToResync > 0);
        Assert.Equal(RepairEnd.Done, world.Lane.Run(world.Spaces.Resync(new SimPacer(world.Lane))));
        Assert.False(world.VirtualDisk.Cache.IsDegraded);
        Flush(world);
        PoolWorld other = Cut(world, 0);
        other.Disks[RingDisks(world)[1]].Pulled = true;
        Assert.Equal("", other.Lane.Run(other.Open()));
        Assert.Equal(s_first, Read(other, 0));
        Assert.Equal(s_second, Read(other, 80 * Block));
    }

    [Fact]
    public void All_its_disks_lost_while_it_holds_data_detach_the_virtual_disk_until_one_is_back()
    {
        PoolWorld world = Filled();
        int[] ring = RingDisks(world);
        PoolWorld after = Cut(world, 0);
        Array.ForEach(ring, disk => after.Disks[disk].Pulled = true);
        Assert.NotEqual("", after.Lane.Run(after.Open()));   // the remote cache pool has no majority either, or no copy is there
        after = Cut(world, 0);
        after.Disks[ring[0]].Pulled = true;
        Assert.Equal("", after.Lane.Run(after.Open()));
        Assert.Equal(s_first, Read(after, 0));
    }

    // The record that names the other cache may be on the disk that is left: it is unknown which cache the next opening uses.
    [Fact]
    public void A_home_that_loses_its_majority_while_its_cache_is_exchanged_takes_nothing_more()
    {
        PoolWorld world = Filled();
        Array.ForEach(world.Disks[..OwnerDisks], disk => disk.OnRequest = (_, _, _) => PullMostOnceRemote());
        CommitResult result = world.Lane.Run(CacheExchange.ResizeCache(world.Pool!, world.VirtualDisk!, 2 * Slab, world.CachePool));
        Assert.Equal(CommitStatus.NoQuorum, result.Status);
        Assert.NotEqual(IoError.None, world.VirtualDisk!.Fault);
        Assert.Equal(2, world.CachePool!.State.Spaces.Count);   // either may count
        HashSet<long> sizes = [];
        for (int kept = 0; kept < 3; kept++)
        {
            PoolWorld after = Cut(world, kept);
            Array.ForEach(after.Disks, disk => disk.Pulled = false);
            Assert.Equal("", after.Lane.Run(after.Open()));
            Assert.Equal(s_first, Read(after, 0));
            Assert.Equal(after.VirtualDisk!.Description.WriteCacheSize * 2, Used(after.CachePool!) * Slab);
            sizes.Add(after.VirtualDisk.Description.WriteCacheSize);
        }

        Assert.Contains(2 * Slab, sizes);   // the record was applied

        void PullMostOnceRemote()
        {
            foreach (SimDisk disk in world.CachePool!.State.Spaces.Count > 1 ? world.Disks[1..OwnerDisks] : [])
            {
                disk.Pulled = true;
            }
        }
    }

    [Fact]
    public void A_retired_disk_of_the_other_pool_is_drained_while_the_cache_is_used()
    {
        PoolWorld world = Filled();
        int retired = RingDisks(world)[0] - OwnerDisks;
        DiskState member = world.CachePool!.State.Disk(new DiskNumber((ushort)(retired + 1)))!;
        Assert.True(world.Lane.Run(world.CachePool.Commit(new DiskChanged(member.Description with { Usage = DiskUsage.Retired }))).Succeeded);
        SlabMover mover = new(world.Pool!, world.VirtualDisk!);
        Assert.True(mover.CanAllLeave(world.CachePool, member.Description.Number));
        SlabMove move = Assert.Single(mover.Plan(givesUpMissing: false));
        Assert.Equal(RepairEnd.Done, world.Lane.Run(mover.Move(move, [], new SimPacer(world.Lane))));
        Assert.Equal(0u, world.CachePool.State.Disk(member.Description.Number)!.UsedSlabs);
        Write(world, 80 * Block, s_second);
        Flush(world);
        PoolWorld after = Cut(world, 0);
        after.Disks[retired + OwnerDisks].Pulled = true;
        Assert.Equal("", after.Lane.Run(after.Open()));
        Assert.Equal(s_first, Read(after, 0));
        Assert.Equal(s_second, Read(after, 80 * Block));
    }

    [Fact]
    public void The_ring_of_a_pool_that_is_not_open_is_waited_for()
    {
        PoolWorld world = Filled();
        PoolWorld after = Cut(world, 0);
        Array.ForEach(after.Disks[OwnerDisks..], static disk => disk.Pulled = true);
        PoolEnvironment alone = after.Environment;
        Pool owner = OpenOwner(after, alone);
        OpenVirtualDisk open = after.Lane.Run(VirtualDiskStack.Open(owner, owner.State.VirtualDisks.Keys.Single()));
        Assert.Equal((WriteCacheState.Absent, true), (open.Cache!.State, open.Cache.IsGone));
        Assert.Contains("which is not open", open.FaultReason, StringComparison.Ordinal);
        IoBuffer buffer = after.Lane.Buffers.Rent(Block);
        Assert.NotEqual(IoError.None, after.Lane.Run(open.Disk.Read(0, buffer)));
        after.Lane.Buffers.Return(buffer);

        PoolWorld again = Cut(after, 0);
        Array.ForEach(again.Disks, static disk => disk.Pulled = false);
        Assert.Equal("", again.Lane.Run(again.Open()));
        Assert.Equal(s_first, Read(again, 0));
    }

    /// <summary>Opens the pool of the data alone.</summary>
    private static Pool OpenOwner(PoolWorld world, PoolEnvironment environment)
    {
        List<PoolScan> scans = [.. world.Disks[..OwnerDisks].Select(disk => world.Lane.Run(Pool.Scan(environment, disk)))];
        PoolOpenResult opened = world.Lane.Run(Pool.Open(environment, scans[0].Label!.Pool, scans));
        Assert.NotNull(opened.Pool);
        return opened.Pool;
    }

    /// <summary>
    /// Repeats an operation and stops it before each request that it makes. Judges the state after power cuts that keep
    /// none, half and all of the writes in the disks' caches.
    /// </summary>
    private static void EachCut(Func<PoolWorld> prepare, Func<PoolWorld, LaneTask> operation, Action<PoolWorld, bool> judge)
    {
        PoolWorld prepared = prepare();
        bool ended = false;
        for (int point = 1; !ended; point++)
        {
            PoolWorld world = prepared.Fork((ulong)point);
            string rejected = world.Lane.Run(world.Open());
            Assert.True(rejected is "" or "no virtual disk", rejected);
            int requests = 0;
            Array.ForEach(world.Disks, disk => disk.OnRequest = (_, _, _) => requests++);
            Watch(world).Forget();
            world.Lane.PumpWhile(() => requests < point && !ended, 60_000_000_000);
            for (int kept = 0; kept < 3; kept++)
            {
                PoolWorld after = Cut(world, kept, point);
                judge(after, ended);
                after.Release();
            }

            world.Release();
        }

        async LaneTask Watch(PoolWorld world)
        {
            await operation(world);
            ended = true;
        }
    }

    private static PoolWorld Cut(PoolWorld world, int kept, int salt = 0) =>
        world.Cut((ulong)salt + 1, (disk, write, sector) => ((disk + write + sector + salt) & 1) < kept);

    /// <summary>Work of a host with the leftovers of a creation or removal that was cut.</summary>
    private static void Tidy(PoolWorld world)
    {
        foreach (VirtualDiskDescription left in world.Pool!.State.VirtualDisks.Values)
        {
            Assert.True(left.IsBeingCreated);
            Assert.True(world.Lane.Run(VirtualDiskBuilder.Remove(world.Pool, left.Id)).Succeeded);
        }

        foreach (SpaceId ring in RemoteRooms.UnnamedRings(world.CachePool!, world.Environment.FindPool))
        {
            Assert.True(world.Lane.Run(RemoteRooms.GiveBack(world.CachePool!, ring)).Succeeded);
        }
    }

    /// <summary>Indexes of the disks that the ring is on.</summary>
    private static int[] RingDisks(PoolWorld world) =>
        [.. world.CachePool!.State.Space(world.VirtualDisk!.Description.CacheSpace)!.Row(0)!.Mapping.Sources.ToArray()
            .Select(slab => OwnerDisks + slab.Disk.Value - 1)];

    private static int Used(Pool pool) => (int)pool.State.Disks.Values.Sum(disk => disk.UsedSlabs);

    private static PoolWorld Open(DestageSettings? destage = null)
    {
        PoolWorld world = PoolWorld.New(OwnerDisks, 48 << 20, 4096, 1, Spec(destage), CachePoolDisks);
        Assert.Equal("", world.Lane.Run(world.Open(isNew: true)));
        return world;
    }

    /// <summary>A virtual disk with two writes that are durable and not destaged.</summary>
    private static PoolWorld Filled()
    {
        PoolWorld world = Open();
        Write(world, 0, s_first);
        Write(world, 40 * Block, s_second);
        Flush(world);
        Assert.True(world.VirtualDisk!.Cache!.DirtyBytes > 0);
        return world;
    }

    private static VirtualDiskDescription Spec(DestageSettings? destage = null) => new()
    {
        FriendlyName = "d",
        ResiliencySettingName = "Mirror",
        SizeBytes = 2 << 20,
        NumberOfColumns = 1,
        NumberOfDataCopies = 2,
        Interleave = 64 << 10,
        LogicalSectorSize = 4096,
        ProvisioningType = ProvisioningType.Fixed,
        Checksum = ChecksumKind.CRC32C,
        WriteCacheSize = Slab,
        Destage = destage ?? new DestageSettings { Hold = true },
    };

    private static byte[] Pattern(int seed)
    {
        byte[] data = new byte[8 * Block];
        new Random(seed).NextBytes(data);
        return data;
    }

    private static void Write(PoolWorld world, long offset, byte[] data)
    {
        IoBuffer buffer = world.Lane.Buffers.Rent(data.Length);
        data.CopyTo(buffer.Span);
        Assert.Equal(IoError.None, world.Lane.Run(world.VirtualDisk!.Disk.Write(offset, buffer, WriteFlags.None)));
        world.Lane.Buffers.Return(buffer);
    }

    private static void Flush(PoolWorld world) => Assert.Equal(IoError.None, world.Lane.Run(world.VirtualDisk!.Disk.Flush()));

    private static byte[] Read(PoolWorld world, long offset)
    {
        IoBuffer buffer = world.Lane.Buffers.Rent(8 * Block);
        Assert.Equal(IoError.None, world.Lane.Run(world.VirtualDisk!.Disk.Read(offset, buffer)));
        byte[] data = buffer.Span.ToArray();
        world.Lane.Buffers.Return(buffer);
        return data;
    }
}
