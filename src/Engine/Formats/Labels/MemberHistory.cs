using System.Collections.Immutable;

namespace TierSpaces.Engine.Formats;

// The history that a member has taken part in, as its superblock and the witness file state it.
//
// A session takes effect in two steps, as a view does. The superblocks that propose its first view name the session as Opening. Once every
// member holds that view, the superblocks that settle it name the session in Sessions. So a session in Sessions of one member is known, at
// least as Opening, to a majority of the votes, and no later opening can miss it.

/// <summary>The sessions that a member took part in, and the epoch that every member is known to hold.</summary>
public sealed record MemberHistory
{
    /// <summary>Most sessions that are listed.</summary>
    public const int SessionsMax = 3;

    /// <summary>Every member of a settled view held a superblock of this epoch, or of a later one, before this superblock was written; 0: not known.</summary>
    public ulong HeldByAll { get; init; }

    /// <summary>The session whose first view this superblock proposes; session 0 for none.</summary>
    public SessionToken Opening { get; init; }

    /// <summary>The newest sessions that took effect on this member, newest first.</summary>
    public ImmutableArray<SessionToken> Sessions { get; init; } = [];

    /// <summary>Nothing is known: a superblock of a release that did not record it.</summary>
    public static MemberHistory None { get; } = new();

    /// <summary>The newest session that took effect; session 0 for none.</summary>
    public SessionToken Newest => Sessions.IsEmpty ? default : Sessions[0];

    /// <summary>The history once the session that opens has taken effect.</summary>
    public MemberHistory Effective => Opening.Session == 0 ? this : this with
    {
        Opening = default,
        Sessions = [.. Sessions.Where(other => other.Session < Opening.Session).Prepend(Opening).Take(SessionsMax)],
    };

    internal void Encode(ByteWriter to)
    {
        to.U64(HeldByAll);
        Opening.Encode(to);
        to.U8((byte)Sessions.Length);
        foreach (SessionToken session in Sessions)
        {
            session.Encode(to);
        }
    }

    internal static MemberHistory Decode(ref ByteReader from)
    {
        ulong heldByAll = from.U64();
        SessionToken opening = SessionToken.Decode(ref from);
        int count = from.U8();
        ImmutableArray<SessionToken>.Builder sessions = ImmutableArray.CreateBuilder<SessionToken>();
        for (int i = 0; i < Math.Min(count, SessionsMax); i++)
        {
            sessions.Add(SessionToken.Decode(ref from));
        }

        bool falls = !sessions.Where((session, i) => session.Session == 0 || (i > 0 && session.Session >= sessions[i - 1].Session)).Any();
        if (count > SessionsMax || !falls)
        {
            from.Fail();
        }

        return new MemberHistory { HeldByAll = heldByAll, Opening = opening, Sessions = sessions.ToImmutable() };
    }
}
