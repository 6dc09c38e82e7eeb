using System.Globalization;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Pools;

/// <summary>
/// One byte flipped anywhere in what a pool keeps of itself on one of its disks: the state is the same, now and after a restart, and a
/// scrub makes the disk whole and counts it. TIERSPACES_LONG_TESTS=1 flips ten thousand bytes.
/// </summary>
public sealed class MetadataScrubTests
{
    private static readonly int s_positions = Environment.GetEnvironmentVariable("TIERSPACES_LONG_TESTS") == "1" ? 10_000 : 150;

    [Fact]
    public void A_flipped_byte_on_one_disk_is_healed_and_counted_and_never_believed()
    {
        (PoolWorld origin, PoolId id, ulong expected) = Made();
        Random random = new(7);
        Dictionary<string, int> kinds = [];
        for (int i = 0; i < s_positions; i++)
        {
            PoolWorld world = Copy(origin, (ulong)i + 100);
            Pool pool = world.Open(id).Pool!;
            Assert.Equal(expected, Fingerprint(pool.State));
            DiskNumber victim = new((ushort)(1 + random.Next(3)));
            List<(string Kind, long Offset)> live = LiveBlocks(world, pool, victim);
            (string kind, long offset) = live[random.Next(live.Count)];
            kinds[kind] = kinds.GetValueOrDefault(kind) + 1;
            string where = string.Create(CultureInfo.InvariantCulture, $"{kind} of disk {victim} at {offset}, position {i}");
            Flip(world.Media[victim.Value - 1], offset + random.Next(PoolBlock.Size));

            PoolWorld restarted = Copy(world, (ulong)i + 200_000);   // before anybody noticed
            PoolOpenResult opened = restarted.Open(id);
            Assert.True(opened.Pool is not null, $"{where}: {opened.Reason}");
            Assert.True(expected == Fingerprint(opened.Pool!.State), where);
            Assert.True(opened.Status == PoolOperationalStatus.OK, where);

            Assert.True(world.Lane.Run(pool.ScrubMetadata(victim)) == 1, $"{where}: not counted");
            Assert.True(world.Lane.Run(pool.ScrubMetadata(victim)) == 0, $"{where}: not healed");
            Assert.True(world.Lane.Run(pool.Commit(PoolWorld.Job(9, i))).Succeeded);
            world.Lane.Run(pool.Close());

            // The healed disk is enough to open from: the other metadata disks are unreadable where they keep the state.
            PoolWorld alone = Copy(world, (ulong)i + 400_000);
            BlindToState(alone, victim);
            PoolOpenResult fromVictim = alone.Open(id);
            Assert.True(fromVictim.Pool is not null, $"{where}: {fromVictim.Reason}");
            Assert.True(PoolWorld.ValueOf(fromVictim.Pool!.State, 9) == (i & 0xFFFF), where);
        }

        Assert.Equal(["checkpoint", "journal", "label", "superblock"], kinds.Keys.Order());
    }

    [Fact]
    public void A_sound_pool_gives_nothing_to_heal()
    {
        (PoolWorld origin, PoolId id, _) = Made();
        Pool pool = origin.Open(id).Pool!;
        foreach (DiskNumber disk in pool.State.Disks.Keys)
        {
            Assert.Equal(0, origin.Lane.Run(pool.ScrubMetadata(disk)));
        }
    }

    // While commits go on, and with a crash at any request: it opens, and what was committed is there.
    [Fact]
    public void Healing_may_be_cut_at_any_moment()
    {
        (PoolWorld origin, PoolId id, _) = Made();
        for (ulong seed = 1; seed <= 60; seed++)
        {
            PoolWorld world = Copy(origin, seed);
            Pool pool = world.Open(id).Pool!;
            List<(string Kind, long Offset)> live = LiveBlocks(world, pool, new DiskNumber(1));
            Flip(world.Media[0], live[world.Lane.Next(live.Count)].Offset + 77);
            int committed = 0;
            int issued = 0;
            LaneTask<int> scrub = pool.ScrubMetadata(new DiskNumber(1));
            CommitOneByOne().Forget();
            int steps = world.Lane.Next(120);
            world.Lane.PumpWhile(() => steps-- > 0, 1_000_000_000);
            PoolWorld cut = world.Cut(seed + 1000);
            PoolOpenResult opened = cut.Open(id);
            Assert.True(opened.Pool is not null, $"seed {seed}: {opened.Reason}");
            Assert.InRange(PoolWorld.ValueOf(opened.Pool!.State, 5), committed, issued);

            async LaneTask CommitOneByOne()
            {
                while (issued < 50)
                {
                    int value = ++issued;
                    await pool.Commit(PoolWorld.Job(5, value));
                    committed = value;
                }
            }
        }
    }

    /// <summary>Three disks, a state of some pages, two checkpoints and a journal after them; closed.</summary>
    private static (PoolWorld World, PoolId Id, ulong Fingerprint) Made()
    {
        PoolWorld world = new(11, 3);
        Pool pool = world.Create();
        for (int i = 0; i < 700; i++)
        {
            CommitResult made = world.Lane.Run(pool.Commit(PoolWorld.Job(100 + (i % 30), i)));
            Assert.True(made.Succeeded, made.Reason);
        }

        ulong fingerprint = Fingerprint(pool.State);
        world.Lane.Run(pool.Close());
        return (world, pool.Id, fingerprint);
    }

    private static PoolWorld Copy(PoolWorld world, ulong seed) => world.Killed(seed);

    private static ulong Fingerprint(PoolState state) =>
        state.Jobs.Values.OrderBy(static job => job.Job).Aggregate(17UL, static (sum, job) => (sum * 31) + job.State[0] + (job.State[1] * 256UL));

    private static void Flip(SimMedia media, long offset) => media.Corrupt(offset, sector =>
    {
        sector[offset % media.SectorSize] ^= 0x20;
        return sector;
    });

    /// <summary>Returns the places of all current metadata blocks of the pool on a disk.</summary>
    private static List<(string Kind, long Offset)> LiveBlocks(PoolWorld world, Pool pool, DiskNumber disk)
    {
        MemberDisk member = pool.Member(disk)!;
        List<(string, long)> live = [("label", DiskLayout.LabelA), ("label", member.Layout.LabelB)];
        live.Add(("superblock", DiskLayout.SuperblockSlot(DiskLayout.SuperblockRingA, member.Newest!.Epoch)));
        live.Add(("superblock", DiskLayout.SuperblockSlot(member.Layout.SuperblockRingB, member.Newest.Epoch)));
        live.AddRange(member.Checkpoints.PagesInUse.Select(page => ("checkpoint", member.Layout.HeapPage(page))));
        ulong last = world.Lane.Run(JournalReader.ReadAll(member)).Max(static block => block.Header.Sequence);
        for (ulong sequence = member.Checkpoints.Oldest.Sequence + 1; sequence <= last; sequence++)
        {
            live.Add(("journal", member.Layout.JournalBlock(sequence)));
        }

        return live;
    }

    /// <summary>Damages journal and checkpoints of every disk but one.</summary>
    private static void BlindToState(PoolWorld world, DiskNumber seeing)
    {
        for (int i = 0; i < world.Disks.Count; i++)
        {
            if (i != seeing.Value - 1)
            {
                DiskLabel label = world.Lane.Run(PoolScan.Scan(world.Lane, world.Disks[i])).Label!;
                Assert.True(DiskLayout.TryCreate(label.DiskBytes, label.Slabs, out DiskLayout layout, out _));
                world.Disks[i].ReadFails = (offset, length) =>
                    offset + length > DiskLayout.Journal && offset < layout.HeapPage((uint)layout.HeapPages);
            }
        }
    }
}
