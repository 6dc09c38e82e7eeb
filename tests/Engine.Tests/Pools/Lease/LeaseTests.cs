using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Verification;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Pools;

/// <summary>Two hosts reach the same disks: one of them serves a pool, never both.</summary>
public sealed class LeaseTests
{
    private const long Second = 1_000_000_000;

    private static readonly bool s_isLong = Environment.GetEnvironmentVariable("TIERSPACES_TEST_LONG") == "1";

    private readonly SimLane _clock;
    private readonly List<SimMedia> _media;
    private readonly Node _a;
    private readonly Node _b;

    public LeaseTests()
        : this(1)
    {
    }

    private LeaseTests(ulong seed)
    {
        _clock = new SimLane(seed);
        _media = [.. Enumerable.Range(1, 3).Select(static number => new SimMedia($"dev{number}", PoolWorld.DiskBytes, 512))];
        _a = new Node(_clock, _media, 1, "alpha");
        _b = new Node(_clock, _media, 2, "beta");
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Beside_a_holder_that_renews_no_other_host_opens_it(bool isForced)
    {
        Pool pool = _a.Create();
        if (isForced)
        {
            _b.Taker.Force();
        }

        for (int i = 0; i < 120; i++)
        {
            Assert.Null(_b.TryOpen(pool.Id).Pool);
            Advance(Second / 2);
        }

        Assert.Matches("in use: host 'alpha' holds it \\(last renewal [0-9-]+ [0-9:]+ UTC\\)", _b.TryOpen(pool.Id).Reason);
        Assert.True(_a.Commit(pool));
        Assert.False(pool.HasLostQuorum);
    }

    [Fact]
    public void A_pool_that_was_closed_opens_on_another_host_within_15_seconds_and_back()
    {
        Pool pool = _a.Create();
        Assert.True(_a.Commit(pool));
        for (int round = 0; round < 3; round++)
        {
            (Node from, Node to) = round % 2 == 0 ? (_a, _b) : (_b, _a);
            from.Close(pool);
            (Pool? opened, long tookNs) = to.Open(pool.Id, 30 * Second);
            Assert.InRange(tookNs, 12 * Second, 15 * Second);
            Assert.True(to.Commit(opened!));
            pool = opened!;
        }

        Assert.Equal(4, PoolWorld.ValueOf(pool.State, 1));
    }

    /// <summary>The process was killed; its kernel has ended what was under way.</summary>
    [Fact]
    public void A_killed_host_opens_its_own_pool_at_once()
    {
        Pool pool = _a.Create();
        Assert.True(_a.Commit(pool));
        Node again = _a.Killed();
        (Pool? opened, long tookNs) = again.Open(pool.Id, Second);
        Assert.True(opened is not null && tookNs < Second);
        Assert.True(again.Commit(opened!));
        Assert.Equal(pool.Session + 1, opened!.Session);
    }

    [Fact]
    public void A_killed_host_does_not_open_at_once_what_another_host_has_claimed_meanwhile()
    {
        Pool pool = _a.Create();
        LeaseClaim claim = new(new SessionToken(pool.Session + 1, 7), new Guid(2, 0, 0, new byte[8]));
        foreach (ushort number in (ushort[])[1, 2])
        {
            long at = pool.Layout(new DiskNumber(number)).Lease + ((long)LeaseArea.Blocks * PoolBlock.Size);
            byte[] block = new byte[PoolBlock.Size];
            claim.Encode(block, new PoolBlock(pool.Id, pool.State.Disks[new DiskNumber(number)].Description.Id, at / PoolBlock.Size));
            _media[number - 1].Write(at, block);
        }

        (Pool? opened, long tookNs) = _a.Killed().Open(pool.Id, 60 * Second);
        Assert.NotNull(opened);
        Assert.InRange(tookNs, 33 * Second, 36 * Second);
        Assert.Equal(pool.Session + 2, opened!.Session);
    }

    [Fact]
    public void A_claim_of_a_host_that_was_suspended_while_it_wrote_it_is_void()
    {
        Pool pool = _a.Create();
        _a.Close(pool);
        long claims = pool.Layout(new DiskNumber(1)).Lease + ((long)LeaseArea.Blocks * PoolBlock.Size);
        _b.Devices[0].OnRequest = (operation, offset, _) => _b.Lane.IsStuck |= operation == SimOperation.Write && offset >= claims;
        string reason = "";
        Open().Forget();
        Advance(12 * Second);
        Assert.Equal("", reason);
        _b.Devices[0].OnRequest = null;
        _b.Thaw();
        Advance(Second);
        Assert.Contains("a claim cannot be written", reason);

        async LaneTask Open()
        {
            await _b.Lane.Delay(0);
            reason = (await _b.OpenNow(pool.Id)).Reason;
        }
    }

    /// <summary>A claim that a majority holds is on each disk of another one, or on its neighbor: one disk with rot in its area is not needed.</summary>
    [Theory]
    [InlineData(1, 0)]
    [InlineData(1, 5)]
    [InlineData(1, LeaseArea.Blocks + 2)]
    [InlineData(2, 5)]
    public void Rot_in_the_lease_area_of_a_minority_of_the_disks_holds_nothing_up(int disks, int block)
    {
        Pool pool = _a.Create();
        for (ushort i = 1; i <= disks; i++)
        {
            Rot(pool, i, block);
        }

        (Pool? opened, long tookNs) = _a.Killed().Open(pool.Id, 60 * Second);
        Assert.NotNull(opened);
        Assert.True(disks == 1 ? tookNs < Second : tookNs > 21 * Second, $"{tookNs / 1e9} s");
    }

    /// <summary>Each block of the area once: a pool of two disks opens with the disk that has the rotten block alone.</summary>
    [Theory]
    [InlineData(false, false)]
    [InlineData(false, true)]
    [InlineData(true, false)]
    [InlineData(true, true)]
    public void A_rotten_block_of_the_lease_area_and_a_lost_disk_hold_no_pool_up(bool isClosed, bool wasElsewhere)
    {
        for (int block = 0; block < LeaseArea.Blocks + LeaseArea.Claims; block++)
        {
            new LeaseTests((ulong)block + 1).OpensBesideRot(block, isClosed, wasElsewhere);
        }
    }

    private void OpensBesideRot(int block, bool isClosed, bool wasElsewhere)
    {
        Pool pool = _a.Create(disks: 2);
        for (int i = 0; i < (wasElsewhere ? 2 : LeaseArea.Blocks); i++)
        {
            Node from = wasElsewhere && i == 1 ? _b : _a;
            from.Close(pool);
            pool = (wasElsewhere && i == 0 ? _b : _a).Open(pool.Id, 30 * Second).Pool!;
        }

        Assert.True(_a.Commit(pool));
        if (isClosed)
        {
            _a.Close(pool);
        }

        Node again = isClosed ? _a : _a.Killed();
        Rot(pool, 1, block);
        again.Devices[1].Pulled = true;
        (Pool? opened, long tookNs) = again.Open(pool.Id, 60 * Second);
        Assert.True(opened is not null && tookNs < 25 * Second, $"block {block}: {again.TryOpen(pool.Id).Reason}, {tookNs / 1e9} s");
        Assert.True(again.Commit(opened!));
        Assert.Equal(2, PoolWorld.ValueOf(opened!.State, 1));
        Advance(5 * Second);
        Assert.False(again.AreaOf(opened, new DiskNumber(1)).IsTorn, $"block {block} was not mended");
        (opened, tookNs) = Reopened(again).Open(pool.Id, Second);
        Assert.True(opened is not null && tookNs < Second, "what was mended holds nothing up");

        static Node Reopened(Node node)
        {
            Node next = node.Killed();
            next.Devices[1].Pulled = true;
            return next;
        }
    }

    [Fact]
    public void A_rotten_block_of_the_lease_area_is_mended_while_the_pool_serves()
    {
        Pool pool = _a.Create();
        _a.Close(pool);
        pool = _a.Open(pool.Id, Second).Pool!;
        for (int block = 0; block < LeaseArea.Blocks + LeaseArea.Claims; block++)
        {
            Rot(pool, 2, block);
            Advance(5 * Second);
            Assert.False(_a.AreaOf(pool, new DiskNumber(2)).IsTorn, $"block {block} was not mended");
            LeaseHolderRuns(pool, true);
        }

        Assert.True(_a.Commit(pool));
        (Pool? opened, long tookNs) = _a.Killed().Open(pool.Id, Second);
        Assert.True(opened is not null && tookNs < Second, "the claims that the holder has stated are those on the disk");
    }

    /// <summary>Half of the disks may not take a pool over: nothing is written to them for it.</summary>
    [Fact]
    public void A_host_that_cannot_claim_a_majority_claims_nothing_and_says_what_is_missing()
    {
        Pool pool = _a.Create(disks: 2);
        Assert.Equal(LeaseArea.NoClaims, _a.AreaOf(pool, new DiskNumber(1)).ClaimsHash);
        _a.Freeze();
        Node other = new(_clock, _media, 1, "alpha", _a.State) { Boot = 7 };
        Rot(pool, 1, LeaseArea.BlockOf(pool.Session));
        LeaseClaim claim = new(new SessionToken(pool.Session, 7), new Guid(2, 0, 0, new byte[8]));   // of another host, which may be the one that serves
        long at = pool.Layout(new DiskNumber(1)).Lease + ((long)LeaseArea.Blocks * PoolBlock.Size);
        byte[] bytes = new byte[PoolBlock.Size];
        claim.Encode(bytes, new PoolBlock(pool.Id, pool.State.Disks[new DiskNumber(1)].Description.Id, at / PoolBlock.Size));
        _media[0].Write(at, bytes);
        other.Devices[1].Pulled = true;
        (Pool? opened, _) = other.Open(pool.Id, 90 * Second);
        Assert.Null(opened);
        Assert.Contains("more than half of its 2 disks have to be there; 1 are. Bring another one back", other.TryOpen(pool.Id).Reason);
        Assert.Equal(claim, Assert.Single(other.AreaOf(pool, new DiskNumber(1)).Claimed));
    }

    /// <summary>Its first renewal states the claims, its own among them.</summary>
    [Fact]
    public void A_host_that_is_killed_just_after_it_took_a_pool_over_opens_it_at_once()
    {
        Pool pool = _a.Create();
        _a.Close(pool);
        Pool taken = _b.Open(pool.Id, 30 * Second).Pool!;
        Advance(Second);
        (Pool? opened, long tookNs) = _b.Killed().Open(pool.Id, 5 * Second);
        Assert.True(opened is not null && tookNs < Second && taken.Id == pool.Id);
    }

    private void Rot(Pool pool, ushort disk, int block)
    {
        byte[] rot = new byte[PoolBlock.Size];
        rot[9] = 1;
        _media[disk - 1].Write(pool.Layout(new DiskNumber(disk)).Lease + ((long)block * PoolBlock.Size), rot);
    }

    [Fact]
    public void After_another_start_of_the_machine_its_pool_opens_within_10_seconds()
    {
        Pool pool = _a.Create();
        Node again = _a.Killed(isOtherBoot: true);
        (Pool? opened, long tookNs) = again.Open(pool.Id, 20 * Second);
        Assert.NotNull(opened);
        Assert.InRange(tookNs, 5 * Second, 10 * Second);

        again.Close(opened!);
        (opened, tookNs) = again.Killed(isOtherBoot: true).Open(pool.Id, Second);
        Assert.True(opened is not null && tookNs < Second, "A pool that was closed is waited for.");
    }

    [Fact]
    public void A_copy_of_the_machine_does_not_open_the_pool_that_it_serves()
    {
        Pool pool = _a.Create();
        Node copy = new(_clock, _media, 1, "alpha") { Boot = 9 };
        for (int i = 0; i < 60; i++)
        {
            Assert.Null(copy.TryOpen(pool.Id).Pool);
            Advance(Second / 2);
        }

        Assert.True(_a.Commit(pool));
    }

    [Fact]
    public void A_pool_of_a_host_that_is_silent_opens_elsewhere_only_by_force_and_after_33_seconds()
    {
        Pool pool = _a.Create();
        Assert.True(_a.Commit(pool));
        _a.Freeze();
        (Pool? opened, _) = _b.Open(pool.Id, 120 * Second);
        Assert.Null(opened);
        Assert.Matches("last held by host 'alpha' .*It has not closed the pool, and has not renewed its lease for [0-9]+ s. If that host is off, run Update-StoragePool -Force",
            _b.TryOpen(pool.Id).Reason);

        Node late = new(_clock, _media, 3, "gamma");
        late.Taker.Force();
        (opened, long tookNs) = late.Open(pool.Id, 60 * Second);
        Assert.InRange(tookNs, 33 * Second, 36 * Second);
        Assert.True(late.Commit(opened!));
        Assert.Equal(2, PoolWorld.ValueOf(opened!.State, 1));
    }

    [Fact]
    public void A_host_that_was_frozen_while_another_took_the_pool_over_writes_nothing_and_stops()
    {
        Pool pool = _a.Create();
        Assert.True(_a.Commit(pool));
        IDisk disk = pool.Disk(new DiskNumber(1))!;
        bool isDone = false;
        _a.Freeze();
        _b.Taker.Force();
        (Pool? taken, _) = _b.Open(pool.Id, 60 * Second);
        Assert.True(_b.Commit(taken!));
        List<long> written = [];
        _a.Devices.ForEach(device => device.OnRequest = (operation, offset, _) => written.AddRange(operation == SimOperation.Write ? [offset] : []));
        string reason = "";
        pool.MembershipChanged += change => reason = change.Reason;
        _a.Thaw();
        Watch().Forget();
        Advance(5 * Second);
        Assert.True(isDone, "A request that is held back does not end.");
        Assert.Contains("taken over by host 'beta'", reason);
        Assert.True(pool.HasLostQuorum);
        Assert.All(written, offset => Assert.InRange(offset, pool.Layout(new DiskNumber(1)).Lease, pool.Layout(new DiskNumber(1)).Lease + LeaseArea.Bytes - 1));
        Assert.True(_b.Commit(taken!));
        Assert.False(taken!.HasLostQuorum);

        async LaneTask Watch()
        {
            await _a.Lane.Delay(0);
            IoBuffer data = _a.Lane.Buffers.Rent(4096);
            Assert.NotEqual(IoError.None, await disk.Write(4 << 20, data, WriteFlags.None));
            isDone = true;
        }
    }

    [Fact]
    public void A_host_that_was_suspended_alone_goes_on()
    {
        Pool pool = _a.Create();
        _a.Freeze();
        Advance(600 * Second);
        _a.Thaw();
        Assert.True(_a.Commit(pool));
        Assert.False(pool.HasLostQuorum);
        Assert.Empty(pool.MissingDisks);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Of_two_hosts_that_come_at_the_same_time_one_opens_it(bool isForced)
    {
        for (ulong seed = 1; seed <= (s_isLong ? 30UL : 8UL); seed++)
        {
            new LeaseTests(seed).Race(isForced);
        }
    }

    private void Race(bool isForced)
    {
        Pool pool = _a.Create();
        if (isForced)
        {
            _a.Freeze();
        }
        else
        {
            _a.Close(pool);
        }

        Node[] nodes = [_b, new(_clock, _media, 3, "gamma")];
        List<Pool> opened = [];
        foreach (Node node in nodes)
        {
            if (isForced)
            {
                node.Taker.Force();
            }

            Seek(node).Forget();
        }

        Advance(150 * Second);
        Pool serving = Assert.Single(opened);
        Assert.False(serving.HasLostQuorum);

        async LaneTask Seek(Node node)
        {
            for (int i = 0; i < 200; i++)
            {
                await node.Lane.Delay((Second / 2) + node.Lane.Next(100_000_000));
                if ((await node.OpenNow(pool.Id)).Pool is { } one)
                {
                    opened.Add(one);
                    return;
                }
            }
        }
    }

    [Fact]
    public void A_disk_that_joins_holds_the_session_before_it_has_a_vote()
    {
        Pool pool = _a.Create(disks: 2);
        Advance(5 * Second);
        Assert.True(_clock.Run(pool.AddDisks([new NewDiskSpec(_a.Disks[2], "d3")])).Succeeded);
        LeaseArea area = _a.AreaOf(pool, new DiskNumber(3));
        Assert.Equal(pool.Session, Assert.Single(area.Leases).Session.Session);
        Assert.False(area.IsTorn);
        ulong before = area.Leases.Single().Counter;
        Advance(5 * Second);
        Assert.True(_a.AreaOf(pool, new DiskNumber(3)).Leases.Single().Counter > before);
    }

    [Fact]
    public void A_pool_without_lease_gets_one_when_it_is_raised()
    {
        Pool pool = _a.Create(formatVersion: 2);
        Assert.NotNull(_b.TryOpen(pool.Id).Pool);   // by the rules of that version the last one who opens it has it

        LeaseTests other = new(2);
        pool = other._a.Create(formatVersion: 2);
        Assert.True(other._clock.Run(pool.Raise()).Succeeded);
        Assert.Null(other._b.TryOpen(pool.Id).Pool);
        Assert.True(other._a.Commit(pool));
        other._a.Close(pool);
        Assert.NotNull(other._a.Open(pool.Id, Second).Pool);
    }

    [Fact]
    public void A_host_whose_disks_are_full_goes_on_until_another_one_claims_the_pool()
    {
        Pool pool = _a.Create();
        _a.Devices.ForEach(static device => device.Full = true);
        for (int i = 0; i < 60; i++)
        {
            Advance(Second);
            LeaseHolderRuns(pool, true);
        }

        _b.Taker.Force();
        (Pool? taken, _) = _b.Open(pool.Id, 60 * Second);
        Assert.NotNull(taken);
        Assert.True(pool.HasLostQuorum);
        LeaseHolderRuns(pool, false);
        Assert.True(_b.Commit(taken!));
    }

    [Fact]
    public void A_renewal_that_reaches_no_majority_holds_requests_back_until_one_does()
    {
        Pool pool = _a.Create();
        FailLease(pool, fails: true);
        Advance(3 * Second);
        Assert.False(pool.HasLostQuorum);
        LeaseHolderRuns(pool, true);
        Advance(20 * Second);
        LeaseHolderRuns(pool, false);
        bool isDone = false;
        Read().Forget();
        Advance(5 * Second);
        Assert.False(isDone);
        Assert.Equal((PoolOperationalStatus.Degraded, HealthStatus.Warning), (pool.OperationalStatus, pool.HealthStatus));
        Assert.Matches("Paused: its lease cannot be renewed on the majority of its disks since [0-9-]+ [0-9:]+ UTC", PoolCondition.ReasonOf(pool));
        FailLease(pool, fails: false);
        Advance(Second);
        Assert.True(isDone);
        Assert.Equal("", PoolCondition.ReasonOf(pool));
        Assert.Empty(pool.MissingDisks);

        async LaneTask Read()
        {
            await _a.Lane.Delay(0);
            IoBuffer data = _a.Lane.Buffers.Rent(4096);
            Assert.Equal(IoError.None, await pool.Disk(new DiskNumber(1))!.Read(4 << 20, data));
            _a.Lane.Buffers.Return(data);
            isDone = true;
        }
    }

    private void FailLease(Pool pool, bool fails)
    {
        long area = pool.Layout(new DiskNumber(1)).Lease;
        Func<long, int, bool>? touches = fails ? (offset, length) => offset < area + LeaseArea.Bytes && offset + length > area : null;
        _a.Devices.ForEach(device => (device.ReadFails, device.WriteFails) = (touches, touches));
    }

    private void LeaseHolderRuns(Pool pool, bool expected) =>
        Assert.Equal(expected, ((MeteredDisk)pool.Disk(new DiskNumber(1))!).Gate!.IsOpen(_a.Lane));

    private void Advance(long nanoseconds) => _clock.Run(_clock.Delay(nanoseconds));

    /// <summary>A host with a lane, a state folder and devices of its own.</summary>
    private sealed class Node
    {
        private readonly SimLane _clock;
        private readonly List<SimMedia> _media;
        private readonly int _number;
        private readonly string _name;
        private readonly SimHostState _state;

        internal Node(SimLane clock, List<SimMedia> media, int number, string name, SimHostState? state = null)
        {
            (_clock, _media, _number, _name, _state) = (clock, media, number, name, state ?? new SimHostState());
            Lane = clock.Beside(name);
            Disks = [.. media.Select(medium => (IDisk)new MeteredDisk(Lane, new SimDisk(Lane, medium)))];
        }

        internal SimLane Lane { get; }

        internal List<IDisk> Disks { get; private set; }

        internal LeaseTaker Taker { get; } = new();

        internal SimHostState State => _state;

        internal int Boot { get; init; } = 1;

        internal List<SimDisk> Devices => [.. Disks.Select(static disk => (SimDisk)((MeteredDisk)disk).Below)];

        private PoolEnvironment Environment => new(Lane, new StateFolder(Lane, _state), new Guid(_number, 0, 0, new byte[8]))
        {
            BootId = new Guid(_number, (short)Boot, 0, new byte[8]), HostName = _name,
        };

        internal Pool Create(int? disks = null, ushort formatVersion = PoolDescription.NewestFormat) => _clock.Run(Pool.Create(
            Environment, new NewPoolSpec { FriendlyName = "p", FormatVersion = formatVersion },
            [.. Disks.Take(disks ?? Disks.Count).Select(static (disk, i) => new NewDiskSpec(disk, $"d{i + 1}"))]));

        internal async LaneTask<PoolOpenResult> OpenNow(PoolId id)
        {
            List<PoolScan> scans = [];
            foreach (IDisk disk in Disks)
            {
                scans.Add(await PoolScan.Scan(Lane, disk));
            }

            return await Pool.Open(Environment, id, scans, Taker);
        }

        internal PoolOpenResult TryOpen(PoolId id) => _clock.Run(OpenNow(id));

        internal (Pool? Pool, long TookNs) Open(PoolId id, long withinNs)
        {
            for (long startNs = _clock.NowNs; ; _clock.Run(_clock.Delay(Second / 4)))
            {
                Pool? pool = TryOpen(id).Pool;
                if (pool is not null || _clock.NowNs - startNs > withinNs)
                {
                    return (pool, _clock.NowNs - startNs);
                }
            }
        }

        internal bool Commit(Pool pool)
        {
            return _clock.Run(pool.Commit(PoolWorld.Job(1, PoolWorld.ValueOf(pool.State, 1) + 1))).Succeeded;
        }

        internal void Close(Pool pool)
        {
            _clock.Run(pool.Close());
            Disks = [.. _media.Select(medium => (IDisk)new MeteredDisk(Lane, new SimDisk(Lane, medium)))];
        }

        internal void Freeze() => Lane.IsStuck = true;

        internal void Thaw() => Lane.IsStuck = false;

        /// <summary>The same machine after its process died, or after it was started again.</summary>
        internal Node Killed(bool isOtherBoot = false)
        {
            Freeze();
            return new Node(_clock, _media, _number, _name, _state.Snapshot(withMemory: !isOtherBoot)) { Boot = Boot + (isOtherBoot ? 1 : 0) };
        }

        internal LeaseArea AreaOf(Pool pool, DiskNumber number)
        {
            DiskLayout layout = pool.Layout(number);
            byte[] bytes = new byte[LeaseArea.Bytes];
            IDisk device = ((MeteredDisk)Disks[number.Value - 1]).Below;
            Assert.Equal(IoError.None, _clock.Run(MetadataIo.Read(Lane, device, layout.Lease, bytes)));
            return LeaseArea.Decode(bytes, pool.Id, pool.State.Disks[number].Description.Id, layout.Lease);
        }
    }
}
