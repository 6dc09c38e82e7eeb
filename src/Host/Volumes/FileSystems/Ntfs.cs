using TierSpaces.Contracts;

namespace TierSpaces.Host.Volumes.FileSystems;

/// <summary>NTFS through the tools of ntfs-3g. Made, mounted, labelled and checked; not resized.</summary>
internal sealed class Ntfs : FileSystemKind
{
    /// <inheritdoc/>
    public override string Name => "ntfs";

    /// <inheritdoc/>
    public override FileSystemType Shown => FileSystemType.NTFS;

    /// <inheritdoc/>
    public override string MakeTool => "mkfs.ntfs";

    /// <inheritdoc/>
    public override int LabelMax => 128;

    /// <inheritdoc/>
    public override bool CountsCharacters => true;

    /// <inheritdoc/>
    public override IReadOnlyList<uint> ClusterSizes => [4096, 512, 1024, 2048, 8192, 16384, 32768, 65536];

    /// <inheritdoc/>
    public override long BytesMin => 1 << 20;

    /// <inheritdoc/>
    public override string MountType => "ntfs-3g";

    /// <inheritdoc/>
    public override string[] MakeWords(FormatPlan plan) =>
    [
        "--quick", "--force", "--quiet", .. plan.ClusterSize is { } size ? (string[])["--cluster-size", FormattableString.Invariant($"{size}")] : [],
        .. plan.Label.Length > 0 ? (string[])["--label", plan.Label] : [], plan.Node,
    ];

    /// <inheritdoc/>
    public override Task<RepairStatus> ScanMountedAsync(FileSystemWork work, string path) => throw new StorageException(
        StorageErrors.NotSupported, $"-Scan: ntfs cannot be checked while it is mounted, and {work.Node} is mounted on {path}.",
        "Use -OfflineScanAndFix, which unmounts it for the time of the check.", "Scan");

    /// <inheritdoc/>
    public override async Task<RepairStatus> ScanAsync(FileSystemWork work) =>
        (await work.TryAsync("ntfsfix", "--no-action", work.Node).ConfigureAwait(false)).ExitCode == 0 ? RepairStatus.NoErrorsFound : RepairStatus.ErrorsFound;

    /// <inheritdoc/>
    public override async Task<RepairStatus> FixAsync(FileSystemWork work)
    {
        RepairStatus found = await ScanAsync(work).ConfigureAwait(false);
        await work.RunAsync("ntfsfix", work.Node).ConfigureAwait(false);
        return found == RepairStatus.NoErrorsFound ? found : RepairStatus.ErrorsFixed;
    }

    /// <inheritdoc/>
    public override Task SetLabelAsync(FileSystemWork work, string? path, string label) => path is null
        ? work.RunAsync("ntfslabel", work.Node, label)
        : throw new StorageException(
            StorageErrors.NotSupported, $"-NewFileSystemLabel: the label of ntfs is set while it is not mounted, and {work.Node} is mounted on {path}.",
            "Remove its access paths, set the label, and add them again.", "NewFileSystemLabel");

    /// <inheritdoc/>
    public override Task GrowAsync(FileSystemWork work, string? path) => throw new StorageException(
        StorageErrors.UnknownFileSystem, "NTFS is not resized here.", "Copy the data to a new volume.", "Size");
}
