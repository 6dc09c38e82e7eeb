using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Devices.Identity;
using TierSpaces.Engine.Devices.Raw;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Lanes.Native;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Tests.Lanes;
using TierSpaces.Engine.Tests.Primitives;

namespace TierSpaces.Engine.Tests.Devices;

/// <summary>The suite over raw disks: each way of access, each sector size, on one backend.</summary>
public abstract class RawDiskConformance(LaneBackend backend) : BlockStoreConformance
{
    protected virtual DiskOverrides Overrides => new();

    protected virtual TemporaryImage MakeImage() => TemporaryImage.OnDisk(48 << 20);

    internal virtual OpenedDevice Adjust(OpenedDevice device) => device;

    [Theory]
    [InlineData(0, WriteFlags.None)]
    [InlineData(0, WriteFlags.ForceUnitAccess)]
    [InlineData(512, WriteFlags.None)]
    public void Strips_are_read_and_written_in_one_request(int misaligned, WriteFlags flags) => WithStore(async (lane, store) =>
    {
        const int strip = 16 << 10, round = 3, strips = 40;
        IoBuffer memory = lane.Buffers.Rent((strips * round * strip) + 4096), whole = lane.Buffers.Rent(strips * strip);
        IoBuffer striped = memory.Stripe(misaligned, strip, round, strips * strip);
        memory.Span.Fill(0xEE);
        for (int i = 0; i < strips; i++)
        {
            striped.Strip(i).Span.Fill((byte)(i + 1));
        }

        Assert.Equal(IoError.None, await store.Write(1 << 20, striped, flags));
        Assert.Equal(IoError.None, await store.Read(1 << 20, whole));
        for (int i = 0; i < strips; i++)
        {
            Assert.Equal(-1, whole.Span.Slice(i * strip, strip).IndexOfAnyExcept((byte)(i + 1)));
        }

        memory.Span.Fill(0xEE);
        Assert.Equal(IoError.None, await store.Read(1 << 20, striped));
        Assert.Equal(memory.Length - (strips * strip), memory.Span.Count((byte)0xEE));
        for (int i = 0; i < strips; i++)
        {
            Assert.Equal(-1, striped.Strip(i).Span.IndexOfAnyExcept((byte)(i + 1)));
        }

        lane.Buffers.Return(memory);
        lane.Buffers.Return(whole);
    });

    protected override void WithStore(Func<ILane, IBlockStore, LaneTask> body)
    {
        using TemporaryImage image = MakeImage();
        using TestLane test = TestLane.Create(backend);
        test.Run(async () =>
        {
            OpenedDevice device = Adjust(DeviceOpener.Open(image.Uri, image.Path, wantBlockDevice: false));
            DiskIdentity identity = IdentityBuilder.ForFile(image.Uri, device, Overrides);
            RawDisk disk = new(test.Lane, device, identity, identity.LogicalSectorSize);
            int rented = test.Lane.Buffers.Outstanding;
            await body(test.Lane, disk);
            Assert.Equal(0, disk.InFlight);
            Assert.Equal(rented, test.Lane.Buffers.Outstanding);
            await disk.Close();
        });
    }
}

public abstract class DirectConformance(LaneBackend backend) : RawDiskConformance(backend);

public abstract class MemoryConformance(LaneBackend backend) : RawDiskConformance(backend)
{
    protected override TemporaryImage MakeImage() => TemporaryImage.InMemory(48 << 20);
}

public abstract class BufferedConformance(LaneBackend backend) : RawDiskConformance(backend)
{
    internal override OpenedDevice Adjust(OpenedDevice device)
    {
        int flags = Libc.FileControl(device.Descriptor, Libc.GetFlags, 0);
        Libc.FileControl(device.Descriptor, Libc.SetFlags, flags & ~Libc.OpenDirect);
        return device with { Access = DiskAccess.Buffered };
    }
}

public abstract class NativeSectorConformance(LaneBackend backend) : RawDiskConformance(backend)
{
    protected override DiskOverrides Overrides => new(LogicalSectorSize: 4096);
}

/// <summary>512-byte sectors over direct access that takes only pages: what is smaller is widened, written alone.</summary>
public abstract class WidenedConformance(LaneBackend backend) : RawDiskConformance(backend)
{
    internal override OpenedDevice Adjust(OpenedDevice device) => device with { OffsetAlignment = 4096, MemoryAlignment = 4096, HonoursSyncFlag = false };
}

public sealed class UringDirectConformance() : DirectConformance(LaneBackend.Uring);

public sealed class ThreadsDirectConformance() : DirectConformance(LaneBackend.Threads);

public sealed class UringMemoryConformance() : MemoryConformance(LaneBackend.Uring);

public sealed class ThreadsMemoryConformance() : MemoryConformance(LaneBackend.Threads);

public sealed class UringBufferedConformance() : BufferedConformance(LaneBackend.Uring);

public sealed class ThreadsBufferedConformance() : BufferedConformance(LaneBackend.Threads);

public sealed class UringNativeSectorConformance() : NativeSectorConformance(LaneBackend.Uring);

public sealed class ThreadsNativeSectorConformance() : NativeSectorConformance(LaneBackend.Threads);

public sealed class UringWidenedConformance() : WidenedConformance(LaneBackend.Uring);

public sealed class ThreadsWidenedConformance() : WidenedConformance(LaneBackend.Threads);
