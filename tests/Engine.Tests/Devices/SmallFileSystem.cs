using System.Diagnostics;

namespace TierSpaces.Engine.Tests.Devices;

/// <summary>A tmpfs of a few megabytes, to be full soon. Needs the right to mount; the test is skipped without it.</summary>
public sealed class SmallFileSystem : IDisposable
{
    private SmallFileSystem(string folder) => Folder = folder;

    public string Folder { get; }

    public static SmallFileSystem Mount(long sizeBytes)
    {
        string folder = Directory.CreateTempSubdirectory("tierspaces-small-").FullName;
        (int exitCode, string error) = Run("mount", "-t", "tmpfs", "-o", $"size={sizeBytes}", "tmpfs", folder);
        if (exitCode != 0)
        {
            Directory.Delete(folder);
            Assert.Skip($"Cannot mount a small file system: {error.Trim()}");
        }

        return new SmallFileSystem(folder);
    }

    public void Dispose()
    {
        Run("umount", Folder);
        Directory.Delete(Folder);
    }

    private static (int ExitCode, string Error) Run(string program, params string[] arguments)
    {
        try
        {
            using Process process = Process.Start(new ProcessStartInfo(program, arguments) { RedirectStandardError = true })!;
            string error = process.StandardError.ReadToEnd();
            process.WaitForExit();
            return (process.ExitCode, error);
        }
        catch (System.ComponentModel.Win32Exception missing)
        {
            return (-1, missing.Message);
        }
    }
}
