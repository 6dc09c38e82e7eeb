using System.Collections.Concurrent;
using System.Diagnostics;
using System.Reflection;
using System.Runtime.CompilerServices;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Tests;
using TierSpaces.Engine.Verification;
using Xunit.v3;

[assembly: SimulatedMemory]

namespace TierSpaces.Engine.Tests;

// Some thousand tests make worlds of 10 MB and more outside the managed heap. Each lane is noted with the test that runs when it is made, and
// its memory is given back some seconds after that test: a test class may use its world in Dispose, which comes after the attribute. Noted are the pools of
// buffers alone: a lane keeps all of its world, of which one test may make tens of thousands.

/// <summary>Gives the memory of simulated lanes back after the test that made them.</summary>
[AttributeUsage(AttributeTargets.Assembly)]
internal sealed class SimulatedMemoryAttribute : BeforeAfterTestAttribute
{
    private static readonly TimeSpan s_delay = TimeSpan.FromSeconds(5);
    private static readonly ConcurrentDictionary<string, ConcurrentBag<BufferPool>> s_running = new();
    private static readonly Queue<(long EndedAt, ConcurrentBag<BufferPool> Pools)> s_ended = new();   // used under a lock on itself

    /// <inheritdoc/>
    public override void After(MethodInfo methodUnderTest, IXunitTest test)
    {
        lock (s_ended)
        {
            if (s_running.TryRemove(test.UniqueID, out ConcurrentBag<BufferPool>? made))
            {
                s_ended.Enqueue((Stopwatch.GetTimestamp(), made));
            }

            while (s_ended.Count > 0 && Stopwatch.GetElapsedTime(s_ended.Peek().EndedAt) > s_delay)
            {
                foreach (BufferPool pool in s_ended.Dequeue().Pools)
                {
                    pool.Dispose();
                }
            }
        }
    }

    [ModuleInitializer]
    internal static void NoteLanes() => SimLane.Created += static lane =>
    {
        if (TestContext.Current.Test is { } test)
        {
            s_running.GetOrAdd(test.UniqueID, static _ => []).Add(lane.Buffers);
        }
    };
}
