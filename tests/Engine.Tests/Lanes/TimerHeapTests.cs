using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tests.Lanes;

public class TimerHeapTests
{
    [Fact]
    public void Timers_come_out_by_time_then_by_order_of_arrival()
    {
        Random random = new(1);
        for (int round = 0; round < 200; round++)
        {
            TimerHeap heap = new();
            List<(long Due, int Order, LaneCompletion<Nothing> Completion)> expected = [];
            for (int i = 0; i < random.Next(1, 300); i++)
            {
                LaneCompletion<Nothing> completion = LaneCompletion<Nothing>.Rent();
                long due = random.Next(20);
                heap.Add(due, completion);
                expected.Add((due, i, completion));
            }

            foreach ((long due, _, LaneCompletion<Nothing> completion) in expected.OrderBy(e => e.Due).ThenBy(e => e.Order))
            {
                Assert.Equal(due, heap.EarliestNs);
                Assert.Same(completion, heap.TakeEarliest());
            }

            Assert.Equal(0, heap.Count);
        }
    }
}
