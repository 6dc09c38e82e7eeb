using System.Collections.Immutable;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Formats;

/// <summary>
/// A virtual disk in the metadata of its pool, or in a plan before it is created. In a plan, identity, spaces, redundancy and time of creation are not set yet.
/// Sizes are bytes.
/// </summary>
public sealed record VirtualDiskDescription
{
    /// <summary>Identity; none before it is created.</summary>
    public VirtualDiskId Id { get; init; }

    /// <summary>Name shown to users, 1 to 256 characters.</summary>
    public required string FriendlyName { get; init; }

    /// <summary>Simple, Mirror or Parity.</summary>
    public required string ResiliencySettingName { get; init; }

    /// <summary>Size clients see.</summary>
    public required long SizeBytes { get; init; }

    /// <summary>Columns.</summary>
    public ushort NumberOfColumns { get; init; } = 1;

    /// <summary>Copies of the data.</summary>
    public ushort NumberOfDataCopies { get; init; } = 1;

    /// <summary>Disks that may fail.</summary>
    public ushort PhysicalDiskRedundancy { get; init; }

    /// <summary>Bytes of a strip.</summary>
    public uint Interleave { get; init; } = 256 << 10;

    /// <summary>Sector clients address: 512 or 4096.</summary>
    public ushort LogicalSectorSize { get; init; } = 4096;

    /// <summary>Sector clients should align to: 512 or 4096.</summary>
    public ushort PhysicalSectorSize { get; init; } = 4096;

    /// <summary>Time at which rows get their slabs: at creation or on first write.</summary>
    public ProvisioningType ProvisioningType { get; init; } = ProvisioningType.Fixed;

    /// <summary>Method by which blocks are verified.</summary>
    public ChecksumKind Checksum { get; init; } = ChecksumKind.CRC32C;

    /// <summary>Kind of medium asked for, as Windows numbers it; 0 for any.</summary>
    public ushort MediaTypeCode { get; init; }

    /// <summary>Level of the fault domains that hold the copies.</summary>
    public FaultDomainLevel FaultDomainAwareness { get; init; } = FaultDomainLevel.PhysicalDisk;

    /// <summary>Level of the fault domains that no two columns share.</summary>
    public FaultDomainLevel ColumnIsolation { get; init; } = FaultDomainLevel.PhysicalDisk;

    /// <summary>The only disks it may use; empty for all.</summary>
    public ImmutableArray<DiskNumber> AllowedDisks { get; init; } = [];

    /// <summary>Size of one copy of its write cache in bytes, whole slabs; 0: none.</summary>
    public long WriteCacheSize { get; init; }

    /// <summary>Whether it waits for a user to connect it.</summary>
    public bool IsManualAttach { get; init; }

    /// <summary>Whether it is to be connected: survives restarts.</summary>
    public bool IsConnected { get; init; }

    /// <summary>Whether writes are refused.</summary>
    public bool IsReadOnly { get; init; }

    /// <summary>Set from creation until every row it needs is there; a virtual disk found so at open is removed.</summary>
    public bool IsBeingCreated { get; init; }

    /// <summary>Use, as Windows numbers it.</summary>
    public ushort Usage { get; init; } = 1;

    /// <summary>Use in words of the user, or empty.</summary>
    public string OtherUsageDescription { get; init; } = "";

    /// <summary>Time at which the virtual disk was made, in 100 ns ticks of UTC.</summary>
    public long CreatedUtcTicks { get; init; }

    /// <summary>Space of its data.</summary>
    public SpaceId DataSpace { get; init; }

    /// <summary>Space of its integrity log.</summary>
    public SpaceId LogSpace { get; init; }

    /// <summary>Space of its write cache; none without one.</summary>
    public SpaceId CacheSpace { get; init; }

    /// <summary>
    /// Pool that its write cache is in, or was when it had one last, where that is another one than its own; none: its own. <see cref="CacheSpace"/> is a
    /// space of that pool.
    /// </summary>
    public PoolId CachePool { get; init; }

    /// <summary>Whether its write cache is, or would be, in another pool.</summary>
    public bool IsCacheElsewhere => CachePool != PoolId.None;

    /// <summary>Conditions and rate at which its write cache is destaged.</summary>
    public DestageSettings Destage { get; init; } = DestageSettings.Default;

    /// <summary>Its tiers, the fastest first; empty for a disk that is not tiered.</summary>
    public ImmutableArray<TierDescription> Tiers { get; init; } = [];

    /// <summary>Bytes of a slice of a tiered disk, a power of two.</summary>
    public uint SliceSize { get; init; } = 1 << 20;

    /// <summary>Conditions for slices to move between its tiers.</summary>
    public TierSettings TierSettings { get; init; } = TierSettings.Default;

    /// <summary>Whether it has tiers.</summary>
    public bool IsTiered => !Tiers.IsDefaultOrEmpty;

    /// <summary>Returns the number of tiers that are faster than the one with a number; −1: there is no such tier.</summary>
    public int RankOf(int number) => Tiers.IsDefault ? -1 : Tiers.ToList().FindIndex(tier => tier.Number == number);

    /// <summary>The part with a number; null: there is none.</summary>
    public TierDescription? Part(int number) => Parts.FirstOrDefault(part => part.Number == number);

    /// <summary>Parts of its data: its tiers, or the one part of a disk without tiers.</summary>
    public ImmutableArray<TierDescription> Parts => IsTiered ? Tiers : [Whole];

    /// <summary>Every space that it has in its own pool: data and logs of its parts, and its write cache unless that is elsewhere.</summary>
    public IEnumerable<SpaceId> Spaces => Parts.SelectMany(static part => new[] { part.DataSpace, part.LogSpace })
        .Append(IsCacheElsewhere ? SpaceId.None : CacheSpace).Where(static space => space != SpaceId.None);

    /// <summary>Copies of its write cache: as many as the part with the most redundancy needs.</summary>
    public ushort CacheCopies => Parts.Max(static part => part.RingCopies);

    private TierDescription Whole => new()
    {
        Id = Id.Value,
        FriendlyName = FriendlyName,
        MediaTypeCode = MediaTypeCode,
        ResiliencySettingName = ResiliencySettingName,
        NumberOfColumns = NumberOfColumns,
        NumberOfDataCopies = NumberOfDataCopies,
        PhysicalDiskRedundancy = PhysicalDiskRedundancy,
        Interleave = Interleave,
        FaultDomainAwareness = FaultDomainAwareness,
        ColumnIsolation = ColumnIsolation,
        SizeBytes = SizeBytes,
        SpaceBytes = SizeBytes,
        DataSpace = DataSpace,
        LogSpace = LogSpace,
    };

    internal void Encode(ByteWriter to)
    {
        to.Guid(Id.Value);
        to.Text(FriendlyName);
        to.Text(ResiliencySettingName);
        to.I64(SizeBytes);
        to.U16(NumberOfColumns);
        to.U16(NumberOfDataCopies);
        to.U16(PhysicalDiskRedundancy);
        to.U32(Interleave);
        to.U16(LogicalSectorSize);
        to.U16(PhysicalSectorSize);
        to.U8((byte)ProvisioningType);
        to.U8((byte)Checksum);
        to.U16(MediaTypeCode);
        to.U8(FaultDomainByte.Of(FaultDomainAwareness, ColumnIsolation));
        to.U32((uint)AllowedDisks.Length);
        foreach (DiskNumber disk in AllowedDisks)
        {
            to.U16(disk.Value);
        }

        to.I64(WriteCacheSize);
        to.Bool(IsManualAttach);
        to.Bool(IsConnected);
        to.Bool(IsReadOnly);
        to.Bool(IsBeingCreated);
        to.U16(Usage);
        to.Text(OtherUsageDescription);
        to.I64(CreatedUtcTicks);
        to.U32(DataSpace.Value);
        to.U32(LogSpace.Value);
        to.U32(CacheSpace.Value);
        Destage.Encode(to);
        to.U32(SliceSize);
        to.U32((uint)Tiers.Length);
        foreach (TierDescription tier in Tiers.OrderBy(static tier => tier.Number))
        {
            tier.Encode(to);
        }

        TierSettings.Encode(to);
        if (IsCacheElsewhere)
        {
            to.Guid(CachePool.Value);
        }
    }

    internal static VirtualDiskDescription Decode(ref ByteReader from) => new VirtualDiskDescription
    {
        Id = new VirtualDiskId(from.Guid()),
        FriendlyName = from.Text(),
        ResiliencySettingName = from.Text(),
        SizeBytes = from.I64(),
        NumberOfColumns = from.U16(),
        NumberOfDataCopies = from.U16(),
        PhysicalDiskRedundancy = from.U16(),
        Interleave = from.U32(),
        LogicalSectorSize = from.U16(),
        PhysicalSectorSize = from.U16(),
        ProvisioningType = (ProvisioningType)from.U8(),
        Checksum = (ChecksumKind)from.U8(),
        MediaTypeCode = from.U16(),
        FaultDomainAwareness = (FaultDomainLevel)from.U8(),   // both levels, until Split
        AllowedDisks = DecodeDisks(ref from),
        WriteCacheSize = from.I64(),
        IsManualAttach = from.Bool(),
        IsConnected = from.Bool(),
        IsReadOnly = from.Bool(),
        IsBeingCreated = from.Bool(),
        Usage = from.U16(),
        OtherUsageDescription = from.Text(),
        CreatedUtcTicks = from.I64(),
        DataSpace = new SpaceId(from.U32()),
        LogSpace = new SpaceId(from.U32()),
        CacheSpace = from.Remaining > 0 ? new SpaceId(from.U32()) : SpaceId.None,   // appended later, as is what follows
        Destage = from.Remaining > 0 ? DestageSettings.Decode(ref from) : DestageSettings.Default,
        SliceSize = from.Remaining > 0 ? from.U32() : 1 << 20,
        Tiers = from.Remaining > 0 ? DecodeTiers(ref from) : [],
        TierSettings = from.Remaining > 0 ? TierSettings.Decode(ref from) : TierSettings.Default,
        CachePool = from.Remaining > 0 ? new PoolId(from.Guid()) : PoolId.None,
    }.Split();

    private VirtualDiskDescription Split()
    {
        byte both = (byte)FaultDomainAwareness;
        return this with { FaultDomainAwareness = FaultDomainByte.Awareness(both), ColumnIsolation = FaultDomainByte.Isolation(both) };
    }

    private static ImmutableArray<TierDescription> DecodeTiers(ref ByteReader from)
    {
        int count = from.Count(TierDescription.BytesMin);
        ImmutableArray<TierDescription>.Builder tiers = ImmutableArray.CreateBuilder<TierDescription>(count);
        for (int i = 0; i < count; i++)
        {
            tiers.Add(TierDescription.Decode(ref from, i));
        }

        return [.. tiers.OrderByDescending(static tier => tier.MediaTypeCode)];
    }

    private static ImmutableArray<DiskNumber> DecodeDisks(ref ByteReader from)
    {
        int count = from.Count(2);
        ImmutableArray<DiskNumber>.Builder disks = ImmutableArray.CreateBuilder<DiskNumber>(count);
        for (int i = 0; i < count; i++)
        {
            disks.Add(new DiskNumber(from.U16()));
        }

        return disks.MoveToImmutable();
    }
}
