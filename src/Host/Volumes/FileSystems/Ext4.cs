using System.Globalization;
using System.Text.RegularExpressions;
using TierSpaces.Contracts;

namespace TierSpaces.Host.Volumes.FileSystems;

/// <summary>ext4: e2fsprogs. Grown while mounted or not, shrunk while not mounted.</summary>
internal sealed partial class Ext4 : FileSystemKind
{
    private const uint DefaultBlock = 4096;

    /// <inheritdoc/>
    public override string Name => "ext4";

    /// <inheritdoc/>
    public override FileSystemType Shown => FileSystemType.Ext4;

    /// <inheritdoc/>
    public override string MakeTool => "mkfs.ext4";

    /// <inheritdoc/>
    public override int LabelMax => 16;

    /// <inheritdoc/>
    public override IReadOnlyList<uint> ClusterSizes => [DefaultBlock, 1024, 2048];

    /// <inheritdoc/>
    public override long BytesMin => 1 << 20;

    /// <inheritdoc/>
    public override bool CanShrink => true;

    /// <inheritdoc/>
    public override string[] MakeWords(FormatPlan plan)
    {
        uint block = plan.ClusterSize ?? DefaultBlock;
        long stride = plan.Stripe.Interleave / block;
        List<string> extended = stride > 0
            ? [FormattableString.Invariant($"stride={stride}"), FormattableString.Invariant($"stripe_width={stride * plan.Stripe.DataColumns}")]
            : [];
        if (plan.NoTrim)
        {
            extended.Add("nodiscard");
        }

        return
        [
            "-q", "-F", "-b", block.ToString(CultureInfo.InvariantCulture), "-L", plan.Label,
            .. extended.Count > 0 ? (string[])["-E", string.Join(',', extended)] : [], plan.Node,
        ];
    }

    /// <inheritdoc/>
    public override Task<RepairStatus> ScanMountedAsync(FileSystemWork work, string path)
    {
        work.Warn("ext4 is not read as a whole while it is mounted: the errors that the kernel has found since the last repair were counted. "
            + "-OfflineScanAndFix checks all of it.");
        string file = $"/sys/fs/ext4/{Path.GetFileName(work.Node)}/errors_count";
        bool hasErrors = File.Exists(file) && File.ReadAllText(file).Trim() != "0";
        return Task.FromResult(hasErrors ? RepairStatus.ErrorsFound : RepairStatus.NoErrorsFound);
    }

    /// <inheritdoc/>
    public override async Task<RepairStatus> ScanAsync(FileSystemWork work) =>
        Outcome(await work.TryAsync("e2fsck", "-f", "-n", work.Node).ConfigureAwait(false), StorageErrors.ScanFailed);

    /// <inheritdoc/>
    public override async Task<RepairStatus> FixAsync(FileSystemWork work)
    {
        RepairStatus status = Outcome(await work.TryAsync("e2fsck", "-f", "-y", work.Node).ConfigureAwait(false), StorageErrors.RepairFailed);
        return status != RepairStatus.ErrorsFound ? status : throw new StorageException(
            StorageErrors.RepairFailed, $"e2fsck left errors on {work.Node}.", "Restore the data from a copy.", work.Node);
    }

    /// <inheritdoc/>
    public override Task SetLabelAsync(FileSystemWork work, string? path, string label) => work.RunAsync("e2label", work.Node, label);

    /// <inheritdoc/>
    public override async Task GrowAsync(FileSystemWork work, string? path)
    {
        if (path is null)
        {
            await FixAsync(work).ConfigureAwait(false);   // resize2fs demands it
        }

        await work.RunAsync("resize2fs", work.Node).ConfigureAwait(false);
    }

    /// <inheritdoc/>
    public override async Task ShrinkAsync(FileSystemWork work, string? path, long bytes)
    {
        await FixAsync(work).ConfigureAwait(false);
        await work.RunAsync("resize2fs", work.Node, FormattableString.Invariant($"{bytes >> 10}K")).ConfigureAwait(false);
    }

    /// <inheritdoc/>
    public override async Task<long> SizeMinAsync(FileSystemWork work, string? path)
    {
        string said = await work.RunAsync("resize2fs", "-P", work.Node).ConfigureAwait(false);
        string header = await work.RunAsync("blkid", "--probe", "--output", "export", work.Node).ConfigureAwait(false);
        long block = long.Parse(ProbeText.Parse(header)[work.Node]["BLOCK_SIZE"], CultureInfo.InvariantCulture);
        Match blocks = LastNumber().Match(said.Trim());
        return long.Parse(blocks.Value, CultureInfo.InvariantCulture) * block;
    }

    // 1 and 2: corrected; 4: left; others: the program could not do its work.
    // A sum of: 1 and 2 repaired, 4 errors are left, 8 the program could not go on. Without the root folder a check finds errors and cannot go on.
    private static RepairStatus Outcome(ToolResult result, StorageErrorKind failure) => result.ExitCode switch
    {
        0 => RepairStatus.NoErrorsFound,
        < 4 => RepairStatus.ErrorsFixed,
        < 8 or 12 => RepairStatus.ErrorsFound,
        _ => throw new StorageException(failure, $"e2fsck ended with code {result.ExitCode}: {result.Error}",
            "See whether the virtual disk answers: Get-VirtualDisk."),
    };

    [GeneratedRegex("[0-9]+$")]
    private static partial Regex LastNumber();
}
