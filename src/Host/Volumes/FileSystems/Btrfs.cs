using System.Globalization;
using TierSpaces.Contracts;

namespace TierSpaces.Host.Volumes.FileSystems;

/// <summary>Btrfs: btrfs-progs. Resized and checked (scrub) while mounted.</summary>
internal sealed class Btrfs : FileSystemKind
{
    private const int Uncorrectable = 3;

    /// <inheritdoc/>
    public override string Name => "btrfs";

    /// <inheritdoc/>
    public override FileSystemType Shown => FileSystemType.Btrfs;

    /// <inheritdoc/>
    public override string MakeTool => "mkfs.btrfs";

    /// <inheritdoc/>
    public override int LabelMax => 255;

    /// <inheritdoc/>
    public override IReadOnlyList<uint> ClusterSizes => [4096];

    /// <inheritdoc/>
    public override long BytesMin => 110 << 20;

    /// <inheritdoc/>
    public override bool CanShrink => true;

    /// <inheritdoc/>
    public override bool ResizesMounted => true;

    /// <inheritdoc/>
    public override string[] MakeWords(FormatPlan plan) =>
    [
        "-q", "-f", "--sectorsize", FormattableString.Invariant($"{plan.ClusterSize ?? ClusterSizes[0]}"),
        .. plan.Label.Length > 0 ? (string[])["-L", plan.Label] : [], .. plan.NoTrim ? (string[])["-K"] : [], plan.Node,
    ];

    /// <inheritdoc/>
    public override async Task<RepairStatus> ScanMountedAsync(FileSystemWork work, string path)
    {
        ToolResult result = await work.TryAsync("btrfs", "scrub", "start", "-B", path).ConfigureAwait(false);
        return result.ExitCode switch
        {
            0 => result.Output.Contains("no errors found", StringComparison.Ordinal) ? RepairStatus.NoErrorsFound : RepairStatus.ErrorsFixed,
            Uncorrectable => RepairStatus.ErrorsFound,
            _ => throw new StorageException(StorageErrors.ScanFailed, $"btrfs scrub ended with code {result.ExitCode}: {result.Error}", ""),
        };
    }

    /// <inheritdoc/>
    public override async Task<RepairStatus> ScanAsync(FileSystemWork work)
    {
        ToolResult result = await work.TryAsync("btrfs", "check", "--readonly", work.Node).ConfigureAwait(false);
        return result.ExitCode == 0 ? RepairStatus.NoErrorsFound : RepairStatus.ErrorsFound;
    }

    /// <inheritdoc/>
    public override async Task<RepairStatus> FixAsync(FileSystemWork work)
    {
        // Its own repair of metadata is for those who know the damage; a scrub while mounted heals what has a second copy.
        return await ScanAsync(work).ConfigureAwait(false) == RepairStatus.NoErrorsFound ? RepairStatus.NoErrorsFound : throw new StorageException(
            StorageErrors.RepairFailed, $"btrfs check found errors on {work.Node}, which it does not repair by itself.",
            "Mount it and run Repair-Volume -Scan, which heals what has a second copy; else restore the data from a copy.", work.Node);
    }

    /// <inheritdoc/>
    public override Task SetLabelAsync(FileSystemWork work, string? path, string label) =>
        work.RunAsync("btrfs", "filesystem", "label", path ?? work.Node, label);

    /// <inheritdoc/>
    public override Task GrowAsync(FileSystemWork work, string? path) => work.RunAsync("btrfs", "filesystem", "resize", "max", path!);

    /// <inheritdoc/>
    public override Task ShrinkAsync(FileSystemWork work, string? path, long bytes) =>
        work.RunAsync("btrfs", "filesystem", "resize", bytes.ToString(CultureInfo.InvariantCulture), path!);

    /// <inheritdoc/>
    public override async Task<long> SizeMinAsync(FileSystemWork work, string? path)
    {
        string said = await work.RunAsync("btrfs", "inspect-internal", "min-dev-size", path!).ConfigureAwait(false);
        return long.Parse(said.Trim().Split(' ')[0], CultureInfo.InvariantCulture);
    }
}
