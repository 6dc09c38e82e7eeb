using System.Numerics;

namespace TierSpaces.Engine.Formats;

/// <summary>
/// Template of a tier, which a pool remembers under a name. Settings that the template leaves open are decided when a virtual disk is made of it.
/// </summary>
public sealed record TierTemplate
{
    /// <summary>Most columns.</summary>
    public const int MaxColumns = 64;

    /// <summary>Most copies.</summary>
    public const int MaxCopies = 3;

    /// <summary>The use of a tier that holds data.</summary>
    public const ushort UsageData = 1;

    /// <summary>Most characters of the description.</summary>
    public const int MaxDescriptionLength = 1024;

    private const int MaxNameLength = 256;
    private const uint SmallestInterleave = 16 << 10;
    private const uint LargestInterleave = 16 << 20;

    /// <summary>Identity.</summary>
    public required Guid Id { get; init; }

    /// <summary>Name shown to users, 1 to 256 characters.</summary>
    public required string FriendlyName { get; init; }

    /// <summary>Kind of medium, as Windows numbers it; 0 for any.</summary>
    public ushort MediaTypeCode { get; init; }

    /// <summary>Simple, Mirror or Parity; empty: open, and so are copies and redundancy.</summary>
    public string ResiliencySettingName { get; init; } = "";

    /// <summary>Columns; 0: as many as the disks allow.</summary>
    public ushort NumberOfColumns { get; init; }

    /// <summary>Copies of the data; 0: open.</summary>
    public ushort NumberOfDataCopies { get; init; }

    /// <summary>Disks that may fail; means nothing while the copies are open.</summary>
    public ushort PhysicalDiskRedundancy { get; init; }

    /// <summary>Bytes of a strip, a power of two; 0: open.</summary>
    public uint Interleave { get; init; }

    /// <summary>Level of the fault domains that hold the copies.</summary>
    public FaultDomainLevel FaultDomainAwareness { get; init; } = FaultDomainLevel.PhysicalDisk;

    /// <summary>Level of the fault domains that no two columns share.</summary>
    public FaultDomainLevel ColumnIsolation { get; init; } = FaultDomainLevel.PhysicalDisk;

    /// <summary>Use, as Windows numbers it: 1 for data.</summary>
    public ushort Usage { get; init; } = UsageData;

    /// <summary>Text of the user, at most 1024 characters.</summary>
    public string Description { get; init; } = "";

    /// <summary>Time at which rows get their slabs: at creation or on first write; null: open.</summary>
    public ProvisioningType? ProvisioningType { get; init; }

    /// <summary>Whether a tier could be made of it in some pool.</summary>
    public bool IsPossible =>
        FriendlyName.Length is >= 1 and <= MaxNameLength && Description.Length <= MaxDescriptionLength
        && NumberOfColumns <= MaxColumns && NumberOfDataCopies <= MaxCopies && (ResiliencySettingName.Length > 0) == (NumberOfDataCopies > 0)
        && (Interleave == 0 || (BitOperations.IsPow2(Interleave) && Interleave is >= SmallestInterleave and <= LargestInterleave))
        && Enum.IsDefined(FaultDomainAwareness) && Enum.IsDefined(ColumnIsolation)
        && (ProvisioningType is null || Enum.IsDefined(ProvisioningType.Value));

    internal void Encode(ByteWriter to)
    {
        to.Guid(Id);
        to.Text(FriendlyName);
        to.U16(MediaTypeCode);
        to.Text(ResiliencySettingName);
        to.U16(NumberOfColumns);
        to.U16(NumberOfDataCopies);
        to.U16(PhysicalDiskRedundancy);
        to.U32(Interleave);
        to.U8(FaultDomainByte.Of(FaultDomainAwareness, ColumnIsolation));
        to.U16(Usage);
        to.Text(Description);
        to.U8((byte)(ProvisioningType ?? 0));
    }

    internal static TierTemplate Decode(ref ByteReader from) => new TierTemplate
    {
        Id = from.Guid(),
        FriendlyName = from.Text(),
        MediaTypeCode = from.U16(),
        ResiliencySettingName = from.Text(),
        NumberOfColumns = from.U16(),
        NumberOfDataCopies = from.U16(),
        PhysicalDiskRedundancy = from.U16(),
        Interleave = from.U32(),
        FaultDomainAwareness = (FaultDomainLevel)from.U8(),   // both levels, until Split
        Usage = from.U16(),
        Description = from.Text(),
        ProvisioningType = from.U8() is > 0 and var type ? (ProvisioningType)type : null,
    }.Split();

    private TierTemplate Split()
    {
        byte both = (byte)FaultDomainAwareness;
        return this with { FaultDomainAwareness = FaultDomainByte.Awareness(both), ColumnIsolation = FaultDomainByte.Isolation(both) };
    }
}
