using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

/// <summary>One history of a pool.</summary>
/// <param name="Tip">Sessions that the disk furthest in this history records.</param>
/// <param name="Reports">The disks that fit this history: those that took part in it, and older ones.</param>
internal sealed record Lineage(MemberHistory Tip, IReadOnlyList<VoterReport> Reports)
{
    /// <summary>The disks that fit this history, for people.</summary>
    internal string Name =>
        $"{(Reports.Count == 1 ? "disk" : "disks")} {string.Join(", ", Reports.Select(static report => report.Disk))} (session {Tip.Newest.Session})";
}

// Disks of one pool that share a history. Images and the host's folder can be copied, and both copies opened: from then on there are two pools
// with one identity, equal session numbers and equal epochs. Only the random token of each session tells them apart. Pure.
//
//  row  two disks                                                              decision
//  ---  ---------------------------------------------------------------------  ---------------------------------
//   1   one names no session (an older release)                                they fit
//   2   both name a session, with different tokens                             two histories
//   3   the newest session of one lies among those that the other names, and   two histories: a session that took
//       the other does not name it                                             effect is never passed over
//   4   else (one is the beginning of the other, or too old to tell)           they fit
//
// A difference too old to tell from superblocks is judged later, by the sessions in the pool's records (ReturnRules) and by the epoch (QuorumRules).

/// <summary>Tells histories of one pool apart.</summary>
internal static class Lineages
{
    /// <summary>Whether two disks, or a disk and a witness, can be of one history.</summary>
    internal static bool Fit(MemberHistory a, MemberHistory b) =>
        a.Sessions.IsEmpty || b.Sessions.IsEmpty || (Named(a).All(session => Agrees(session, b)) && !IsPassedOver(a, b) && !IsPassedOver(b, a));

    /// <summary>The histories that disks hold, the newest first; one that is the beginning of another is part of it.</summary>
    internal static List<Lineage> Split(IReadOnlyCollection<VoterReport> reports)
    {
        List<MemberHistory> tips = [];
        foreach (VoterReport report in reports.OrderByDescending(static report => report.History.Newest.Session)
            .ThenByDescending(static report => report.View.Rank).ThenByDescending(static report => report.Epoch))
        {
            if (!tips.Exists(tip => Fit(tip, report.History)))
            {
                tips.Add(report.History);
            }
        }

        return tips.ConvertAll(tip => new Lineage(tip, [.. reports.Where(report => Fit(tip, report.History))]));
    }

    private static IEnumerable<SessionToken> Named(MemberHistory history) =>
        history.Opening.Session == 0 ? history.Sessions : history.Sessions.Prepend(history.Opening);

    private static bool Agrees(SessionToken session, MemberHistory other) =>
        Named(other).All(named => named.Session != session.Session || named.Token == session.Token);

    private static bool IsPassedOver(MemberHistory a, MemberHistory by) =>
        a.Newest.Session < by.Newest.Session && a.Newest.Session > by.Sessions[^1].Session && !Named(by).Contains(a.Newest);
}
