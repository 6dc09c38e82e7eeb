using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Devices.Raw;
using TierSpaces.Engine.Lanes.Native;

namespace TierSpaces.Engine.Tests.Devices;

/// <summary>An image file of one test, on a disk or in memory.</summary>
public sealed class TemporaryImage : IDisposable
{
    public const long DefaultSize = 8 << 20;

    private TemporaryImage(string path) => Path = path;

    public string Path { get; }

    public string Uri => DiskUri.ForFile(Path).ToString();

    /// <summary>On a file system that takes direct access; the test is skipped where there is none.</summary>
    public static TemporaryImage OnDisk(long size = DefaultSize)
    {
        TemporaryImage image = Make("/var/tmp", size);
        OpenedDevice device = DeviceOpener.Open(image.Uri, image.Path, wantBlockDevice: false);
        Libc.Close(device.Descriptor);
        if (device.Access == DiskAccess.Direct)
        {
            return image;
        }

        image.Dispose();
        Assert.Skip($"/var/tmp takes no direct access here: {device.AccessReason}.");
        throw new InvalidOperationException();
    }

    /// <summary>On tmpfs; the test is skipped where there is none.</summary>
    public static TemporaryImage InMemory(long size = DefaultSize)
    {
        if (!Directory.Exists("/dev/shm"))
        {
            Assert.Skip("There is no /dev/shm here.");
        }

        return Make("/dev/shm", size);
    }

    public void Dispose() => File.Delete(Path);

    private static TemporaryImage Make(string folder, long size)
    {
        TemporaryImage image = new(System.IO.Path.Combine(folder, $"tierspaces-test-{Environment.ProcessId}-{Guid.NewGuid():N}.img"));
        DiskImage.Create(image.Path, size, preallocate: false);
        return image;
    }
}
