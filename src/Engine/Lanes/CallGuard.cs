namespace TierSpaces.Engine.Lanes;

/// <summary>Whether a call on a file may be begun.</summary>
internal enum CallPermission
{
    /// <summary>It may.</summary>
    Now,

    /// <summary>Not at the moment: it goes back into the queue.</summary>
    Later,

    /// <summary>It may not any more.</summary>
    Never,
}

/// <summary>Decides whether a call on a file may be begun.</summary>
internal interface ICallCondition
{
    /// <summary>Decides. Called on a thread, just before the call; does not wait: other calls on the file need the thread.</summary>
    CallPermission Look();
}

/// <summary>
/// A guard for which calls that zero, unmap or discard ranges of a file wait on their threads, for all lanes that use the file. They may have been in a queue
/// while the process was stopped: what allowed them when they were queued may be over.
/// </summary>
internal sealed class CallGuard
{
    private volatile ICallCondition? _condition;

    /// <summary>The condition; null: there is none. Set and read on any lane and thread.</summary>
    internal ICallCondition? Condition => _condition;

    /// <summary>Calls that begin from now on wait for this condition; null: for none.</summary>
    internal void Require(ICallCondition? condition) => _condition = condition;
}
