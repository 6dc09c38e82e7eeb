using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Devices.Identity;
using TierSpaces.Engine.Devices.Raw;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Lanes.Native;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Tests.Lanes;

namespace TierSpaces.Engine.Tests.Devices;

public abstract class RawDiskTests(LaneBackend backend, LaneOptions options)
{
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_truncated_image_is_gone_and_stays_gone(bool inMemory)
    {
        using TemporaryImage image = Make(inMemory);
        using TestLane test = TestLane.Create(backend, options);
        test.Run(async () =>
        {
            RawDisk disk = await Open(test.Lane, image);
            Assert.True(disk.IsPresent);
            Truncate(image, TemporaryImage.DefaultSize / 2);
            Assert.Equal(IoError.NoDevice, await ReadBlock(test.Lane, disk, TemporaryImage.DefaultSize - 4096));
            Assert.Equal(IoError.NoDevice, await disk.Flush());
            Truncate(image, TemporaryImage.DefaultSize);
            Assert.False(disk.IsPresent);
            Assert.Equal(IoError.NoDevice, await disk.CheckPresence());
            Assert.Equal(IoError.NoDevice, await disk.Flush());
            Assert.Equal(IoError.NoDevice, await WriteBlock(test.Lane, disk, 0, WriteFlags.ForceUnitAccess));
            await disk.Close();
        });
    }

    // The kernel may hold completions back until the lane enters: it has to, also when it never sleeps.
    [Theory]
    [InlineData(0)]
    [InlineData(20_000_000)]
    public void A_lane_that_keeps_itself_busy_still_hears_of_its_disks(long spinNs)
    {
        using TemporaryImage image = Make(inMemory: false);
        using TestLane test = TestLane.Create(backend, options with { SpinNs = spinNs });
        int done = 0;
        test.Run(async () =>
        {
            RawDisk disk = await Open(test.Lane, image);
            async LaneTask Durable(int block)
            {
                Assert.Equal(IoError.None, await WriteBlock(test.Lane, disk, block * 4096, WriteFlags.ForceUnitAccess));
                done++;
            }

            List<LaneTask> writes = [.. Enumerable.Range(0, 32).Select(Durable)];
            while (done < writes.Count)
            {
                await test.Lane.Yield();
            }

            foreach (LaneTask write in writes)
            {
                await write;
            }

            await disk.Close();
        });
        Assert.Equal(32, done);
    }

    [Fact]
    public void An_unlinked_image_is_gone()
    {
        using TemporaryImage image = Make(inMemory: false);
        using TestLane test = TestLane.Create(backend, options);
        test.Run(async () =>
        {
            RawDisk disk = await Open(test.Lane, image);
            Assert.Equal(IoError.None, await disk.CheckPresence());
            File.Delete(image.Path);
            Assert.Equal(IoError.NoDevice, await disk.CheckPresence());
            Assert.False(disk.IsPresent);
            Assert.Equal(IoError.NoDevice, await disk.Flush());
            await disk.Close();
        });
    }

    // Each of them is the first to look after the image has gone: none may be acknowledged.
    [Theory]
    [InlineData(false, false, false)]
    [InlineData(false, true, false)]
    [InlineData(true, false, false)]
    [InlineData(true, true, false)]
    [InlineData(false, false, true)]
    [InlineData(false, true, true)]
    [InlineData(true, false, true)]
    [InlineData(true, true, true)]
    public void A_flush_and_a_durable_write_of_an_image_that_is_gone_are_not_acknowledged(bool isTruncated, bool isWrite, bool isForeign)
    {
        using TemporaryImage image = Make(inMemory: false);
        using TestLane test = TestLane.Create(backend, options);
        test.Run(async () =>
        {
            RawDisk disk = isForeign ? OpenForeign(test.Lane, image) : await Open(test.Lane, image);
            Assert.Equal(IoError.None, await WriteBlock(test.Lane, disk, 0, WriteFlags.ForceUnitAccess));
            Assert.Equal(IoError.None, await disk.Flush());
            if (isTruncated)
            {
                Truncate(image, TemporaryImage.DefaultSize / 2);
            }
            else
            {
                File.Delete(image.Path);
            }

            Assert.Equal(IoError.NoDevice, isWrite ? await WriteBlock(test.Lane, disk, 0, WriteFlags.ForceUnitAccess) : await disk.Flush());
            Assert.False(disk.IsPresent);
            await disk.Close();
        });
    }

    [Fact]
    public void Close_waits_for_requests_releases_the_lock_and_refuses_more()
    {
        using TemporaryImage image = Make(inMemory: false);
        using TestLane test = TestLane.Create(backend, options);
        test.Run(async () =>
        {
            RawDisk disk = await Open(test.Lane, image);
            LaneTask<IoError> write = WriteBlock(test.Lane, disk, 0, WriteFlags.ForceUnitAccess);
            await disk.Close();
            Assert.Equal(0, disk.InFlight);
            Assert.Equal(IoError.None, await write);
            Assert.Equal(IoError.ShutDown, await ReadBlock(test.Lane, disk, 0));
            Assert.Equal(IoError.ShutDown, await disk.Flush());
            Assert.Equal(IoError.ShutDown, await disk.Unmap(0, 4096));
            await disk.Close();
            await (await Open(test.Lane, image)).Close();
        });
    }

    [Fact]
    public void Unmap_gives_space_back()
    {
        using TemporaryImage image = Make(inMemory: false);
        using TestLane test = TestLane.Create(backend, options);
        test.Run(async () =>
        {
            RawDisk disk = await Open(test.Lane, image);
            IoBuffer buffer = test.Lane.Buffers.Rent(4 << 20);
            buffer.Span.Fill(1);
            Assert.Equal(IoError.None, await disk.Write(0, buffer, WriteFlags.ForceUnitAccess));
            long before = Allocated(image);
            Assert.Equal(IoError.None, await disk.Unmap(0, 2 << 20));
            Assert.InRange(before - Allocated(image), 2 << 20, 3 << 20);
            List<StoreExtent> extents = [];
            Assert.Equal(IoError.None, await disk.Status(0, 4 << 20, extents));
            Assert.Equal([new StoreExtent(2 << 20, ExtentState.Hole | ExtentState.Zero), new StoreExtent(2 << 20, ExtentState.Data)], extents);
            Assert.Equal(IoError.None, await disk.WriteZeroes(2 << 20, 2 << 20, WriteFlags.NoHole));
            Assert.InRange(Allocated(image), 2 << 20, 3 << 20);
            test.Lane.Buffers.Return(buffer);
            await disk.Close();
        });
    }

    // Such calls may be in the queue of a stopped process; reads and writes go past those that wait, or a lease could not be renewed any more.
    [Fact]
    public void Zeroing_waits_for_the_lease_and_is_not_done_when_the_lease_is_lost()
    {
        using TemporaryImage image = Make(inMemory: false);
        using TestLane test = TestLane.Create(backend, options);
        test.Run(async () =>
        {
            RawDisk disk = await Open(test.Lane, image);
            Assert.Equal(IoError.None, await WriteData(0));
            LeaseGate gate = new(untilNs: 0);
            ((IDisk)disk).GuardCalls(gate);
            List<LaneTask<IoError>> zeroing = [.. Enumerable.Range(0, 64).Select(_ => disk.WriteZeroes(0, 4096, WriteFlags.None))];
            for (int i = 0; i < 10; i++)
            {
                Assert.Equal(IoError.None, await WriteData(8192));
                Assert.Equal(IoError.None, await disk.Flush());
            }

            Assert.All(zeroing, static one => Assert.False(one.IsCompleted));
            Assert.True(await HoldsData(0));
            gate.RunUntil(test.Lane.BootNs + 10_000_000_000);
            foreach (LaneTask<IoError> one in zeroing)
            {
                Assert.Equal(IoError.None, await one);
            }

            Assert.False(await HoldsData(0));
            gate.Shut();
            Assert.NotEqual(IoError.None, await disk.WriteZeroes(8192, 4096, WriteFlags.None));
            Assert.NotEqual(IoError.None, await disk.Unmap(8192, 4096));
            Assert.True(await HoldsData(8192));
            await disk.Close();

            async LaneTask<IoError> WriteData(long offset)
            {
                IoBuffer buffer = test.Lane.Buffers.Rent(4096);
                buffer.Span.Fill(7);
                IoError error = await disk.Write(offset, buffer, WriteFlags.None);
                test.Lane.Buffers.Return(buffer);
                return error;
            }

            async LaneTask<bool> HoldsData(long offset)
            {
                IoBuffer buffer = test.Lane.Buffers.Rent(4096);
                Assert.Equal(IoError.None, await disk.Read(offset, buffer));
                bool holds = buffer.Span.ContainsAnyExcept((byte)0);
                test.Lane.Buffers.Return(buffer);
                return holds;
            }
        });
    }

    [Fact]
    public void A_full_host_is_no_space_and_no_disk_failure()
    {
        using TestLane test = TestLane.Create(backend, options);
        using SmallFileSystem full = SmallFileSystem.Mount(sizeBytes: 4 << 20);
        string path = Path.Combine(full.Folder, "disk.img");
        DiskImage.Create(path, 64 << 20, preallocate: false);
        test.Run(async () =>
        {
            RawDisk disk = (RawDisk)await new DiskFactory().Open(test.Lane, DiskUri.ForFile(path).ToString(), new DiskOverrides());
            IoBuffer buffer = test.Lane.Buffers.Rent(1 << 20);
            buffer.Span.Fill(3);
            IoError error = IoError.None;
            for (long offset = 0; offset < 16 << 20 && error == IoError.None; offset += buffer.Length)
            {
                error = await disk.Write(offset, buffer, WriteFlags.None);
            }

            Assert.Equal(IoError.NoSpace, error);
            Assert.True(disk.IsPresent);
            Assert.Equal(IoError.None, await disk.Unmap(0, 1 << 20));
            Assert.Equal(IoError.None, await disk.Write(0, buffer.Slice(0, 4096), WriteFlags.ForceUnitAccess));
            test.Lane.Buffers.Return(buffer);
            await disk.Close();
        });
    }

    [Fact]
    public void A_short_write_through_the_backend_is_no_space_on_a_full_host()
    {
        using TestLane test = TestLane.Create(backend, options);
        using SmallFileSystem full = SmallFileSystem.Mount(sizeBytes: 1 << 20);
        string path = Path.Combine(full.Folder, "disk.img");
        DiskImage.Create(path, 8 << 20, preallocate: false);
        test.Run(async () =>
        {
            // Not by plain calls, as memory usually is: through the backend, as a file system on a disk would be.
            string uri = DiskUri.ForFile(path).ToString();
            OpenedDevice device = DeviceOpener.Open(uri, path, wantBlockDevice: false) with { Access = DiskAccess.Buffered };
            RawDisk disk = new(test.Lane, device, IdentityBuilder.ForFile(uri, device, new DiskOverrides()), 4096);
            IoBuffer buffer = test.Lane.Buffers.Rent(4 << 20);
            buffer.Span.Fill(7);
            Assert.Equal(IoError.NoSpace, await disk.Write(0, buffer, WriteFlags.None));
            Assert.True(disk.IsPresent);
            Assert.Equal(0, disk.InFlight);
            test.Lane.Buffers.Return(buffer);
            await disk.Close();
        });
    }

    [Fact]
    public void More_requests_than_the_ring_holds_all_complete()
    {
        const int requests = 10_000;   // the queues of the ring hold 512 and 4096
        using TemporaryImage image = Make(inMemory: false);
        using TestLane test = TestLane.Create(backend, options);
        test.Run(async () =>
        {
            RawDisk disk = await Open(test.Lane, image);
            IoBuffer memory = test.Lane.Buffers.Rent((int)TemporaryImage.DefaultSize);
            memory.Span.Fill(1);
            Assert.Equal(IoError.None, await disk.Write(0, memory, WriteFlags.None));
            LaneTask<IoError>[] pending = new LaneTask<IoError>[requests];
            for (int index = 0; index < requests; index++)
            {
                int offset = index % (memory.Length / 4096) * 4096;
                pending[index] = disk.Read(offset, memory.Slice(offset, 4096));
            }

            Assert.Equal(requests, disk.InFlight);
            foreach (LaneTask<IoError> request in pending)
            {
                Assert.Equal(IoError.None, await request);
            }

            test.Lane.Buffers.Return(memory);
            await disk.Close();
        });
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Reads_and_writes_allocate_nothing(bool inMemory)
    {
        using TemporaryImage image = Make(inMemory);
        using TestLane test = TestLane.Create(backend, options);
        long allocated = test.Run(async () =>
        {
            RawDisk disk = await Open(test.Lane, image);
            long least = await LeastAllocated(test.Lane, disk);
            await disk.Close();
            return least;
        });
        Assert.Equal(0, allocated);
    }

    /// <summary>Bytes allocated per window of requests at queue depth 32.</summary>
    private static async LaneTask<long> LeastAllocated(ILane lane, IDisk disk)
    {
        const int depth = 32, rounds = 100, windows = 5;
        IoBuffer memory = lane.Buffers.Rent(depth * 4096);
        LaneTask<IoError>[] pending = new LaneTask<IoError>[depth];
        AllocationMeter meter = new();
        int failures = 0;
        for (int window = 0; window < windows; window++)
        {
            meter.Begin();
            for (int round = 0; round < rounds; round++)
            {
                for (int index = 0; index < depth; index++)
                {
                    IoBuffer buffer = memory.Slice(index * 4096, 4096);
                    long offset = ((round * 17) + (index * 31)) % 2048 * 4096L;
                    pending[index] = (index & 1) == 0 ? disk.Read(offset, buffer) : disk.Write(offset, buffer, WriteFlags.None);
                }

                for (int index = 0; index < depth; index++)
                {
                    failures += await pending[index] == IoError.None ? 0 : 1;   // Assert itself allocates
                }
            }

            meter.End();
        }

        lane.Buffers.Return(memory);
        Assert.Equal(0, failures);
        return meter.Least;
    }

    private static TemporaryImage Make(bool inMemory) => inMemory ? TemporaryImage.InMemory() : TemporaryImage.OnDisk();

    private static async LaneTask<RawDisk> Open(Lane lane, TemporaryImage image) =>
        (RawDisk)await new DiskFactory().Open(lane, image.Uri, new DiskOverrides());

    /// <summary>An image as on a file system that asks a daemon or a server for everything.</summary>
    private static RawDisk OpenForeign(Lane lane, TemporaryImage image)
    {
        OpenedDevice device = DeviceOpener.Open(image.Uri, image.Path, wantBlockDevice: false) with { HonoursSyncFlag = false };
        Assert.True(device.IsForeign);
        return new RawDisk(lane, device, IdentityBuilder.ForFile(image.Uri, device, new DiskOverrides()), 4096);
    }

    private static void Truncate(TemporaryImage image, long size)
    {
        // Not by FileStream, which honours the lock.
        int descriptor = Libc.OpenPath(image.Path, Libc.OpenReadWrite);
        Assert.Equal(0, Libc.Truncate(descriptor, size));
        Libc.Close(descriptor);
    }

    private static long Allocated(TemporaryImage image)
    {
        Libc.StatusOfPath(image.Path, follow: true, out FileStatus status);
        return status.Blocks * 512;
    }

    private static async LaneTask<IoError> ReadBlock(ILane lane, IDisk disk, long offset)
    {
        IoBuffer buffer = lane.Buffers.Rent(4096);
        IoError error = await disk.Read(offset, buffer);
        lane.Buffers.Return(buffer);
        return error;
    }

    private static async LaneTask<IoError> WriteBlock(ILane lane, IDisk disk, long offset, WriteFlags flags)
    {
        IoBuffer buffer = lane.Buffers.Rent(4096);
        IoError error = await disk.Write(offset, buffer, flags);
        lane.Buffers.Return(buffer);
        return error;
    }
}

public sealed class UringRawDiskTests() : RawDiskTests(LaneBackend.Uring, new LaneOptions());

public sealed class CooperativeRingRawDiskTests() : RawDiskTests(LaneBackend.Uring, OlderRing.Options(1));

public sealed class AnyIssuerRingRawDiskTests() : RawDiskTests(LaneBackend.Uring, OlderRing.Options(2));

public sealed class PlainRingRawDiskTests() : RawDiskTests(LaneBackend.Uring, OlderRing.Options(3));

public sealed class ThreadsRawDiskTests() : RawDiskTests(LaneBackend.Threads, new LaneOptions());
