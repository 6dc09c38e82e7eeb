using System.Text.RegularExpressions;

namespace TierSpaces.Engine.Tests.Architecture;

/// <summary>Control code reaches an open virtual disk only by actions on its lane.</summary>
public sealed partial class DiskLaneTests
{
    private static readonly string s_management = Path.Combine(SourceTree.Root(), "src", "Engine", "Management");

    /// <summary>Files with functions that actions on the lane of a virtual disk call, and the offline reader, which has a lane of its own.</summary>
    private static readonly string[] s_naming =
    [
        "Offline/PoolFormat.cs",
        "Snapshots/OpenDiskSnapshot.cs",
        "Tiers/PinService.cs",
        "VirtualDisks/ManagedVirtualDisk.cs",
        "VirtualDisks/OpenDiskStatus.cs",
        "VirtualDisks/VirtualDiskService.cs",
    ];

    [Fact]
    public void An_open_virtual_disk_is_handed_only_to_functions_and_steps_that_send_actions_to_its_lane() =>
        Assert.Empty(Files().Where(static file => !file.EndsWith("ManagedVirtualDisk.cs", StringComparison.Ordinal)).SelectMany(static file =>
            File.ReadLines(Path.Combine(s_management, file)).Where(static line => Use().IsMatch(line) && !HandedOn().IsMatch(line))
                .Select(line => $"{file}: {line.Trim()}")));

    [Fact]
    public void Few_files_of_the_control_lane_name_the_type_of_an_open_virtual_disk() =>
        Assert.Equal(s_naming, Files().Where(static file => TypeName().IsMatch(File.ReadAllText(Path.Combine(s_management, file))))
            .Order(StringComparer.Ordinal));

    private static IEnumerable<string> Files() => SourceTree.ProductFiles().Where(static file => file.StartsWith(s_management, StringComparison.Ordinal))
        .Select(static file => Path.GetRelativePath(s_management, file).Replace(Path.DirectorySeparatorChar, '/'));

    [GeneratedRegex(@"\.Opened\b(?!\()")]
    private static partial Regex Use();

    /// <summary>An argument of one of the functions and steps, or what tests on the lane are given.</summary>
    [GeneratedRegex(@"(?:VirtualDiskGrowth\.Grow\w*|AddedTier\.AddTier|CacheExchange\.ResizeCache|LostCaches\.\w+|VirtualDiskStack\.Reopen|SlabMover mover = new|new SlabMover"
        + @"|new \w+Step|ResyncStep\.Of\w+)\(.*\.Opened[,)]|internal OpenVirtualDisk Opened\(Guid id\) =>")]
    private static partial Regex HandedOn();

    [GeneratedRegex(@"\bOpenVirtualDisk\b")]
    private static partial Regex TypeName();
}
