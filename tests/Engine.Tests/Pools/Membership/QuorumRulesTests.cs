using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tests.Pools;

/// <summary>One test for each row of the decision table in QuorumRules.</summary>
public sealed class QuorumRulesTests
{
    private static readonly Guid s_witness = new("aaaaaaaa-0000-0000-0000-000000000001");
    private static readonly PoolId s_pool = new(new Guid("bbbbbbbb-0000-0000-0000-000000000001"));

    [Fact]
    public void Row_1_no_disk() => Assert.False(QuorumRules.Decide([], static _ => null).HasQuorum);

    [Theory]
    [InlineData(1, new[] { 1 }, false, true)]
    [InlineData(2, new[] { 1, 2 }, false, true)]
    [InlineData(2, new[] { 1 }, true, true)]
    [InlineData(2, new[] { 1 }, false, false)]
    [InlineData(3, new[] { 1, 3 }, false, true)]
    [InlineData(3, new[] { 3 }, true, false)]
    [InlineData(4, new[] { 1, 2 }, true, true)]
    [InlineData(4, new[] { 1, 2 }, false, false)]
    [InlineData(4, new[] { 1, 2, 4 }, false, true)]
    [InlineData(5, new[] { 1, 2, 4 }, false, true)]
    [InlineData(5, new[] { 1, 2 }, true, false)]
    public void Rows_2_3_and_8_a_settled_view(int members, int[] present, bool witness, bool quorum)
    {
        PoolView view = View(1, 1, members);
        QuorumDecision decision = Decide(present.Select(disk => (disk, view)), witness ? view : null);
        Assert.Equal(quorum, decision.HasQuorum);
        Assert.Equal(quorum, decision.Reason.Length == 0);
    }

    [Theory]
    [InlineData(new[] { 1 }, true, false)]        // majority of {1, 2, witness}, one of {1, 2, 3}
    [InlineData(new[] { 2, 3 }, true, true)]      // majorities of both
    [InlineData(new[] { 1, 2 }, true, true)]
    public void Row_4_a_view_that_may_be_half_written(int[] present, bool witness, bool quorum)
    {
        PoolView old = View(1, 1, 3);
        PoolView half = View(1, 2, 2) with { Synced = old.Rank, Prior = old.Votes };
        Assert.Equal(quorum, Decide(present.Select(disk => (disk, old)), witness ? half : null).HasQuorum);
    }

    [Fact]
    public void Row_5_the_witness_holds_a_newer_view()
    {
        PoolView old = View(1, 1, 2);
        PoolView newer = old with { Rank = new ViewRank(1, 2), Members = [new(new DiskNumber(1), true)], Prior = old.Votes };
        QuorumDecision stale = Decide([(2, old)], newer);
        Assert.Same(newer, stale.View);
        Assert.False(stale.HasQuorum);
        Assert.True(Decide([(1, old)], newer).HasQuorum);
    }

    [Fact]
    public void Row_6_who_has_forgotten_has_no_vote()
    {
        PoolView old = View(1, 1, 3);
        PoolView settled = View(2, 9, 3);
        QuorumDecision decision = Decide([(1, settled), (2, old)], null);
        Assert.False(decision.HasQuorum);
        Assert.Equal([new DiskNumber(2)], decision.Forgetful);
        Assert.True(Decide([(1, settled), (2, old), (3, settled)], null).HasQuorum);
        PoolView two = View(2, 9, 2);
        Assert.False(Decide([(1, two)], View(1, 1, 2)).HasQuorum);   // a witness that was restored from a backup
    }

    [Fact]
    public void Row_7_another_witness_has_no_vote()
    {
        PoolView view = View(1, 1, 2);
        VoterReport[] reports = [new(new DiskNumber(1), 1, view)];
        Assert.False(QuorumRules.Decide(reports, id => id == s_witness ? null : new WitnessRecord(s_pool, id, 1, view)).HasQuorum);
    }

    [Fact]
    public void Row_9_who_is_behind_what_all_held_has_no_vote()
    {
        PoolView view = View(2, 9, 3);
        MemberHistory stop = new() { HeldByAll = 12 };
        VoterReport[] reports =
        [
            new(new DiskNumber(1), 2, view) { Epoch = 13, History = stop },
            new(new DiskNumber(2), 2, view) { Epoch = 12, History = stop with { HeldByAll = 9 } },
            new(new DiskNumber(3), 2, view) { Epoch = 11, History = stop with { HeldByAll = 9 } },
        ];
        QuorumDecision decision = QuorumRules.Decide(reports, static _ => null);
        Assert.Equal([new DiskNumber(3)], decision.Forgetful);
        Assert.True(decision.HasQuorum);
        Assert.False(QuorumRules.Decide([reports[0], reports[2]], static _ => null).HasQuorum);
    }

    [Theory]
    [InlineData(new[] { 1, 6, 7, 8 }, true, "")]
    [InlineData(new[] { 5, 6, 7, 8 }, true, "")]
    [InlineData(new[] { 1, 2, 3, 4 }, false, "the majority of the votes is missing: disk 5, disk 6, disk 7, disk 8, the witness file; of 9 votes 5 are needed, and there are 4")]
    [InlineData(new[] { 6, 7, 8 }, true, "the majority of the votes is missing: disk 1, disk 2, disk 3, disk 4 and 1 more; of 9 votes 5 are needed, and there are 4")]
    public void Row_10_every_member_votes(int[] present, bool witness, string reason)
    {
        PoolView view = MemberVotes(8);
        present = [.. present.Where(static disk => disk <= 8)];
        QuorumDecision decision = Decide(present.Select(disk => (disk, view)), witness ? view : null);
        Assert.Equal(reason, decision.Reason);
        Assert.Equal(reason.Length == 0, decision.HasQuorum);
    }

    [Fact]
    public void Row_10_a_majority_without_metadata_does_not_go_on()
    {
        PoolView view = MemberVotes(12);
        QuorumDecision decision = Decide(Enumerable.Range(6, 7).Select(disk => (disk, view)), null);
        Assert.Equal("no disk that holds the pool's metadata is there; one of these is needed: disk 1, disk 2, disk 3, disk 4, disk 5", decision.Reason);
        Assert.True(Decide(Enumerable.Range(5, 7).Select(disk => (disk, view)), null).HasQuorum);
    }

    // Disk 6 is to get the metadata with the newest view, and holds the one before: its copy may be as old as it likes.
    [Fact]
    public void Row_10_a_disk_that_holds_the_view_before_has_the_role_it_had_there()
    {
        PoolView before = MemberVotes(12);
        PoolView next = before with { Rank = new ViewRank(1, 2), Prior = before.Votes, Members = before.Members.SetItem(5, new(new DiskNumber(6), true)) };
        Assert.False(Decide([(6, before), (7, next), .. Enumerable.Range(8, 5).Select(disk => (disk, next))], next).HasQuorum);
        Assert.True(Decide([(6, next), (7, next), .. Enumerable.Range(8, 5).Select(disk => (disk, next))], next).HasQuorum);
        Assert.True(Decide([(1, before), (7, next), .. Enumerable.Range(8, 5).Select(disk => (disk, next))], next).HasQuorum);
    }

    [Fact]
    public void The_highest_session_is_the_highest_anyone_knows()
    {
        PoolView view = View(3, 1, 2);
        QuorumDecision decision = QuorumRules.Decide(
            [new VoterReport(new DiskNumber(1), 7, view), new VoterReport(new DiskNumber(2), 4, view)],
            id => new WitnessRecord(s_pool, id, 9, view));
        Assert.Equal(9UL, decision.HighestSession);
    }

    [Theory]
    [InlineData(1, 1)]
    [InlineData(2, 2)]
    [InlineData(3, 2)]
    [InlineData(4, 3)]
    [InlineData(5, 3)]
    public void Every_majority_holds_a_copy_of_what_was_committed(int members, int copies)
    {
        PoolView view = View(1, 1, members);
        VoteSet votes = view.Votes;
        Assert.Equal(copies, view.CopiesToCommit);
        Assert.Equal(members, (view with { MembersVote = true }).CopiesToCommit);
        for (int present = 0; present < 1 << members; present++)
        {
            bool isMajority = votes.IsMajority(disk => (present >> (disk.Value - 1) & 1) != 0, holdsWitness: true);
            int absent = members - System.Numerics.BitOperations.PopCount((uint)present);
            Assert.False(isMajority && absent >= copies, $"{copies} copies may all be on the {absent} absent of {members}");
        }
    }

    private static QuorumDecision Decide(IEnumerable<(int Disk, PoolView View)> disks, PoolView? witness) => QuorumRules.Decide(
        [.. disks.Select(static disk => new VoterReport(new DiskNumber((ushort)disk.Disk), disk.View.Rank.Session, disk.View))],
        id => witness is null ? null : new WitnessRecord(s_pool, id, witness.Rank.Session, witness));

    private static PoolView MemberVotes(int members)
    {
        PoolView view = View(1, 1, members);
        return view with { MembersVote = true, Members = [.. view.Members.Select(static member => member with { IsMetadata = member.Disk.Value <= 5 })] };
    }

    private static PoolView View(ulong session, ulong epoch, int members) => new()
    {
        Rank = new ViewRank(session, epoch),
        Synced = new ViewRank(session, epoch),
        Members = [.. Enumerable.Range(1, members).Select(static disk => new ViewMember(new DiskNumber((ushort)disk), true))],
        Witness = s_witness,
    };
}
