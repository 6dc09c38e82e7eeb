using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Devices.Identity;
using TierSpaces.Engine.Devices.Raw;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Lanes.Native;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Tests.Lanes;
using TierSpaces.Engine.Tests.Primitives;

namespace TierSpaces.Engine.Tests.Devices;

/// <summary>Raw disks that two lanes use: an owner on the first, a handle on the second.</summary>
public abstract class RawHandleTests(LaneBackend backend)
{
    private long _failingSyncs;   // syncs that fail from now on
    private int _errno = Errno.EIO;

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void What_one_lane_writes_the_other_reads(bool inMemory)
    {
        using TemporaryImage image = inMemory ? TemporaryImage.InMemory() : TemporaryImage.OnDisk();
        using Pair pair = Open(image);
        Assert.Equal(IoError.None, pair.WriteByOwner(0, 1));
        Assert.Equal(1, pair.ReadByHandle(0));
        Assert.Equal(IoError.None, pair.WriteByHandle(4096, 2));
        Assert.Equal(IoError.None, pair.FlushHandle());
        Assert.Equal(2, pair.ReadByOwner(4096));
        Assert.Equal((pair.Owner.Identity, pair.Owner.Geometry), (pair.Handle.Identity, pair.Handle.Geometry));
        pair.CloseHandle();
        pair.CloseOwner();
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void The_last_one_to_be_closed_releases_the_lock(bool isOwnerFirst)
    {
        using TemporaryImage image = TemporaryImage.OnDisk();
        using Pair pair = Open(image);
        if (isOwnerFirst)
        {
            pair.CloseOwner();
            Assert.False(pair.Owner.IsPresent);
            Assert.True(IsLocked(image));
            Assert.Equal((IoError.None, 7), (pair.WriteByHandle(0, 7), pair.ReadByHandle(0)));
            Assert.Equal(IoError.None, pair.FlushHandle());
            Assert.True(pair.Handle.IsPresent);
            pair.CloseHandle();
        }
        else
        {
            pair.CloseHandle();
            Assert.True(IsLocked(image));
            Assert.Equal((IoError.None, 7), (pair.WriteByOwner(0, 7), pair.ReadByOwner(0)));
            pair.CloseOwner();
        }

        Assert.False(IsLocked(image));
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_share_that_is_not_opened_holds_the_lock_until_it_is_disposed_of(bool isClosedFirst)
    {
        using TemporaryImage image = TemporaryImage.OnDisk();
        using Pair pair = Open(image);
        pair.CloseHandle();
        DiskShare share = pair.First.Run(() => new LaneTask<DiskShare>(pair.Owner.Share()));
        if (isClosedFirst)
        {
            pair.CloseOwner();
            Assert.True(IsLocked(image));
        }

        pair.First.Run(async () =>
        {
            share.Dispose();
            share.Dispose();
            await pair.First.Lane.Yield();
        });
        if (!isClosedFirst)
        {
            Assert.True(IsLocked(image));
            pair.CloseOwner();
        }

        Assert.True(SpinWait.SpinUntil(() => !IsLocked(image), TimeSpan.FromSeconds(10)));
        Assert.ThrowsAny<InvalidOperationException>(() => pair.Second.Run(() => new LaneTask<IDisk>(share.Open(pair.Second.Lane))));
    }

    [Fact]
    public void A_share_is_opened_once_on_the_lane_that_uses_it_and_a_closed_disk_has_none()
    {
        using TemporaryImage image = TemporaryImage.OnDisk();
        using Pair pair = Open(image);
        DiskShare share = pair.First.Run(() => new LaneTask<DiskShare>(pair.Owner.Share()));
        Assert.Throws<InvalidOperationException>(() => share.Open(pair.Second.Lane));   // on no lane
        IDisk second = pair.Second.Run(() => new LaneTask<IDisk>(share.Open(pair.Second.Lane)));
        Assert.ThrowsAny<InvalidOperationException>(() => pair.Second.Run(() => new LaneTask<IDisk>(share.Open(pair.Second.Lane))));
        share.Dispose();
        Assert.Equal(IoError.None, pair.Second.Run(second.Flush));
        pair.Second.Run(second.Close);
        pair.CloseHandle();
        pair.CloseOwner();
        Assert.ThrowsAny<InvalidOperationException>(() => pair.First.Run(() => new LaneTask<DiskShare>(pair.Owner.Share())));
    }

    // The kernel reports an error of write-back to one of the descriptors that share an open file.
    [Theory]
    [InlineData(true, Errno.EIO, IoError.Io)]
    [InlineData(false, Errno.EIO, IoError.Io)]
    [InlineData(true, Errno.ENOSPC, IoError.NoSpace)]
    public void A_failed_flush_fails_the_next_flush_of_each_handle_once(bool failsOnOwner, int errno, IoError expected)
    {
        using TemporaryImage image = TemporaryImage.OnDisk();
        using Pair pair = OpenForeign(image);
        IDisk third = pair.OpenHandle();
        pair.WriteByOwner(0, 1);
        pair.WriteByHandle(4096, 1);
        (_failingSyncs, _errno) = (1, errno);
        Assert.Equal(expected, failsOnOwner ? pair.FlushOwner() : pair.FlushHandle());
        Assert.Equal(0, _failingSyncs);
        IDisk later = pair.OpenHandle();
        Assert.Equal(IoError.None, failsOnOwner ? pair.FlushOwner() : pair.FlushHandle());

        Assert.Equal((expected, IoError.None), failsOnOwner ? (pair.FlushHandle(), pair.FlushHandle()) : (pair.FlushOwner(), pair.FlushOwner()));
        Assert.Equal((expected, IoError.None), (pair.Second.Run(third.Flush), pair.Second.Run(third.Flush)));
        Assert.Equal(IoError.None, pair.Second.Run(later.Flush));
        Assert.True(pair.Owner.IsPresent && pair.Handle.IsPresent);
    }

    [Fact]
    public void A_durable_write_whose_sync_fails_fails_the_flush_of_the_other_handle()
    {
        using TemporaryImage image = TemporaryImage.OnDisk();
        using Pair pair = OpenForeign(image);
        _failingSyncs = 1;
        Assert.Equal(IoError.Io, pair.WriteByOwner(0, 1, WriteFlags.ForceUnitAccess));
        Assert.Equal((IoError.Io, IoError.None), (pair.FlushHandle(), pair.FlushHandle()));
        Assert.Equal(IoError.None, pair.FlushOwner());
    }

    [Fact]
    public void Two_failures_before_a_flush_are_one_error()
    {
        using TemporaryImage image = TemporaryImage.OnDisk();
        using Pair pair = OpenForeign(image);
        _failingSyncs = 2;
        Assert.Equal((IoError.Io, IoError.Io), (pair.FlushOwner(), pair.FlushOwner()));
        Assert.Equal((IoError.Io, IoError.None), (pair.FlushHandle(), pair.FlushHandle()));
    }

    [Fact]
    public void A_device_that_one_lane_finds_gone_is_gone_for_all()
    {
        using TemporaryImage image = TemporaryImage.OnDisk();
        using Pair pair = Open(image);
        File.Delete(image.Path);
        Assert.Equal(IoError.NoDevice, pair.FlushHandle());
        Assert.False(pair.Owner.IsPresent);
        Assert.False(pair.Handle.IsPresent);
        Assert.Equal(IoError.NoDevice, pair.FlushOwner());
    }

    [Fact]
    public void Both_lanes_write_at_once_and_nothing_is_lost()
    {
        const int blocks = 400;
        using TemporaryImage image = TemporaryImage.OnDisk();
        using Pair pair = Open(image);
        Task<int> first = pair.First.Lane.InvokeAsync(() => WriteEverySecond(pair.First.Lane, pair.Owner, 0));
        Task<int> second = pair.Second.Lane.InvokeAsync(() => WriteEverySecond(pair.Second.Lane, pair.Handle, 1));
        Assert.True(Task.WaitAll([first, second], TimeSpan.FromSeconds(60)));
        for (int block = 0; block < blocks; block++)
        {
            Assert.Equal((block % 250) + 1, (block & 1) == 0 ? pair.ReadByHandle(block * 4096L) : pair.ReadByOwner(block * 4096L));
        }

        static async LaneTask<int> WriteEverySecond(ILane lane, IDisk disk, int from)
        {
            for (int block = from; block < blocks; block += 2)
            {
                Assert.Equal(IoError.None, await WriteBlock(lane, disk, block * 4096L, (byte)((block % 250) + 1), WriteFlags.None));
                if (block % 64 == from)
                {
                    Assert.Equal(IoError.None, await disk.Flush());
                }
            }

            return 0;
        }
    }

    private static async LaneTask<IoError> WriteBlock(ILane lane, IDisk disk, long offset, byte value, WriteFlags flags)
    {
        IoBuffer buffer = lane.Buffers.Rent(4096);
        buffer.Span.Fill(value);
        IoError error = await disk.Write(offset, buffer, flags);
        lane.Buffers.Return(buffer);
        return error;
    }

    private static bool IsLocked(TemporaryImage image)
    {
        try
        {
            Libc.Close(DeviceOpener.Open(image.Uri, image.Path, wantBlockDevice: false).Descriptor);
            return false;
        }
        catch (DiskOpenException problem) when (problem.Failure == DiskOpenFailure.InUse)
        {
            return true;
        }
    }

    private Pair Open(TemporaryImage image) =>
        new(backend, Call, lane => new DiskFactory().Open(lane, image.Uri, new DiskOverrides()));

    /// <summary>A disk of which every call is made by threads, on either backend.</summary>
    private Pair OpenForeign(TemporaryImage image) => new(backend, Call, lane =>
    {
        OpenedDevice device = DeviceOpener.Open(image.Uri, image.Path, wantBlockDevice: false) with { HonoursSyncFlag = false };
        return new LaneTask<IDisk>(new RawDisk(lane, device, IdentityBuilder.ForFile(image.Uri, device, new DiskOverrides()), 4096));
    });

    private int Call(in FileOperation operation)
    {
        if (operation.Opcode != FileOpcode.Sync || Interlocked.Read(ref _failingSyncs) == 0)
        {
            return FileCalls.Run(operation);
        }

        Interlocked.Decrement(ref _failingSyncs);
        return -_errno;
    }

    /// <summary>Two lanes, a disk of the first, and a handle of it on the second.</summary>
    private sealed class Pair : IDisposable
    {
        internal Pair(LaneBackend backend, FileCall call, Func<Lane, LaneTask<IDisk>> open)
        {
            First = TestLane.Create(backend, new LaneOptions { FileCall = call });
            Second = TestLane.Create(backend, new LaneOptions { FileCall = call });
            Owner = First.Run(() => open(First.Lane));
            Handle = OpenHandle();
        }

        internal TestLane First { get; }

        internal TestLane Second { get; }

        internal IDisk Owner { get; }

        internal IDisk Handle { get; }

        public void Dispose()
        {
            CloseHandle();
            CloseOwner();
            Second.Dispose();
            First.Dispose();
        }

        internal IDisk OpenHandle()
        {
            DiskShare share = First.Run(() => new LaneTask<DiskShare>(Owner.Share()));
            return Second.Run(() => new LaneTask<IDisk>(share.Open(Second.Lane)));
        }

        internal IoError WriteByOwner(long offset, byte value, WriteFlags flags = WriteFlags.None) =>
            First.Run(() => WriteBlock(First.Lane, Owner, offset, value, flags));

        internal IoError WriteByHandle(long offset, byte value) => Second.Run(() => WriteBlock(Second.Lane, Handle, offset, value, WriteFlags.None));

        internal int ReadByOwner(long offset) => Read(First, Owner, offset);

        internal int ReadByHandle(long offset) => Read(Second, Handle, offset);

        internal IoError FlushOwner() => First.Run(Owner.Flush);

        internal IoError FlushHandle() => Second.Run(Handle.Flush);

        internal void CloseOwner() => First.Run(Owner.Close);

        internal void CloseHandle() => Second.Run(Handle.Close);

        private static int Read(TestLane test, IDisk disk, long offset) => test.Run(async () =>
        {
            IoBuffer buffer = test.Lane.Buffers.Rent(4096);
            IoError error = await disk.Read(offset, buffer);
            int value = error == IoError.None ? buffer.Span[17] : -1;
            test.Lane.Buffers.Return(buffer);
            return value;
        });
    }
}

public sealed class UringRawHandleTests() : RawHandleTests(LaneBackend.Uring);

public sealed class ThreadsRawHandleTests() : RawHandleTests(LaneBackend.Threads);

/// <summary>The suite over a handle of a raw disk.</summary>
public abstract class RawHandleConformance(LaneBackend backend) : BlockStoreConformance
{
    protected override void WithStore(Func<ILane, IBlockStore, LaneTask> body)
    {
        using TemporaryImage image = TemporaryImage.OnDisk(48 << 20);
        using TestLane first = TestLane.Create(backend);
        using TestLane second = TestLane.Create(backend);
        IDisk owner = first.Run(() => new DiskFactory().Open(first.Lane, image.Uri, new DiskOverrides()));
        DiskShare share = first.Run(() => new LaneTask<DiskShare>(new MeteredDisk(first.Lane, owner).Share()));
        second.Run(async () =>
        {
            IDisk disk = share.Open(second.Lane);
            int rented = second.Lane.Buffers.Outstanding;
            await body(second.Lane, disk);
            Assert.Equal(0, disk.InFlight);
            Assert.Equal(rented, second.Lane.Buffers.Outstanding);
            await disk.Close();
        });
        first.Run(owner.Close);
    }
}

public sealed class UringHandleConformance() : RawHandleConformance(LaneBackend.Uring);

public sealed class ThreadsHandleConformance() : RawHandleConformance(LaneBackend.Threads);
