using System.Globalization;
using System.Text.RegularExpressions;
using TierSpaces.Contracts;
using TierSpaces.Host.Native;

namespace TierSpaces.Host.Volumes.FileSystems;

/// <summary>NTFS through the tools of ntfs-3g. Labelled, checked and resized while not mounted.</summary>
internal sealed partial class Ntfs : FileSystemKind
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
    public override IReadOnlyList<uint> ClusterSizes => [4096, 512, 1024, 2048, 8192, 16384, 32768, 65536, 1 << 17, 1 << 18, 1 << 19, 1 << 20];

    /// <inheritdoc/>
    public override long BytesMin => 2 << 20;

    /// <inheritdoc/>
    public override int ClustersMin => 16;

    /// <inheritdoc/>
    public override string MountType => "ntfs-3g";

    /// <inheritdoc/>
    public override bool MountsOnce => true;

    /// <inheritdoc/>
    public override bool CanShrink => true;

    /// <inheritdoc/>
    public override bool ChangesMounted => false;

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
    public override Task SetLabelAsync(FileSystemWork work, string? path, string label) => work.RunAsync("ntfslabel", work.Node, label);

    /// <inheritdoc/>
    public override Task GrowAsync(FileSystemWork work, string? path) => ResizeAsync(work);

    /// <inheritdoc/>
    public override Task ShrinkAsync(FileSystemWork work, string? path, long bytes) => ResizeAsync(work, "--size", FormattableString.Invariant($"{bytes}"));

    /// <inheritdoc/>
    public override async Task<long> SizeMinAsync(FileSystemWork work, string? path)
    {
        if (path is not null)
        {
            // ntfsresize reads none that is mounted.
            return await BlockingWork.RunAsync(() => UsedBytes(path), $"The file system at {path}").ConfigureAwait(false);
        }

        string said = await work.RunAsync("ntfsresize", "--info", "--force", "--no-progress-bar", work.Node).ConfigureAwait(false);
        return LeastBytes().Match(said) is { Success: true } least ? long.Parse(least.Groups[1].Value, CultureInfo.InvariantCulture) : long.MaxValue;
    }

    // With --force twice it asks no question and takes a volume that a resize before it has marked for a check. ntfsfix takes the mark away.
    private static async Task ResizeAsync(FileSystemWork work, params string[] size)
    {
        await work.RunAsync("ntfsresize", ["--force", "--force", "--no-progress-bar", .. size, work.Node]).ConfigureAwait(false);
        await work.RunAsync("ntfsfix", "--clear-dirty", work.Node).ConfigureAwait(false);
    }

    // Every used cluster can be moved; the last one holds the copy of the boot sector.
    private static long UsedBytes(string path) => FileSystemCalls.StatusOf(path, out FileSystemCalls.Status status) == 0
        ? (long)((status.Blocks - status.BlocksAvailable + 1) * status.FragmentSize)
        : throw new StorageException(StorageErrors.Failed, $"{path} does not answer.", "See whether the virtual disk answers: Get-VirtualDisk.", path);

    [GeneratedRegex("resize at ([0-9]+) bytes")]
    private static partial Regex LeastBytes();
}
