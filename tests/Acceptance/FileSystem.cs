using System.Diagnostics;

namespace TierSpaces.Acceptance;

/// <summary>Makes and checks file systems.</summary>
internal static class FileSystem
{
    /// <summary>The file system that is not mounted is without a fault.</summary>
    internal static void Check(string type, string device)
    {
        string name = type == "xfs" ? "xfs_repair" : "e2fsck";
        string[] arguments = type == "xfs" ? ["-n", device] : ["-f", "-n", device];
        Tool.Run(name, arguments);
    }

    /// <summary>
    /// Shows the export of a virtual disk as a file for the time of some work. nbdfuse hands on what it is given, of any length;
    /// nbdkit's filter makes whole sectors of it.
    /// </summary>
    internal static void WithExport(Home home, string name, Action<string> work)
    {
        string folder = Directory.CreateDirectory(home.PathOf("export")).FullName;
        string file = Path.Combine(folder, "disk");
        using Process fuse = Tool.Start(
            "nbdfuse", file, "[", Tool.Find("nbdkit"), "--exit-with-parent", "--filter=blocksize", "nbd", $"uri={home.UriOf(name)}", "minblock=4096", "]");
        home.Eventually("nbdfuse shows the disk", () => fuse.HasExited || File.Exists(file));
        Assert.SkipWhen(fuse.HasExited, "nbdfuse may not mount here: sudo apt-get install -y fuse3, or run as root");
        try
        {
            work(file);
        }
        finally
        {
            Tool.TryRun("fusermount3", "-u", folder);
            fuse.WaitForExit(TimeSpan.FromSeconds(20));
        }
    }
}
