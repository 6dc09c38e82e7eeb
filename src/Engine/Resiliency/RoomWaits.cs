using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Resiliency;

// Callers of work that a space does for itself and that may wait for room on a full host file system.
//
// Invariants
//  1. A caller is answered once: with the end of the work, or with NoSpace when it has waited a minute and a request of the space has found no
//     room for a minute. A caller that waits for anything else is not answered early.
//  2. The work is followed to its end, whether or not its caller has been answered.

/// <summary>Answers callers with NoSpace while the work that they asked for goes on.</summary>
internal sealed class RoomWaits
{
    private const long PatienceNs = 60_000_000_000;

    private FreeList<Caller> _free;
    private FollowerList<Caller> _waiting;   // in the order in which they came

    /// <summary>Follows work that has not ended.</summary>
    internal LaneTask<IoError> Follow(LaneTask<IoError> work, long nowNs)
    {
        Caller caller = _free.Take() ?? new Caller(this);
        _waiting.Add(caller);
        return caller.Begin(work, nowNs);
    }

    /// <summary>A request has found no room for a minute: callers that have waited as long are answered.</summary>
    internal void Expire(long nowNs)
    {
        while (_waiting.Oldest is { } caller && nowNs - caller.StartNs >= PatienceNs)
        {
            _waiting.Remove(caller);
            caller.GiveUp();
        }
    }

    private sealed class Caller(RoomWaits waits) : LinkedFollower
    {
        internal long StartNs { get; private set; }

        internal LaneTask<IoError> Begin(LaneTask<IoError> work, long nowNs)
        {
            StartNs = nowNs;
            return Follow(work);
        }

        internal void GiveUp() => AnswerEarly(IoError.NoSpace);

        protected override IoError OnEnded(IoError error)
        {
            if (!HasAnswered)
            {
                waits._waiting.Remove(this);
            }

            return error;
        }

        protected override void Free() => waits._free.Return(this);
    }
}
