using System.Runtime.ExceptionServices;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Lanes;

// A call that may hang in the kernel, and a caller that does not wait longer than its deadline. The call itself cannot be ended; it is followed until it
// returns.
//
// Time is counted in ticks that the lane has run, as for requests to disks: a process that was stopped for a minute reads the results before it judges them.
//
// Invariants
//  1. A call that returns after its caller has given up is undone, unless it failed.
//  2. `ended` is called once, when the call has returned and what has to be undone is undone.

/// <summary>A call with a deadline.</summary>
/// <param name="lane">Lane of the caller.</param>
/// <param name="undo">Undoes a call that returned too late.</param>
/// <param name="ended">Called at the end of the call; true: the caller had given up.</param>
internal sealed class TimedCall<T>(ILane lane, Func<T, LaneTask> undo, Action<bool> ended)
{
    private const long TickNs = 250_000_000;

    private readonly LaneSignal _decided = new();
    private T _result = default!;
    private ExceptionDispatchInfo? _failure;
    private bool _hasEnded;

    /// <summary>Whether the caller has gone on without the call.</summary>
    internal bool IsGivenUp { get; private set; }

    /// <summary>Result of a call that has ended in time. An exception of the call is thrown here.</summary>
    internal T Result
    {
        get
        {
            _failure?.Throw();
            return _result;
        }
    }

    /// <summary>Follows a call that has just begun. Returns whether it ended within the limit (in nanoseconds); if not, the caller has given up.</summary>
    internal async LaneTask<bool> EndsWithin(long limitNs, LaneTask<T> call)
    {
        Follow(call).Forget();
        if (!_hasEnded)
        {
            AwaitLimit(limitNs).Forget();
            await _decided.Wait();
        }

        IsGivenUp = !_hasEnded;
        return _hasEnded;
    }

    private async LaneTask Follow(LaneTask<T> call)
    {
        try
        {
            _result = await call;
        }
        catch (Exception failure) when (failure is not InvariantException)
        {
            _failure = ExceptionDispatchInfo.Capture(failure);
        }

        _hasEnded = true;
        if (IsGivenUp && _failure is null)
        {
            await undo(_result);
        }

        ended(IsGivenUp);
        _decided.NotifyAll();
    }

    private async LaneTask AwaitLimit(long limitNs)
    {
        for (long ticks = (limitNs + TickNs - 1) / TickNs; ticks > 0 && !_hasEnded; ticks--)
        {
            await lane.Delay(TickNs);
        }

        _decided.NotifyAll();
    }
}
