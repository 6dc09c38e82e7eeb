using TierSpaces.Contracts;
using TierSpaces.Engine.Management;

namespace TierSpaces.Host.Verbs.Mapping;

/// <summary>Physical extents of the engine as the objects users see. There may be millions in a reply, so each identifier is formatted once.</summary>
internal sealed class ExtentMapping
{
    private static readonly string[] s_lost = [DisplayName.Of(OperationalStatus.LostCommunication)];
    private static readonly string[] s_degraded = [DisplayName.Of(OperationalStatus.Degraded)];
    private static readonly string[] s_ok = [DisplayName.Of(OperationalStatus.OK)];
    private static readonly string[] s_stale = ["Stale"];

    private readonly Dictionary<Guid, string> _virtualDisks = [];
    private readonly Dictionary<Guid, string> _others = [];

    /// <summary>Maps one.</summary>
    public PhysicalExtentInfo ToInfo(PhysicalExtent extent) => new()
    {
        VirtualDiskUniqueId = Known(_virtualDisks, extent.VirtualDisk, Identifiers.OfVirtualDisk),
        PhysicalDiskUniqueId = Known(_others, extent.PhysicalDisk, Identifiers.OfPoolOrDisk),
        ColumnNumber = (ushort)extent.Column,
        CopyNumber = (ushort)extent.Copy,
        VirtualDiskOffset = (ulong)extent.VirtualOffset,
        PhysicalDiskOffset = (ulong)extent.PhysicalOffset,
        Size = (ulong)extent.Size,
        StorageTierUniqueId = extent.Tier is { } tier ? Known(_others, tier, Identifiers.OfPoolOrDisk) : null,
        Flags = 0,
        OperationalStatus = extent.IsMissing ? s_lost : extent.IsStale ? s_degraded : s_ok,
        OperationalDetails = extent.IsStale ? s_stale : [],
    };

    /// <summary>Maps one of a slice.</summary>
    public PhysicalExtentInfo ToInfo(SliceExtent slice)
    {
        PhysicalExtentInfo extent = ToInfo(slice.Extent);
        return new()
        {
            Slice = new SliceExtentInfo
            {
                SliceNumber = (uint)slice.Slice,
                StorageTierFriendlyName = slice.TierName,
                StorageTierUniqueId = extent.StorageTierUniqueId ?? "",
                VirtualDiskUniqueId = extent.VirtualDiskUniqueId,
                VirtualDiskOffset = extent.VirtualDiskOffset,
                Size = extent.Size,
                ColumnNumber = extent.ColumnNumber,
                CopyNumber = extent.CopyNumber,
                PhysicalDiskFriendlyName = slice.DiskName,
                PhysicalDiskUniqueId = extent.PhysicalDiskUniqueId,
                PhysicalDiskOffset = extent.PhysicalDiskOffset,
                OperationalStatus = extent.OperationalStatus,
            },
        };
    }

    private static string Known(Dictionary<Guid, string> known, Guid id, Func<Guid, string> format)
    {
        if (!known.TryGetValue(id, out string? text))
        {
            known[id] = text = format(id);
        }

        return text;
    }
}
