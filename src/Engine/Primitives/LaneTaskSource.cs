using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using System.Runtime.ExceptionServices;

namespace TierSpaces.Engine.Primitives;

/// <summary>
/// Source of a pending <see cref="LaneTask{T}"/>: a slot that is completed once, read once and then reused.
/// Devices derive their request slots from it; async methods use the box in <see cref="LaneTaskBuilder{T}"/>.
/// </summary>
/// <typeparam name="T">Type of the result.</typeparam>
public abstract class LaneTaskSource<T>
{
    private Action? _continuation;
    private Exception? _error;
    private T _result = default!;
    private bool _completed;   // true from Complete/Fail until the result is taken
    private bool _forgotten;   // fire-and-forget: recycled on completion

    /// <summary>Use count of this slot; a task of an earlier use no longer matches it.</summary>
    internal uint Token { get; private set; }

    /// <summary>The task for the current use of this slot. Call once per use.</summary>
    public LaneTask<T> Task => new(this);

    /// <summary>Completes the operation and runs its continuation before returning.</summary>
    public void Complete(T result)
    {
        _result = result;
        Finish();
    }

    /// <summary>Completes the operation with an exception.</summary>
    public void Fail(Exception error)
    {
        _error = error;
        Finish();
    }

    /// <summary>Called when the result has been read and the slot may be reused.</summary>
    protected abstract void Recycle();

    internal bool IsCompleted(uint token)
    {
        Check(token);
        return _completed;
    }

    internal void SetContinuation(uint token, Action continuation)
    {
        Check(token);
        if (_completed)
        {
            continuation();
            return;
        }

        if (_continuation is not null)
        {
            ThrowMisuse();
        }

        _continuation = continuation;
    }

    internal T TakeResult(uint token)
    {
        Check(token);
        if (!_completed)
        {
            ThrowMisuse();
        }

        T result = _result;
        Exception? error = _error;
        _result = default!;
        _error = null;
        _completed = false;
        Token++;
        Recycle();
        if (error is not null)
        {
            ExceptionDispatchInfo.Throw(error);
        }

        return result;
    }

    internal void Forget(uint token)
    {
        Check(token);
        if (_completed)
        {
            TakeResult(token);
        }
        else
        {
            _forgotten = true;
        }
    }

    private void Finish()
    {
        if (_completed)
        {
            ThrowMisuse();
        }

        _completed = true;
        if (_forgotten)
        {
            _forgotten = false;
            TakeResult(Token);
            return;
        }

        if (_continuation is { } continuation)
        {
            _continuation = null;
            continuation();
        }
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void Check(uint token)
    {
        if (token != Token)
        {
            ThrowMisuse();
        }
    }

    [DoesNotReturn]
    private static void ThrowMisuse() =>
        throw new InvalidOperationException("A LaneTask was awaited twice, completed twice or read before it completed.");
}

/// <summary>A completion that is set by hand: a gate, a queue entry, a waiting request. Rented and returned by itself.</summary>
/// <typeparam name="T">Type of the result.</typeparam>
public sealed class LaneCompletion<T> : LaneTaskSource<T>
{
    [ThreadStatic]
    private static FreeList<LaneCompletion<T>> s_free;

    private LaneCompletion()
    {
    }

    /// <summary>A fresh completion from the free list of the thread.</summary>
    public static LaneCompletion<T> Rent() => s_free.Take() ?? new LaneCompletion<T>();

    /// <inheritdoc/>
    protected override void Recycle() => s_free.Return(this);
}
