using TierSpaces.Contracts;
using TierSpaces.Host.Native;

namespace TierSpaces.Host.Volumes.FileSystems;

/// <summary>XFS: xfsprogs. Grown while mounted, never shrunk, checked while not mounted.</summary>
internal sealed class Xfs : FileSystemKind
{
    private const int DirtyLog = 2;
    private const long SmallBytes = 1 << 30;

    /// <inheritdoc/>
    public override string Name => "xfs";

    /// <inheritdoc/>
    public override FileSystemType Shown => FileSystemType.XFS;

    /// <inheritdoc/>
    public override string MakeTool => "mkfs.xfs";

    /// <inheritdoc/>
    public override int LabelMax => 12;

    /// <inheritdoc/>
    public override IReadOnlyList<uint> ClusterSizes => [4096, 1024, 2048];

    /// <inheritdoc/>
    public override long BytesMin => 300 << 20;

    /// <inheritdoc/>
    public override bool ResizesMounted => true;

    /// <inheritdoc/>
    public override string[] MakeWords(FormatPlan plan)
    {
        uint block = plan.ClusterSize ?? ClusterSizes[0];
        bool aligns = plan.Stripe.Interleave > 0 && plan.Stripe.Interleave % block == 0;
        string groups = plan.Size < SmallBytes ? ",agcount=4" : "";   // more of them leave no room for its log on a small striped device
        return
        [
            "-q", "-f", "-b", FormattableString.Invariant($"size={block}"), .. plan.Label.Length > 0 ? (string[])["-L", plan.Label] : [],
            .. aligns ? (string[])["-d", FormattableString.Invariant($"su={plan.Stripe.Interleave},sw={plan.Stripe.DataColumns}{groups}")] : [],
            .. plan.NoTrim ? (string[])["-K"] : [], plan.Node,
        ];
    }

    /// <inheritdoc/>
    public override Task<RepairStatus> ScanMountedAsync(FileSystemWork work, string path) => throw new StorageException(
        StorageErrors.NotSupported, $"-Scan: xfs cannot be checked while it is mounted, and {work.Node} is mounted on {path}.",
        "Use -OfflineScanAndFix, which unmounts it for the time of the check.", "Scan");

    /// <inheritdoc/>
    public override async Task<RepairStatus> ScanAsync(FileSystemWork work)
    {
        ToolResult result = await work.TryAsync("xfs_repair", "-n", work.Node).ConfigureAwait(false);
        return result.ExitCode switch
        {
            0 => RepairStatus.NoErrorsFound,
            1 => RepairStatus.ErrorsFound,
            _ => throw new StorageException(StorageErrors.ScanFailed, $"xfs_repair ended with code {result.ExitCode}: {result.Error}", ""),
        };
    }

    /// <inheritdoc/>
    public override async Task<RepairStatus> FixAsync(FileSystemWork work)
    {
        RepairStatus found = await ScanAsync(work).ConfigureAwait(false);
        ToolResult result = await work.TryAsync("xfs_repair", work.Node).ConfigureAwait(false);
        return result.ExitCode switch
        {
            0 => found == RepairStatus.NoErrorsFound ? found : RepairStatus.ErrorsFixed,
            DirtyLog => throw new StorageException(
                StorageErrors.RepairFailed, $"The log of {work.Node} holds changes that only a mount applies.",
                "Mount it once (Add-PartitionAccessPath), then repeat the repair.", work.Node),
            _ => throw new StorageException(StorageErrors.RepairFailed, $"xfs_repair ended with code {result.ExitCode}: {result.Error}",
                "Restore the data from a copy."),
        };
    }

    /// <inheritdoc/>
    public override Task SetLabelAsync(FileSystemWork work, string? path, string label) => path is null
        ? work.RunAsync("xfs_admin", "-L", label.Length > 0 ? label : "--", work.Node)
        : BlockingWork.RunAsync(() => FileSystemCalls.SetLabel(path, label), $"The label of {work.Node}");

    /// <inheritdoc/>
    public override Task GrowAsync(FileSystemWork work, string? path) => work.RunAsync("xfs_growfs", path!);
}
