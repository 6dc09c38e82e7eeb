using System.Collections.Immutable;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Formats;

/// <summary>Order of decisions about a pool's members: by session, then by epoch.</summary>
/// <param name="Session">Session that decided.</param>
/// <param name="Epoch">Epoch of the first superblock that carried the decision.</param>
public readonly record struct ViewRank(ulong Session, ulong Epoch) : IComparable<ViewRank>
{
    /// <inheritdoc/>
    public int CompareTo(ViewRank other) => (Session, Epoch).CompareTo((other.Session, other.Epoch));

    /// <inheritdoc/>
    public override string ToString() => $"{Session}.{Epoch}";

    internal void Encode(ByteWriter to)
    {
        to.U64(Session);
        to.U64(Epoch);
    }

    internal static ViewRank Decode(ref ByteReader from) => new(from.U64(), from.U64());
}

/// <summary>A disk in a view.</summary>
/// <param name="Disk">Its number.</param>
/// <param name="IsMetadata">Whether it holds journal and checkpoints.</param>
public readonly record struct ViewMember(DiskNumber Disk, bool IsMetadata);

/// <summary>Voters: disks, and the witness when their number is even.</summary>
/// <param name="Disks">Disks with a vote, in rising order.</param>
/// <param name="Witness">Random id of the witness file; empty for no witness.</param>
public sealed record VoteSet(ImmutableArray<DiskNumber> Disks, Guid Witness)
{
    /// <summary>Whether the witness has a vote.</summary>
    public bool WitnessVotes => Disks.Length % 2 == 0 && Witness != Guid.Empty;

    /// <summary>Votes there are.</summary>
    public int Total => Disks.Length + (WitnessVotes ? 1 : 0);

    /// <summary>Whether these holders are more than half of the votes.</summary>
    public bool IsMajority(Func<DiskNumber, bool> holdsDisk, bool holdsWitness)
    {
        int votes = Disks.Count(holdsDisk) + (WitnessVotes && holdsWitness ? 1 : 0);
        return votes > Total / 2;
    }

    internal void Encode(ByteWriter to, bool isWide)
    {
        to.Guid(Witness);
        if (isWide)
        {
            to.U16((ushort)Disks.Length);
        }
        else
        {
            to.U8((byte)Disks.Length);
        }

        foreach (DiskNumber disk in Disks)
        {
            to.U16(disk.Value);
        }
    }

    internal static VoteSet Decode(ref ByteReader from, bool isWide)
    {
        Guid witness = from.Guid();
        int count = isWide ? from.U16() : from.U8();
        ImmutableArray<DiskNumber>.Builder disks = ImmutableArray.CreateBuilder<DiskNumber>();
        for (int i = 0; i < count && !from.Failed; i++)
        {
            disks.Add(new DiskNumber(from.U16()));
        }

        return new VoteSet(disks.ToImmutable(), witness);
    }
}

// A view is decided like a value in consensus. `Rank` orders decisions. While a decision may still be known to a part of
// the voters only, the view carries the votes of the view before it, and a recovery from it needs the majority of
// both: so two parts of a pool can never both go on, whatever order the writes took and wherever they stopped. `Synced`
// is the newest decision that every member and the witness are known to hold. A member or witness that holds an older one has
// forgotten something (a restored image, a flush that lied) and is not believed.
//
// Voters of a view. In pools of the first format version the metadata disks vote, and a record is durable when the majority of them holds it: every majority of
// the votes then holds it, too. Since the second one every member votes, and a record is durable when every metadata disk of the view holds it: the
// majority knows which view is in force, and one metadata disk of that view is enough to know everything else (ADR 34). A disk that joins holds no view
// of the pool that counts, and has no vote in the one that it joins with: what that view needs are votes of disks that knew the one before.

/// <summary>The members of a pool, as one decision.</summary>
public sealed record PoolView
{
    /// <summary>Most members of a pool.</summary>
    public const int MaxMembers = 512;

    /// <summary>Most metadata disks.</summary>
    public const int MaxMetadataDisks = 5;

    /// <summary>Place in the order of decisions.</summary>
    public required ViewRank Rank { get; init; }

    /// <summary>Newest decision that every member of this view holds.</summary>
    public required ViewRank Synced { get; init; }

    /// <summary>Members in rising order of number.</summary>
    public required ImmutableArray<ViewMember> Members { get; init; }

    /// <summary>Random id of the witness file; empty for no witness.</summary>
    public required Guid Witness { get; init; }

    /// <summary>Votes of the view before, until this one is known to be in force; else null.</summary>
    public VoteSet? Prior { get; init; }

    /// <summary>Whether every member votes, and not only the metadata disks.</summary>
    public bool MembersVote { get; init; }

    /// <summary>
    /// In pools where every member votes: members that have joined with this view. They get a vote with a later one, when they are known to hold this.
    /// </summary>
    public ImmutableArray<DiskNumber> Joining { get; init; } = [];

    /// <summary>Voters of the view.</summary>
    public VoteSet Votes => new([.. Members.Where(HasVote).Select(static member => member.Disk)], Witness);

    /// <summary>Disks that hold journal and checkpoints, in rising order.</summary>
    public ImmutableArray<DiskNumber> MetadataDisks => [.. Members.Where(static member => member.IsMetadata).Select(static member => member.Disk)];

    /// <summary>Metadata disks that make a record durable when they hold it.</summary>
    public int CopiesToCommit => MembersVote ? MetadataDisks.Length : (MetadataDisks.Length / 2) + 1;

    /// <summary>Whether a disk is a member. Asked for every request, so it allocates nothing.</summary>
    public bool Contains(DiskNumber disk)
    {
        foreach (ref readonly ViewMember member in Members.AsSpan())
        {
            if (member.Disk.Value == disk.Value)
            {
                return true;
            }
        }

        return false;
    }

    /// <summary>Whether a disk is a member, or votes for this view because it voted for the one before.</summary>
    public bool HasVoter(DiskNumber disk) => Contains(disk) || Prior?.Disks.Contains(disk) == true;

    /// <summary>Whether a disk is a member that holds metadata.</summary>
    public bool IsMetadata(DiskNumber disk) => Members.Contains(new ViewMember(disk, true));

    /// <summary>Writes the view. With its votes apart they follow elsewhere, so that a release that does not know them reads all before them.</summary>
    internal void Encode(ByteWriter to, bool votesApart)
    {
        Rank.Encode(to);
        Synced.Encode(to);
        to.Guid(Witness);
        to.Bool(!votesApart && Prior is not null);
        if (!votesApart)
        {
            Prior?.Encode(to, isWide: false);
        }

        to.U16((ushort)Members.Length);
        foreach (ViewMember member in Members)
        {
            to.U16(member.Disk.Value);
            to.Bool(member.IsMetadata);
        }
    }

    /// <summary>Writes who votes, and the votes before.</summary>
    internal void EncodeVotes(ByteWriter to)
    {
        to.Bool(MembersVote);
        to.Bool(Prior is not null);
        Prior?.Encode(to, isWide: true);
        to.U16((ushort)Joining.Length);
        foreach (DiskNumber disk in Joining)
        {
            to.U16(disk.Value);
        }
    }

    /// <summary>The view with the votes that were written apart from it.</summary>
    internal PoolView DecodeVotes(ref ByteReader from)
    {
        bool membersVote = from.Bool();
        VoteSet? prior = from.Bool() ? VoteSet.Decode(ref from, isWide: true) : null;
        int count = from.U16();
        ImmutableArray<DiskNumber>.Builder joining = ImmutableArray.CreateBuilder<DiskNumber>();
        for (int i = 0; i < count && !from.Failed; i++)
        {
            joining.Add(new DiskNumber(from.U16()));
        }

        PoolView view = this with { MembersVote = membersVote, Prior = prior, Joining = joining.ToImmutable() };
        if (!view.IsPossible)
        {
            from.Fail();
        }

        return view;
    }

    internal static PoolView Decode(ref ByteReader from)
    {
        ViewRank rank = ViewRank.Decode(ref from);
        ViewRank synced = ViewRank.Decode(ref from);
        Guid witness = from.Guid();
        VoteSet? prior = from.Bool() ? VoteSet.Decode(ref from, isWide: false) : null;
        int count = from.U16();
        ImmutableArray<ViewMember>.Builder members = ImmutableArray.CreateBuilder<ViewMember>();
        for (int i = 0; i < count && !from.Failed; i++)
        {
            members.Add(new ViewMember(new DiskNumber(from.U16()), from.Bool()));
        }

        PoolView view = new() { Rank = rank, Synced = synced, Witness = witness, Prior = prior, Members = members.ToImmutable() };
        if (!view.IsPossible)
        {
            from.Fail();
        }

        return view;
    }

    private bool HasVote(ViewMember member) => MembersVote ? !Joining.Contains(member.Disk) : member.IsMetadata;

    private bool IsPossible
    {
        get
        {
            int metadata = Members.Count(static member => member.IsMetadata);
            bool rises = !Members.Where((member, i) => member.Disk.CompareTo(i == 0 ? DiskNumber.None : Members[i - 1].Disk) <= 0).Any();
            return Members.Any(HasVote) && rises && metadata is >= 1 and <= MaxMetadataDisks && Members.Length <= MaxMembers
                && Synced.CompareTo(Rank) <= 0 && Prior is null or { Disks.Length: >= 1 and <= MaxMembers };
        }
    }
}
