using TierSpaces.Bench.Tables;

namespace TierSpaces.Bench.Tests;

/// <summary>The arithmetic that is measured is the same on both sides.</summary>
[Collection(nameof(EngineArmTests))]
public sealed class ArithmeticTests
{
    [Fact]
    public void ISA_L_and_the_engine_give_the_same_bytes()
    {
        if (IsaL.Load() is not { } library)
        {
            Assert.Skip(IsaL.Missing);
            return;
        }

        using ParityOverIsaL bench = new(library, rounds: 1);
        Assert.All([4, 8, 12, 16], columns => Assert.True(bench.Agrees(columns, 64 << 10), $"{columns} columns"));
    }
}
