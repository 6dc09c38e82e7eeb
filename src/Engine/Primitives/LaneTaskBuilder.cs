using System.Runtime.CompilerServices;

namespace TierSpaces.Engine.Primitives;

/// <summary>
/// Builds <see cref="LaneTask{T}"/> from async methods. The state machine moves into a pooled box at its first
/// suspension; a method that never suspends carries its result in the task and touches no box.
/// </summary>
/// <typeparam name="T">Type of the result.</typeparam>
public struct LaneTaskBuilder<T>
{
    private LaneTaskSource<T>? _box;   // null until the first suspension
    private T _result;
    private Exception? _error;

    /// <summary>Called by the compiler.</summary>
    public static LaneTaskBuilder<T> Create() => default;

    /// <summary>The task handed to the caller.</summary>
    public readonly LaneTask<T> Task
    {
        get
        {
            if (_box is not null)
            {
                return _box.Task;
            }

            if (_error is not null)
            {
                LaneCompletion<T> failed = LaneCompletion<T>.Rent();
                LaneTask<T> task = failed.Task;
                failed.Fail(_error);
                return task;
            }

            return new LaneTask<T>(_result);
        }
    }

    /// <summary>Called by the compiler.</summary>
    public readonly void Start<TStateMachine>(ref TStateMachine stateMachine)
        where TStateMachine : IAsyncStateMachine => stateMachine.MoveNext();

    /// <summary>Called by the compiler.</summary>
    public readonly void SetStateMachine(IAsyncStateMachine stateMachine)
    {
    }

    /// <summary>Called by the compiler.</summary>
    public void SetResult(T result)
    {
        if (_box is null)
        {
            _result = result;
        }
        else
        {
            _box.Complete(result);
        }
    }

    /// <summary>Called by the compiler.</summary>
    public void SetException(Exception exception)
    {
        if (_box is null)
        {
            _error = exception;
        }
        else
        {
            _box.Fail(exception);
        }
    }

    /// <summary>Called by the compiler.</summary>
    public void AwaitOnCompleted<TAwaiter, TStateMachine>(ref TAwaiter awaiter, ref TStateMachine stateMachine)
        where TAwaiter : INotifyCompletion
        where TStateMachine : IAsyncStateMachine => awaiter.OnCompleted(Suspend(ref stateMachine));

    /// <summary>Called by the compiler.</summary>
    public void AwaitUnsafeOnCompleted<TAwaiter, TStateMachine>(ref TAwaiter awaiter, ref TStateMachine stateMachine)
        where TAwaiter : ICriticalNotifyCompletion
        where TStateMachine : IAsyncStateMachine => awaiter.UnsafeOnCompleted(Suspend(ref stateMachine));

    private Action Suspend<TStateMachine>(ref TStateMachine stateMachine)
        where TStateMachine : IAsyncStateMachine
    {
        if (_box is not Box<TStateMachine> box)
        {
            box = Box<TStateMachine>.Rent();
            _box = box;                       // before the copy: the copy must know its box
            box.StateMachine = stateMachine;
        }

        if (RequestTrace.IsOn)
        {
            box.Request = RequestTrace.Current;
        }

        return box.Resume;
    }

    private sealed class Box<TStateMachine> : LaneTaskSource<T>
        where TStateMachine : IAsyncStateMachine
    {
        [ThreadStatic]
        private static FreeList<Box<TStateMachine>> s_free;

        private Box() => Resume = () =>
        {
            if (RequestTrace.IsOn)
            {
                ResumeTraced();
            }
            else
            {
                StateMachine!.MoveNext();
            }
        };

        internal TStateMachine? StateMachine;

        /// <summary>Request that it suspended for; see <see cref="RequestTrace"/>.</summary>
        internal ulong Request;

        internal Action Resume { get; }

        internal static Box<TStateMachine> Rent() => s_free.Take() ?? new Box<TStateMachine>();

        protected override void Recycle()
        {
            StateMachine = default;
            Request = 0;
            s_free.Return(this);
        }

        private void ResumeTraced()
        {
            ulong before = RequestTrace.Enter(Request);
            StateMachine!.MoveNext();
            RequestTrace.Enter(before);
        }
    }
}

/// <summary>Builds <see cref="LaneTask"/> from async methods without a value.</summary>
public struct LaneTaskBuilder
{
    private LaneTaskBuilder<Nothing> _inner;

    /// <summary>Called by the compiler.</summary>
    public static LaneTaskBuilder Create() => default;

    /// <summary>The task handed to the caller.</summary>
    public readonly LaneTask Task => new(_inner.Task);

    /// <summary>Called by the compiler.</summary>
    public readonly void Start<TStateMachine>(ref TStateMachine stateMachine)
        where TStateMachine : IAsyncStateMachine => stateMachine.MoveNext();

    /// <summary>Called by the compiler.</summary>
    public readonly void SetStateMachine(IAsyncStateMachine stateMachine)
    {
    }

    /// <summary>Called by the compiler.</summary>
    public void SetResult() => _inner.SetResult(default);

    /// <summary>Called by the compiler.</summary>
    public void SetException(Exception exception) => _inner.SetException(exception);

    /// <summary>Called by the compiler.</summary>
    public void AwaitOnCompleted<TAwaiter, TStateMachine>(ref TAwaiter awaiter, ref TStateMachine stateMachine)
        where TAwaiter : INotifyCompletion
        where TStateMachine : IAsyncStateMachine => _inner.AwaitOnCompleted(ref awaiter, ref stateMachine);

    /// <summary>Called by the compiler.</summary>
    public void AwaitUnsafeOnCompleted<TAwaiter, TStateMachine>(ref TAwaiter awaiter, ref TStateMachine stateMachine)
        where TAwaiter : ICriticalNotifyCompletion
        where TStateMachine : IAsyncStateMachine => _inner.AwaitUnsafeOnCompleted(ref awaiter, ref stateMachine);
}
