using System.Runtime.CompilerServices;

namespace TierSpaces.Engine.Primitives;

// The one asynchronous type of the engine.
//
// A LaneTask completes on the lane that started it, continuations run inline in the completing call, and neither
// awaiting nor completing touches the thread pool, a SynchronizationContext or an ExecutionContext. Its source is
// pooled: a method that suspends rents a box from a free list of the thread and gives it back when its result is
// read, so the steady state allocates nothing.
//
// Invariants
//  1. A LaneTask is awaited exactly once, or given to Forget() (the token catches a second use).
//  2. Start, completion and continuation all happen on one thread: no field is volatile, nothing is interlocked.
//  3. A completed operation may carry its value in the struct itself; then no source exists.

/// <summary>A single-use asynchronous result that completes on its lane without allocating.</summary>
/// <typeparam name="T">Type of the result.</typeparam>
[AsyncMethodBuilder(typeof(LaneTaskBuilder<>))]
public readonly struct LaneTask<T>
{
    private readonly LaneTaskSource<T>? _source;
    private readonly T _result;
    private readonly uint _token;

    /// <summary>A task that is already complete.</summary>
    public LaneTask(T result)
    {
        _result = result;
        _source = null;
        _token = 0;
    }

    internal LaneTask(LaneTaskSource<T> source)
    {
        _source = source;
        _token = source.Token;
        _result = default!;
    }

    /// <summary>Whether the result can be read without suspending.</summary>
    public bool IsCompleted => _source is null || _source.IsCompleted(_token);

    /// <summary>Awaiter for the C# compiler.</summary>
    public Awaiter GetAwaiter() => new(this);

    /// <summary>Runs the operation to its end without anyone waiting; an exception in it ends the process.</summary>
    public void Forget()
    {
        if (_source is { } source)
        {
            source.Forget(_token);
        }
    }

    /// <summary>Reads the result: valid once, after completion.</summary>
    public readonly struct Awaiter : ICriticalNotifyCompletion
    {
        private readonly LaneTask<T> _task;

        internal Awaiter(LaneTask<T> task) => _task = task;

        /// <summary>Whether <see cref="GetResult"/> may be called.</summary>
        public bool IsCompleted => _task.IsCompleted;

        /// <summary>The result, or the exception the operation ended with.</summary>
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public T GetResult() => _task._source is { } source ? source.TakeResult(_task._token) : _task._result;

        /// <inheritdoc/>
        public void OnCompleted(Action continuation) => UnsafeOnCompleted(continuation);

        /// <inheritdoc/>
        public void UnsafeOnCompleted(Action continuation) => _task._source!.SetContinuation(_task._token, continuation);
    }
}

/// <summary>A <see cref="LaneTask{T}"/> without a value.</summary>
[AsyncMethodBuilder(typeof(LaneTaskBuilder))]
public readonly struct LaneTask
{
    private readonly LaneTask<Nothing> _inner;

    internal LaneTask(LaneTask<Nothing> inner) => _inner = inner;

    /// <summary>A task that is already complete.</summary>
    public static LaneTask Completed => default;

    /// <summary>Whether the task has ended.</summary>
    public bool IsCompleted => _inner.IsCompleted;

    /// <summary>Awaiter for the C# compiler.</summary>
    public LaneTask<Nothing>.Awaiter GetAwaiter() => _inner.GetAwaiter();

    /// <inheritdoc cref="LaneTask{T}.Forget"/>
    public void Forget() => _inner.Forget();

    /// <summary>A completed task with a value.</summary>
    public static LaneTask<T> FromResult<T>(T result) => new(result);
}

/// <summary>The value of an operation that has none.</summary>
public readonly struct Nothing;
