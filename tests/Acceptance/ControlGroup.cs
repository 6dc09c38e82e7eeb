using System.Globalization;

namespace TierSpaces.Acceptance;

/// <summary>A control group of the kernel with a limit of memory, of version 2 or 1; skips the test where none can be made.</summary>
internal sealed class ControlGroup : IDisposable
{
    private const string Root = "/sys/fs/cgroup";
    private readonly string _folder;

    private ControlGroup(string folder) => _folder = folder;

    /// <summary>File that a process writes its number to.</summary>
    internal string Processes => Path.Combine(_folder, "cgroup.procs");

    /// <summary>Makes a group whose processes have at most so much memory, page cache included.</summary>
    /// <param name="bytes">The limit.</param>
    internal static ControlGroup WithMemory(long bytes)
    {
        bool isNew = File.Exists(Path.Combine(Root, "cgroup.controllers"));
        string folder = Path.Combine(Root, isNew ? "" : "memory", $"tierspaces-{Guid.NewGuid():N}");
        try
        {
            Directory.CreateDirectory(folder);
            File.WriteAllText(Path.Combine(folder, isNew ? "memory.max" : "memory.limit_in_bytes"), bytes.ToString(CultureInfo.InvariantCulture));
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            if (Directory.Exists(folder))
            {
                Directory.Delete(folder);
            }

            Assert.Skip($"no control group with a limit of memory can be made here: {e.Message}");
        }

        return new ControlGroup(folder);
    }

    public void Dispose()
    {
        for (int i = 0; Directory.Exists(_folder) && i < 50; i++)
        {
            try
            {
                Directory.Delete(_folder);
            }
            catch (IOException)
            {
                Thread.Sleep(100);   // a process of it is ending
            }
        }
    }
}
