using TierSpaces.Engine.Lanes;

namespace TierSpaces.Engine.Tests.Lanes;

[CollectionDefinition(nameof(EnvironmentCollection), DisableParallelization = true)]
public class EnvironmentCollection;

[Collection(nameof(EnvironmentCollection))]
public class LaneFactoryTests
{
    [Fact]
    public void The_environment_forces_the_threads()
    {
        using Lane lane = CreateWith("threads");
        Assert.Equal(LaneBackend.Threads, lane.Backend);
        Assert.Contains(LaneFactory.BackendVariable, lane.BackendReason);
    }

    [Fact]
    public void An_unknown_backend_is_refused_with_the_choices()
    {
        ArgumentException rejected = Assert.Throws<ArgumentException>(() => CreateWith("iocp").Dispose());
        Assert.StartsWith($"{LaneFactory.BackendVariable}: 'iocp' is not an I/O backend. Valid: uring and threads.", rejected.Message);
    }

    [Theory]
    [InlineData(425, 1, "io_uring_setup: Operation not permitted")]
    [InlineData(425, 38, "io_uring_setup: Function not implemented")]
    [InlineData(425, 12, "io_uring_setup: Cannot allocate memory")]
    [InlineData(426, 1, "io_uring_enter: Operation not permitted")]
    [InlineData(427, 1, "io_uring_register(PROBE): Operation not permitted")]
    public void The_threads_take_over_where_the_system_refuses_io_uring_and_say_why(int systemCall, int errno, string reason) =>
        SystemCallFilter.RunWithout(systemCall, errno, () =>
        {
            using Lane lane = CreateWith("");
            Assert.Equal($"threads: {reason}", lane.BackendReason);
            int answer = lane.InvokeAsync(async () =>
            {
                await lane.Delay(1_000_000);
                return 42;
            }).GetAwaiter().GetResult();
            Assert.Equal(42, answer);
        });

    [Fact]
    public void A_forced_ring_that_is_refused_is_an_error_with_the_reason() =>
        SystemCallFilter.RunWithout(425, 1, () =>
        {
            PlatformNotSupportedException rejected =
                Assert.Throws<PlatformNotSupportedException>(() => LaneFactory.Create("test", LaneBackend.Uring).Dispose());
            Assert.Contains("io_uring_setup: Operation not permitted", rejected.Message);
        });

    [Fact]
    public void Without_the_precise_wait_the_threads_still_keep_time() =>
        SystemCallFilter.RunWithout(441, 38, () =>
        {
            using Lane lane = LaneFactory.Create("test", LaneBackend.Threads);
            long elapsed = lane.InvokeAsync(async () =>
            {
                long start = lane.NowNs;
                await lane.Delay(3_500_000);
                return lane.NowNs - start;
            }).GetAwaiter().GetResult();
            Assert.InRange(elapsed, 3_500_000, 1_000_000_000);
        });

    private static Lane CreateWith(string backend)
    {
        string? before = Environment.GetEnvironmentVariable(LaneFactory.BackendVariable);
        Environment.SetEnvironmentVariable(LaneFactory.BackendVariable, backend);
        try
        {
            return LaneFactory.Create("test");
        }
        finally
        {
            Environment.SetEnvironmentVariable(LaneFactory.BackendVariable, before);
        }
    }
}
