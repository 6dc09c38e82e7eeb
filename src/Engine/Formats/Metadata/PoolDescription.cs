using System.Collections.Immutable;

namespace TierSpaces.Engine.Formats;

/// <summary>Settings of a pool. Sizes are bytes.</summary>
public sealed record PoolDescription
{
    /// <summary>Name shown to users, 1 to 256 characters.</summary>
    public required string FriendlyName { get; init; }

    /// <summary>Shape of every slab; never changes.</summary>
    public required SlabGeometry Slabs { get; init; }

    /// <summary>Time at which the pool was made, in 100 ns ticks of UTC.</summary>
    public long CreatedUtcTicks { get; init; }

    /// <summary>Layout of a virtual disk that names none.</summary>
    public string ResiliencySettingNameDefault { get; init; } = "Mirror";

    /// <summary>Provisioning of a virtual disk that names none.</summary>
    public ProvisioningType ProvisioningTypeDefault { get; init; } = ProvisioningType.Fixed;

    /// <summary>Sector of a virtual disk that names none: 512 or 4096.</summary>
    public ushort LogicalSectorSizeDefault { get; init; } = 4096;

    /// <summary>Write cache of a virtual disk that names none; <see cref="ulong.MaxValue"/> chooses by layout.</summary>
    public ulong WriteCacheSizeDefault { get; init; } = ulong.MaxValue;

    /// <summary>Whether the write cache size is chosen by layout.</summary>
    public bool AutoWriteCacheSize { get; init; } = true;

    /// <summary>Used capacity at which thin provisioning warns, in percent.</summary>
    public byte ThinProvisioningAlertThreshold { get; init; } = 70;

    /// <summary>Whether completed writes are taken for durable (declared by the user).</summary>
    public bool IsPowerProtected { get; init; }

    /// <summary>Whether the user has made the pool read-only.</summary>
    public bool IsReadOnly { get; init; }

    /// <summary>Whether copies go to distinct enclosures unless asked otherwise.</summary>
    public bool EnclosureAwareDefault { get; init; }

    /// <summary>Level of the fault domains that hold the copies, unless a request names another.</summary>
    public FaultDomainLevel FaultDomainAwarenessDefault { get; init; } = FaultDomainLevel.PhysicalDisk;

    /// <summary>Action of the pool for a missing disk.</summary>
    public RetireMissingPhysicalDisks RetireMissingPhysicalDisks { get; init; } = RetireMissingPhysicalDisks.Auto;

    /// <summary>Most bytes of slabs that write caches of virtual disks of other pools may take here; <see cref="ulong.MaxValue"/>: no limit.</summary>
    public ulong LentWriteCacheSizeMax { get; init; } = ulong.MaxValue;

    /// <summary>Version of the format: <see cref="OldestFormat"/> to <see cref="NewestFormat"/>. It never falls.</summary>
    public ushort FormatVersion { get; init; } = OldestFormat;

    /// <summary>Whether its virtual disks are repaired one after the other, and not side by side.</summary>
    public bool RepairsInTurn { get; init; }

    /// <summary>The first version: the metadata disks of the pool vote.</summary>
    public const ushort OldestFormat = 1;

    /// <summary>
    /// The version of new pools: since 2 every member votes, since 3 the host that serves the pool holds a lease on its disks, since 4 write caches have
    /// summaries.
    /// </summary>
    public const ushort NewestFormat = 4;

    /// <summary>Whether every member votes.</summary>
    public bool MembersVote => FormatVersion >= 2;

    /// <summary>Whether the host that serves the pool holds a lease on its disks.</summary>
    public bool HasLease => FormatVersion >= 3;

    /// <summary>Whether summaries are written into the write caches on its disks.</summary>
    public bool HasCacheSummaries => FormatVersion >= 4;

    /// <summary>Defaults of each layout.</summary>
    public ImmutableArray<ResiliencyDefaults> ResiliencySettings { get; init; } = ResiliencyDefaults.Initial;

    internal void Encode(ByteWriter to)
    {
        to.Text(FriendlyName);
        to.I64(Slabs.DataBytes);
        to.I64(CreatedUtcTicks);
        to.Text(ResiliencySettingNameDefault);
        to.U8((byte)ProvisioningTypeDefault);
        to.U16(LogicalSectorSizeDefault);
        to.U64(WriteCacheSizeDefault);
        to.Bool(AutoWriteCacheSize);
        to.U8(ThinProvisioningAlertThreshold);
        to.Bool(IsPowerProtected);
        to.Bool(IsReadOnly);
        to.Bool(EnclosureAwareDefault);
        to.U8((byte)FaultDomainAwarenessDefault);
        to.U8((byte)RetireMissingPhysicalDisks);
        to.U32((uint)ResiliencySettings.Length);
        foreach (ResiliencyDefaults setting in ResiliencySettings)
        {
            setting.Encode(to);
        }

        to.U64(LentWriteCacheSizeMax);
        if (FormatVersion > OldestFormat || RepairsInTurn)
        {
            to.U16(FormatVersion);
        }

        if (RepairsInTurn)
        {
            to.Bool(RepairsInTurn);
        }
    }

    internal static PoolDescription Decode(ref ByteReader from) => new()
    {
        FriendlyName = from.Text(),
        Slabs = new SlabGeometry(from.I64()),
        CreatedUtcTicks = from.I64(),
        ResiliencySettingNameDefault = from.Text(),
        ProvisioningTypeDefault = (ProvisioningType)from.U8(),
        LogicalSectorSizeDefault = from.U16(),
        WriteCacheSizeDefault = from.U64(),
        AutoWriteCacheSize = from.Bool(),
        ThinProvisioningAlertThreshold = from.U8(),
        IsPowerProtected = from.Bool(),
        IsReadOnly = from.Bool(),
        EnclosureAwareDefault = from.Bool(),
        FaultDomainAwarenessDefault = (FaultDomainLevel)from.U8(),
        RetireMissingPhysicalDisks = (RetireMissingPhysicalDisks)from.U8(),
        ResiliencySettings = ResiliencyDefaults.DecodeAll(ref from),
        LentWriteCacheSizeMax = from.Remaining > 0 ? from.U64() : ulong.MaxValue,   // appended later
        FormatVersion = DecodeFormat(ref from),
        RepairsInTurn = from.Remaining > 0 && from.Bool(),   // appended later
    };

    private static ushort DecodeFormat(ref ByteReader from)
    {
        ushort format = from.Remaining > 0 ? from.U16() : OldestFormat;   // appended later
        if (format is < OldestFormat or > NewestFormat)
        {
            from.Fail();
        }

        return format;
    }
}

/// <summary>Defaults of one layout in one pool.</summary>
/// <param name="Name">Simple, Mirror or Parity.</param>
/// <param name="NumberOfColumnsDefault">Columns; 0 chooses by the number of disks.</param>
/// <param name="InterleaveDefault">Bytes of a strip.</param>
/// <param name="NumberOfDataCopiesDefault">Copies of the data.</param>
/// <param name="PhysicalDiskRedundancyDefault">Disks that may fail.</param>
public sealed record ResiliencyDefaults(
    string Name,
    ushort NumberOfColumnsDefault,
    uint InterleaveDefault,
    ushort NumberOfDataCopiesDefault,
    ushort PhysicalDiskRedundancyDefault)
{
    /// <summary>Defaults of a new pool.</summary>
    public static ImmutableArray<ResiliencyDefaults> Initial { get; } =
    [
        new("Simple", 0, 256 << 10, 1, 0),
        new("Mirror", 0, 256 << 10, 2, 1),
        new("Parity", 0, 256 << 10, 1, 1),
    ];

    internal void Encode(ByteWriter to)
    {
        to.Text(Name);
        to.U16(NumberOfColumnsDefault);
        to.U32(InterleaveDefault);
        to.U16(NumberOfDataCopiesDefault);
        to.U16(PhysicalDiskRedundancyDefault);
    }

    internal static ImmutableArray<ResiliencyDefaults> DecodeAll(ref ByteReader from)
    {
        int count = from.Count(12);
        ImmutableArray<ResiliencyDefaults>.Builder all = ImmutableArray.CreateBuilder<ResiliencyDefaults>(count);
        for (int i = 0; i < count && !from.Failed; i++)
        {
            all.Add(new ResiliencyDefaults(from.Text(), from.U16(), from.U32(), from.U16(), from.U16()));
        }

        return all.ToImmutable();
    }
}
