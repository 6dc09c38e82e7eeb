using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Exports.Nbd;

// The receive loop of one connection: takes every request that has arrived, then waits for what the next one lacks.
//
// Invariants
//  1. At most one pause is under way, and the replies that have come together are sent before it.
//  2. After the last request (disconnect, end of stream, drain) no further one is taken, but the rest of a read in parts.
//  3. After a pause for room no request of a client that is gone is taken: its place would be behind requests that came later.

/// <summary>The receive loop of one connection.</summary>
internal sealed class NbdIntake(
    ILane lane, NbdReceiver receiver, NbdArrivals arrivals, NbdIncoming incoming, NbdParts parts, NbdReplies replies, NbdTurn turn, NbdLifetime life)
{
    /// <summary>Takes requests until the last one.</summary>
    internal async LaneTask Run()
    {
        while (await Continue(TakeRequests()))
        {
        }
    }

    /// <summary>Takes what has arrived until something is missing.</summary>
    private NbdPause TakeRequests()
    {
        for (; ; )
        {
            NbdPause pause = HasEnded ? NbdPause.AtEnd : !arrivals.Any ? NbdPause.ForData : turn.IsOver ? NbdPause.ForTurn : arrivals.Take();
            if (pause != NbdPause.None)
            {
                return pause;
            }
        }
    }

    private bool HasEnded => life.IsEnded && (life.IsDead || !parts.OwesRead);

    /// <summary>Does what a pause asks for; false when the last request has been taken.</summary>
    private async LaneTask<bool> Continue(NbdPause pause)
    {
        long changes = life.Changed.Count;
        replies.Flush();
        switch (pause)
        {
            case NbdPause.ForData:
                return NoteEnd(await receiver.Fill(arrivals.FillMax));
            case NbdPause.ForPayload:
                return NoteEnd(await incoming.Receive());
            case NbdPause.ForDiscard:
                return NoteEnd(await incoming.Discard());
            case NbdPause.ForRoom:
                if (changes == life.Changed.Count)   // else the flush gave room
                {
                    await life.Changed.Next();
                }

                await lane.Yield();   // let all that gives room happen first
                return !life.HasEnded;
            case NbdPause.ForTurn:
                turn.Begin();
                await lane.Yield();
                return true;
            default:
                return false;
        }
    }

    private bool NoteEnd(bool goesOn)
    {
        if (!goesOn)
        {
            life.NoteGone();
        }

        return goesOn;
    }
}
