using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tests.Lanes;

/// <summary>A descriptor that cannot be watched: the kernel answers every poll with the same error.</summary>
public sealed class PollFailureTests
{
    private const int NoDescriptor = 1_000_000;   // nothing is open there

    [Theory]
    [InlineData(LaneBackend.Uring)]
    [InlineData(LaneBackend.Threads)]
    public void A_poll_that_fails_is_reported_once_and_not_armed_again(LaneBackend backend)
    {
        using TestLane test = TestLane.Create(backend);
        Target target = new();
        test.Run(async () =>
        {
            test.Lane.StartPolling(target);
            await test.Lane.Delay(50_000_000);
            Assert.Equal((1, 0), (target.Failures, target.Events));
            Assert.Equal(9, target.Errno);   // EBADF
            test.Lane.PollWritable(target);
            await test.Lane.Delay(50_000_000);
            Assert.InRange(target.Failures, 1, 2);
            Assert.Equal(0, target.Events);
            test.Lane.StopPolling(target);
            await test.Lane.Delay(10_000_000);
            Assert.True(target.IsStopped);
        });
    }

    private sealed class Target() : PollTarget(NoDescriptor)
    {
        internal int Events { get; private set; }

        internal int Failures { get; private set; }

        internal int Errno { get; private set; }

        internal bool IsStopped { get; private set; }

        internal override void OnReadable() => Events++;

        internal override void OnWritable() => Events++;

        internal override void OnPollingFailed(int errno)
        {
            Failures++;
            Errno = errno;
        }

        internal override void OnPollingStopped() => IsStopped = true;
    }
}
