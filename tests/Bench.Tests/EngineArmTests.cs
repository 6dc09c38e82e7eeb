using TierSpaces.Bench.Experiments;
using TierSpaces.Bench.Nbd;
using TierSpaces.Bench.Tables;

namespace TierSpaces.Bench.Tests;

/// <summary>
/// Arrangements of experiments that run the engine in this process: where their loads go, and what is required of them. They use what processors there
/// are, so no test that measures a rate runs beside them.
/// </summary>
[CollectionDefinition(nameof(EngineArmTests), DisableParallelization = true)]
[Collection(nameof(EngineArmTests))]
public sealed class EngineArmTests : IDisposable
{
    private const long Part = 4 << 20;
    private const int Small = 4 << 10;

    private readonly BackingFolder _folder = new(Path.GetTempPath());

    public void Dispose() => _folder.Dispose();

    [Fact]
    public void Loads_run_on_virtual_disks_of_large_disks_and_count_what_they_used()
    {
        using EmulatedPool pool = new(_folder, "pool", "NVMe", 2);
        DiskPart[] parts = [new(0, 2 * Part), new(2 * EmulatedPool.ColumnBytes, Part)];
        EngineArm arm = new("arm", pool, pool.NewDisk("Simple", 2, 2, parts), parts) { RandomBytes = Part, Streams = 2 };
        ArmLoad load = new("a load", Small, Durable: false, Seconds: 0.2, Warmup: 0.05, Depth: 2);

        foreach ((bool reads, bool isSequential) in new[] { (true, true), (true, false), (false, true), (false, false) })
        {
            LoadResult result = arm.Measure(load with { Reads = reads, Sequential = isSequential }, seed: 1);
            Assert.True(result.Operations > 0);
            Assert.Equal(result.Operations, result.Record.PerSecond.Sum());
        }

        arm.Settle();
        Assert.Equal(4, arm.Uses["a load"].Count);
        Assert.All(arm.Uses["a load"], use => Assert.True(use.BytesPerSecond > 0 && use.LostShare >= 0));
    }

    [Fact]
    public void An_arm_may_have_requests_of_a_size_of_its_own()
    {
        using EmulatedPool pool = new(_folder, "pool", "NVMe", 2);
        DiskPart[] parts = [new(0, Part)];
        EngineArm arm = new("arm", pool, pool.NewDisk("Mirror", 1, 1, parts), parts) { Block = 64 << 10 };

        LoadResult result = arm.Measure(new ArmLoad("a load", Small, Durable: false, Seconds: 0.2, Reads: true), seed: 1);

        Assert.Equal(64 << 10, result.Block);
        Assert.Equal(result.Iops * (64 << 10), Assert.Single(arm.Uses["a load"]).BytesPerSecond, 1.0);
    }

    [Theory]
    [InlineData(1, 12, 12)]
    [InlineData(8, 12, 3)]
    [InlineData(12, 12, 1)]
    [InlineData(2, 4, 2)]
    public void Random_loads_use_rows_that_are_on_each_disk_equally_often(int columns, int disks, int rows)
    {
        Assert.Equal(rows, Columns.Rows(columns, disks));
        DiskPart[] parts = Columns.Parts(columns, rows, 16 << 20);
        Assert.Equal(rows, parts.Length);
        Assert.All(parts.Select((part, row) => (part, row)), pair => Assert.Equal(pair.row * columns * EmulatedPool.ColumnBytes, pair.part.Offset));
    }
}
