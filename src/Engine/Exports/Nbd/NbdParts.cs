using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Exports.Nbd;

// The request of a connection that is served in parts. A read or write that has waited AfterNs for memory is served in parts of
// NbdBudget.PartBytes, one after the other, from a reserve that has one part for each connection. So memory that other clients hold delays a request
// by that time and no more.
//
// Invariants
//  1. At most one request of a connection is in parts, and no other request is taken before its last part has begun.
//  2. The next part begins after the memory of the one before has come back: for a read after its bytes were sent.
//  3. A read with simple replies is in parts only if the connection owes no other reply: its bytes follow each other. An error behind its header
//     cannot be told and ends the connection. Structured replies carry each part in a chunk; an error is the last chunk.
//  4. A write is answered once: after its last part, or after the rest of its payload was discarded behind a part that failed.
//  5. A read that has begun is carried to its end while the connection drains; a write is not, as one whose payload is incomplete.

/// <summary>Progress of the request that a connection is served in parts, and whether its next request is due to be.</summary>
internal sealed class NbdParts(NbdBudget budget, NbdClaim claim)
{
    /// <summary>Time, in nanoseconds, that a request waits for memory before it is served in parts.</summary>
    internal const long AfterNs = 500_000_000;

    private bool _isDue;
    private long _waitsSinceNs = -1;   // −1: the next request does not wait for memory

    /// <summary>Whether a request is in parts.</summary>
    internal bool IsActive { get; private set; }

    /// <summary>Whether a part has begun and its memory has not come back.</summary>
    internal bool IsOut { get; private set; }

    /// <summary>Rest of the request that has not begun.</summary>
    internal NbdRequestHeader Rest { get; private set; }

    /// <summary>Bytes of the next part.</summary>
    internal int NextBytes => (int)Math.Min(Rest.Length, NbdBudget.PartBytes);

    /// <summary>Bytes of the whole request.</summary>
    internal long WholeLength { get; private set; }

    /// <summary>Fault of a part of a write that failed.</summary>
    internal NbdFault Fault { get; private set; }

    /// <summary>Whether it is a read, which has to be carried to its end.</summary>
    internal bool OwesRead => IsActive && Rest.Command == NbdCommand.Read;

    /// <summary>The next request waits for memory, or does not any more.</summary>
    internal void NoteWaiting(bool waits, long nowNs)
    {
        _isDue &= waits;
        _waitsSinceNs = !waits ? -1 : _waitsSinceNs < 0 ? nowNs : _waitsSinceNs;
    }

    /// <summary>Returns whether the next request has waited long enough to be served in parts.</summary>
    internal bool LookIfDue(long nowNs) => _isDue = _waitsSinceNs >= 0 && nowNs - _waitsSinceNs >= AfterNs;

    /// <summary>Begins to serve a request in parts if that is due and there is memory for a part.</summary>
    internal bool TryBegin(in NbdRequestHeader header)
    {
        if (!_isDue || !budget.TryTakePart(claim))
        {
            return false;
        }

        _isDue = false;
        _waitsSinceNs = -1;
        (Rest, WholeLength, Fault, IsActive) = (header, header.Length, NbdFault.None, true);
        return true;
    }

    /// <summary>Begins the next part in a slot, with its memory of <see cref="NextBytes"/>.</summary>
    internal void Begin(NbdRequest part, IoBuffer memory)
    {
        uint length = (uint)memory.Length;
        NbdPartKind kind = (Rest.Length == WholeLength ? NbdPartKind.First : NbdPartKind.None)
            | (Rest.Length == length ? NbdPartKind.Last : NbdPartKind.None) | NbdPartKind.Any;
        part.BeginPart(Rest with { Length = length }, kind, memory);
        Rest = Rest with { Offset = Rest.Offset + length, Length = Rest.Length - length };
        IsOut = true;
    }

    /// <summary>Notes how a part has ended, and returns whether its request has ended with it.</summary>
    internal bool NoteEnd(NbdRequest part, NbdFault fault)
    {
        if (part.Command == NbdCommand.Write)
        {
            Fault = fault;
        }
        else if (fault != NbdFault.None)
        {
            part.EndParts();
            Rest = Rest with { Length = 0 };
        }

        return part.IsLastPart;
    }

    /// <summary>The memory of a part has come back.</summary>
    internal void Return()
    {
        IsOut = false;
        if (Rest.Length == 0)
        {
            End();
        }
    }

    /// <summary>No further part is taken.</summary>
    internal void Cancel()
    {
        Rest = Rest with { Length = 0 };
        if (!IsOut)
        {
            End();
        }
    }

    /// <summary>The request is not in parts any more.</summary>
    internal void End()
    {
        if (IsActive)
        {
            IsActive = false;
            budget.ReleasePart(claim);
        }
    }
}

/// <summary>Part of a request that a slot is: all of it, the first part, the last part or another one.</summary>
[Flags]
internal enum NbdPartKind
{
    /// <summary>It is a whole request.</summary>
    None = 0,

    /// <summary>It is a part.</summary>
    Any = 1,

    /// <summary>It is the first part.</summary>
    First = 2,

    /// <summary>It is the last part.</summary>
    Last = 4,
}
