using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tests.Primitives;

/// <summary>A set of ranges against one bit per address.</summary>
public sealed class RangeSetTests
{
    private const int Length = 64;

    [Fact]
    public void Ranges_come_and_go_as_the_addresses_in_them_do()
    {
        for (int seed = 1; seed <= 50; seed++)
        {
            Random random = new(seed);
            RangeSet set = new();
            bool[] model = new bool[Length];
            for (int step = 0; step < 200; step++)
            {
                int start = random.Next(Length - 1);
                int end = start + 1 + random.Next(Math.Min(12, Length - start - 1));
                switch (random.Next(3))
                {
                    case 0:
                        set.Add(start, end);
                        model.AsSpan(start, end - start).Fill(true);
                        break;
                    case 1:
                        set.Remove(start, end);
                        model.AsSpan(start, end - start).Clear();
                        break;
                    default:
                        TakeOne(set, model);
                        break;
                }

                Assert.Equal(RunsOf(model), set.Count);
            }

            while (set.Count > 0)
            {
                TakeOne(set, model);
            }

            Assert.DoesNotContain(true, model);
        }
    }

    private static void TakeOne(RangeSet set, bool[] model)
    {
        int last = Array.LastIndexOf(model, true);
        bool any = set.TryTake(8, out long start, out int length);
        Assert.Equal(last >= 0, any);
        if (any)
        {
            int first = last;
            while (first > (last & ~7) && model[first - 1])
            {
                first--;
            }

            Assert.Equal((first, last + 1 - first), (start, length));
            model.AsSpan(first, length).Clear();
        }
    }

    private static int RunsOf(bool[] model)
    {
        int runs = 0;
        for (int i = 0; i < Length; i++)
        {
            runs += model[i] && (i == 0 || !model[i - 1]) ? 1 : 0;
        }

        return runs;
    }
}
