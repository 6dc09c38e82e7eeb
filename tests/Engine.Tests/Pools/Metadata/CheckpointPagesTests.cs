using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Tests.Formats;

namespace TierSpaces.Engine.Tests.Pools;

/// <summary>Checkpoint pages of the state of a pool, and the number of disks of a size for which the metadata has pages.</summary>
public sealed class CheckpointPagesTests
{
    private const uint Packed = 1u << 31;

    // The table of docs/failure-model.md. Names and serial numbers have the length that those of disks have.
    [Theory]
    [InlineData(16, 512)]
    [InlineData(64, 209)]
    [InlineData(128, 228)]
    [InlineData(256, 239)]
    [InlineData(511, 244)]
    [InlineData(512, 479)]
    [InlineData(8192, 472)]
    [InlineData(16384, 512)]
    [InlineData(32768, 512)]
    [InlineData(1 << 20, 512)]
    [InlineData(16 << 20, 512)]
    public void A_pool_may_have_so_many_disks_of_a_size_with_every_slab_mapped(long mebibytes, int disks)
    {
        PoolState state = PoolOf(mebibytes << 20, 1);
        long most = CheckpointStore.MostStatePages(Pool.Layout(state, new DiskNumber(1)));
        while (state.Disks.Count < PoolView.MaxMembers && With(state) is var next && MemberPages.WhyNot(next, most, static _ => true).Length == 0)
        {
            state = next;
        }

        Assert.Equal(disks, state.Disks.Count);
    }

    // In the worst case every row has targets joining, every position is stale, and every other row is missing.
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_leaf_never_takes_more_than_its_number_of_rows_says(bool withGaps)
    {
        for (int positions = 1; positions <= SpaceDescription.MaxPositions; positions++)
        {
            RowPages pages = new(positions);
            SpaceState space = new(new SpaceDescription(new SpaceId(1), default, SpaceKind.Data, (ushort)positions, 1));
            int rows = 0;
            for (int row = 0; row < pages.PerPage; row += withGaps ? 2 : 1)
            {
                space = space.WithRow(row, Worst(positions));
                rows++;
                ByteWriter to = new();
                CheckpointPages.EncodeLeaf(space, 0, [.. space.Rows.LeafOf(0)], to);
                Assert.InRange(to.Length, 1, pages.HoldsMarks ? pages.Bytes(rows) : 2 * CheckpointPages.Capacity);
                Assert.Equal(PageDemand.OfLeaf(pages, rows), space.Demand);
            }

            Assert.Equal(default, Enumerable.Range(0, pages.PerPage).Aggregate(space, static (space, row) => space.WithRow(row, null)).Demand);
        }
    }

    [Fact]
    public void Descriptions_share_pages_and_a_change_writes_those_that_it_moves()
    {
        PoolState state = PoolOf(64 << 20, 100);
        StatePage[] before = [.. CheckpointPages.Enumerate(state)];
        Assert.InRange(before.Length, 3, 12);
        DiskDescription last = state.Disks.Values.Last().Description;
        StatePage[] after = [.. CheckpointPages.Enumerate(state.Apply(new DiskChanged(last with { Usage = DiskUsage.Retired })))];
        Assert.Equal(before.Select(static page => page.Key), after.Select(static page => page.Key));
        Assert.Equal(PageKind.Disk,
            Assert.Single(after.Zip(
                before), static pair => pair.First.Key.Kind != PageKind.Counters && !pair.First.IsMadeFrom(pair.Second.Content)).First.Key.Kind);
    }

    // A release that gave each record a page of its own takes the records of any page; it must not take a page for one of its own.
    [Fact]
    public void Keys_of_pages_that_are_shared_were_never_used_before()
    {
        PoolState state = PoolOf(64 << 20, 3).Apply(new VirtualDiskCreated(RecordSamples.VirtualDisk)).Apply(new JobRecord(Guid.Empty, [1]));
        state = state.Apply(new SpaceCreated(new SpaceDescription(new SpaceId(1), RecordSamples.VirtualDisk.Id, SpaceKind.Data, 1, 1)));
        state = state.Apply(new RowsMapped(new SpaceId(1), 0, 1, [new RowMapping([new SlabRef(new DiskNumber(1), 0)])]));
        StatePage[] pages = [.. CheckpointPages.Enumerate(state)];
        Assert.Equal(7, pages.Length);
        Assert.All(pages, static page => Assert.Equal(page.Key.Kind is not (PageKind.Pool or PageKind.Counters), (page.Key.Index & Packed) != 0));
        Assert.Equal(pages.Length, CheckpointPages.CountUpTo(state));
    }

    private static PoolState PoolOf(long bytes, int disks)
    {
        SlabGeometry slabs = SlabGeometry.ForSmallestDisk(bytes);
        Assert.True(DiskLayout.TryCreate(bytes, slabs, out DiskLayout layout, out _));
        PoolState state = PoolState.Empty.Apply(new PoolCreated(RecordSamples.Pool with { Slabs = slabs }));
        DiskDescription first = new()
        {
            Number = new DiskNumber(0), Id = default, FriendlyName = "", SizeBytes = layout.DiskBytes, SlabCount = layout.SlabCount,
            Model = "Samsung SSD 970 EVO Plus 1TB", FirmwareVersion = "2B2QEXM7",
        };
        return Enumerable.Range(0, disks).Aggregate(state, (state, _) => With(state, first));
    }

    /// <summary>The pool with one more disk like the first.</summary>
    private static PoolState With(PoolState state, DiskDescription? like = null)
    {
        ushort number = state.NextDisk.Value;
        return state.Apply(new DiskAdded((like ?? state.Disks.Values.First().Description) with
        {
            Number = state.NextDisk, Id = new DiskId(new Guid(number, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)), FriendlyName = $"PhysicalDisk{number}",
                SerialNumber = $"S4EVNX0R{number:D12}",
        }));
    }

    private static RowState Worst(int positions)
    {
        SlabRef[] slabs = [.. Enumerable.Range(1, positions).Select(static disk => new SlabRef(new DiskNumber((ushort)disk), 1))];
        RowState row = new(new RowMapping(slabs, slabs));
        return Enumerable.Range(0, positions).Aggregate(row, static (row, position) => row.WithStale(position, 1));
    }
}
