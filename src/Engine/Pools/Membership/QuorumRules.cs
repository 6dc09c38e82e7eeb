using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

/// <summary>Report of one present disk about the pool's members.</summary>
/// <param name="Disk">The disk.</param>
/// <param name="Session">Highest session it has promised to.</param>
/// <param name="View">The newest view it holds.</param>
internal sealed record VoterReport(DiskNumber Disk, ulong Session, PoolView View)
{
    /// <summary>The report of a disk whose newest superblock is known.</summary>
    internal static VoterReport Of(DiskNumber disk, Superblock newest) =>
        new(disk, newest.Session, newest.View) { Epoch = newest.Epoch, History = newest.History };

    /// <summary>Epoch of its newest superblock.</summary>
    internal ulong Epoch { get; init; }

    /// <summary>The sessions that it took part in, and the epoch that it knows every member to hold.</summary>
    internal MemberHistory History { get; init; } = MemberHistory.None;
}

/// <summary>Whether the disks present may speak for the pool.</summary>
/// <param name="View">The newest view that any of them, or its witness, holds; null when there is none.</param>
/// <param name="HasQuorum">Whether they may go on from it.</param>
/// <param name="HighestSession">Highest session that any of them knows.</param>
/// <param name="Witness">The witness, when its file is there and believed.</param>
/// <param name="Forgetful">Disks that have lost metadata which every member is known to have held.</param>
/// <param name="Reason">Reason why the disks may not go on, for people.</param>
internal sealed record QuorumDecision(
    PoolView? View, bool HasQuorum, ulong HighestSession, WitnessRecord? Witness, IReadOnlyList<DiskNumber> Forgetful, string Reason);

// Decides which disks may go on. Pure: reports in, decision out.
//
//  row  situation                                                      decision
//  ---  -------------------------------------------------------------  ------------------------------------------------
//   1   no disk of the pool                                            no quorum
//   2   newest view is settled, majority of its votes present          quorum
//   3   newest view is settled, majority absent                        no quorum
//   4   newest view may be half written (it names votes before it)     quorum only with the majority of both
//   5   the witness it names holds a newer view                        that view is the newest: rows 2 to 4 for it
//   6   a disk or witness holds a view older than the newest's Synced  it has forgotten: no vote, not a member
//   7   a witness file that the newest view does not name              no vote
//   8   even number of disks with a vote                               the witness has a vote; odd: it has none
//   9   a disk of the newest view is behind the epoch that another     it has forgotten, as in row 6
//       disk knows every member to hold
//  10   every member votes, a majority is present, and no disk of      no quorum
//       which the metadata can be taken (IsMetadataCopy)

/// <summary>Decides whether the disks present are a quorum.</summary>
internal static class QuorumRules
{
    /// <summary>Order of views: by decision; of two forms of one decision the settled one is newer.</summary>
    internal static int Compare(PoolView left, PoolView right) => (left.Rank, left.Synced).CompareTo((right.Rank, right.Synced));

    /// <summary>Decides from what is present.</summary>
    /// <param name="disks">Reports of the disks that are there.</param>
    /// <param name="readWitness">Reads the witness file with an identity; null: it is not there.</param>
    /// <param name="nameOf">Name of a disk, for people; null: its number.</param>
    internal static QuorumDecision Decide(
        IReadOnlyCollection<VoterReport> disks, Func<Guid, WitnessRecord?> readWitness, Func<DiskNumber, string>? nameOf = null)
    {
        if (disks.Count == 0)
        {
            return new QuorumDecision(null, false, 0, null, [], "no disk of the pool is there");
        }

        PoolView newest = disks.Select(static disk => disk.View).Aggregate(static (a, b) => Compare(a, b) >= 0 ? a : b);
        WitnessRecord? witness = newest.Witness == Guid.Empty ? null : readWitness(newest.Witness);
        newest = witness is not null && Compare(witness.View, newest) > 0 ? witness.View : newest;
        witness = witness?.View.Rank.CompareTo(newest.Synced) >= 0 && witness.Witness == newest.Witness ? witness : null;

        ulong session = Math.Max(witness?.Session ?? 0, newest.Rank.Session);
        session = Math.Max(session, disks.Max(static disk => Math.Max(disk.Session, disk.View.Rank.Session)));
        ulong heldByAll = disks.Max(static disk => disk.History.HeldByAll);
        HashSet<DiskNumber> voting =
        [
            .. disks.Where(disk => disk.View.Rank.CompareTo(newest.Synced) >= 0 && (disk.Epoch >= heldByAll || !newest.Contains(disk.Disk)))
                .Select(static disk => disk.Disk),
        ];
        DiskNumber[] forgetful =
            [.. disks.Select(static disk => disk.Disk).Where(disk => newest.Contains(disk) && !voting.Contains(disk))];

        string reason = WhyNot(newest.Votes, voting, witness, "", nameOf);
        if (reason.Length == 0 && newest.Prior is { } prior)
        {
            reason = WhyNot(prior, voting, witness, " of the members before an unfinished change", nameOf);
        }

        if (reason.Length == 0 && newest.MembersVote && !disks.Any(disk => voting.Contains(disk.Disk) && IsMetadataCopy(newest, disk)))
        {
            string names = string.Join(", ", newest.MetadataDisks.Select(disk => nameOf?.Invoke(disk) ?? $"disk {disk}"));
            reason = $"no disk that holds the pool's metadata is there; one of these is needed: {names}";
        }

        return new QuorumDecision(newest, reason.Length == 0, session, witness, forgetful, reason);
    }

    /// <summary>
    /// Whether the metadata are taken from a disk. Where every member votes, it alone is enough, because it held every record before any was acknowledged: in
    /// the newest view, and before it got that in the view that it still holds. Else the majority of them is there.
    /// </summary>
    internal static bool IsMetadataCopy(PoolView newest, VoterReport disk) => newest.MembersVote
        ? newest.IsMetadata(disk.Disk) && disk.View.IsMetadata(disk.Disk)
        : newest.IsMetadata(disk.Disk) || newest.Prior?.Disks.Contains(disk.Disk) == true;

    private static string WhyNot(
        VoteSet votes, HashSet<DiskNumber> voting, WitnessRecord? witness, string whose, Func<DiskNumber, string>? nameOf)
    {
        bool hasWitness = witness is not null && witness.Witness == votes.Witness;
        if (votes.IsMajority(voting.Contains, hasWitness))
        {
            return "";
        }

        string[] missing = [.. votes.Disks.Where(disk => !voting.Contains(disk)).Select(disk => nameOf?.Invoke(disk) ?? $"disk {disk}")];
        bool lacksWitness = votes.WitnessVotes && !hasWitness;
        string names = string.Join(", ", ((string[])[NameList.Of(missing), lacksWitness ? "the witness file" : ""]).Where(static name => name.Length > 0));
        return $"the majority of the votes{whose} is missing: {names}; "
            + $"of {votes.Total} votes {(votes.Total / 2) + 1} are needed, and there are {votes.Total - missing.Length - (lacksWitness ? 1 : 0)}";
    }
}
