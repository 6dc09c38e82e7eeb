using System.Collections.Immutable;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tests.Formats;

/// <summary>One record of every kind with fixed contents, and random ones.</summary>
internal static class RecordSamples
{
    private static readonly Guid s_guid = new("0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0");

    private static readonly DestageSettings s_destage = new()
    {
        StartPercent = 50, StopPercent = 20, IdleNs = 5_000_000_000, BytesPerSecond = 100 << 20, Hold = true, HoldUntil = (3 * 60) + 30,
    };

    internal static PoolDescription Pool { get; } = new()
    {
        FriendlyName = "pool", Slabs = new SlabGeometry(1 << 20), CreatedUtcTicks = 638_000_000_000_000_000,
    };

    internal static DiskDescription Disk { get; } = MakeDisk(1, 16 << 20);

    internal static VirtualDiskDescription VirtualDisk { get; } = new()
    {
        Id = new VirtualDiskId(s_guid), FriendlyName = "disk", ResiliencySettingName = "Mirror", SizeBytes = 1 << 30,
        NumberOfColumns = 2, NumberOfDataCopies = 2, AllowedDisks = [new DiskNumber(1), new DiskNumber(2)],
        DataSpace = new SpaceId(1), LogSpace = new SpaceId(2),
    };

    internal static TierTemplate TierTemplate { get; } = new()
    {
        Id = s_guid, FriendlyName = "fast", MediaTypeCode = 4, ResiliencySettingName = "Mirror", NumberOfColumns = 2, NumberOfDataCopies = 2,
        PhysicalDiskRedundancy = 1, Interleave = 64 << 10, Description = "flash", ProvisioningType = ProvisioningType.Fixed,
    };

    internal static VirtualDiskDescription TieredDisk { get; } = VirtualDisk with
    {
        Id = new VirtualDiskId(new Guid("1f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0")), FriendlyName = "tiered", SizeBytes = 20 << 20,
        DataSpace = SpaceId.None, LogSpace = SpaceId.None, Tiers = [Tier("fast", 4, 8, 2), Tier("slow", 3, 12, 4) with { Number = 1 }],
    };

    internal static IReadOnlyList<(MetadataRecord Record, string Body)> All { get; } =
    [
        (new PoolCreated(Pool), "name, slab bytes (8), created (8), resiliency name, provisioning (1), sector (2), write cache (8), "
            + "auto write cache (1), alert % (1), power protected (1), read-only (1), enclosure aware (1), fault domain (1), retire missing (1), "
            + "count (4) of: name, columns (2), interleave (4), copies (2), redundancy (2); maximum for remote write caches (8), a body may end before it: no limit"
            + "; format version (2), left out where it is 1 and nothing follows; repairs in turn (1), left out where they are side by side"),
        (new PoolChanged(Pool with { IsReadOnly = true }), "as PoolCreated"),
        (new Counters(3, 9), "next disk (4), next space (4); in checkpoints only"),
        (new DiskAdded(Disk), "number (2), id (16), name, size (8), slabs (4), media (2), bus (2), logical sector (2), physical sector (2), "
            + "spindle (4), usage (1), fault-domain path, enclosure (4), slot (4), serial, model, manufacturer, firmware, description"),
        (new DiskChanged(Disk with { Usage = DiskUsage.Retired }), "as DiskAdded"),
        (new DiskRemoved(new DiskNumber(2)), "number (2)"),
        (new DiskHeld(new DiskNumber(2), new SessionToken(7, 0x1122334455667788), 71, 99, 0xABCDEF01),
            "number (2), newest session: number (8) and token (8), epoch (8; 0 removes the record), journal sequence (8), chain (4); may be ignored by readers that do not know it"),
        (new VirtualDiskCreated(VirtualDisk), "id (16), name, resiliency name, size (8), columns (2), copies (2), redundancy (2), interleave (4), "
            + "logical sector (2), physical sector (2), provisioning (1), checksum (1), media (2), fault domain (1), count (4) of disk numbers (2), "
            + "write cache (8), manual attach (1), connected (1), read-only (1), being created (1), usage (2), usage text, created (8), "
            + "data space (4), log space (4), cache space (4), destage: start % (1), stop % (1), idle ns (8), bytes per second (8), hold (1), "
            + "hold until minute of the day (2), 65535 for none, slice size (4), count (4) of tiers, by number from 0: id (16), name, description, media (2), "
            + "resiliency name, columns (2), copies (2), redundancy (2), interleave (4), fault domain (1), size (8), space (8), data space (4), log space (4); "
            + "minimum heat (8), demote cold after ns (8), half-life of heat ns (8); a body may end before the cache space: no cache; before the slice size: no tiers; or before the "
            + "minimum heat: 0, 0 and a day; in version 2: pool of the write cache (16)"),
        (new VirtualDiskChanged(
            TieredDisk with { IsConnected = true, WriteCacheSize = 1 << 30, CacheSpace = new SpaceId(3), CachePool = new PoolId(s_guid), Destage = s_destage }),
            "as VirtualDiskCreated"),
        (new VirtualDiskRemoved(new VirtualDiskId(s_guid)), "id (16)"),
        (new SpaceCreated(new SpaceDescription(new SpaceId(1), new VirtualDiskId(s_guid), SpaceKind.WriteCache, 1, 2) { OwnerPool = new PoolId(s_guid) }),
            "number (4), owner (16), kind (1), columns (2), copies (2); in version 2: owner pool (16), if the space is a remote cache"),
        (new SpaceRemoved(new SpaceId(1)), "number (4)"),
        (new RowsMapped(new SpaceId(1), 5, 2, [new RowMapping([Slab(1, 7), Slab(2, 8)]), new RowMapping([Slab(1, 9), Slab(2, 1)], [default, Slab(3, 4)])]),
            "space (4), first row (4), positions (2), count (4) of: joining (1), a slab per position, with joining another slab per position; "
            + "slab = disk (2), index (4), disk 0 for none"),
        (new RowsFreed(new SpaceId(1), 5, 2), "space (4), first row (4), rows (4)"),
        (new StaleMarked(new SpaceId(1), [new StaleEntry(5, 1, 0x8001)]), "space (4), count (4) of: row (4), position (2), regions (2)"),
        (new StaleCleared(new SpaceId(1), [new StaleEntry(5, 1, 1)]), "as StaleMarked"),
        (new DiskStale(new SpaceId(1), new DiskNumber(2)), "space (4), disk (2)"),
        (new JobRecord(s_guid, [1, 2, 3]), "job (16), length (4), bytes; empty: the job has ended"),
        (new SlicesMapped(VirtualDisk.Id, 7, [new SliceEntry(1, 9, SliceReason.Promoted, 638_000_000_000_000_000), SliceEntry.None]),
            "virtual disk (16), first slice (4), count (4) of slices (8): slot (bits 0-31), number of the tier + 1 (32-35; 0: nowhere), reason of the last move (36-39), its hour since 2020 (40-63)"),
        (new SessionOpened(4, s_guid, 0x0123456789abcdef, 638_000_000_000_000_000), "session (8), node (16), fencing token (8), time (8)"),
        (new TierTemplateSet(TierTemplate), "id (16), name, media (2), resiliency name, empty when open, columns (2), 0 automatic, copies (2), 0 open, "
            + "redundancy (2), interleave (4), 0 open, fault domain (1), usage (2), description, provisioning (1), 0 open"),
        (new TierTemplateRemoved(s_guid), "id (16)"),
        (new PinSet(s_guid, 0, TieredDisk.Id, TieredDisk.Tiers[0].Id, "/srv/hot.db", [new PinnedRange(4096, 8192), new PinnedRange(1 << 20, 1)]),
            "id (16), part (4), virtual disk (16), tier (16), label, in part 0 only, count (4) of: first byte (8), bytes (8), ascending"),
        (new PinRemoved(s_guid), "id (16); all parts"),
    ];

    internal static DiskDescription MakeDisk(ushort number, long bytes)
    {
        SlabGeometry slabs = new(1 << 20);
        Assert.True(DiskLayout.TryCreate(bytes, slabs, out DiskLayout layout, out _));
        return new DiskDescription
        {
            Number = new DiskNumber(number), Id = new DiskId(new Guid(number, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)), FriendlyName = $"d{number}",
            SizeBytes = layout.DiskBytes, SlabCount = layout.SlabCount, MediaTypeCode = 4, BusTypeCode = 15,
        };
    }

    /// <summary>A random record; its values are possible, whether they fit a state is another matter.</summary>
    internal static MetadataRecord Next(Random random) => random.Next(17) switch
    {
        0 => new PoolChanged(Pool with { FriendlyName = Text(random), ThinProvisioningAlertThreshold = (byte)random.Next(100) }),
        1 => new DiskAdded(MakeDisk((ushort)random.Next(1, 100), random.NextInt64(8 << 20, 1L << 40)) with { SerialNumber = Text(random) }),
        2 => new DiskRemoved(new DiskNumber((ushort)random.Next(20))),
        3 => new VirtualDiskCreated(
            VirtualDisk with { Id = new VirtualDiskId(NewGuid(random)), FriendlyName = Text(random), AllowedDisks = Disks(random),
            CachePool = new PoolId(random.Next(2) == 0 ? Guid.Empty : NewGuid(random)), Destage = Destage(random),
            TierSettings = new() { MinimumHeat = random.NextInt64(TierSettings.MinimumHeatMax + 1),
            DemoteColdAfterNs = random.NextInt64(TierSettings.DemoteColdAfterNsMax + 1),
            HalfLifeNs = random.NextInt64(TierSettings.HalfLifeNsMin, TierSettings.HalfLifeNsMax + 1) } }),
        4 => new SpaceCreated(new SpaceDescription(
            new SpaceId((uint)random.Next(1, 50)), VirtualDisk.Id, (SpaceKind)random.Next(1, 4), (ushort)random.Next(1, 9),
            (ushort)random.Next(1, 4)) { OwnerPool = new PoolId(random.Next(2) == 0 ? Guid.Empty : NewGuid(random)) }),
        5 => Rows(random),
        6 => new RowsFreed(new SpaceId((uint)random.Next(5)), random.Next(100), random.Next(10)),
        7 => new StaleMarked(new SpaceId((uint)random.Next(5)), Stale(random)),
        8 => new StaleCleared(new SpaceId((uint)random.Next(5)), Stale(random)),
        9 => new JobRecord(NewGuid(random), Bytes(random, random.Next(200))),
        10 => new SessionOpened((ulong)random.NextInt64(), NewGuid(random), (ulong)random.NextInt64(), random.NextInt64()),
        11 => new TierTemplateSet(
            TierTemplate with { Id = new Guid(random.Next(4), 0, 0, new byte[8]), FriendlyName = Text(random), NumberOfColumns = (ushort)random.Next(70) }),
        12 => new TierTemplateRemoved(new Guid(random.Next(4), 0, 0, new byte[8])),
        13 => Slices(random, random.Next(2) == 0 ? VirtualDisk.Id : TieredDisk.Id),
        14 => Pin(random),
        15 => new PinRemoved(new Guid(random.Next(4), 0, 0, new byte[8])),
        _ => new DiskStale(new SpaceId((uint)random.Next(5)), new DiskNumber((ushort)random.Next(9))),
    };

    /// <summary>A run of slices, some of them nowhere.</summary>
    internal static SlicesMapped Slices(Random random, VirtualDiskId disk) =>
        new(disk, random.Next(2000), [.. Enumerable.Range(0, random.Next(1, 4)).Select(_ =>
        random.Next(3) == 0 ? SliceEntry.None : new SliceEntry(random.Next(3), (uint)random.Next(17), (SliceReason)random.Next(6), 638_000_000_000_000_000))]);

    /// <summary>A part of one of few pins; a third of them impossible.</summary>
    internal static PinSet Pin(Random random)
    {
        uint part = (uint)random.Next(3);
        long first = (part * 5L << 20) + random.Next(1 << 20);
        PinnedRange[] ranges = [.. Enumerable.Range(0, random.Next(4)).Select(i => new PinnedRange(first + (i << 18), 1 + random.Next(1 << 18)))];
        string label = part == 0 || random.Next(9) == 0 ? Text(random) : "";
        return new PinSet(new Guid(random.Next(4), 0, 0, new byte[8]), part, TieredDisk.Id, TieredDisk.Tiers[random.Next(2)].Id, label, [.. ranges]);
    }

    internal static Guid NewGuid(Random random) => new(Bytes(random, 16));

    internal static byte[] Bytes(Random random, int count)
    {
        byte[] bytes = new byte[count];
        random.NextBytes(bytes);
        return bytes;
    }

    private static DestageSettings Destage(Random random) => new()
    {
        StartPercent = random.Next(1, 96), StopPercent = random.Next(95), IdleNs = random.NextInt64(DestageSettings.IdleNsMax + 1),
        BytesPerSecond = random.NextInt64(), Hold = random.Next(2) == 0, HoldUntil = random.Next(-1, DestageSettings.HoldUntilMax + 1),
    };

    private static TierDescription Tier(string name, ushort medium, long mebibytes, uint space) => new()
    {
        Id = new Guid((int)space, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11), FriendlyName = name, MediaTypeCode = medium, ResiliencySettingName = "Simple",
        SizeBytes = mebibytes << 20, SpaceBytes = (mebibytes + 4) << 20, DataSpace = new SpaceId(space), LogSpace = new SpaceId(space + 1),
    };

    private static SlabRef Slab(ushort disk, uint slab) => new(new DiskNumber(disk), slab);

    private static string Text(Random random) =>
        string.Concat(Enumerable.Range(0, random.Next(1, 40))
            .Select(_ => char.ConvertFromUtf32(random.Next(2) == 0 ? random.Next(32, 127) : random.Next(0x400, 0x500))));

    private static ImmutableArray<DiskNumber> Disks(Random random) =>
        [.. Enumerable.Range(0, random.Next(4)).Select(_ => new DiskNumber((ushort)random.Next(1, 99)))];

    private static StaleEntry[] Stale(Random random) =>
        [.. Enumerable.Range(0, random.Next(4)).Select(_ => new StaleEntry(random.Next(20), (ushort)random.Next(4), (ushort)random.Next(1, 65536)))];

    private static RowsMapped Rows(Random random)
    {
        int positions = random.Next(1, 5);
        RowMapping[] rows = [.. Enumerable.Range(0, random.Next(1, 5)).Select(_ => new RowMapping(
            Slabs(random, positions), random.Next(3) == 0 ? Slabs(random, positions) : null))];
        return new RowsMapped(new SpaceId((uint)random.Next(5)), random.Next(100), positions, rows);
    }

    private static SlabRef[] Slabs(Random random, int count) =>
        [.. Enumerable.Range(0, count).Select(_ => Slab((ushort)random.Next(9), (uint)random.Next(20)))];
}
