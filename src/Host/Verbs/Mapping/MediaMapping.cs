using TierSpaces.Engine.Devices;
using ContractBus = TierSpaces.Contracts.BusType;
using ContractMedia = TierSpaces.Contracts.MediaType;

namespace TierSpaces.Host.Verbs.Mapping;

/// <summary>Maps kinds of media and buses between contract and engine, one for one; a value that neither knows is "unspecified" or "unknown".</summary>
internal static class MediaMapping
{
    /// <summary>The engine's kind of medium as the contract names it.</summary>
    public static ContractMedia ToContract(this MediaType media) => media switch
    {
        MediaType.HDD => ContractMedia.HDD,
        MediaType.SSD => ContractMedia.SSD,
        MediaType.SCM => ContractMedia.SCM,
        _ => ContractMedia.Unspecified,
    };

    /// <summary>The engine's kind of bus as the contract names it.</summary>
    public static ContractBus ToContract(this BusType bus) => bus switch
    {
        BusType.SCSI => ContractBus.SCSI,
        BusType.ATAPI => ContractBus.ATAPI,
        BusType.ATA => ContractBus.ATA,
        BusType.FireWire => ContractBus.FireWire,
        BusType.SSA => ContractBus.SSA,
        BusType.FibreChannel => ContractBus.FibreChannel,
        BusType.USB => ContractBus.USB,
        BusType.RAID => ContractBus.RAID,
        BusType.iSCSI => ContractBus.iSCSI,
        BusType.SAS => ContractBus.SAS,
        BusType.SATA => ContractBus.SATA,
        BusType.SD => ContractBus.SD,
        BusType.MMC => ContractBus.MMC,
        BusType.Virtual => ContractBus.Virtual,
        BusType.FileBackedVirtual => ContractBus.FileBackedVirtual,
        BusType.Spaces => ContractBus.Spaces,
        BusType.NVMe => ContractBus.NVMe,
        BusType.SCM => ContractBus.SCM,
        _ => ContractBus.Unknown,
    };

    /// <summary>The contract's kind of medium as the engine names it.</summary>
    public static MediaType ToEngine(this ContractMedia media) => Array.Find(Enum.GetValues<MediaType>(), one => one.ToContract() == media);

    /// <summary>The contract's kind of bus as the engine names it.</summary>
    public static BusType ToEngine(this ContractBus bus) => Array.Find(Enum.GetValues<BusType>(), one => one.ToContract() == bus);
}
