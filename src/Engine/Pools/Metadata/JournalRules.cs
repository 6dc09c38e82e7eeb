using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

/// <summary>A whole block found in the journal ring of one disk.</summary>
internal sealed record FoundBlock(DiskNumber Disk, MetadataBlock Header, uint Chain, byte[] Payload);

/// <summary>Verdict of the search for the journal's end.</summary>
internal enum JournalVerdict
{
    /// <summary>One end; everything known durable is there.</summary>
    Found,

    /// <summary>Records known to be durable are on none of the disks present.</summary>
    Damaged,

    /// <summary>Two different ends have the same rank.</summary>
    Ambiguous,
}

/// <summary>Decision on the journals of all metadata disks together.</summary>
/// <param name="Verdict">Whether the journals agree.</param>
/// <param name="Tip">The end of the journal.</param>
/// <param name="Path">The blocks that lead to the end, oldest first, as far back as they are there without a gap.</param>
/// <param name="Reason">The problem, for people.</param>
internal sealed record JournalDecision(JournalVerdict Verdict, JournalPosition Tip, List<FoundBlock> Path, string Reason);

// Chooses the journal that counts among those of several disks. Pure: blocks in, decision out.
//
// A block follows another when its sequence is the next, its session not lower, and it names the other's chain. From the
// newest checkpoint position that any superblock names (which is committed), the blocks that follow form a tree.
//
//  row  at a place after the position                                     decision
//  ---  ----------------------------------------------------------------  ---------------------------------------------
//   1   no block follows, nothing beyond is known durable                 the journal ends here (torn tail, or complete)
//   2   no block follows, something at or beyond is known durable         Damaged: refuse
//   3   some disks hold a block that follows, the others none or a bad one  take it; the others get it (healed)
//   4   disks hold different blocks that follow                           the branch whose end has the highest (session,
//                                                                         sequence): only it can hold acknowledged records
//   5   two branches end with equal (session, sequence), different chain  Ambiguous: refuse
//   6   a group lacks its last block                                      the journal ends before the group (as 1 or 2)

/// <summary>Finds the end of the metadata journal.</summary>
internal static class JournalRules
{
    /// <summary>Decides from the blocks of all disks.</summary>
    /// <param name="blocks">Every whole block found, of every disk.</param>
    /// <param name="start">Newest checkpoint position named by a superblock.</param>
    /// <param name="durable">Highest sequence that a superblock calls durable.</param>
    internal static JournalDecision Decide(IReadOnlyList<FoundBlock> blocks, JournalPosition start, ulong durable)
    {
        Dictionary<(ulong Sequence, uint Chain), FoundBlock> nodes = [];
        foreach (FoundBlock block in blocks)
        {
            nodes.TryAdd((block.Header.Sequence, block.Chain), block);
        }

        List<JournalPosition> ends = Ends(nodes, start);
        JournalPosition tip = ends.MaxBy(static end => (end.Session, end.Sequence));
        JournalPosition other = ends.Find(end => (end.Session, end.Sequence) == (tip.Session, tip.Sequence) && end.Chain != tip.Chain);
        if (other != default)
        {
            return Refuse(JournalVerdict.Ambiguous, tip, $"two different metadata journals end at session {tip.Session}, sequence {tip.Sequence}");
        }

        foreach (FoundBlock block in blocks)
        {
            durable = Math.Max(durable, block.Header.Durable);
        }

        return durable > tip.Sequence
            ? Refuse(JournalVerdict.Damaged, tip, $"metadata records {tip.Sequence + 1} to {durable} are unreadable on every metadata disk present")
            : new JournalDecision(JournalVerdict.Found, tip, PathTo(tip, nodes), "");
    }

    private static JournalDecision Refuse(JournalVerdict verdict, JournalPosition tip, string reason) => new(verdict, tip, [], reason);

    /// <summary>The position itself and the end of every whole group that follows from it.</summary>
    private static List<JournalPosition> Ends(Dictionary<(ulong Sequence, uint Chain), FoundBlock> nodes, JournalPosition start)
    {
        ILookup<(ulong, uint), FoundBlock> followers =
            nodes.Values.ToLookup(static block => (block.Header.Sequence - 1, block.Header.PreviousChain));
        List<JournalPosition> ends = [start];
        Queue<(JournalPosition At, int NextIndex)> open = new([(start, 0)]);
        while (open.TryDequeue(out (JournalPosition At, int NextIndex) from))
        {
            foreach (FoundBlock block in followers[(from.At.Sequence, from.At.Chain)])
            {
                MetadataBlock header = block.Header;
                if (header.Session < from.At.Session || header.Index != from.NextIndex)
                {
                    continue;
                }

                JournalPosition at = new(header.Sequence, header.Session, block.Chain);
                if (header.IsLast)
                {
                    ends.Add(at);
                }

                open.Enqueue((at, header.IsLast ? 0 : from.NextIndex + 1));
            }
        }

        return ends;
    }

    private static List<FoundBlock> PathTo(JournalPosition tip, Dictionary<(ulong Sequence, uint Chain), FoundBlock> nodes)
    {
        List<FoundBlock> path = [];
        (ulong Sequence, uint Chain) at = (tip.Sequence, tip.Chain);
        while (nodes.TryGetValue(at, out FoundBlock? block))
        {
            path.Add(block);
            at = (block.Header.Sequence - 1, block.Header.PreviousChain);
        }

        path.Reverse();
        return path;
    }
}
