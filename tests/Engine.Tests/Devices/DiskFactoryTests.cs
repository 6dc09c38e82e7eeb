using System.Diagnostics;
using System.Globalization;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Devices.Emulated;
using TierSpaces.Engine.Devices.Raw;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Lanes.Native;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Tests.Lanes;

namespace TierSpaces.Engine.Tests.Devices;

public class DiskFactoryTests
{
    [Fact]
    public void An_image_is_a_512e_disk_of_unspecified_medium()
    {
        using TemporaryImage image = TemporaryImage.InMemory();
        DiskIdentity identity = IdentityOf(image.Uri, new DiskOverrides());
        Assert.Equal((512, 4096), (identity.LogicalSectorSize, identity.PhysicalSectorSize));
        Assert.Equal((MediaType.Unspecified, BusType.FileBackedVirtual), (identity.MediaType, identity.BusType));
        Assert.Equal((TemporaryImage.DefaultSize, uint.MaxValue), (identity.SizeBytes, identity.SpindleSpeed));
        Assert.StartsWith("inode:", identity.DeviceKey);
        Assert.Empty(identity.CannotPoolReason);
    }

    [Theory]
    [InlineData(512, 512)]
    [InlineData(512, 4096)]
    [InlineData(4096, 4096)]
    public void Every_sector_size_can_be_stated(int logical, int physical)
    {
        using TemporaryImage image = TemporaryImage.InMemory();
        DiskIdentity identity = IdentityOf(image.Uri, new DiskOverrides(LogicalSectorSize: logical, PhysicalSectorSize: physical));
        Assert.Equal((logical, physical), (identity.LogicalSectorSize, identity.PhysicalSectorSize));
    }

    [Fact]
    public void Every_other_property_can_be_stated()
    {
        using TemporaryImage image = TemporaryImage.InMemory();
        DiskIdentity identity = IdentityOf(
            image.Uri, new DiskOverrides(MediaType.HDD, BusType.SAS, 10_000, IsWriteCacheEnabled: false));
        Assert.Equal((MediaType.HDD, BusType.SAS, 10_000u, false), (identity.MediaType, identity.BusType, identity.SpindleSpeed, identity.IsWriteCacheEnabled));
        Assert.Equal(0u, IdentityOf(image.Uri, new DiskOverrides(MediaType.SSD)).SpindleSpeed);
    }

    [Theory]
    [InlineData(1024, 4096)]
    [InlineData(4096, 512)]
    [InlineData(512, 8192)]
    public void Other_sector_sizes_are_refused_and_the_image_is_released(int logical, int physical)
    {
        using TemporaryImage image = TemporaryImage.InMemory();
        DiskOpenException rejected = ManagementError(image.Uri, new DiskOverrides(LogicalSectorSize: logical, PhysicalSectorSize: physical));
        Assert.Equal(DiskOpenFailure.Unsuitable, rejected.Failure);
        Assert.Contains($"LogicalSectorSize {logical}", rejected.Message);
        IdentityOf(image.Uri, new DiskOverrides());
    }

    [Fact]
    public void A_device_of_a_virtual_disk_of_this_host_is_refused_and_not_opened()
    {
        using LoopDevice loop = LoopDevice.Attach(4096);
        using TestLane test = TestLane.Create(LaneBackend.Threads);
        test.Run(async () =>
        {
            IDisk holder = await new DiskFactory().Open(test.Lane, $"block:{loop.Path}", new DiskOverrides());
            DiskFactory factory = new(name => name == Path.GetFileName(loop.Path) ? "data" : null);
            DiskOpenException rejected = await factory.WhyNot(test.Lane, $"block:{loop.Path}", new DiskOverrides());
            Assert.Equal(DiskOpenFailure.Unsuitable, rejected.Failure);   // not InUse: it was not even tried
            Assert.Contains("shows virtual disk 'data' of this host", rejected.Message);
            await holder.Close();
        });
    }

    [Fact]
    public void A_disk_opened_for_reading_has_other_readers_and_no_writer()
    {
        using TemporaryImage image = TemporaryImage.InMemory();
        using TestLane test = TestLane.Create(LaneBackend.Threads);
        test.Run(async () =>
        {
            DiskFactory factory = new();
            IDisk first = await factory.Open(test.Lane, image.Uri, new DiskOverrides(), DiskUse.Read);
            IDisk second = await factory.Open(test.Lane, image.Uri, new DiskOverrides(), DiskUse.Read);
            Assert.Equal(DiskOpenFailure.InUse, (await factory.WhyNot(test.Lane, image.Uri, new DiskOverrides())).Failure);
            await first.Close();
            await second.Close();
            IDisk writer = await factory.Open(test.Lane, image.Uri, new DiskOverrides());
            Assert.Equal(DiskOpenFailure.InUse,
                (await factory.WhyNot(test.Lane, image.Uri, new DiskOverrides(), DiskUse.Read)).Failure);
            await writer.Close();
        });
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_disk_opened_for_reading_is_read_and_not_written(bool onDisk)
    {
        using TemporaryImage image = onDisk ? TemporaryImage.OnDisk() : TemporaryImage.InMemory();
        byte[] content = new byte[8192];
        Random.Shared.NextBytes(content);
        using (FileStream file = File.OpenWrite(image.Path))
        {
            file.Write(content);
        }

        using TestLane test = TestLane.Create(LaneBackend.Threads);
        test.Run(async () =>
        {
            IDisk disk = await new DiskFactory().Open(test.Lane, image.Uri, new DiskOverrides(), DiskUse.Read);
            IoBuffer buffer = test.Lane.Buffers.Rent(4096);
            Assert.Equal(IoError.None, await disk.Read(4096, buffer));
            Assert.True(buffer.Span.SequenceEqual(content.AsSpan(4096)));
            buffer.Span.Clear();
            Assert.Equal(IoError.ReadOnly, await disk.Write(4096, buffer, WriteFlags.None));
            Assert.Equal(IoError.ReadOnly, await disk.Write(512, buffer.Slice(0, 512), WriteFlags.ForceUnitAccess));
            Assert.Equal(IoError.ReadOnly, await disk.WriteZeroes(0, 4096, WriteFlags.None));
            Assert.Equal(IoError.ReadOnly, await disk.Unmap(0, 4096));
            test.Lane.Buffers.Return(buffer);
            await disk.Close();
        });
        Assert.Equal(content, File.ReadAllBytes(image.Path).AsSpan(0, content.Length).ToArray());
    }

    [Fact]
    public void A_second_opener_is_refused_by_name_also_through_another_name()
    {
        using TemporaryImage image = TemporaryImage.InMemory();
        using TestLane test = TestLane.Create(LaneBackend.Threads);
        string link = image.Path + ".link";
        File.CreateSymbolicLink(link, image.Path);
        test.Run(async () =>
        {
            DiskFactory factory = new();
            IDisk disk = await factory.Open(test.Lane, image.Uri, new DiskOverrides());
            string[] uris = [image.Uri, DiskUri.ForFile(link).ToString()];
            foreach (string uri in uris)
            {
                DiskOpenException rejected = await factory.WhyNot(test.Lane, uri, new DiskOverrides());
                Assert.Equal(DiskOpenFailure.InUse, rejected.Failure);
                Assert.Contains(uri, rejected.Message);
            }

            await disk.Close();
            await (await factory.Open(test.Lane, image.Uri, new DiskOverrides())).Close();
        });
        File.Delete(link);
    }

    [Theory]
    [InlineData("file:/nonexistent/disk.img", DiskOpenFailure.NotFound)]
    [InlineData("file:/dev", DiskOpenFailure.Unsuitable)]
    [InlineData("file:/dev/null", DiskOpenFailure.Unsuitable)]
    [InlineData("block:/dev/null", DiskOpenFailure.Unsuitable)]
    [InlineData("block:/dev/nonexistent", DiskOpenFailure.NotFound)]
    [InlineData("nvme:/dev/x", DiskOpenFailure.Unsuitable)]
    [InlineData("file:relative.img", DiskOpenFailure.Unsuitable)]
    [InlineData("emulated:/tmp/x", DiskOpenFailure.Unsuitable)]
    [InlineData("emulated:/tmp/x?profile=Floppy", DiskOpenFailure.Unsuitable)]
    [InlineData("file:/tmp/x?profile=HDD10K", DiskOpenFailure.Unsuitable)]
    [InlineData("file:/tmp/100%", DiskOpenFailure.Unsuitable)]
    public void A_file_that_is_no_disk_is_refused_by_name(string uri, DiskOpenFailure failure)
    {
        DiskOpenException rejected = ManagementError(uri, new DiskOverrides());
        Assert.Equal(failure, rejected.Failure);
        Assert.Contains($"'{uri}'", rejected.Message);
    }

    [Fact]
    public void An_image_of_no_whole_sectors_is_refused()
    {
        using TemporaryImage image = TemporaryImage.InMemory();
        File.WriteAllBytes(image.Path, new byte[1000]);
        Assert.Equal(DiskOpenFailure.Unsuitable, ManagementError(image.Uri, new DiskOverrides()).Failure);
        File.WriteAllBytes(image.Path, []);
        Assert.Equal(DiskOpenFailure.Unsuitable, ManagementError(image.Uri, new DiskOverrides()).Failure);
    }

    [Fact]
    public void An_emulated_disk_has_the_properties_of_its_profile()
    {
        using TemporaryImage image = TemporaryImage.InMemory();
        foreach (LatencyProfile profile in LatencyProfile.All)
        {
            string uri = DiskUri.ForEmulated(image.Path, profile.Name.ToLowerInvariant()).ToString();
            DiskIdentity identity = IdentityOf(uri, new DiskOverrides());
            Assert.Equal((uri, $"Emulated {profile.Name}"), (identity.Uri, identity.Model));
            Assert.Equal((profile.MediaType, profile.BusType, profile.SpindleSpeed), (identity.MediaType, identity.BusType, identity.SpindleSpeed));
            Assert.Equal(profile.SpindleSpeed, IdentityOf(uri, new DiskOverrides(profile.MediaType)).SpindleSpeed);
        }

        DiskIdentity overridden = IdentityOf($"emulated:{image.Path}?profile=HDD10K", new DiskOverrides(MediaType.SSD, LogicalSectorSize: 4096));
        Assert.Equal((MediaType.SSD, 0u, 4096), (overridden.MediaType, overridden.SpindleSpeed, overridden.LogicalSectorSize));
    }

    [Fact]
    public void A_lock_of_a_living_process_is_refused_at_once_and_one_of_a_dead_process_is_waited_for()
    {
        // The lock is recorded for the short-lived program "flock" and lives as long as the shell that started it.
        using TemporaryImage image = TemporaryImage.InMemory();
        using Process shell = Process.Start(
            new ProcessStartInfo("sh", ["-c", "exec 9<>\"$0\"; flock 9; echo; sleep 1.5", image.Path]) { RedirectStandardOutput = true })!;
        shell.StandardOutput.ReadLine();
        Stopwatch watch = Stopwatch.StartNew();
        IdentityOf(image.Uri, new DiskOverrides());
        Assert.InRange(watch.ElapsedMilliseconds, 100, 5000);

        int descriptor = Libc.OpenPath(image.Path, Libc.OpenReadWrite);
        Assert.Equal(0, Libc.Lock(descriptor, Libc.LockExclusive | Libc.LockNonblocking));
        watch.Restart();
        Assert.Equal(DiskOpenFailure.InUse, ManagementError(image.Uri, new DiskOverrides()).Failure);
        Assert.InRange(watch.ElapsedMilliseconds, 0, 1500);
        Libc.Close(descriptor);
    }

    [Fact]
    public void A_lock_that_falls_between_the_try_and_the_look_at_its_holder_is_taken()
    {
        using TemporaryImage image = TemporaryImage.InMemory();
        int holder = Libc.OpenPath(image.Path, Libc.OpenReadWrite);
        int taker = Libc.OpenPath(image.Path, Libc.OpenReadWrite);
        Assert.Equal(0, Libc.Lock(holder, Libc.LockExclusive | Libc.LockNonblocking));
        int looks = 0;

        // The lock waits for a process that has died; then the lock is released and no holder is named any more.
        Assert.Equal(0, FileLock.Take(taker, _ =>
        {
            if (++looks < 80)
            {
                return int.MaxValue.ToString(CultureInfo.InvariantCulture);
            }

            _ = Libc.Lock(holder, Libc.LockRelease);
            return null;
        }));

        Assert.Equal(80, looks);
        Libc.Close(holder);
        Libc.Close(taker);
    }

    // A program that is being started has a copy of a closed file, and its lock, until it begins.
    [Fact]
    public void A_lock_of_this_process_is_waited_for_and_refused_after_a_second()
    {
        using TemporaryImage image = TemporaryImage.InMemory();
        int holder = Libc.OpenPath(image.Path, Libc.OpenReadWrite);
        int taker = Libc.OpenPath(image.Path, Libc.OpenReadWrite);
        Assert.Equal(0, Libc.Lock(holder, Libc.LockExclusive | Libc.LockNonblocking));
        string own = Environment.ProcessId.ToString(CultureInfo.InvariantCulture);
        int looks = 0;
        Assert.Equal(-Errno.EAGAIN, FileLock.Take(taker, _ => ++looks > 0 ? own : null));
        Assert.InRange(looks, 20, 201);

        looks = 0;
        Assert.Equal(0, FileLock.Take(taker, _ =>
        {
            _ = ++looks == 20 ? Libc.Lock(holder, Libc.LockRelease) : 0;
            return own;
        }));
        Assert.Equal(20, looks);
        Libc.Close(holder);
        Libc.Close(taker);
    }

    [Fact]
    public void Opening_outside_the_lane_is_a_mistake()
    {
        using TemporaryImage image = TemporaryImage.InMemory();
        using TestLane test = TestLane.Create(LaneBackend.Threads);
        Assert.Throws<InvalidOperationException>(() => new DiskFactory().Open(test.Lane, image.Uri, new DiskOverrides()));
    }

    private static DiskIdentity IdentityOf(string uri, DiskOverrides overrides)
    {
        using TestLane test = TestLane.Create(LaneBackend.Threads);
        return test.Run(async () =>
        {
            IDisk disk = await new DiskFactory().Open(test.Lane, uri, overrides);
            await disk.Close();
            return disk.Identity;
        });
    }

    private static DiskOpenException ManagementError(string uri, DiskOverrides overrides) =>
        Assert.Throws<DiskOpenException>(() => { IdentityOf(uri, overrides); });
}
