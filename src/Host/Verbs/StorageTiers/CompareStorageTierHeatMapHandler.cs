using System.Globalization;
using TierSpaces.Contracts;
using TierSpaces.Engine.Tiering;
using TierSpaces.Host.Verbs.Mapping;

namespace TierSpaces.Host.Verbs.StorageTiers;

/// <summary>Compare-StorageTierHeatMap: reads two files with heat and lists the slices that differ most.</summary>
internal sealed class CompareStorageTierHeatMapHandler : VerbHandler<CompareStorageTierHeatMapRequest, StorageTierHeatDifferenceInfo>, ILongVerb
{
    private const uint GreatestMax = 10_000;
    private const uint GreatestDefault = 100;

    /// <inheritdoc/>
    protected override async Task HandleAsync(
        CompareStorageTierHeatMapRequest request, ReplyBuilder<StorageTierHeatDifferenceInfo> reply, CancellationToken cancellation)
    {
        if (request.Greatest is 0 or > GreatestMax)
        {
            throw new StorageException(
                StorageErrors.InvalidParameter, $"-Greatest {request.Greatest}: out of range. Valid: 1 to {GreatestMax}.",
                $"Without it {GreatestDefault} slices are listed.", nameof(request.Greatest));
        }

        HeatFileContents before = await ReadAsync(request.ReferencePath, nameof(request.ReferencePath)).ConfigureAwait(false);
        HeatFileContents after = await ReadAsync(request.DifferencePath, nameof(request.DifferencePath)).ConfigureAwait(false);
        if (before.SliceBytes != after.SliceBytes)
        {
            throw new StorageException(
                StorageErrors.InvalidParameter,
                string.Create(
                    CultureInfo.InvariantCulture,
                    $"-DifferencePath '{request.DifferencePath}' has slices of {SizeText.Exact(after.SliceBytes)}, and -ReferencePath '{request.ReferencePath}' of {SizeText.Exact(before.SliceBytes)}."),
                "Compare files of virtual disks with slices of one size.", nameof(request.DifferencePath));
        }

        int most = (int)(request.Greatest ?? GreatestDefault);
        HeatDifference[] differences = await Task.Run(() => before.DifferencesTo(after, most), cancellation).ConfigureAwait(false);
        reply.Add(differences.Select(difference => new StorageTierHeatDifferenceInfo
        {
            Slice = (uint)difference.Slice,
            Offset = (ulong)difference.Slice * (ulong)before.SliceBytes,
            Length = (ulong)before.SliceBytes,
            HeatBefore = SliceMapping.Shown(difference.Before),
            HeatAfter = SliceMapping.Shown(difference.After),
            Change = SliceMapping.Shown(difference.Change),
        }));
    }

    private static async Task<HeatFileContents> ReadAsync(string? path, string parameter)
    {
        HeatFileBytes file = new(
            path ?? throw new StorageException(StorageErrors.InvalidParameter, $"-{parameter} must be given.", "Name the file to read.", parameter), parameter,
            $"-{parameter} '{path}' cannot be compared.", "Export the heat again.");
        HeatFileContents contents = new();
        await file.ReadAsync(block => contents.Add(block), () => contents.IsWhole).ConfigureAwait(false);
        return contents;
    }
}
