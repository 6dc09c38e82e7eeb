using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Exports.Nbd;

// Payload memory of all connections to all disks of one lane, shared fairly. A connection is active while it holds payload or waits for it; one that
// is served in parts is not.
//
// Invariants
//  1. A request takes its whole need at once, before the first payload byte is received, so no two connections wait for each other.
//  2. A connection that holds payload, or owes a reply, takes no more than its share, the limit divided by the active connections and one more:
//     while clients do not take their replies there is room for another one.
//  3. A connection that owes nothing is never above its share: it is granted in order of arrival as soon as the memory is there.
//  4. Connections wait in order of arrival. One that is above its share holds up no connection behind it.
//  5. A request of at most SmallMax bytes that would have to wait is served from a reserve, of which a connection holds at most SmallShare:
//     small requests are answered whatever large ones hold.
//  6. A request that has waited for NbdParts.AfterNs is served in parts of PartBytes from a second reserve, of which a connection holds
//     one part: large requests are delayed, not stopped, by what others hold.
//
// Bound: while at most PartsMax connections are served in parts (128 with the default limit), no request waits longer than NbdParts.AfterNs and one period of
// the server's watch, one second together, however many clients take no replies.

/// <summary>Payload memory that the connections of one lane share.</summary>
public sealed class NbdBudget
{
    /// <summary>Largest request, in bytes, that the reserve serves.</summary>
    internal const int SmallMax = 64 << 10;

    /// <summary>Bytes of one part of a request that is served in parts.</summary>
    internal const int PartBytes = 128 << 10;

    private const int SmallShare = 2 * SmallMax;

    private readonly List<NbdClaim> _waiting = [];   // in order of arrival
    private readonly long _limit;
    private readonly long _smallLimit;
    private long _used;
    private long _smallUsed;
    private int _active;
    private int _parts;   // connections that are served in parts

    /// <summary>A budget of <paramref name="limit"/> bytes, an eighth of it more for small requests, and an eighth for requests in parts.</summary>
    /// <exception cref="ArgumentOutOfRangeException">Less than the largest request.</exception>
    public NbdBudget(long limit = 4L * NbdLimits.MaxPayload)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(limit, NbdLimits.MaxPayload);
        _limit = limit;
        _smallLimit = limit / 8;
    }

    /// <summary>Bytes taken now.</summary>
    public long Used => _used + _smallUsed + ((long)_parts * PartBytes);

    /// <summary>
    /// Number of times that a connection within its share was served in parts, since it had waited too long for bytes that others
    /// hold.
    /// </summary>
    internal long PartsBegun { get; private set; }

    private long PartsMax => _limit / 8 / PartBytes;

    /// <summary>Whether a connection waits for bytes that others hold, and is not above its own share.</summary>
    internal bool IsContendedBeside(NbdClaim holder)
    {
        foreach (NbdClaim waiter in _waiting)
        {
            if (waiter != holder && !IsAboveShare(waiter, waiter.Wanted))
            {
                return true;
            }
        }

        return false;
    }

    /// <summary>
    /// Takes the bytes, or puts the connection into the queue: it is woken when it should try again. <paramref name="isSmall"/> says whether
    /// they come from the reserve; <see cref="Release"/> gets it back.
    /// </summary>
    internal bool TryTake(NbdClaim claim, int bytes, out bool isSmall)
    {
        isSmall = false;
        _active += claim.TryBeginActivity() ? 1 : 0;
        claim.Want(bytes);
        if (!IsAboveShare(claim, bytes) && _used + bytes <= _limit && !MustWaitBehindOthers(claim))
        {
            _used += bytes;
            claim.Hold(bytes);
        }
        else if (FitsReserve(claim, bytes))
        {
            isSmall = true;
            _smallUsed += bytes;
            claim.HoldSmall(bytes);
        }
        else
        {
            if (!claim.IsQueued)
            {
                claim.BeginWaiting();
                _waiting.Add(claim);
            }

            return false;
        }

        if (claim.IsQueued)
        {
            Dequeue(claim);
            WakeNext();
        }

        return true;
    }

    /// <summary>Takes the memory of a part for a connection that waits in the queue; it leaves the queue. False: there is none.</summary>
    internal bool TryTakePart(NbdClaim claim)
    {
        if (!claim.IsQueued || _parts >= PartsMax)
        {
            return false;
        }

        _parts++;
        PartsBegun += IsAboveShare(claim, claim.Wanted) ? 0 : 1;
        Leave(claim);
        return true;
    }

    /// <summary>Gives the memory of a part back.</summary>
    internal void ReleasePart(NbdClaim holder)
    {
        Invariant.That(_parts > 0, "A connection returns the memory of a part once");
        _parts--;
        EndActivity(holder);
    }

    internal void Release(NbdClaim holder, int bytes, bool isSmall)
    {
        if (isSmall)
        {
            _smallUsed -= bytes;
            holder.HoldSmall(-bytes);
        }
        else
        {
            _used -= bytes;
            holder.Hold(-bytes);
        }

        EndActivity(holder);
        WakeNext();
    }

    /// <summary>Forgets a connection that ends or pauses while it waits.</summary>
    internal void Leave(NbdClaim leaver)
    {
        if (leaver.IsQueued)
        {
            Dequeue(leaver);
        }

        EndActivity(leaver);
        WakeNext();
    }

    private bool IsAboveShare(NbdClaim taker, int bytes) =>
        (taker.Held > 0 || taker.OwesReplies) && taker.Held + bytes > _limit / (_active + 1);

    private bool MustWaitBehindOthers(NbdClaim taker)
    {
        foreach (NbdClaim waiter in _waiting)
        {
            if (waiter == taker)
            {
                return false;
            }

            if (!IsAboveShare(waiter, waiter.Wanted))
            {
                return true;
            }
        }

        return false;
    }

    private void Dequeue(NbdClaim waiter)
    {
        _waiting.Remove(waiter);
        waiter.EndWaiting();
    }

    private void EndActivity(NbdClaim claim) => _active -= claim.TryEndActivity() ? 1 : 0;

    /// <summary>Wakes the first waiter that can go on.</summary>
    private void WakeNext()
    {
        bool isBlocked = false;   // one before it waits for memory
        foreach (NbdClaim waiter in _waiting)
        {
            bool isAbove = IsAboveShare(waiter, waiter.Wanted);
            bool fits = !isAbove && !isBlocked && _used + waiter.Wanted <= _limit;
            if (fits || FitsReserve(waiter, waiter.Wanted))
            {
                waiter.Wake();
                return;
            }

            isBlocked |= !isAbove;
        }
    }

    private bool FitsReserve(NbdClaim claim, int bytes) =>
        bytes <= SmallMax && claim.SmallHeld + bytes <= SmallShare && _smallUsed + bytes <= _smallLimit;
}
