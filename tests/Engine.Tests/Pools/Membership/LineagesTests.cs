using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tests.Pools;

/// <summary>One test for each row of the decision table in Lineages. A session is its number and a letter for its token: "4a 3a 1a"; "(5a)" opens.</summary>
public sealed class LineagesTests
{
    [Theory]
    [InlineData("", "4a 3a 2a", true)]               // row 1
    [InlineData("4a 3a 2a", "4b 3a 2a", false)]      // row 2
    [InlineData("5a 4a 3a", "6b 5b 4b", false)]
    [InlineData("4a 3a 2a", "(5b) 4b 3a 2a", false)]
    [InlineData("(5a) 4a 3a", "(5b) 4a 3a", false)]
    [InlineData("(5a) 4a 3a", "5a 4a 3a", true)]     // row 4: the settled view has not reached every member
    [InlineData("(5a) 4a 3a", "6a 4a 3a", true)]     // the session 5 never took effect
    [InlineData("5a 4a 3a", "6a 4a 3a", false)]      // row 3: the session 5 took effect, and the other history passed over it
    [InlineData("5a 4a 3a", "6a 5a 4a", true)]       // row 4
    [InlineData("2a 1a", "9a 8a 7a", true)]          // too old to tell
    public void Histories_fit_as_the_table_says(string a, string b, bool fit)
    {
        Assert.Equal(fit, Lineages.Fit(History(a), History(b)));
        Assert.Equal(fit, Lineages.Fit(History(b), History(a)));
    }

    [Fact]
    public void An_older_disk_is_of_every_history_that_it_is_the_beginning_of()
    {
        List<Lineage> split = Lineages.Split([Report(1, "4a 3a 2a"), Report(2, "5b 4b 3a"), Report(3, "3a 2a 1a"), Report(4, "")]);
        Assert.Equal([[2, 3, 4], [1, 3, 4]], split.Select(line => line.Reports.Select(report => (int)report.Disk.Value)));
        Assert.Equal("disks 2, 3, 4 (session 5)", split[0].Name);
        Assert.Equal("disks 1, 3, 4 (session 4)", split[1].Name);
    }

    [Fact]
    public void Disks_of_one_history_are_one()
    {
        Assert.Single(Lineages.Split([Report(1, "4a 3a 2a"), Report(2, "(5a) 4a 3a 2a"), Report(3, "3a 2a 1a")]));
        Assert.Single(Lineages.Split([Report(1, ""), Report(2, "")]));
        Assert.Empty(Lineages.Split([]));
    }

    internal static MemberHistory History(string text)
    {
        string[] words = text.Split(' ', StringSplitOptions.RemoveEmptyEntries);
        return new MemberHistory
        {
            Opening = words is [{ } first, ..] && first[0] == '(' ? Token(first[1..^1]) : default,
            Sessions = [.. words.Where(word => word[0] != '(').Select(Token)],
        };
    }

    internal static SessionToken Token(string word) => new((ulong)(word[0] - '0'), word[1]);

    private static VoterReport Report(int disk, string history) => new(new DiskNumber((ushort)disk), 1, new PoolView
    {
        Rank = new ViewRank(1, 1), Synced = new ViewRank(1, 1), Members = [new ViewMember(new DiskNumber(1), true)], Witness = default,
    })
    {
        History = History(history),
    };
}
