using System.Text.RegularExpressions;

namespace TierSpaces.Engine.Tests.Architecture;

// Rule: a message has no raw number of bytes. A size or an offset of a message is formatted by ByteText (SizeText in the host), whose comment has the rule.
// Sector sizes and lengths of names, records and buffers are small and stay bytes: s_small has the expressions.

/// <summary>Sizes in messages are formatted by the one formatter.</summary>
public sealed partial class SizeMessageTests
{
    // Words of expressions whose values are sector sizes, lengths of names or of what one request or record holds.
    private static readonly string[] s_small =
        ["ector", "bytes", "BlockSize", "ChecksumBlock", "logical", "label", "length", "Length", "LargestBuffer", "_block", "_unit", "ClusterSizes", "size"];

    private static readonly string[] s_smallFiles =
    [
        "BlockLimits.cs", "BufferPool.cs", "ByteText.cs", "DeviceOpener.cs", "DiskPaths.cs", "DiskRemarks.cs", "FileSystemChoice.cs", "FileSystemKind.cs",
        "HostPaths.cs", "IdentityBuilder.cs", "IntegrityRecord.cs", "IoBuffer.cs", "LaneNetwork.cs", "NbdExport.cs", "NbdNegotiation.cs",
        "NewVirtualDiskHandler.cs", "ParityLayout.cs", "ParityMath.cs", "ParityRecord.cs", "PartitionRoom.cs", "PinService.cs", "PlacementText.cs",
        "RecordRules.cs", "StateConsistency.cs", "TierReportText.cs",
    ];

    [Fact]
    public void A_message_has_no_raw_number_of_bytes()
    {
        string[] raw = [.. SourceTree.ProductFiles()
            .SelectMany(static path => RawIn(Path.GetFileName(path), File.ReadAllText(path)).Select(text => $"{Path.GetFileName(path)}: {text}"))];
        Assert.True(raw.Length == 0, string.Join('\n', raw));
    }

    [Theory]
    [InlineData("Pool.cs", "$\"the disk has {disk.SizeBytes} bytes\"", true)]
    [InlineData("Pool.cs", "$\"places of {Place.Bytes >> 10} KiB\"", true)]
    [InlineData("Pool.cs", "$\"-Size {request.SizeBytes} is too large\"", true)]
    [InlineData("Pool.cs", "$\"lost at offset {range.Start}\"", true)]
    [InlineData("Pool.cs", "$\"the disk has {ByteText.Exact(disk.SizeBytes)}\"", false)]
    [InlineData("PinService.cs", "$\"a path of {label} bytes\"", false)]
    [InlineData("Pool.cs", "$\"a path of {label} bytes\"", true)]
    public void A_raw_number_is_found(string file, string code, bool isFound) => Assert.Equal(isFound, RawIn(file, code).Any());

    private static IEnumerable<string> RawIn(string file, string code) => RawNumber().Matches(code)
        .Where(match => !Formatted().IsMatch(match.Groups["value"].Value)
            && !(s_smallFiles.Contains(file) && s_small.Any(word => match.Groups["value"].Value.Contains(word, StringComparison.Ordinal))))
        .Select(static match => match.Value);

    [GeneratedRegex(@"\b(Exact|Offset)\(")]
    private static partial Regex Formatted();

    [GeneratedRegex(
        @"\{(?<value>[^{}"":]*[^{}"":\s])\} (?:bytes|KiB|MiB|GiB|TiB|KB|MB|GB|TB)\b"
        + @"|(?:at offset|-Size|-Offset|-Length|-SliceSize|-Interleave|-InterleaveDefault|-WriteCacheSize|-WriteCacheSizeDefault) \{(?<value>[^{}"":]*[^{}"":\s])\}")]
    private static partial Regex RawNumber();
}
