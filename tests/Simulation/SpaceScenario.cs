using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Resiliency.Layouts;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Simulation;

/// <summary>One shape of space and pool to simulate.</summary>
/// <param name="Columns">Columns.</param>
/// <param name="Copies">Copies.</param>
/// <param name="Checksums">Checksums on or off.</param>
/// <param name="SectorSize">Atomic unit of the disks, 512 or 4096.</param>
/// <param name="Rows">Rows the space is long.</param>
/// <param name="IsWholePool">A virtual disk on a pool with its metadata, instead of the space alone.</param>
/// <param name="CacheBlocks">Length of the ring of a write cache in front of the space, in blocks; 0: none.</param>
public sealed record SpaceScenario(int Columns, int Copies, bool Checksums, int SectorSize, int Rows, bool IsWholePool = false, int CacheBlocks = 0)
{
    private const int SliceBytes = 256 << 10;

    private const int JoiningSlab = 1 << 20;   // of a size that requests have several strips of a column in one region

    internal const long PoolDiskBytes = 48L << 20;

    /// <summary>Every scenario that the simulator goes round.</summary>
    public static IReadOnlyList<SpaceScenario> All { get; } =
    [
        new(1, 1, true, 512, 4), new(2, 1, true, 4096, 3), new(1, 2, true, 512, 4), new(2, 2, true, 4096, 2),
        new(1, 3, true, 512, 3), new(1, 2, false, 512, 3), new(1, 3, false, 4096, 2), new(2, 1, false, 512, 2),
        new(1, 2, true, 4096, 2, IsWholePool: true), new(2, 1, true, 512, 1, IsWholePool: true), new(1, 3, true, 4096, 1, IsWholePool: true),
        new(1, 2, false, 512, 2, IsWholePool: true),
        new(1, 1, true, 512, 3, CacheBlocks: 64), new(1, 2, true, 4096, 3, CacheBlocks: 40), new(2, 2, true, 512, 2, CacheBlocks: 64),
        new(1, 3, true, 4096, 2, CacheBlocks: 32), new(1, 2, false, 512, 2, CacheBlocks: 48), new(2, 1, false, 4096, 2, CacheBlocks: 64),
        new(1, 2, true, 512, 2, IsWholePool: true, CacheBlocks: 256), new(2, 1, true, 4096, 1, IsWholePool: true, CacheBlocks: 256),
        new(1, 1, true, 512, 0, IsWholePool: true) { TierSlices = [3, 5] }, new(1, 2, true, 4096, 0, IsWholePool: true) { TierSlices = [2, 4] },
        new(2, 1, false, 4096, 0, IsWholePool: true) { TierSlices = [3, 3] },
        new(1, 2, true, 512, 0, IsWholePool: true, CacheBlocks: 256) { TierSlices = [2, 4] },
        new(1, 2, true, 512, 2, IsWholePool: true, CacheBlocks: 256) { CachePoolDisks = 3 },
        new(1, 2, true, 4096, 2, IsWholePool: true) { ExchangesMembers = true }, new(1, 2, false, 512, 2, IsWholePool: true) { ExchangesMembers = true },
        new(1, 2, false, 512, 2, IsWholePool: true) { DisksReturn = true }, new(1, 3, false, 4096, 1, IsWholePool: true) { DisksReturn = true },
        new(1, 2, false, 4096, 0, IsWholePool: true) { TierSlices = [2, 4], DisksReturn = true },
        new(1, 2, true, 512, 2, IsWholePool: true) { LogicalSectorSize = 512, RequestUnit = 512 },
        new(1, 2, true, 4096, 1, IsWholePool: true, CacheBlocks: 256) { LogicalSectorSize = 512, RequestUnit = 512 },
        new(2, 1, false, 4096, 0, IsWholePool: true) { TierSlices = [2, 3], LogicalSectorSize = 512, RequestUnit = 512 },
        new(3, 1, true, 512, 2) { Parities = 1 }, new(5, 1, true, 4096, 1) { Parities = 2 },
        new(3, 1, true, 512, 2, IsWholePool: true) { Parities = 1 }, new(4, 1, true, 4096, 1, IsWholePool: true, CacheBlocks: 256) { Parities = 2 },
        new(3, 1, true, 512, 0, IsWholePool: true) { TierSlices = [2, 5], Parities = 1 },
        new(3, 1, true, 512, 2, IsWholePool: true, CacheBlocks: 256) { Parities = 1, HasNoJournals = true },
        new(1, 2, false, 512, 3, IsWholePool: true) { Members = 4, Neighbor = new(1, 2, true, 512, 2, IsWholePool: true) },
        new(3, 1, true, 4096, 1, IsWholePool: true) { Parities = 1, Members = 7, Neighbor = new(2, 2, false, 4096, 1, IsWholePool: true) },
        new(1, 2, true, 512, 2, IsWholePool: true, CacheBlocks: 256)
        {
            CachePoolDisks = 3, Members = 3, Neighbor = new(1, 2, false, 512, 2, IsWholePool: true),
        },
        new(1, 3, false, 4096, 2, IsWholePool: true) { Members = 8, Neighbor = new(2, 2, true, 4096, 1, IsWholePool: true) },
        new(1, 2, true, 512, 3, IsWholePool: true) { Members = 3, Neighbor = new(1, 2, true, 512, 2, IsWholePool: true) },
        new(4, 1, true, 512, 1, IsWholePool: true) { Parities = 2, Members = 6, Neighbor = new(1, 2, true, 512, 3, IsWholePool: true) },
        new(1, 2, true, 4096, 2, IsWholePool: true) { RequestUnit = 512 }, new(1, 2, false, 512, 2, IsWholePool: true) { RequestUnit = 512 },
        new(1, 2, true, 512, 1, IsWholePool: true, CacheBlocks: 256) { RequestUnit = 512 },
        new(1, 2, true, 4096, 0, IsWholePool: true) { TierSlices = [2, 3], RequestUnit = 512 },
        new(3, 1, true, 512, 2, IsWholePool: true) { Parities = 1, RequestUnit = 512 },
        new(2, 2, true, 512, 1) { SlabSize = JoiningSlab }, new(2, 1, false, 4096, 1) { SlabSize = JoiningSlab },
        new(3, 2, true, 4096, 1, CacheBlocks: 64) { SlabSize = JoiningSlab },
        new(1, 2, true, 512, 0, IsWholePool: true) { TierSlices = [24, 8], ScattersWrites = true },
        new(1, 1, true, 512, 2) { MeetsFaultPairs = true }, new(1, 2, true, 512, 2) { MeetsFaultPairs = true },
        new(2, 2, true, 4096, 1) { MeetsFaultPairs = true }, new(1, 3, true, 512, 2) { MeetsFaultPairs = true },
        new(3, 1, true, 512, 1) { Parities = 1, MeetsFaultPairs = true }, new(5, 1, true, 512, 1) { Parities = 2, MeetsFaultPairs = true },
        new(1, 2, true, 512, 2, CacheBlocks: 64) { MeetsFaultPairs = true }, new(3, 1, true, 512, 1, CacheBlocks: 64) { Parities = 1, MeetsFaultPairs = true },
        new(1, 2, true, 512, 1, IsWholePool: true) { MeetsFaultPairs = true },
        new(1, 2, true, 512, 0, IsWholePool: true) { TierSlices = [1, 3], MeetsFaultPairs = true },
        new(3, 1, true, 512, 0, IsWholePool: true) { TierSlices = [1, 3], Parities = 1, MeetsFaultPairs = true },
        new(1, 2, true, 512, 0, IsWholePool: true, CacheBlocks: 256) { TierSlices = [1, 3], MeetsFaultPairs = true },
    ];

    /// <summary>Scenarios that lose one disk more than they can do without; they are tests of their own.</summary>
    public static IReadOnlyList<SpaceScenario> Losses { get; } =
    [
        new(3, 1, true, 512, 3, IsWholePool: true) { Parities = 1, Members = 6, LosesTooMany = true },
        new(4, 1, true, 4096, 2, IsWholePool: true) { Parities = 2, Members = 8, LosesTooMany = true },
        new(5, 1, true, 4096, 2, IsWholePool: true) { Parities = 1, Members = 8, LosesTooMany = true },
        new(1, 2, true, 512, 3, IsWholePool: true) { Members = 6, LosesTooMany = true },
        new(2, 2, false, 4096, 2, IsWholePool: true) { Members = 6, LosesTooMany = true },
    ];

    /// <summary>
    /// A second virtual disk of the pool; each of the two is on a lane of its own (<see cref="LaneSimulation"/>). Null: there is one virtual disk.
    /// </summary>
    public SpaceScenario? Neighbor { get; init; }

    /// <summary>Disks of the pool; 0: as many as the virtual disk needs.</summary>
    public int Members { get; init; }

    /// <summary>Columns of parity among its columns.</summary>
    public int Parities { get; init; }

    /// <summary>Copies of the write cache.</summary>
    public int CacheCopies => Math.Max(Copies, Parities + 1);

    /// <summary>Disks that a space which was recovered can do without.</summary>
    public int Redundancy => Copies - 1 + Parities;

    /// <summary>Whether the write cache is on the disks of the data.</summary>
    public bool HasNoJournals { get; init; }

    /// <summary>Slices of each tier, fastest first; empty: no tiers.</summary>
    public int[] TierSlices { get; init; } = [];

    /// <summary>
    /// Whether many first writes go to different windows of slices at once: the metadata disks rotate then, so that the places of several windows are
    /// entered with one commit.
    /// </summary>
    public bool ScattersWrites { get; init; }

    /// <summary>Disks of a second pool, the remote cache pool of the write cache; 0: the cache is in the pool of the data.</summary>
    public int CachePoolDisks { get; init; }

    /// <summary>Whether its disks are exchanged over several starts of the host (<see cref="MemberSimulation"/>), instead of crashes at every point.</summary>
    public bool ExchangesMembers { get; init; }

    /// <summary>Whether its disks leave and return while the pool records slowly what they missed (<see cref="JoinSimulation"/>).</summary>
    public bool DisksReturn { get; init; }

    /// <summary>Whether one disk more leaves than it can do without, before the first ones are whole again (<see cref="LossSimulation"/>).</summary>
    public bool LosesTooMany { get; init; }

    /// <summary>Whether damage meets stops and disks that are away (<see cref="FaultPairSimulation"/>), instead of crashes at every point.</summary>
    public bool MeetsFaultPairs { get; init; }

    /// <summary>Sector of the virtual disk of a whole pool, in bytes: 512 or 4096.</summary>
    public int LogicalSectorSize { get; init; } = 4096;

    /// <summary>
    /// Unit of the requests, in bytes: 512 is less than a sector where those have 4096. Where it is smaller than a block, the virtual
    /// disk reads and writes the rest of the block.
    /// </summary>
    public int RequestUnit { get; init; } = 4096;

    /// <summary>Slots of each half of the first-write journal of a space alone.</summary>
    public int JournalSlots { get; init; } = 3 * 512;

    /// <summary>The same with a first-write journal that takes the largest piece of a write and no more.</summary>
    public SpaceScenario WithShortJournal() => this with { JournalSlots = 3 * (Parities > 0 ? Shape.Interleave * Columns : Shape.RegionSize) / 4096 };

    /// <summary>Checksum pages in memory: few, so that they come and go.</summary>
    public int CachedPagesMax { get; init; } = 3;

    /// <summary>Blocks of the ring of a write cache after which a summary is written.</summary>
    public int SummaryBlocks { get; init; } = 4096;

    /// <summary>The same with a few blocks for some seeds, so that a ring has several summaries.</summary>
    public SpaceScenario WithSummaries(ulong seed) => this with { SummaryBlocks = (seed % 5) switch { 0 => 8, 1 => 24, 2 => 60, _ => SummaryBlocks } };

    /// <summary>Bytes of a slab of a space alone.</summary>
    public int SlabSize { get; init; } = 256 << 10;

    /// <summary>Layout of a space alone, in small units so that one world has many regions, pages and rows; slabs of a pool are 1 MiB.</summary>
    public SpaceShape Shape =>
        IsWholePool ? new(Columns, Copies, 64 << 10, 1 << 20, Checksums, Parities) : new(Columns, Copies, 16 << 10, SlabSize, Checksums, Parities);

    /// <summary>Disks: one more than a row needs, at least two; in a pool as many as leave a majority when one is gone.</summary>
    public int Disks => Members > 0 ? Members : Math.Max(IsWholePool ? 3 : 2, Shape.Positions + 1) + (HasJournals ? CacheCopies : 0);

    private bool HasJournals => IsWholePool && CacheBlocks > 0 && CachePoolDisks == 0 && !HasNoJournals;

    /// <summary>Length of the space in bytes.</summary>
    public long Length => TierSlices.Length > 0 ? TierSlices.Sum() * (long)SliceBytes : Rows * Shape.RowSize;

    /// <summary>Disks before their first use.</summary>
    public ISimWorld NewWorld(ulong seed) => IsWholePool
        ? PoolWorld.New(Disks, PoolDiskBytes, SectorSize, seed, Spec(seed), CachePoolDisks, HasNoJournals, HasDataLane(seed), Rotates(seed),
            FirstWriteWindow(seed), SummaryBlocks)
        : SpaceWorld.New(this, seed);

    /// <summary>Whether the virtual disk is on a lane of its own; else on the lane of its pool.</summary>
    public static bool HasDataLane(ulong seed) => seed % 2 == 1;

    private bool Rotates(ulong seed) => ScattersWrites || (TierSlices.Length > 0 && seed % 4 < 2);

    /// <summary>All slices of a disk, or a part of them, so that the places of several windows are entered side by side.</summary>
    private static int FirstWriteWindow(ulong seed) => (seed / 4 % 3) switch { 0 => 2, 1 => 4, _ => 64 };

    /// <summary>The virtual disk of a scenario with a whole pool.</summary>
    public VirtualDiskDescription Spec(ulong seed) => new()
    {
        FriendlyName = "d",
        ResiliencySettingName = Parities > 0 ? "Parity" : Copies == 1 ? "Simple" : "Mirror",
        SizeBytes = Length,
        NumberOfColumns = (ushort)Columns,
        NumberOfDataCopies = (ushort)Copies,
        PhysicalDiskRedundancy = (ushort)Redundancy,
        Interleave = (uint)Shape.Interleave,
        LogicalSectorSize = (ushort)LogicalSectorSize,
        ProvisioningType = seed % 3 == 0 ? ProvisioningType.Fixed : ProvisioningType.Thin,
        Checksum = Checksums ? ChecksumKind.CRC32C : ChecksumKind.None,
        WriteCacheSize = CacheBlocks * 4096L,
        Destage = new DestageSettings { IdleNs = 200_000_000 },
        SliceSize = SliceBytes,
        Tiers = [.. TierSlices.Select((slices, tier) => new TierDescription
        {
            FriendlyName = $"t{tier}",
            MediaTypeCode = 0,
            ResiliencySettingName = Parities > 0 && tier > 0 ? "Parity" : Copies + Parities == 1 ? "Simple" : "Mirror",
            SizeBytes = slices * (long)SliceBytes,
            NumberOfColumns = (ushort)((tier == 0) == (Parities > 0) ? 1 : Columns),   // tiers need not be cut alike
            NumberOfDataCopies = (ushort)(tier == 0 ? Copies + Parities : Copies),
            PhysicalDiskRedundancy = (ushort)Redundancy,
            Interleave = (uint)Shape.Interleave,
        })],
    };
}
