using TierSpaces.Contracts;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.VirtualDisks;
using TierDescription = TierSpaces.Engine.Formats.TierDescription;

namespace TierSpaces.Host.Verbs.Mapping;

/// <summary>A resiliency setting of a pool, with the ranges its verbs accept.</summary>
/// <param name="Pool">The pool.</param>
/// <param name="Setting">The setting.</param>
internal sealed record ResiliencyTarget(StoragePoolStatus Pool, ResiliencyDefaults Setting)
{
    /// <summary>Smallest strip in bytes.</summary>
    public const uint InterleaveMin = 16 << 10;

    /// <summary>Most columns.</summary>
    public const ushort ColumnsMax = 64;

    /// <summary>Largest strip in bytes that this pool takes.</summary>
    public uint InterleaveMax => (uint)VirtualDiskLayout.InterleaveMax(Pool.Description.Slabs, Setting.Name == TierDescription.ParityName);

    /// <summary>Fewest columns: with parity two of data beside it.</summary>
    public ushort ColumnsMin => (ushort)(Setting.Name == TierDescription.ParityName ? 3 : 1);

    /// <summary>Unique identifier: the pool's and the name.</summary>
    public string UniqueId => $"{Identifiers.OfPoolOrDisk(Pool.UniqueId)}:{Setting.Name}";

    /// <summary>Fewest and most copies.</summary>
    public (ushort Min, ushort Max) Copies => Setting.Name == "Mirror" ? ((ushort)2, (ushort)3) : ((ushort)1, (ushort)1);

    /// <summary>Fewest and most disks that may fail.</summary>
    public (ushort Min, ushort Max) Redundancy => Setting.Name == "Simple" ? ((ushort)0, (ushort)0) : ((ushort)1, (ushort)2);

    /// <summary>Maps it.</summary>
    public ResiliencySettingInfo ToInfo() => new()
    {
        Name = Setting.Name,
        UniqueId = UniqueId,
        ObjectId = Identifiers.ObjectId("MSFT_ResiliencySetting", UniqueId),
        Description = $"{Setting.Name} in storage pool {Pool.Description.FriendlyName}",
        NumberOfDataCopiesMin = Copies.Min,
        NumberOfDataCopiesMax = Copies.Max,
        NumberOfDataCopiesDefault = Setting.NumberOfDataCopiesDefault,
        PhysicalDiskRedundancyMin = Redundancy.Min,
        PhysicalDiskRedundancyMax = Redundancy.Max,
        PhysicalDiskRedundancyDefault = Setting.PhysicalDiskRedundancyDefault,
        NumberOfColumnsMin = ColumnsMin,
        NumberOfColumnsMax = ColumnsMax,
        NumberOfColumnsDefault = Setting.NumberOfColumnsDefault == 0 ? null : Setting.NumberOfColumnsDefault,
        InterleaveMin = InterleaveMin,
        InterleaveMax = InterleaveMax,
        InterleaveDefault = Setting.InterleaveDefault,
        ParityLayout = Setting.Name == TierDescription.ParityName ? DisplayName.Of(ParityLayout.RotatedParity) : null,
        RequestNoSinglePointOfFailure = Setting.Name != "Simple",
        NumberOfGroupsDefault = 1,
        NumberOfGroupsMin = 1,
        NumberOfGroupsMax = 1,
    };
}
