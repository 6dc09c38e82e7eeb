using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Tests.Formats;

namespace TierSpaces.Engine.Tests.Pools;

/// <summary>One test for each row of the decision table in ReturnRules. The pool has recorded the sessions 3, 4 and 6.</summary>
public sealed class ReturnRulesTests
{
    private static readonly DiskNumber s_disk = new(1);

    [Theory]
    [InlineData("4b", "", 20, 9, nameof(ReturnVerdict.OtherHistory))]     // row 1
    [InlineData("6b", "4a", 20, 9, nameof(ReturnVerdict.OtherHistory))]
    [InlineData("7a", "4a", 20, 9, nameof(ReturnVerdict.OtherHistory))]   // row 2
    [InlineData("5a", "4a", 20, 9, nameof(ReturnVerdict.OtherHistory))]
    [InlineData("2b", "2a", 20, 9, nameof(ReturnVerdict.OtherHistory))]   // row 3
    [InlineData("4a", "", 1, 1, nameof(ReturnVerdict.AsItWas))]           // row 4
    [InlineData("", "", 1, 1, nameof(ReturnVerdict.AsItWas))]
    [InlineData("4a", "4a", 19, 9, nameof(ReturnVerdict.Less))]           // row 5
    [InlineData("", "4a", 19, 9, nameof(ReturnVerdict.Less))]
    [InlineData("1a", "2a", 20, 9, nameof(ReturnVerdict.Less))]           // row 6
    [InlineData("4a", "4a", 20, 8, nameof(ReturnVerdict.Less))]           // row 7
    [InlineData("4a", "4a", 20, 9, nameof(ReturnVerdict.AsItWas))]        // row 8
    [InlineData("2a", "2a", 20, 9, nameof(ReturnVerdict.AsItWas))]
    [InlineData("6a", "4a", 21, 10, nameof(ReturnVerdict.AsItWas))]
    public async Task A_disk_that_returns_is_judged_as_the_table_says(string newest, string held, int epoch, int sequence, string verdict)
    {
        PoolState state = held.Length == 0 ? State : State.Apply(new DiskHeld(s_disk, LineagesTests.Token(held), 20, 9, 0xC0FFEE));
        Superblock superblock = PoolBlockTests.Superblock with
        {
            Epoch = (ulong)epoch, DurableSequence = (ulong)sequence, History = LineagesTests.History(newest),
        };
        Assert.Equal(verdict, (await Judge(state, superblock, static (_, _) => false)).ToString());
    }

    [Fact]
    public async Task Row_7_the_journal_holds_what_the_superblock_does_not_state()
    {
        PoolState state = State.Apply(new DiskHeld(s_disk, LineagesTests.Token("4a"), 20, 9, 0xC0FFEE));
        Superblock superblock = PoolBlockTests.Superblock with { Epoch = 20, DurableSequence = 8, History = LineagesTests.History("4a") };
        Assert.Equal(ReturnVerdict.AsItWas, await Judge(state, superblock, static (sequence, chain) => (sequence, chain) == (9, 0xC0FFEE)));
    }

    [Fact]
    public void The_pool_remembers_sessions_and_what_disks_held_over_checkpoints()
    {
        PoolState state = State;
        for (ulong session = 7; session < 100; session++)
        {
            state = state.Apply(new SessionOpened(session, default, session * 3, 0));
        }

        state = state.Apply(new DiskHeld(s_disk, LineagesTests.Token("4a"), 20, 9, 7));
        List<MetadataRecord> records = [];
        foreach (StatePage page in CheckpointPages.Enumerate(state))
        {
            ByteWriter to = new();
            page.Encode(to);
            Assert.InRange(to.Length, 1, CheckpointPages.Capacity);
            Assert.True(MetadataCodec.TryDecodeAll(to.Written, records, out string reason), reason);
        }

        PoolState read = records.Aggregate(PoolState.Empty, static (state, record) => state.Apply(record));
        Assert.Equal(64, read.Sessions.Length);
        Assert.Equal(state.Sessions, read.Sessions);
        Assert.Equal(state.Held[s_disk], read.Held[s_disk]);
        Assert.Empty(read.Apply(DiskHeld.Nothing(s_disk)).Held);
        Assert.Empty(read.Apply(new DiskRemoved(s_disk)).Held);
    }

    private static PoolState State { get; } = new MetadataRecord[]
    {
        new PoolCreated(new PoolDescription { FriendlyName = "p", Slabs = new SlabGeometry(1 << 20) }),
        new DiskAdded(new DiskDescription { Number = s_disk, Id = new DiskId(new Guid(1, 0, 0, new byte[8])), FriendlyName = "d", SizeBytes = 48 << 20,
        SlabCount = Slabs }),
        new SessionOpened(3, default, 'a', 0), new SessionOpened(4, default, 'a', 0), new SessionOpened(6, default, 'a', 0),
    }.Aggregate(PoolState.Empty, static (state, record) => state.Apply(record));

    private static uint Slabs => DiskLayout.TryCreate(48 << 20, new SlabGeometry(1 << 20), out DiskLayout layout, out _) ? layout.SlabCount : 0;

    private static async Task<ReturnVerdict> Judge(PoolState state, Superblock superblock, Func<ulong, uint, bool> holdsJournal) =>
        await Judged(state, superblock, holdsJournal);

    private static LaneTask<ReturnVerdict> Judged(PoolState state, Superblock superblock, Func<ulong, uint, bool> holdsJournal) =>
        ReturnRules.Judge(state, s_disk, superblock, (sequence, chain) => LaneTask.FromResult(holdsJournal(sequence, chain)));
}
