using System.Collections.Concurrent;
using System.Diagnostics;
using TierSpaces.Engine.Lanes;

namespace TierSpaces.Engine.Tests.Lanes;

/// <summary>Threads for blocking calls: files share them, and one that hangs holds up no other.</summary>
public sealed class FileWorkersTests : IDisposable
{
    private const int PerFile = 4;
    private static readonly TimeSpan s_limit = TimeSpan.FromSeconds(20);

    private readonly ManualResetEventSlim _isAnswering = new();
    private readonly AutoResetEvent _hasEnded = new(false);
    private readonly ConcurrentDictionary<int, int> _running = new();
    private readonly LaneFile[] _files = [.. Enumerable.Range(0, 8).Select(static number => new LaneFile(number, -1))];
    private int _most;   // operations of one file at a time
    private FileWorkers _workers;

    public FileWorkersTests() => _workers = NewWorkers(idleMs: 10_000);

    public void Dispose()
    {
        _isAnswering.Set();
        _workers.Stop();
    }

    [Fact]
    public void Files_that_hang_hold_up_no_other()
    {
        Target hung = new();
        for (int i = 0; i < 7 * 100; i++)
        {
            Submit(_files[i % 7], hung);
        }

        Target target = new();
        for (int i = 0; i < 100; i++)
        {
            _workers.Submit(new FileOperation(FileOpcode.Read, _files[7], 0, 0, 1, 0), target);
        }

        Await(() => target.Ended == 100);
        Assert.Equal(0, hung.Ended);
        Await(() => Enumerable.Range(0, 7).Sum(file => _running.GetValueOrDefault(file)) == 7 * PerFile);
        _isAnswering.Set();
        Await(() => hung.Ended == 700);
        Assert.Equal(0, _workers.InFlight);
        Assert.Equal(PerFile, _most);
    }

    [Fact]
    public void Each_operation_is_delivered_once_with_its_own_result()
    {
        _isAnswering.Set();
        Target[] targets = [.. Enumerable.Range(0, 2000).Select(static _ => new Target())];
        for (int i = 0; i < targets.Length; i++)
        {
            _workers.Submit(new FileOperation(FileOpcode.Read, _files[i % 8], 0, i, 1, 0), targets[i]);
        }

        Await(() => _workers.InFlight == 0);
        Assert.All(targets, static target => Assert.Equal(1, target.Ended));
        Assert.Equal(Enumerable.Range(0, targets.Length), targets.Select(static target => target.Result));
        Assert.InRange(_workers.Threads, 1, 8 * PerFile);
    }

    [Fact]
    public void Threads_without_work_end()
    {
        _workers.Stop();
        _workers = NewWorkers(idleMs: 50);
        _isAnswering.Set();
        Target target = new();
        Submit(_files[0], target);
        Await(() => target.Ended == 1);
        Await(() => _workers.Threads == 0);
        Submit(_files[0], target);
        Await(() => target.Ended == 2);
    }

    private void Submit(LaneFile file, Target target) => _workers.Submit(new FileOperation(FileOpcode.Read, file, 0, 0, 1, 0), target);

    private void Await(Func<bool> isSo)
    {
        Stopwatch watch = Stopwatch.StartNew();
        _workers.Deliver();
        while (!isSo())
        {
            Assert.True(watch.Elapsed < s_limit, "does not come to an end");
            _hasEnded.WaitOne(10);
            _workers.Deliver();
        }
    }

    private FileWorkers NewWorkers(int idleMs) => new("test", PerFile, () => _hasEnded.Set(), Call, idleMs);

    private int Call(in FileOperation operation)
    {
        int file = operation.File.Descriptor;
        int running = _running.AddOrUpdate(file, 1, static (_, count) => count + 1);
        InterlockedMax(running);
        if (file < 7)
        {
            _isAnswering.Wait();
        }

        _running.AddOrUpdate(file, 0, static (_, count) => count - 1);
        return (int)operation.Offset;
    }

    private void InterlockedMax(int value)
    {
        for (int most = _most; value > most && Interlocked.CompareExchange(ref _most, value, most) != most; most = _most)
        {
        }
    }

    private sealed class Target : ICompletionTarget
    {
        internal int Ended { get; private set; }

        internal int Result { get; private set; }

        public void OnCompletion(int result, bool more)
        {
            Ended++;
            Result = result;
        }
    }
}
