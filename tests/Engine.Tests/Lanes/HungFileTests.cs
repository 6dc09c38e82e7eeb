using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Lanes.Native;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tests.Lanes;

/// <summary>A lane with a file whose file system answers no call: its other files go on, on both backends.</summary>
public abstract class HungFileTests(LaneBackend backend)
{
    private const int Files = 6;
    private const int Rounds = 200;

    [Fact]
    public void One_file_that_hangs_in_every_call_holds_up_no_other()
    {
        using ManualResetEventSlim isAnswering = new();
        using TemporaryFiles files = new(Files);
        int hungCalls = 0;
        int Call(in FileOperation operation)
        {
            if (operation.File.Descriptor == files.Descriptors[0])
            {
                Interlocked.Increment(ref hungCalls);
                isAnswering.Wait();
            }

            return FileCalls.Run(operation);
        }

        using TestLane test = TestLane.Create(backend, new LaneOptions { CallsPerFile = 2, FileCall = Call });
        try
        {
            LaneFile[] opened = [];
            Counter hung = new();
            Counter others = new();
            test.Run(() => Do(() =>
            {
                opened = [.. files.Descriptors.Select(descriptor => test.Lane.AddFile(descriptor))];
                for (int i = 0; i < 20; i++)
                {
                    Submit(test.Lane, opened[0], hung);
                }
            }));
            Assert.True(SpinWait.SpinUntil(() => Volatile.Read(ref hungCalls) == 2, TimeSpan.FromSeconds(20)));

            for (int round = 0; round < Rounds; round++)
            {
                int wanted = (round + 1) * (Files - 1);
                test.Run(() => Do(() => Array.ForEach(opened[1..], file => Submit(test.Lane, file, others))));
                Assert.True(SpinWait.SpinUntil(() => others.Ended == wanted, TimeSpan.FromSeconds(20)), $"{others.Ended} of {wanted} have ended");
            }

            Assert.Equal((0, 2), (hung.Ended, Volatile.Read(ref hungCalls)));
            isAnswering.Set();
            Assert.True(SpinWait.SpinUntil(() => hung.Ended == 20, TimeSpan.FromSeconds(20)));
            test.Run(() => Do(() => Array.ForEach(opened, test.Lane.RemoveFile)));
        }
        finally
        {
            isAnswering.Set();
        }
    }

    private static LaneTask Do(Action work)
    {
        work();
        return LaneTask.Completed;
    }

    // A regular file refuses BLKDISCARD; either backend asks it on a thread.
    private static void Submit(Lane lane, LaneFile file, Counter target) =>
        lane.Submit(new FileOperation(FileOpcode.Discard, file, 0, 0, 4096, 0), target);

    private sealed class Counter : ICompletionTarget
    {
        private int _ended;

        internal int Ended => Volatile.Read(ref _ended);

        public void OnCompletion(int result, bool more) => Interlocked.Increment(ref _ended);
    }

    private sealed class TemporaryFiles : IDisposable
    {
        private readonly string[] _paths;

        internal TemporaryFiles(int count)
        {
            _paths = [.. Enumerable.Range(0, count).Select(static _ => Path.GetTempFileName())];
            Descriptors = [.. _paths.Select(static path => Libc.OpenPath(path, Libc.OpenReadWrite))];
        }

        internal int[] Descriptors { get; }

        public void Dispose()
        {
            Array.ForEach(Descriptors, static descriptor => Libc.Close(descriptor));
            Array.ForEach(_paths, File.Delete);
        }
    }
}

public sealed class UringHungFileTests() : HungFileTests(LaneBackend.Uring);

public sealed class ThreadsHungFileTests() : HungFileTests(LaneBackend.Threads);
