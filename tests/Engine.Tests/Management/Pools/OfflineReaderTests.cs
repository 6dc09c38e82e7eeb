using System.Text;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Simulation;
using PoolWorld = TierSpaces.Engine.Tests.Pools.PoolWorld;

namespace TierSpaces.Engine.Tests.Management;

/// <summary>Closed disks are read through the reader of their format; a format is one class.</summary>
public sealed class OfflineReaderTests : IDisposable
{
    private const int Mebibyte = 1 << 20;

    private readonly string _folder = Directory.CreateTempSubdirectory("tierspaces-offline").FullName;
    private readonly Lane _lane = LaneFactory.Create("offline");

    public void Dispose()
    {
        _lane.Dispose();
        Directory.Delete(_folder, recursive: true);
    }

    [Fact]
    public async Task A_pool_of_another_format_is_explained_and_extracted()
    {
        byte[] data = new byte[(3 * Mebibyte) + 4096];
        new Random(1).NextBytes(data);
        string[] images = [Write("a", [.. PairFormat.Label, .. data]), Write("b", [.. PairFormat.Label, .. data])];
        OfflineReader reader = new(_lane, new DiskFactory(), new PoolFormat(), new PairFormat());
        OfflinePool? seen = null;
        await reader.InspectAsync(images, pool => seen = pool);
        Assert.Equal(("Pair", "twins", "", 1), (seen!.Format, seen.FriendlyName, seen.Reason, seen.VirtualDisks.Count));
        byte[] read = new byte[data.Length];
        OfflineExtract extract = await reader.ExtractAsync(images, "TWIN", withOlder: false, (at, bytes) => bytes.CopyTo(read.AsMemory((int)at)));
        Assert.Equal(("", 0), (extract.Reason, extract.Unread.Count));
        Assert.Equal(data, read);
        Assert.Equal("the pool has no virtual disk 'other'; it has twin", (await reader.ExtractAsync(images, "other", false, static (_, _) => { })).Reason);
        Assert.Equal("one of two disks is missing", (await reader.ExtractAsync(images[..1], "twin", false, static (_, _) => { })).Reason);
    }

    [Fact]
    public async Task Disks_that_no_format_recognizes_are_named()
    {
        string[] images = [Write("a", new byte[Mebibyte])];
        OfflineReader reader = new(_lane, new DiskFactory(), new PoolFormat(), new PairFormat());
        OfflinePool? seen = null;
        await reader.InspectAsync(images, pool => seen = pool);
        Assert.Equal(("TierSpaces", "", "none of these disks is a member of a pool"), (seen!.Format, seen.FriendlyName, seen.Reason));
        Assert.Equal("Blank", Assert.Single(seen.Disks).Content);
        Assert.Equal("none of these disks is a member of a pool", (await reader.ExtractAsync(images, "twin", false, static (_, _) => { })).Reason);
    }

    /// <summary>
    /// A disk that left while its superblock said all that its journal did is read beside the newest one by force: the superblock that it is given in
    /// memory says less.
    /// </summary>
    [Theory]
    [InlineData(0, 1)]
    [InlineData(1, 0)]
    public void A_disk_that_left_behind_its_superblock_is_read_with_older_copies(int first, int second)
    {
        PoolWorld world = new(1, 2);
        Pool pool = world.Create();
        ulong epoch = world.Scan(1)[0].Superblock!.Epoch;
        for (int commits = 1; world.Scan(1)[0].Superblock!.Epoch == epoch; commits++)
        {
            Assert.True(commits < 2000, "No superblock was written.");
            Assert.True(world.Lane.Run(pool.Commit(PoolWorld.LargeJob(1, commits))).Succeeded);
            world.Lane.Run(world.Lane.Delay(1_000_000));
        }

        world.Disks[1].Pulled = true;
        world.Lane.Run(pool.Evict(new DiskNumber(2), "pulled"));
        Assert.True(world.Lane.Run(pool.Commit(PoolWorld.Job(99, 1))).Succeeded);
        world.Lane.Run(pool.Close());
        PoolWorld closed = world.Killed(2);
        OfflinePool seen = closed.Lane.Run(new PoolFormat().Describe(
            closed.Lane, [new OverlayDisk(closed.Disks[first]), new OverlayDisk(closed.Disks[second])], withOlder: true));
        Assert.Equal(("p", ""), (seen.FriendlyName, seen.Reason));
    }

    private string Write(string name, byte[] content)
    {
        string path = Path.Combine(_folder, name);
        File.WriteAllBytes(path, content);
        return path;
    }

    // Two equal disks: a label in the first block, the data behind it.
    private sealed class PairFormat : IOfflineFormat
    {
        internal static byte[] Label { get; } = [.. Encoding.ASCII.GetBytes("PAIR"), .. new byte[4092]];

        public async LaneTask<OfflinePool> Describe(ILane lane, IReadOnlyList<IDisk> disks, bool withOlder)
        {
            List<OfflineDisk> found = [];
            IoBuffer block = lane.Buffers.Rent(4096);
            foreach (IDisk disk in disks)
            {
                bool isOurs = await disk.Read(0, block) == IoError.None && block.Span.SequenceEqual(Label);
                found.Add(new OfflineDisk(disk, isOurs, isOurs ? "twin" : "unknown", []));
            }

            lane.Buffers.Return(block);
            OfflineDisk[] members = [.. found.Where(static disk => disk.IsMember)];
            OfflinePool pool = new("Pair", found);
            return members.Length == 0 ? pool : pool with
            {
                FriendlyName = "twins",
                Reason = members.Length == 2 ? "" : "one of two disks is missing",
                VirtualDisks = [new OfflineVirtualDisk("1", "twin", members[0].Disk.Geometry.Length - 4096, "pair", () => Open(members[0].Disk))],
            };
        }

        private static LaneTask<OfflineStore> Open(IDisk disk) => LaneTask.FromResult(new OfflineStore(new Behind(disk), ""));
    }

    private sealed class Behind(IDisk disk) : IBlockStore
    {
        public StoreGeometry Geometry => disk.Geometry with { Length = disk.Geometry.Length - 4096 };

        public LaneTask<IoError> Read(long offset, IoBuffer target) => disk.Read(offset + 4096, target);

        public LaneTask<IoError> Write(long offset, IoBuffer source, WriteFlags flags) => LaneTask.FromResult(IoError.ReadOnly);

        public LaneTask<IoError> Flush() => LaneTask.FromResult(IoError.None);

        public LaneTask<IoError> Unmap(long offset, long length) => LaneTask.FromResult(IoError.ReadOnly);

        public LaneTask<IoError> WriteZeroes(long offset, long length, WriteFlags flags) => LaneTask.FromResult(IoError.ReadOnly);

        public LaneTask<IoError> Status(long offset, long length, List<StoreExtent> extents) => disk.Status(offset + 4096, length, extents);
    }
}
