using System.Diagnostics;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tests.Lanes;

/// <summary>A real lane for one test: runs lane code to its end, and fails the test on what no code handled.</summary>
public sealed class TestLane : IDisposable
{
    private readonly List<Exception> _unhandled = [];
    private readonly TaskCompletionSource _failed = new();

    private TestLane(Lane lane)
    {
        Lane = lane;
        lane.UnhandledException = error =>
        {
            _unhandled.Add(error);
            _failed.TrySetException(error);
        };
    }

    public Lane Lane { get; }

    public static TestLane Create(LaneBackend backend, LaneOptions? options = null)
    {
        try
        {
            return new TestLane(LaneFactory.Create($"test {backend}", backend, options));
        }
        catch (PlatformNotSupportedException problem)
        {
            Assert.Skip(problem.Message);
            throw;
        }
    }

    public T Run<T>(Func<LaneTask<T>> work)
    {
        Task<T> done = Lane.InvokeAsync(work);
        if (Task.WaitAny([done, _failed.Task], TimeSpan.FromSeconds(60)) < 0)
        {
            throw new TimeoutException("The lane did not finish within 60 seconds.");
        }

        return done.IsCompleted ? done.GetAwaiter().GetResult() : throw new InvalidOperationException("The lane failed.", _failed.Task.Exception);
    }

    public void Run(Func<LaneTask> work) => Run(async () =>
    {
        await work();
        return 0;
    });

    public void Dispose()
    {
        Stopwatch watch = Stopwatch.StartNew();
        Lane.Dispose();
        Assert.Empty(_unhandled);
        Assert.True(watch.ElapsedMilliseconds < 5000, "The lane took more than 5 s to stop.");
    }
}
