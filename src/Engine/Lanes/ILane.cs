using System.Runtime.ExceptionServices;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Lanes;

/// <summary>
/// One thread of the engine with its ring, its clock, its randomness and its buffers. Everything a virtual disk does
/// happens on one lane, so nothing in the data path is locked. The simulator's lane is the same contract with virtual
/// time and seeded choices; product code cannot tell them apart.
/// </summary>
public interface ILane
{
    /// <summary>Name for messages and counters.</summary>
    string Name { get; }

    /// <summary>Monotonic clock, in nanoseconds.</summary>
    long NowNs { get; }

    /// <summary>
    /// The clock as it was last read on this lane: costs nothing, and is right for the end of a request whose own start or device was
    /// timed by reading it. Everything else asks <see cref="NowNs"/>.
    /// </summary>
    long RecentNs => NowNs;

    /// <summary>The same clock, but it goes on while the machine is suspended, in nanoseconds. Its zero is another one.</summary>
    long BootNs => NowNs;

    /// <summary>Wall clock.</summary>
    DateTimeOffset UtcNow { get; }

    /// <summary>Buffers of this lane.</summary>
    BufferPool Buffers { get; }

    /// <summary>Whether the caller runs on this lane.</summary>
    bool IsCurrent { get; }

    /// <summary>64 random bits.</summary>
    ulong NextRandom();

    /// <summary>A new random identifier.</summary>
    Guid NewGuid();

    /// <summary>Completes on this lane after <paramref name="nanoseconds"/> (≥ 0).</summary>
    LaneTask Delay(long nanoseconds);

    /// <summary>Completes on this lane after everything already queued has had its turn.</summary>
    LaneTask Yield();

    /// <summary>
    /// Offloads <paramref name="work"/> to another thread and completes on the lane: for computations so long that requests would wait for them. The work
    /// shares no mutable state with the lane, and throws nothing. Work items run one after the other.
    /// </summary>
    LaneTask Offload(Action work);

    /// <summary>
    /// Offloads system calls that may block, as all calls on names and files of a foreign file system may, and completes on the lane. Each work item has a
    /// thread of its own: one that hangs holds up no other. The work shares no mutable state with the lane, and throws nothing.
    /// </summary>
    LaneTask OffloadBlocking(Action work);

    /// <summary>Runs <paramref name="work"/> on this lane soon. The only member that other threads may call.</summary>
    void Post(Action work);

    /// <summary>
    /// Runs <paramref name="work"/> soon on a thread of the pool. The lane waits neither for its begin nor for its end, and several may run at once. The work
    /// shares no mutable state with the lane, and throws nothing.
    /// </summary>
    void PostOutside(Action work) => ThreadPool.UnsafeQueueUserWorkItem(static work => work(), work, preferLocal: false);
}

/// <summary>Crossing from other threads to a lane.</summary>
public static class LaneExtensions
{
    /// <summary>Offloads a function and returns its result, see <see cref="ILane.Offload"/>. An exception of the function is thrown here.</summary>
    public static LaneTask<T> Compute<T>(this ILane lane, Func<T> function) => Run(lane.Offload, function);

    /// <summary>Offloads blocking calls and returns their result, see <see cref="ILane.OffloadBlocking"/>. An exception of them is thrown here.</summary>
    public static LaneTask<T> CallBlocking<T>(this ILane lane, Func<T> calls) => Run(lane.OffloadBlocking, calls);

    /// <summary>Runs an operation on the lane and gives its result to a thread outside it.</summary>
    public static Task<T> InvokeAsync<T>(this ILane lane, Func<LaneTask<T>> operation)
    {
        TaskCompletionSource<T> done = new(TaskCreationOptions.RunContinuationsAsynchronously);
        lane.Post(() => RunAsync(operation, done).Forget());
        return done.Task;
    }

    private static async LaneTask<T> Run<T>(Func<Action, LaneTask> offload, Func<T> function)
    {
        T result = default!;
        ExceptionDispatchInfo? failure = null;
        await offload(() =>
        {
            try
            {
                result = function();
            }
            catch (Exception error)
            {
                failure = ExceptionDispatchInfo.Capture(error);
            }
        });
        failure?.Throw();
        return result;
    }

    /// <summary>
    /// Runs an operation on the lane, then a function over its result outside the lane. An exception of either is that of the task.
    /// </summary>
    /// <param name="lane">The lane.</param>
    /// <param name="operation">Runs on the lane; its result shares no mutable state with the lane.</param>
    /// <param name="outside">Runs outside, see <see cref="ILane.PostOutside"/>.</param>
    public static Task<TResult> InvokeAsync<T, TResult>(this ILane lane, Func<LaneTask<T>> operation, Func<T, TResult> outside)
    {
        TaskCompletionSource<TResult> done = new(TaskCreationOptions.RunContinuationsAsynchronously);
        lane.Post(() => RunAsync(lane, operation, outside, done).Forget());
        return done.Task;
    }

    private static async LaneTask RunAsync<T, TResult>(
        ILane lane, Func<LaneTask<T>> operation, Func<T, TResult> outside, TaskCompletionSource<TResult> done)
    {
        try
        {
            T result = await operation();
            lane.PostOutside(() => Complete(outside, result, done));
        }
        catch (Exception error)
        {
            done.SetException(error);
        }
    }

    private static void Complete<T, TResult>(Func<T, TResult> outside, T result, TaskCompletionSource<TResult> done)
    {
        try
        {
            done.SetResult(outside(result));
        }
        catch (Exception error)
        {
            done.SetException(error);
        }
    }

    private static async LaneTask RunAsync<T>(Func<LaneTask<T>> operation, TaskCompletionSource<T> done)
    {
        try
        {
            done.SetResult(await operation());
        }
        catch (Exception error)
        {
            done.SetException(error);
        }
    }
}
