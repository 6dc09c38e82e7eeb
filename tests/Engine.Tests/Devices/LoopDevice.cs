namespace TierSpaces.Engine.Tests.Devices;

/// <summary>A block device over an image file. Needs root and the loop driver; the test is skipped without them.</summary>
public sealed class LoopDevice : IDisposable
{
    private readonly TemporaryImage _image;

    private LoopDevice(TemporaryImage image, string path)
    {
        _image = image;
        Path = path;
    }

    public string Path { get; }

    public static LoopDevice Attach(int sectorSize)
    {
        TemporaryImage image = TemporaryImage.OnDisk();
        (int exitCode, string path, string error) = Commands.Run(
            "losetup", "--find", "--show", "--sector-size", $"{sectorSize}", image.Path);
        if (exitCode != 0)
        {
            image.Dispose();
            Assert.Skip($"Cannot attach a loop device: {error}");
        }

        return new LoopDevice(image, path);
    }

    public void Dispose()
    {
        Commands.Run("losetup", "--detach", Path);
        _image.Dispose();
    }
}
