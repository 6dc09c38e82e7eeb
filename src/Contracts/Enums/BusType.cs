using System.Text.Json.Serialization;

namespace TierSpaces.Contracts;

/// <summary>Bus that connects a disk. Numbered as in Windows.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<BusType>))]
public enum BusType
{
    /// <summary>Shown as "Unknown".</summary>
    Unknown = 0,

    /// <summary>Shown as "SCSI".</summary>
    SCSI = 1,

    /// <summary>Shown as "ATAPI".</summary>
    ATAPI = 2,

    /// <summary>Shown as "ATA".</summary>
    ATA = 3,

    /// <summary>Shown as "1394".</summary>
    FireWire = 4,

    /// <summary>Shown as "SSA".</summary>
    SSA = 5,

    /// <summary>Shown as "Fibre Channel".</summary>
    FibreChannel = 6,

    /// <summary>Shown as "USB".</summary>
    USB = 7,

    /// <summary>Shown as "RAID".</summary>
    RAID = 8,

    /// <summary>Shown as "iSCSI".</summary>
    iSCSI = 9,

    /// <summary>Shown as "SAS".</summary>
    SAS = 10,

    /// <summary>Shown as "SATA".</summary>
    SATA = 11,

    /// <summary>Shown as "SD".</summary>
    SD = 12,

    /// <summary>Shown as "MMC".</summary>
    MMC = 13,

    /// <summary>Shown as "Virtual".</summary>
    Virtual = 14,

    /// <summary>Shown as "File Backed Virtual".</summary>
    FileBackedVirtual = 15,

    /// <summary>Shown as "Storage Spaces".</summary>
    Spaces = 16,

    /// <summary>Shown as "NVMe".</summary>
    NVMe = 17,

    /// <summary>Shown as "SCM".</summary>
    SCM = 18,
}
