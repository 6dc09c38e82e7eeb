using System.Text.Json.Serialization;

namespace TierSpaces.Contracts;

/// <summary>Kind of a drive. Numbered as in Windows.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<DriveType>))]
public enum DriveType
{
    /// <summary>Shown as "Unknown".</summary>
    Unknown = 0,

    /// <summary>Shown as "Invalid Root Path".</summary>
    InvalidRootPath = 1,

    /// <summary>Shown as "Removable".</summary>
    Removable = 2,

    /// <summary>Shown as "Fixed".</summary>
    Fixed = 3,

    /// <summary>Shown as "Remote".</summary>
    Remote = 4,

    /// <summary>Shown as "CD-ROM".</summary>
    CDROM = 5,

    /// <summary>Shown as "RAM Disk".</summary>
    RAMDisk = 6,
}
