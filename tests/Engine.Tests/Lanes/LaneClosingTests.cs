using TierSpaces.Engine.Lanes;

namespace TierSpaces.Engine.Tests.Lanes;

/// <summary>A lane gives back all that it took, also when a part of opening or closing it fails.</summary>
public sealed class LaneClosingTests
{
    private const int EventDescriptorCall = 290;   // eventfd2 on x86-64
    private const int OutOfDescriptors = 24;

    [Theory]
    [InlineData(LaneBackend.Uring)]
    [InlineData(LaneBackend.Threads)]
    public void A_backend_that_opens_in_part_is_closed_again(LaneBackend backend)
    {
        Assert.SkipUnless(System.Runtime.InteropServices.RuntimeInformation.ProcessArchitecture == System.Runtime.InteropServices.Architecture.X64,
            "The filter knows the call numbers of x86-64.");
        SystemCallFilter.RunWithout(EventDescriptorCall, OutOfDescriptors, () =>
        {
            string[] before = Backends();
            for (int i = 0; i < 20; i++)
            {
                Assert.Throws<PlatformNotSupportedException>(() => LaneFactory.Create("test", backend).Dispose());
            }

            Assert.InRange(Backends().Length - before.Length, -10, 10);   // other tests open lanes, too
        });
    }

    [Fact]
    public void A_step_of_closing_that_fails_leaves_no_other_undone()
    {
        List<Exception> reported = [];
        using ManualResetEventSlim closed = new();
        FailingLane lane = new(closed) { UnhandledException = reported.Add };
        Assert.Null(lane.Start());
        lane.InvokeAsync(async () =>
        {
            lane.Buffers.Return(lane.Buffers.Rent(4096));
            await lane.Yield();
            return 0;
        }).GetAwaiter().GetResult();
        lane.Dispose();
        Assert.True(closed.IsSet);
        Assert.Equal("closing fails", Assert.Single(reported).Message);
        Assert.Throws<ObjectDisposedException>(() => lane.Post(static () => { }));
    }

    /// <summary>The rings and event queues that this process has open.</summary>
    private static string[] Backends() => [.. Directory.GetFiles("/proc/self/fd")
        .Select(static file => new FileInfo(file).LinkTarget ?? "")
        .Where(static target => target.Contains("io_uring", StringComparison.Ordinal) || target.Contains("eventpoll", StringComparison.Ordinal))];

    private sealed class FailingLane(ManualResetEventSlim closed) : Lane("failing", new LaneOptions())
    {
        public override LaneBackend Backend => LaneBackend.Threads;

        private protected override int FileOperationsInFlight => 0;

        internal override void Submit(in FileOperation operation, ICompletionTarget target) => Workers.Submit(operation, target);

        internal override LaneFile AddFile(int descriptor, long watchedSize = 0, CallGuard? guard = null) => new(descriptor, -1);

        internal override void RemoveFile(LaneFile file)
        {
        }

        internal override void StartPolling(PollTarget target)
        {
        }

        internal override void PollWritable(PollTarget target)
        {
        }

        internal override void StopPolling(PollTarget target)
        {
        }

        private protected override string? OpenBackend() => null;

        private protected override void PollBackend(long timeoutNs) => Thread.Sleep(1);

        private protected override void CloseBackend()
        {
            closed.Set();
            throw new InvalidOperationException("closing fails");
        }

        private protected override void SignalWake()
        {
        }
    }
}
