using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tests.Pools;

/// <summary>One test for each row of the decision table in JournalRules.</summary>
public sealed class JournalRulesTests
{
    private static readonly JournalPosition s_start = new(10, 1, 0x5EED);

    [Fact]
    public void Row_1_the_journal_ends_where_no_block_follows()
    {
        List<FoundBlock> blocks = Chain(1, s_start, 1, 1, 1);
        JournalDecision decision = Decide(blocks);
        Assert.Equal((JournalVerdict.Found, 13UL), (decision.Verdict, decision.Tip.Sequence));
        Assert.Equal([11UL, 12UL, 13UL], decision.Path.Select(static block => block.Header.Sequence));
        Assert.Equal(s_start, Decide([]).Tip);
        blocks.RemoveAt(1);
        Assert.Equal(11UL, Decide(blocks).Tip.Sequence);
    }

    [Fact]
    public void Row_2_what_is_known_durable_must_be_there()
    {
        List<FoundBlock> blocks = Chain(1, s_start, 1, 1, 1);
        Assert.Equal(JournalVerdict.Found, Decide(blocks, durable: 13).Verdict);
        Assert.Equal(JournalVerdict.Damaged, Decide(blocks, durable: 14).Verdict);   // a superblock knows of more
        blocks.RemoveAt(0);
        JournalDecision decision = Decide(blocks);
        Assert.Equal(JournalVerdict.Damaged, decision.Verdict);   // the third block says that the second is durable
        Assert.Contains("11 to 12", decision.Reason);
    }

    [Fact]
    public void Row_3_a_block_that_one_disk_lacks_is_taken_from_another()
    {
        List<FoundBlock> first = Chain(1, s_start, 1, 1, 1);
        List<FoundBlock> second = [.. first.Select(static block => block with { Disk = new DiskNumber(2) })];
        first.RemoveAt(1);
        second.RemoveAt(2);
        Assert.Equal(13UL, Decide([.. first, .. second]).Tip.Sequence);
    }

    [Fact]
    public void Row_4_the_branch_of_the_highest_session_wins_even_if_it_is_shorter()
    {
        List<FoundBlock> longer = Chain(1, s_start, 1, 1, 1);
        List<FoundBlock> newer = Chain(2, s_start, 2);
        JournalDecision decision = Decide([.. longer.Select(NotDurable), .. newer]);
        Assert.Equal((JournalVerdict.Found, 11UL, 2UL), (decision.Verdict, decision.Tip.Sequence, decision.Tip.Session));
        Assert.Equal(newer[0].Chain, decision.Tip.Chain);
    }

    [Fact]
    public void Row_4_in_one_session_the_longer_wins()
    {
        List<FoundBlock> all = Chain(1, s_start, 1, 1, 1);
        Assert.Equal(13UL, Decide([all[0] with { Disk = new DiskNumber(2) }, .. all]).Tip.Sequence);
    }

    [Fact]
    public void Row_5_two_ends_of_one_rank_are_refused()
    {
        List<FoundBlock> one = Chain(1, s_start, 2);
        List<FoundBlock> other = Chain(2, s_start, [7], 2);
        Assert.Equal(JournalVerdict.Ambiguous, Decide([.. one, .. other]).Verdict);
    }

    [Fact]
    public void Row_6_a_group_without_its_last_block_does_not_count()
    {
        List<FoundBlock> whole = Chain(1, s_start, 1);
        List<FoundBlock> group = Group(1, Position(whole[^1]), 2, 3);
        Assert.Equal(14UL, Decide([.. whole, .. group]).Tip.Sequence);
        Assert.Equal(11UL, Decide([.. whole, .. group[..2]]).Tip.Sequence);
        Assert.Equal(11UL, Decide([.. whole, group[0], group[2]]).Tip.Sequence);
    }

    [Fact]
    public void Blocks_of_an_earlier_lap_and_of_a_lower_session_do_not_follow()
    {
        List<FoundBlock> chain = Chain(1, s_start, 2, 2);
        List<FoundBlock> lower = Chain(1, Position(chain[^1]), 1);
        List<FoundBlock> lap = Chain(1, new JournalPosition(2, 1, 77), 1);
        Assert.Equal(12UL, Decide([.. chain, .. lower.Select(NotDurable), .. lap]).Tip.Sequence);
    }

    private static JournalDecision Decide(IReadOnlyList<FoundBlock> blocks, ulong durable = 10) => JournalRules.Decide(blocks, s_start, durable);

    private static JournalPosition Position(FoundBlock block) => new(block.Header.Sequence, block.Header.Session, block.Chain);

    // A branch without acknowledged commits: its blocks record nothing durable beyond the start.
    private static FoundBlock NotDurable(FoundBlock block) => block with { Header = block.Header with { Durable = 10 } };

    private static List<FoundBlock> Chain(ushort disk, JournalPosition from, params ulong[] sessions) => Chain(disk, from, [1, 2, 3], sessions);

    private static List<FoundBlock> Chain(ushort disk, JournalPosition from, byte[] payload, params ulong[] sessions)
    {
        List<FoundBlock> blocks = [];
        foreach (ulong session in sessions)
        {
            MetadataBlock header = new(session, from.Sequence + 1, from.Sequence, from.Chain, 0, 1);
            blocks.Add(new FoundBlock(new DiskNumber(disk), header, header.Chain(payload), payload));
            from = Position(blocks[^1]);
        }

        return blocks;
    }

    private static List<FoundBlock> Group(ushort disk, JournalPosition from, ulong session, int count) =>
    [
        .. JournalEntry.Cut(new byte[((count - 1) * MetadataBlock.PayloadCapacity) + 1], from, session, from.Sequence)
            .Select(entry => new FoundBlock(new DiskNumber(disk), entry.Header, entry.Chain, entry.Payload.ToArray())),
    ];
}
