namespace TierSpaces.Engine.Tests.Devices;

/// <summary>A tmpfs of a few megabytes, to be full soon. Needs the right to mount; the test is skipped without it.</summary>
public sealed class SmallFileSystem : IDisposable
{
    private SmallFileSystem(string folder) => Folder = folder;

    public string Folder { get; }

    public static SmallFileSystem Mount(long sizeBytes)
    {
        string folder = Directory.CreateTempSubdirectory("tierspaces-small-").FullName;
        (int exitCode, _, string error) = Commands.Run("mount", "-t", "tmpfs", "-o", $"size={sizeBytes}", "tmpfs", folder);
        if (exitCode != 0)
        {
            Directory.Delete(folder);
            Assert.Skip($"Cannot mount a small file system: {error}");
        }

        return new SmallFileSystem(folder);
    }

    public void Dispose()
    {
        Commands.Run("umount", Folder);
        Directory.Delete(Folder);
    }
}
