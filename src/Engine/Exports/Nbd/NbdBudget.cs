using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Exports.Nbd;

/// <summary>
/// Payload bytes that all connections of one lane may hold together. Requests take their whole need at once, before
/// the first payload byte is received, so no two connections can wait for each other; those that must wait are served
/// in the order they came.
/// </summary>
public sealed class NbdBudget
{
    private readonly Queue<NbdTransmission> _waiting = new();
    private readonly long _limit;

    /// <summary>A budget of <paramref name="limit"/> bytes.</summary>
    /// <exception cref="ArgumentOutOfRangeException">Less than the largest request.</exception>
    public NbdBudget(long limit = 4L * NbdLimits.MaxPayload)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(limit, BufferPool.LargestBuffer);
        _limit = limit;
    }

    /// <summary>Bytes taken now.</summary>
    public long Used { get; private set; }

    /// <summary>Whether a connection waits for bytes that others hold.</summary>
    internal bool IsContended => _waiting.Count > 0;

    /// <summary>Takes the bytes, or puts the connection into the queue: it is woken when it should try again.</summary>
    internal bool TryTake(NbdTransmission taker, long bytes)
    {
        bool isHead = _waiting.TryPeek(out NbdTransmission? head) && head == taker;
        if ((_waiting.Count == 0 || isHead) && Used + bytes <= _limit)
        {
            Used += bytes;
            if (isHead)
            {
                _waiting.Dequeue().IsQueued = false;
                WakeFirst();
            }

            return true;
        }

        if (!taker.IsQueued)
        {
            taker.IsQueued = true;
            _waiting.Enqueue(taker);
        }

        return false;
    }

    internal void Release(long bytes)
    {
        Used -= bytes;
        WakeFirst();
    }

    /// <summary>Forgets a connection that ends or pauses while it waits.</summary>
    internal void Leave(NbdTransmission leaver)
    {
        if (!leaver.IsQueued)
        {
            return;
        }

        for (int count = _waiting.Count; count > 0; count--)
        {
            NbdTransmission next = _waiting.Dequeue();
            if (next != leaver)
            {
                _waiting.Enqueue(next);
            }
        }

        leaver.IsQueued = false;
        WakeFirst();
    }

    private void WakeFirst()
    {
        if (_waiting.TryPeek(out NbdTransmission? first))
        {
            first.Wake();
        }
    }
}
