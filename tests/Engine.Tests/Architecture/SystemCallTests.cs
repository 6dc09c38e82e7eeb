using System.Text.RegularExpressions;

namespace TierSpaces.Engine.Tests.Architecture;

/// <summary>The C library is bound in one place for all of the product.</summary>
public sealed partial class SystemCallTests
{
    [Fact]
    public void Every_function_of_the_C_library_is_bound_once()
    {
        IEnumerable<(string Function, string File)> bindings = SourceTree.ProductFiles()
            .SelectMany(static file => Binding().Matches(File.ReadAllText(file)).Select(match => (match.Groups["function"].Value, file)));

        string[] twice = [.. bindings.GroupBy(static one => one.Function).Where(static same => same.Count() > 1)
            .Select(static same => $"{same.Key}: {string.Join(", ", same.Select(static one => one.File))}")];

        Assert.NotEmpty(bindings);
        Assert.True(twice.Length == 0, string.Join(Environment.NewLine, twice));
    }

    [Fact]
    public void Only_lanes_and_the_host_bind_system_calls()
    {
        string[] folders = [Path.Combine("src", "Engine", "Lanes", "Native"), Path.Combine("src", "Host", "Native")];

        Assert.Empty(SourceTree.ProductFiles()
            .Where(static file => Binding().IsMatch(File.ReadAllText(file)))
            .Select(static file => Path.GetDirectoryName(Path.GetRelativePath(SourceTree.Root(), file)))
            .Except(folders));
    }

    // Calls that may wait for a foreign file system, a daemon, a server or a device. KnownStatusOf and Control only read the kernel's memory.
    private const string Blocking =
        "OpenPath|OpenAt|StatusOf|StatusOfPath|FileSystem|Sync|SyncData|SyncFolder|Allocate|Truncate|Seek|Lock|UnlinkPath|UnlinkAt|RenameAt|MakeFolder|"
        + "ReadAt|WriteAt|ReadVectorsAt|WriteVectorsAt|ChangeMode";

    /// <summary>Files whose calls run on a thread, or on the lane for the reason given.</summary>
    private static readonly Dictionary<string, string> s_callers = new()
    {
        ["Lanes/FileCalls.cs"] = "on threads, by FileWorkers; the lane calls Read and Write of files in memory, and of others with RWF_NOWAIT",
        ["Devices/Raw/DeviceOpener.cs"] = "on threads, by DiskFactory",
        ["Devices/Raw/FileLock.cs"] = "on threads, by DeviceOpener",
        ["Devices/Raw/OtherPaths.cs"] = "on threads, by DeviceOpener",
        ["Devices/Raw/FileExtents.cs"] = "on threads, by RawRanges",
        ["Devices/DiskFactory.cs"] = "on threads, by itself",
        ["Devices/Identity/Hardware.cs"] = "on threads, by DiskFactory",
        ["Devices/DiskImage.cs"] = "on threads, by ImageFiles",
        ["Lanes/Sockets/DescriptorReserve.cs"] = "/dev/null, when the process starts",
        ["Lanes/Sockets/LaneListener.cs"] = "sockets in the folder of the host",
        ["Lanes/Sockets/LaneNetwork.cs"] = "sockets in the folder of the host",
        ["Devices/HostState.cs"] = "the folder of the host's state, which is its own",
        ["Devices/PrivateFolder.cs"] = "the folders of the host, which are its own",
    };

    [Fact]
    public void Calls_that_may_block_are_made_where_no_lane_waits_for_them()
    {
        string engine = Path.Combine(SourceTree.Root(), "src", "Engine");
        string[] callers = [.. SourceTree.ProductFiles()
            .Select(file => Path.GetRelativePath(engine, file).Replace(Path.DirectorySeparatorChar, '/'))
            .Where(file => !file.StartsWith("..", StringComparison.Ordinal) && !file.StartsWith("Lanes/Native/", StringComparison.Ordinal))
            .Where(file => BlockingCalls().IsMatch(File.ReadAllText(Path.Combine(engine, file))))];

        Assert.Equal(s_callers.Keys.Order(StringComparer.Ordinal), callers.Order(StringComparer.Ordinal));
    }

    // The classes that make blocking calls are used by those alone that bring them onto a thread.
    [Theory]
    [InlineData("DeviceOpener.Open", "Devices/DiskFactory.cs")]
    [InlineData("DiskImage.Create", "Management/Disks/ImageFiles.cs")]
    [InlineData("DiskImage.Delete", "Management/Disks/ImageFiles.cs")]
    [InlineData("DiskImage.WhyNotCreated", "Management/Disks/ImageFiles.cs")]
    [InlineData("FileExtents.Next", "Devices/Raw/RawRanges.cs")]
    [InlineData("FileCalls.Run", "Lanes/FileWorkers.cs")]
    public void A_blocking_method_has_one_caller(string method, string caller)
    {
        string engine = Path.Combine(SourceTree.Root(), "src", "Engine");
        Assert.Equal([caller], SourceTree.ProductFiles()
            .Where(file => Regex.IsMatch(File.ReadAllText(file), $@"\b{Regex.Escape(method)}\b(?!<)"))
            .Select(file => Path.GetRelativePath(engine, file).Replace(Path.DirectorySeparatorChar, '/'))
            .Where(file => !file.EndsWith($"/{method.Split('.')[0]}.cs", StringComparison.Ordinal)));
    }

    [GeneratedRegex($@"\bLibc\.({Blocking})\(")]
    private static partial Regex BlockingCalls();

    [GeneratedRegex(@"\[(DllImport|LibraryImport)\([^)]*EntryPoint = ""(?<function>\w+)""")]
    private static partial Regex Binding();
}
