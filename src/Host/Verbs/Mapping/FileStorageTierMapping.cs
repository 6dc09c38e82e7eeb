using TierSpaces.Contracts;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;

namespace TierSpaces.Host.Verbs.Mapping;

/// <summary>A pin of the engine as the object users see.</summary>
internal static class FileStorageTierMapping
{
    /// <summary>Maps one. The fastest of several tiers is the performance class, the others are the capacity class.</summary>
    public static FileStorageTierInfo ToInfo(this PinStatus pin)
    {
        long performance = pin.BytesOn.Count > 1 ? pin.BytesOn[0] : 0;
        long capacity = pin.BytesOn.Sum() - performance;
        bool isFast = pin.Pin.Tier == 0 && pin.BytesOn.Count > 1;
        return new FileStorageTierInfo
        {
            FilePath = pin.Pin.Label,
            State = DisplayName.Of(StateOf(pin)),
            PlacementStatus = DisplayName.Of(PlacementOf(pin)),
            DesiredStorageTierName = pin.Tier.FriendlyName,
            DesiredStorageTierClass = DisplayName.Of(isFast ? StorageTierClass.Performance : StorageTierClass.Capacity),
            FileSize = (ulong)pin.Pin.Bytes,
            FileSizeOnDesiredStorageTier = (ulong)pin.BytesOnTier,
            FileSizeOnDesiredStorageTierClass = (ulong)(isFast ? performance : capacity),
            FileSizeOnPerformanceTierClass = (ulong)performance,
            FileSizeOnCapacityTierClass = (ulong)capacity,
            PinUniqueId = Identifiers.OfPoolOrDisk(pin.Pin.Id),
            VirtualDiskUniqueId = Identifiers.OfVirtualDisk(pin.VirtualDisk.Id.Value),
            Offset = pin.IsRange ? (ulong)pin.Pin.Ranges[0].Offset : null,
            Length = pin.IsRange ? (ulong)pin.Pin.Ranges[0].Length : null,
            Place = pin.IsRange ? pin.Pin.Ranges[0].InWords() : pin.Pin.Label,
        };
    }

    /// <summary>A range as messages and tables say it.</summary>
    public static string InWords(this PinnedRange range) => SizeText.Range(range.Offset, range.Length);

    private static FileStorageTierState StateOf(PinStatus pin) =>
        pin.BytesElsewhere == 0 ? FileStorageTierState.OK
        : pin.IsMoving ? FileStorageTierState.InProcess
        : FileStorageTierState.Pending;

    private static FilePlacementStatus PlacementOf(PinStatus pin) => (pin.BytesOnTier, pin.BytesElsewhere) switch
    {
        (0, 0) => FilePlacementStatus.Unknown,
        (_, 0) => FilePlacementStatus.CompletelyOnTier,
        (0, _) => FilePlacementStatus.NotOnTier,
        _ => FilePlacementStatus.PartiallyOnTier,
    };
}
