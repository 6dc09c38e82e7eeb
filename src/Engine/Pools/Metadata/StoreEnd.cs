namespace TierSpaces.Engine.Pools;

// Whether the metadata of an open pool can still be written, and why not.
//
// Invariant
//  1. Neither a lost quorum nor a closed store ends again: every later request gets the same result.

/// <summary>Records whether the metadata of a pool can still be written, and the reason if it cannot.</summary>
internal sealed class StoreEnd
{
    /// <summary>Reason why the quorum is lost, or empty.</summary>
    internal string LostReason { get; private set; } = "";

    /// <summary>Whether the pool is closed, or about to be.</summary>
    internal bool IsClosed { get; private set; }

    /// <summary>Result of every further request after the end; null while the metadata can be written.</summary>
    internal CommitResult? Result =>
        LostReason.Length > 0 ? new CommitResult(CommitStatus.NoQuorum, LostReason)
        : IsClosed ? new CommitResult(CommitStatus.Closed, "The pool is closed.")
        : null;

    /// <summary>Told when the quorum is lost: nothing is held back in the hope of it.</summary>
    internal event Action? Lost;

    /// <summary>The majority of the votes is lost, or the pool belongs to another host.</summary>
    internal void LoseQuorum(string reason)
    {
        LostReason = reason;
        Lost?.Invoke();
    }

    /// <summary>The pool is closed.</summary>
    internal void Close() => IsClosed = true;
}
