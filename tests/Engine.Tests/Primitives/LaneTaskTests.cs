using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Tests.Lanes;
using Xunit;

namespace TierSpaces.Engine.Tests.Primitives;

public class LaneTaskTests
{
    private readonly Queue<LaneCompletion<int>> _waiting = new();

    [Fact]
    public void Results_and_exceptions_cross_suspended_frames()
    {
        LaneTask<int> sum = Outer(3);
        Assert.False(sum.IsCompleted);
        ReleaseAll();
        Assert.True(sum.IsCompleted);
        Assert.Equal(5, sum.GetAwaiter().GetResult());

        LaneTask<int> failing = Failing();
        ReleaseAll();
        InvalidOperationException error = Assert.Throws<InvalidOperationException>(() => failing.GetAwaiter().GetResult());
        Assert.Equal("asked for", error.Message);
    }

    [Fact]
    public void A_second_await_is_refused()
    {
        LaneTask<int> task = Outer(1);
        ReleaseAll();
        task.GetAwaiter().GetResult();
        Assert.Throws<InvalidOperationException>(() => task.GetAwaiter().GetResult());
    }

    [Fact]
    public void Suspended_requests_at_depth_allocate_nothing_in_steady_state()
    {
        RunBatches();
        Assert.Equal(0, AllocationMeter.LeastOf(RunBatches));
    }

    private void RunBatches()
    {
        for (int i = 0; i < 200; i++)
        {
            RunBatch();
        }
    }

    private void RunBatch()
    {
        for (int i = 0; i < 32; i++)
        {
            Discard(Outer(2)).Forget();
        }

        ReleaseAll();
    }

    private static async LaneTask Discard(LaneTask<int> task) => await task;

    private void ReleaseAll()
    {
        while (_waiting.TryDequeue(out LaneCompletion<int>? gate))
        {
            gate.Complete(1);
        }
    }

    private async LaneTask<int> Outer(int depth)
    {
        int value = await Inner();
        return depth == 1 ? value : value + (depth == 2 ? await Inner() : 2 + await Inner() + await Inner());
    }

    private async LaneTask<int> Inner()
    {
        LaneCompletion<int> gate = LaneCompletion<int>.Rent();
        LaneTask<int> task = gate.Task;
        _waiting.Enqueue(gate);
        return 1 + await task - 1;
    }

    private async LaneTask<int> Failing()
    {
        await Inner();
        throw new InvalidOperationException("asked for");
    }
}
