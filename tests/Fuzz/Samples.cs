using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Fuzz;

/// <summary>Valid values of every format, with every field set to something.</summary>
internal static class Samples
{
    internal static readonly PoolId Pool = new(new Guid("11111111-2222-3333-4444-555555555555"));
    internal static readonly DiskId Disk = new(new Guid("66666666-7777-8888-9999-aaaaaaaaaaaa"));
    internal static readonly Guid Id = new("0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0");

    private static readonly VirtualDiskId s_virtualDisk = new(Id);
    private static readonly VirtualDiskDescription s_tiered = VirtualDiskOf(isConnected: false) with
    {
        Id = new VirtualDiskId(new Guid("1f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0")), FriendlyName = "tiered", SizeBytes = 20 << 20, CacheSpace = SpaceId.None,
            WriteCacheSize = 0,
        Tiers = [TierOf("fast", 8), TierOf("slow", 12) with { Number = 1 }],
    };

    internal static PoolView View { get; } = new()
    {
        Rank = new ViewRank(3, 70),
        Synced = new ViewRank(2, 60),
        Members = [new(new DiskNumber(1), true), new(new DiskNumber(2), true), new(new DiskNumber(5), false)],
        Witness = Id,
        Prior = new VoteSet([new DiskNumber(1), new DiskNumber(2), new DiskNumber(3)], Id),
    };

    internal static Superblock Superblock { get; } = new()
    {
        Epoch = 71, Session = 4, IsClean = true, DurableSequence = 99, View = View,
        Checkpoint = new CheckpointRoot(7, 12, new JournalPosition(90, 3, 0xABCDEF01)),
        PreviousCheckpoint = new CheckpointRoot(6, 40, new JournalPosition(70, 3, 0x12345678)),
        Features = new FeatureFlags(FeatureFlags.MemberHistoryFeature, 0, 0), History = History,
    };

    internal static MemberHistory History => new()
    {
        HeldByAll = 70, Opening = new SessionToken(4, 44), Sessions = [new SessionToken(3, 33), new SessionToken(2, 22), new SessionToken(1, 11)],
    };

    internal static DiskLabel Label { get; } =
        new(Pool, Disk, new DiskNumber(5), 64 << 20, new SlabGeometry(1 << 20), 638_000_000_000_000_000, default);

    /// <summary>Records in an order in which they can be applied to an empty state.</summary>
    internal static IReadOnlyList<MetadataRecord> Records { get; } =
    [
        new PoolCreated(PoolOf("pool")),
        new DiskAdded(DiskOf(1)),
        new DiskAdded(DiskOf(2)),
        new DiskAdded(DiskOf(3)),
        new VirtualDiskCreated(VirtualDiskOf(isConnected: false)),
        new SpaceCreated(new SpaceDescription(new SpaceId(1), s_virtualDisk, SpaceKind.Data, 1, 2)),
        new SpaceCreated(new SpaceDescription(new SpaceId(2), s_virtualDisk, SpaceKind.IntegrityLog, 1, 2)),
        new SpaceCreated(new SpaceDescription(new SpaceId(3), s_virtualDisk, SpaceKind.WriteCache, 1, 2)),
        new SpaceCreated(new SpaceDescription(new SpaceId(4), s_virtualDisk, SpaceKind.WriteCache, 1, 2) { OwnerPool = Pool }),
        new RowsMapped(new SpaceId(2), 0, 2, [new RowMapping([Slab(1, 0), Slab(2, 0)])]),
        new RowsMapped(new SpaceId(3), 0, 2, [new RowMapping([Slab(1, 5), Slab(2, 5)]), new RowMapping([Slab(1, 6), Slab(2, 6)])]),
        new RowsMapped(new SpaceId(1), 0, 2, [Row(1), Row(2), Row(3)]),
        new RowsMapped(new SpaceId(1), 1, 2, [new RowMapping([Slab(1, 2), Slab(2, 2)], [default, Slab(3, 4)], isInitialized: false)]),
        new StaleMarked(new SpaceId(1), [new StaleEntry(1, 1, 0x8001), new StaleEntry(2, 0, 3)]),
        new StaleCleared(new SpaceId(1), [new StaleEntry(1, 1, 1)]),
        new DiskStale(new SpaceId(1), new DiskNumber(2)),
        new JobRecord(Id, [1, 2, 3]),
        new SessionOpened(4, Id, 0x0123456789abcdef, 638_000_000_000_000_000),
        new TierTemplateSet(new TierTemplate { Id = Id, FriendlyName = "fast", MediaTypeCode = 4, ResiliencySettingName = "Mirror", NumberOfDataCopies = 2,
        Interleave = 65536 }),
        new PoolChanged(PoolOf("other name") with { IsReadOnly = true }),
        new DiskChanged(DiskOf(2) with { Usage = DiskUsage.Retired, SerialNumber = "S-1", FaultDomainPath = "site/rack//node/" }),
        new VirtualDiskChanged(VirtualDiskOf(isConnected: true)),
        new Counters(9, 9),
        new TierTemplateRemoved(Id),
        new VirtualDiskCreated(s_tiered),
        new SlicesMapped(s_tiered.Id, 1, [new SliceEntry(0, 2, SliceReason.FirstWrite, 638_000_000_000_000_000), SliceEntry.None]),
        new PinSet(Id, 0, s_tiered.Id, s_tiered.Tiers[0].Id, "/srv/hot.db", [new PinnedRange(4096, 8192), new PinnedRange(1 << 20, 1)]),
        new PinRemoved(Id),
        new PinSet(Id, 0, s_tiered.Id, s_tiered.Tiers[0].Id, "", [new PinnedRange(0, 8192)]),
        new PinSet(Id, 1, s_tiered.Id, s_tiered.Tiers[0].Id, "", [new PinnedRange(1 << 20, 1)]),
        new RowsFreed(new SpaceId(1), 2, 1),
        new DiskHeld(new DiskNumber(2), new SessionToken(3, 33), 70, 99, 0xABCDEF01),
        new DiskRemoved(new DiskNumber(3)),
        new SpaceRemoved(new SpaceId(1)),
        new SpaceRemoved(new SpaceId(2)),
        new SpaceRemoved(new SpaceId(4)),
        new VirtualDiskRemoved(s_virtualDisk),
    ];

    internal static byte[] Encode(params MetadataRecord[] records)
    {
        ByteWriter to = new();
        foreach (MetadataRecord record in records)
        {
            MetadataCodec.Encode(record, to);
        }

        return to.Written.ToArray();
    }

    internal static byte[] Encode(Action<ByteWriter> write)
    {
        ByteWriter to = new();
        write(to);
        return to.Written.ToArray();
    }

    private static SlabRef Slab(ushort disk, uint slab) => new(new DiskNumber(disk), slab);

    private static RowMapping Row(uint slab) => new([Slab(1, slab), Slab(2, slab)]);

    private static TierDescription TierOf(string name, long mebibytes) => new()
    {
        Id = new Guid((int)mebibytes, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11), FriendlyName = name, MediaTypeCode = 4, ResiliencySettingName = "Simple",
        SizeBytes = mebibytes << 20, SpaceBytes = (mebibytes + 4) << 20,
    };

    private static PoolDescription PoolOf(string name) => new()
    {
        FriendlyName = name, Slabs = new SlabGeometry(1 << 20), CreatedUtcTicks = 638_000_000_000_000_000,
    };

    private static DiskDescription DiskOf(ushort number)
    {
        DiskLayout.TryCreate(16 << 20, new SlabGeometry(1 << 20), out DiskLayout layout, out _);
        return new DiskDescription
        {
            Number = new DiskNumber(number), Id = new DiskId(new Guid(number, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)), FriendlyName = $"d{number}",
            SizeBytes = layout.DiskBytes, SlabCount = layout.SlabCount, MediaTypeCode = 4, BusTypeCode = 15,
        };
    }

    private static VirtualDiskDescription VirtualDiskOf(bool isConnected) => new()
    {
        Id = s_virtualDisk, FriendlyName = "disk", ResiliencySettingName = "Mirror", SizeBytes = 1 << 30,
        NumberOfColumns = 1, NumberOfDataCopies = 2, AllowedDisks = [new DiskNumber(1), new DiskNumber(2)],
        DataSpace = new SpaceId(1), LogSpace = new SpaceId(2), CacheSpace = new SpaceId(3), WriteCacheSize = 2 << 20, IsConnected = isConnected,
    };
}
