using System.Text.Json.Serialization;

namespace TierSpaces.Contracts;

/// <summary>Kind of a unique identifier. Numbered as in Windows.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<UniqueIdFormat>))]
public enum UniqueIdFormat
{
    /// <summary>Shown as "Vendor Specific".</summary>
    VendorSpecific = 0,

    /// <summary>Shown as "Vendor Id".</summary>
    VendorId = 1,

    /// <summary>Shown as "EUI64".</summary>
    EUI64 = 2,

    /// <summary>Shown as "FCPH Name".</summary>
    FCPHName = 3,

    /// <summary>Shown as "SCSI Name String".</summary>
    ScsiNameString = 8,
}
