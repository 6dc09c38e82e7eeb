using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Tests.Lanes;

namespace TierSpaces.Engine.Tests.Primitives;

/// <summary>Rules that are checked while the engine runs.</summary>
public sealed class InvariantTests
{
    [Fact]
    public void A_rule_that_holds_costs_no_memory()
    {
        Check(0);
        Assert.Equal(0, AllocationMeter.LeastOf(() =>
        {
            for (int i = 0; i < 1000; i++)
            {
                Check(i);
            }
        }));

        static void Check(int number) => Invariant.That(number >= 0, "Numbers rise.");
    }

    [Fact]
    public void A_broken_rule_is_thrown_in_every_build_with_its_sentence()
    {
        InvariantException broken = Assert.Throws<InvariantException>(() => Invariant.That(Broken(), "A slab has one owner."));
        Assert.EndsWith("A slab has one owner.", broken.Message);

        static bool Broken() => Environment.ProcessId < 0;
    }

    [Fact]
    public void Tests_make_the_costly_checks_too() => Assert.True(Invariant.ChecksCostly);
}
