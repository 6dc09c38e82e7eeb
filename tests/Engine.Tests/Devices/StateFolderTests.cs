using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Tests.Lanes;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Devices;

/// <summary>A file system below the state folder that hangs: the lane goes on, and each call has an answer.</summary>
public sealed class StateFolderTests : IDisposable
{
    private const long DeadlineNs = 500_000_000;

    private readonly TestLane _test = TestLane.Create(LaneBackend.Threads);
    private readonly HangingState _state = new();

    private readonly StateFolder _folder;

    public StateFolderTests() => _folder = new StateFolder(_test.Lane, _state, DeadlineNs);

    public void Dispose()
    {
        _state.Answers.Set();
        _test.Dispose();
        _state.Answers.Dispose();
    }

    [Fact]
    public void Files_are_written_read_and_deleted() => _test.Run(async LaneTask<Nothing> () =>
    {
        Assert.Null(await _folder.ReadFile("list"));
        await _folder.WriteFile("list", [1, 2]);
        Assert.Equal([1, 2], (await _folder.ReadFile("list"))!);
        await _folder.DeleteFile("list");
        Assert.Null(await _folder.ReadFile("list"));
        return default;
    });

    [Fact]
    public void A_failure_reaches_the_caller()
    {
        _state.Inner.OnWrite = static name => throw new IOException($"{name} is refused");
        Assert.Equal("list is refused", _test.Run(() => FailureOf(_folder.WriteFile("list", [1]))));
    }

    [Fact]
    public void A_hung_folder_stops_nothing_and_each_call_fails()
    {
        _state.Answers.Reset();
        _test.Run(async LaneTask<Nothing> () =>
        {
            LaneTask<string> write = FailureOf(_folder.WriteFile("list", [1]));
            int turns = 0;
            long longest = 0;
            for (long last = _test.Lane.NowNs; !write.IsCompleted; turns++)
            {
                await _test.Lane.Delay(1_000_000);
                longest = Math.Max(longest, _test.Lane.NowNs - last);
                last = _test.Lane.NowNs;
            }

            Assert.Contains("state folder does not answer", await write);
            Assert.True(turns > 5 && longest < DeadlineNs, $"{turns} turns, the longest {longest} ns");
            long before = _test.Lane.NowNs;
            Assert.Contains("state folder does not answer", await FailureOf(_folder.ReadFile("list")));
            Assert.True(_test.Lane.NowNs - before < DeadlineNs, "While a call hangs, the next one fails at once.");
            return default;
        });

        Assert.Equal(4096, _test.Run(() => _folder.MapMemory("m", 4096)).Length);   // not of the folder that hangs
        _state.Answers.Set();
        Assert.Equal([1], _test.Run(() => ReadOnceAnswered("list"))!);
    }

    [Fact]
    public void Memory_that_is_mapped_too_late_is_given_back()
    {
        _state.MemoryAnswers.Reset();
        Assert.Contains("shared memory does not answer", _test.Run(() => FailureOf(_folder.MapMemory("m", 4096))));
        _state.MemoryAnswers.Set();
        Assert.Equal(4096, _test.Run(MapOnceAnswered).Length);

        async LaneTask<IoBuffer> MapOnceAnswered()
        {
            while (true)
            {
                try
                {
                    return await _folder.MapMemory("m", 4096);
                }
                catch (IOException)
                {
                    await _test.Lane.Delay(1_000_000);
                }
            }
        }
    }

    [Fact]
    public void Writes_of_a_file_keep_their_order() => _test.Run(async LaneTask<Nothing> () =>
    {
        List<LaneTask<Nothing>> writes = [.. Enumerable.Range(0, 100).Select(i => _folder.WriteFile("list", [(byte)i]))];
        Assert.Equal([99], (await _folder.ReadFile("list"))!);
        writes.ForEach(static write => write.Forget());
        return default;
    });

    private async LaneTask<byte[]?> ReadOnceAnswered(string name)
    {
        while (true)
        {
            try
            {
                return await _folder.ReadFile(name);
            }
            catch (IOException)
            {
                await _test.Lane.Delay(1_000_000);
            }
        }
    }

    private static async LaneTask<string> FailureOf<T>(LaneTask<T> call)
    {
        try
        {
            await call;
            return "";
        }
        catch (IOException failure)
        {
            return failure.Message;
        }
    }

    /// <summary>A state folder in memory whose calls wait until they may answer.</summary>
    private sealed class HangingState : IHostState
    {
        internal SimHostState Inner { get; } = new();

        internal ManualResetEventSlim Answers { get; } = new(initialState: true);

        internal ManualResetEventSlim MemoryAnswers { get; } = new(initialState: true);

        public Guid BootId => Inner.BootId;

        public byte[]? ReadFile(string name)
        {
            Answers.Wait();
            return Inner.ReadFile(name);
        }

        public void WriteFile(string name, ReadOnlySpan<byte> content)
        {
            Answers.Wait();
            Inner.WriteFile(name, content);
        }

        public void DeleteFile(string name)
        {
            Answers.Wait();
            Inner.DeleteFile(name);
        }

        public IoBuffer MapMemory(string name, int size)
        {
            MemoryAnswers.Wait();
            return Inner.MapMemory(name, size);
        }

        public void ReturnMemory(string name) => Inner.ReturnMemory(name);

        public void ReleaseMemory(string name) => Inner.ReleaseMemory(name);
    }
}
