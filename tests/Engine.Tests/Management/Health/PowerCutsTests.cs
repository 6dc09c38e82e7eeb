using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;

namespace TierSpaces.Engine.Tests.Management;

public sealed class PowerCutsTests
{
    public static TheoryData<string, int, int, ChecksumKind, int> Layouts => new()
    {
        { "Simple", 2, 1, ChecksumKind.CRC32C, 4096 },
        { "Simple", 1, 1, ChecksumKind.None, 512 },
        { "Mirror", 1, 2, ChecksumKind.CRC32C, 512 },
        { "Mirror", 2, 2, ChecksumKind.None, 4096 },
        { "Mirror", 1, 3, ChecksumKind.CRC32C, 4096 },
    };

    [Theory]
    [MemberData(nameof(Layouts))]
    public void What_was_flushed_survives_every_cut(string layout, int columns, int copies, ChecksumKind checksum, int sector)
    {
        PowerCutResult result = PowerCuts.Run(Request(layout, columns, copies, checksum, sector), () => true);

        Assert.True(result.Violations == 0, string.Join(Environment.NewLine, result.ViolationDescriptions));
        Assert.Equal((12, 48), (result.Cuts, result.CrashStates));
        Assert.True(result is { CutsWhileRecovering: > 0, Writes: > 0, Flushes: > 0 });
        long readings = result.CrashStates * (2 + (copies > 1 ? Math.Max(columns * copies, (2 * copies) - 1) : 0));
        Assert.Equal(readings * result.Layout.SizeBytes / 512, result.SectorsVerified);
    }

    [Theory]
    [InlineData("Mirror", 2, 2, true, false)]
    [InlineData("Simple", 2, 1, true, false)]
    [InlineData("Parity", 3, 1, true, false)]
    [InlineData("Mirror", 1, 2, false, true)]
    [InlineData("Mirror", 2, 2, true, true)]
    public void A_virtual_disk_is_tried_with_its_cache_and_its_tiers(string layout, int columns, int copies, bool hasCache, bool hasTiers)
    {
        PowerCutResult result = PowerCuts.Run(Of(layout, columns, copies, hasCache, hasTiers), () => true);
        Assert.True(result.Violations == 0, string.Join(Environment.NewLine, result.ViolationDescriptions));
        Assert.Equal((8, 32), (result.Cuts, result.CrashStates));
        Assert.Equal((hasCache ? 2L << 20 : 0, hasTiers ? 2 : 0), (result.Layout.WriteCacheSize, result.Layout.Tiers.Length));
        Assert.True(result.CacheDestaged > 0 == hasCache, $"{result.CacheDestaged} bytes destaged");
        Assert.True(result.SlicesMoved > 0 == hasTiers, $"{result.SlicesMoved} slices moved");
    }

    [Theory]
    [InlineData(true, false)]
    [InlineData(false, true)]
    public void Flushes_that_lie_are_noticed_with_a_cache_and_with_tiers(bool hasCache, bool hasTiers) =>
        Assert.True(PowerCuts.Run(Of("Mirror", 1, 2, hasCache, hasTiers) with { FlushLies = true }, () => true).Violations > 0);

    [Fact]
    public void A_flush_that_lies_is_noticed_without_redundancy()
    {
        PowerCutResult result = PowerCuts.Run(Request("Simple", 1, 1, ChecksumKind.None) with { FlushLies = true }, () => true);

        Assert.Equal(12, result.Cuts);
        Assert.True(result.Violations >= 6, $"{result.Violations} violations");
        Assert.Equal(Math.Min(10, result.Violations), result.ViolationDescriptions.Count);
        Assert.All(result.ViolationDescriptions, text => Assert.StartsWith("seed 7, cut ", text));
    }

    [Fact]
    public void Flushes_that_all_lie_are_noticed_with_redundancy_too() =>
        Assert.True(PowerCuts.Run(Request("Mirror", 1, 2, ChecksumKind.CRC32C) with { FlushLies = true }, () => true).Violations > 0);

    [Fact]
    public void The_same_seed_finds_the_same()
    {
        PowerCutResult once = PowerCuts.Run(Request("Simple", 2, 1, ChecksumKind.CRC32C), () => true);
        PowerCutResult again = PowerCuts.Run(Request("Simple", 2, 1, ChecksumKind.CRC32C), () => true);

        Assert.Equal((once.Writes, once.Flushes, once.CutsWhileRecovering), (again.Writes, again.Flushes, again.CutsWhileRecovering));
    }

    [Fact]
    public void It_ends_when_it_may_not_go_on()
    {
        int asked = 0;
        PowerCutResult result = PowerCuts.Run(Request("Simple", 1, 1, ChecksumKind.None), () => ++asked < 6);

        Assert.InRange(result.Cuts, 1, 2);
        Assert.InRange(result.CrashStates, 1, 6);
        Assert.Equal(0, result.Violations);
    }

    [Theory]
    [InlineData("Parity", 2, null, 1, 100L, "ColumnsRange", "-NumberOfColumns 2")]
    [InlineData("Parity", null, 2, 1, 100L, "CopiesRange", "-NumberOfDataCopies 2")]
    [InlineData("Mirror", 9, null, 1, 100L, "ColumnsRange", "-NumberOfColumns 9")]
    [InlineData("Simple", null, 2, 1, 100L, "CopiesRange", "-NumberOfDataCopies 2")]
    [InlineData("Mirror", null, 4, 1, 100L, "CopiesRange", "-NumberOfDataCopies 4")]
    [InlineData("Mirror", null, null, 0, 100L, "InvalidParameter", "-Cuts 0")]
    [InlineData("Mirror", null, null, 1, 65L << 20, "SizeNotSupported", "-Size 65 MB")]
    public void What_cannot_be_tried_is_refused(string layout, int? columns, int? copies, int cuts, long size, string problem, string named)
    {
        PowerCutRequest request = new()
        {
            Layout = new VirtualDiskRequest
            {
                FriendlyName = "d", ResiliencySettingName = layout, NumberOfColumns = columns, NumberOfDataCopies = copies, SizeBytes = size,
            },
            Cuts = cuts,
        };

        ManagementException rejected = Assert.Throws<ManagementException>(() => PowerCuts.Run(request, () => true));

        Assert.Equal(problem, rejected.Error.ToString());
        Assert.Contains(named, rejected.Message);
    }

    private static PowerCutRequest Of(string layout, int columns, int copies, bool hasCache, bool hasTiers) =>
        Request(layout, columns, copies, ChecksumKind.CRC32C) with
        {
            Cuts = 8,
            Disk = new VirtualDiskDescription
            {
                FriendlyName = "real",
                ResiliencySettingName = layout,
                SizeBytes = 1L << 40,
                NumberOfColumns = (ushort)columns,
                NumberOfDataCopies = (ushort)copies,
                PhysicalDiskRedundancy = (ushort)(layout == "Parity" ? 1 : copies - 1),
                LogicalSectorSize = 4096,
                Checksum = ChecksumKind.CRC32C,
                WriteCacheSize = hasCache ? 1L << 30 : 0,
                SliceSize = 1 << 20,
                Tiers = !hasTiers ? [] :
                [
                    .. Enumerable.Range(0, 2).Select(tier => new TierDescription
                    {
                        FriendlyName = $"t{tier}", MediaTypeCode = (ushort)(4 - tier), ResiliencySettingName = layout, SizeBytes = 1L << 39,
                        NumberOfColumns = (ushort)columns, NumberOfDataCopies = (ushort)copies, PhysicalDiskRedundancy = (ushort)(copies - 1),
                    }),
                ],
            },
        };

    private static PowerCutRequest Request(string layout, int columns, int copies, ChecksumKind checksum, int sector = 4096) => new()
    {
        Layout = new VirtualDiskRequest
        {
            FriendlyName = "d", ResiliencySettingName = layout, NumberOfColumns = columns, NumberOfDataCopies = copies, Checksum = checksum,
            LogicalSectorSize = sector, SizeBytes = 1 << 20,
        },
        Cuts = 12,
        Seed = 7,
    };
}
