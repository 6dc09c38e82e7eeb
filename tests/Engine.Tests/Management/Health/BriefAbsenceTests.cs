using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Tests.Exports.Nbd;

namespace TierSpaces.Engine.Tests.Management;

/// <summary>
/// All disks of a pool, or all but one, are pulled under load and put back half a second later: the virtual disk is healthy again soon, by itself,
/// and says all the while what is wrong with it.
/// </summary>
public sealed class BriefAbsenceTests
{
    private const int Mebibyte = 1 << 20;
    private const int Disks = 5;

    private const ushort Write = 1;

    private SubsystemWorld _world = new(network: new StubNetwork());
    private TestClient? _client;

    public static TheoryData<string, int, int, bool> Cases()
    {
        TheoryData<string, int, int, bool> cases = [];
        foreach (string kind in new[] { "simple", "mirror", "cached", "tiered", "tiered and cached", "remote cache" })
        {
            foreach (int apartMs in new[] { 0, 120, 700 })
            {
                cases.Add(kind, apartMs, Disks, false);
                cases.Add(kind, apartMs, Disks, true);
            }

            cases.Add(kind, 0, 1, false);
            cases.Add(kind, 50, 2, false);
        }

        return cases;
    }

    [Theory]
    [MemberData(nameof(Cases))]
    public void It_is_healthy_within_ten_seconds(string kind, int apartMs, int pulled, bool keepsQuorum)
    {
        Guid id = Make(kind, keepsQuorum ? Disks + 1 : 0);
        _world.Run(_world.Subsystem.VirtualDisks.ConnectAsync(id));
        for (int round = 0; round < 5; round++)
        {
            for (int i = 0; i < 16; i++)
            {
                _world.Write(id, i * 65536L, 65536);
            }

            for (int disk = 0; disk < pulled; disk++)
            {
                _world.Pull(disk);
                Touch(id, disk * 65536L);
                _world.Advance(TimeSpan.FromMilliseconds(apartMs));
                RequireReason(id);
            }

            for (int step = 0; step < 5; step++)
            {
                Touch(id, step * 65536L);
                _world.Advance(TimeSpan.FromMilliseconds(100));
                RequireReason(id);
            }

            for (int disk = 0; disk < pulled; disk++)
            {
                _world.PutBack(disk);
            }

            long backNs = _world.Lane.NowNs;
            List<string> seen = [];
            while (Status(id) is not { Health: HealthStatus.Healthy, OperationalStatus: "OK" })
            {
                RequireReason(id);
                seen.Add($"{(_world.Lane.NowNs - backNs) / 1e9:0.0} {Status(id).OperationalStatus} {Status(id).StatusReason}");
                Assert.True(_world.Lane.NowNs - backNs < 100_000_000_000, string.Join('\n', seen));
                Touch(id, 0);
                _world.Advance(TimeSpan.FromMilliseconds(250));
            }

            Assert.True(_world.Lane.NowNs - backNs < 10_000_000_000, string.Join('\n', seen.Concat(_world.Notices)));
            _world.Advance(pulled == 1 ? TimeSpan.FromHours(2) : TimeSpan.FromMinutes(1));   // one that keeps leaving alone is tried later each time
        }
    }

    /// <summary>Nothing notices by itself that the pool is lost where every request waits for the write cache, and that for a disk of the pool.</summary>
    [Theory]
    [InlineData(3)]
    [InlineData(4)]
    [InlineData(6)]
    public void Requests_that_wait_for_the_write_cache_end_when_the_pool_is_lost(ulong seed)
    {
        _world = new SubsystemWorld(seed, new StubNetwork(), dataLanes: 1);
        It_is_healthy_within_ten_seconds("cached", 0, Disks, keepsQuorum: false);
    }

    private Guid Make(string kind, int others)
    {
        bool isTiered = kind.StartsWith("tiered", StringComparison.Ordinal);
        bool isCached = kind.EndsWith("cached", StringComparison.Ordinal);
        _world.NewPool([.. Enumerable.Range(0, Disks).Select(disk => (64L * Mebibyte, disk < 2 ? MediaType.SSD : MediaType.HDD))
            .Concat(Enumerable.Repeat((64L * Mebibyte, MediaType.SCM), others))], "p");
        Guid pool = _world.Pool;
        Guid? cachePool = null;
        if (kind == "remote cache")
        {
            _world.NewPool([.. Enumerable.Repeat((64L * Mebibyte, MediaType.SSD), 3)], "fast");
            cachePool = _world.Pool;
        }

        TierRequest[] tiers = !isTiered ? [] :
        [
            new(Template(pool, "fast", MediaType.SSD), 4 * Mebibyte), new(Template(pool, "slow", MediaType.HDD), 8 * Mebibyte),
        ];
        return _world.Run(_world.Subsystem.VirtualDisks.CreateAsync(pool, new VirtualDiskRequest
        {
            FriendlyName = "d",
            SizeBytes = isTiered ? null : 8 * Mebibyte,
            ResiliencySettingName = isTiered ? null : kind == "simple" ? "Simple" : "Mirror",
            NumberOfColumns = isTiered ? null : 1,
            MediaType = isTiered ? null : MediaType.HDD,
            Tiers = tiers,
            WriteCacheSize = isCached || cachePool is not null ? 4 * Mebibyte : 0,
            CachePool = cachePool,
        })).Description.Id.Value;
    }

    private Guid Template(Guid pool, string name, MediaType medium) => _world.Run(_world.Subsystem.Tiers.CreateTemplateAsync(pool, new TierTemplateRequest
    {
        FriendlyName = name, MediaType = medium, ResiliencySettingName = "Mirror", NumberOfColumns = 1,
    })).UniqueId;

    /// <summary>Sends a write of a client, which may fail: the disks may be away. The client connects again when it was dropped.</summary>
    private void Touch(Guid id, long offset)
    {
        if (_client is null or { Socket.ClosedByServer: true })
        {
            string path = Status(id).SocketPath;
            _client = path.Length > 0 ? new TestClient(_world.Lane, _world.Network!.Listening[path]).Enter() : null;
        }

        _client?.Request(Write, (ulong)offset, 4096, 0, new byte[4096]);
    }

    private VirtualDiskStatus Status(Guid id) => _world.Run(_world.Subsystem.VirtualDisks.ListAsync()).Single(disk => disk.Description.Id.Value == id);

    private void RequireReason(Guid id)
    {
        VirtualDiskStatus status = Status(id);
        Assert.True(
            status is { Health: HealthStatus.Healthy, OperationalStatus: "OK" } || status.StatusReason.Length > 0,
            $"{status.OperationalStatus} {status.Health} without a reason");
    }
}
