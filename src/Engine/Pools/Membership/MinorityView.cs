using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

// Reading alone needs no majority: nothing that is read can be decided differently elsewhere. So disks of a closed pool that are no majority get a view of
// their own, under which the pool opens as usual. It is written to overlays that keep writes in memory; on media it would make a second history of the pool.
//
//   the view     the newest one of which a metadata disk is there
//   its members  the disks there that are members of it and hold it, or an earlier one that is not older than what all were known to hold
//   what is read the rows of the longest journal among its metadata disks. Changes that the pool made without these disks are not known.

/// <summary>Lets the disks of a closed pool open that lack the majority. Only for disks that keep what is written to them in memory.</summary>
internal static class MinorityView
{
    /// <summary>Writes the view. Returns the reason why there is none, or nothing.</summary>
    /// <param name="lane">Lane of the disks.</param>
    /// <param name="scans">Scans of the disks of one pool.</param>
    /// <param name="withOlder">Whether disks take part, too, that the view has left out or that hold an older one: what they hold may be out of date.</param>
    internal static async LaneTask<string> Write(ILane lane, IReadOnlyList<PoolScan> scans, bool withOlder)
    {
        PoolScan[] members = [.. scans.Where(static scan => scan is { Kind: ScanKind.Member, Label: not null, Superblock: not null })
            .DistinctBy(static scan => scan.Label!.Number)];
        VoterReport[] reports = [.. members.Select(static scan => VoterReport.Of(scan.Label!.Number, scan.Superblock!))];
        if (Lineages.Split(reports).Count != 1)
        {
            return "not all are of one history of the pool; name those of one of them";
        }

        IEnumerable<PoolView> views = members.Select(static scan => scan.Superblock!.View).OrderByDescending(static view => view.Rank)
            .ThenByDescending(static view => view.Synced);
        if (views.FirstOrDefault(view => Holders(view, members).Any(scan => IsMetadata(view, scan))) is not { } newest)
        {
            return "none holds the metadata of the pool";
        }

        PoolScan[] chosen = withOlder ? members : [.. Holders(newest, members)];
        PoolView forced = Of(newest, chosen, members);
        foreach (PoolScan scan in chosen)
        {
            MemberDisk disk = new(lane, scan.Disk, scan.Label!, scan.Superblock);
            ulong durable = forced.IsMetadata(disk.Number) ? scan.Superblock!.DurableSequence : 0;   // what others know of may be on disks that are not there
            IoError error = await disk.WriteSuperblock(scan.Superblock! with { Epoch = forced.Rank.Epoch, View = forced, DurableSequence = durable });
            Invariant.That(error == IoError.None, "An overlay takes every write.");
        }

        return "";
    }

    private static IEnumerable<PoolScan> Holders(PoolView view, PoolScan[] members) => members.Where(scan =>
        view.Contains(scan.Label!.Number) && scan.Superblock!.View.Rank.CompareTo(view.Synced) >= 0);

    private static bool IsMetadata(PoolView view, PoolScan scan) =>
        QuorumRules.IsMetadataCopy(view, VoterReport.Of(scan.Label!.Number, scan.Superblock!));

    private static PoolView Of(PoolView newest, PoolScan[] chosen, PoolScan[] members)
    {
        HashSet<PoolScan> metadata = [.. Holders(newest, chosen).Where(scan => IsMetadata(newest, scan)).Take(PoolView.MaxMetadataDisks)];
        ulong epoch = members.Max(static scan => scan.Superblock!.Epoch) + 1;
        while (chosen.Any(scan => scan.Superblock!.Epoch % DiskLayout.SuperblockSlots == epoch % DiskLayout.SuperblockSlots))
        {
            epoch++;
        }

        ViewRank rank = new(members.Max(static scan => scan.Superblock!.View.Rank.Session), epoch);
        return new PoolView
        {
            Rank = rank,
            Synced = rank,
            Members = [.. chosen.Select(scan => new ViewMember(scan.Label!.Number, metadata.Contains(scan))).OrderBy(static member => member.Disk)],
            Witness = Guid.Empty,
            MembersVote = newest.MembersVote,
        };
    }
}
