using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Exports.Nbd;

// Results of an ended request: a count, memory that comes back, and a reply.
//
// Invariants
//  1. Every request that was taken is counted once and answered once, unless the connection is dead; of a request in parts its last part is counted.
//  2. A part of a write is not answered unless it ends its request; a part of a read always is.
//  3. Memory of a write comes back before its reply is sent, that of a read after.

/// <summary>Answers the requests of one connection.</summary>
internal sealed class NbdAnswers(NbdTerms terms, NbdParts parts, NbdPayloads payloads, NbdReplies replies, NbdLifetime life)
{
    /// <summary>Answers a request that the store has done, or that has failed.</summary>
    internal void Answer(NbdRequest request, NbdFault fault)
    {
        bool isEnd = !request.IsPart || EndsRequest(request, fault);
        if (isEnd)
        {
            terms.Export.Counters.Count(request.Command, request.IsPart ? parts.WholeLength : request.Length, fault == NbdFault.None);
        }

        if (request.Command == NbdCommand.Write)
        {
            payloads.ReturnMemory(request);
        }

        if (life.IsDead || (!isEnd && request.Command == NbdCommand.Write))
        {
            payloads.Release(request);
            life.Wake();
        }
        else
        {
            replies.Add(request, fault);
        }
    }

    /// <summary>Whether a part that has ended ends its request. An error behind the header of its reply ends the connection.</summary>
    private bool EndsRequest(NbdRequest part, NbdFault fault)
    {
        bool isUntold = part.Command == NbdCommand.Read && fault != NbdFault.None && !terms.StructuredReplies && !part.IsFirstPart;
        if (isUntold && !life.IsDead)
        {
            life.Break($"a read of {ByteText.Exact(parts.WholeLength)} has failed behind the header of its reply");
        }

        return parts.NoteEnd(part, fault);
    }
}
