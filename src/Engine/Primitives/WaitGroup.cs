namespace TierSpaces.Engine.Primitives;

/// <summary>
/// Waits for a number of operations not known in advance and gives the first error among them. Rented, filled with
/// <see cref="Add"/>, awaited once with <see cref="Wait"/>, which also returns it.
/// </summary>
public sealed class WaitGroup
{
    [ThreadStatic]
    private static FreeList<WaitGroup> s_free;

    private int _pending;
    private IoError _error;
    private LaneCompletion<IoError>? _waiter;

    private WaitGroup()
    {
    }

    /// <summary>Returns an empty wait group from the free list of the thread.</summary>
    public static WaitGroup Rent() => s_free.Take() ?? new WaitGroup();

    /// <summary>Adds an operation that has been started.</summary>
    public void Add(LaneTask<IoError> operation)
    {
        if (operation.IsCompleted)
        {
            Note(operation.GetAwaiter().GetResult());
            return;
        }

        _pending++;
        Watch(operation).Forget();
    }

    /// <summary>Completes when all have, with the first error.</summary>
    public LaneTask<IoError> Wait()
    {
        if (_pending == 0)
        {
            return new LaneTask<IoError>(Take());
        }

        _waiter = LaneCompletion<IoError>.Rent();
        return _waiter.Task;
    }

    private async LaneTask Watch(LaneTask<IoError> operation)
    {
        Note(await operation);
        if (--_pending == 0 && _waiter is { } waiter)
        {
            _waiter = null;
            waiter.Complete(Take());
        }
    }

    private void Note(IoError error)
    {
        if (_error == IoError.None)
        {
            _error = error;
        }
    }

    private IoError Take()
    {
        IoError error = _error;
        _error = IoError.None;
        s_free.Return(this);
        return error;
    }
}
