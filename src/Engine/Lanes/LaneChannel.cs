using System.Collections.Concurrent;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Lanes;

// Invariants
//  1. Messages are taken in the order in which they were sent, one in a turn of the lane.
//  2. The sender no longer changes an object that a message refers to.

/// <summary>A queue of messages from one lane to another.</summary>
internal sealed class LaneChannel
{
    private readonly ConcurrentQueue<Action> _messages = new();
    private readonly ILane _to;
    private readonly Action _take;

    /// <summary>Makes a channel to a lane.</summary>
    internal LaneChannel(ILane to)
    {
        _to = to;
        _take = TakeNext;
    }

    /// <summary>Sends a message: it runs on the lane, after those that were sent before it.</summary>
    /// <exception cref="ObjectDisposedException">The lane has stopped.</exception>
    internal void Send(Action message)
    {
        _messages.Enqueue(message);
        _to.Post(_take);
    }

    private void TakeNext()
    {
        bool isThere = _messages.TryDequeue(out Action? message);
        Invariant.That(isThere, "A lane takes each message of a channel once.");
        message!();
    }
}
