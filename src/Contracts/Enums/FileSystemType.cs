using System.Text.Json.Serialization;

namespace TierSpaces.Contracts;

/// <summary>Type of a file system. Numbered as in Windows; ext4 and Btrfs, which have no documented number, by us.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<FileSystemType>))]
public enum FileSystemType
{
    /// <summary>Shown as "Unknown".</summary>
    Unknown = 0,

    /// <summary>Shown as "UFS".</summary>
    UFS = 2,

    /// <summary>Shown as "HFS".</summary>
    HFS = 3,

    /// <summary>Shown as "FAT".</summary>
    FAT = 4,

    /// <summary>Shown as "FAT16".</summary>
    FAT16 = 5,

    /// <summary>Shown as "FAT32".</summary>
    FAT32 = 6,

    /// <summary>Shown as "NTFS4".</summary>
    NTFS4 = 7,

    /// <summary>Shown as "NTFS5".</summary>
    NTFS5 = 8,

    /// <summary>Shown as "XFS".</summary>
    XFS = 9,

    /// <summary>Shown as "AFS".</summary>
    AFS = 10,

    /// <summary>Shown as "EXT2".</summary>
    EXT2 = 11,

    /// <summary>Shown as "EXT3".</summary>
    EXT3 = 12,

    /// <summary>Shown as "ReiserFS".</summary>
    ReiserFS = 13,

    /// <summary>Shown as "NTFS".</summary>
    NTFS = 14,

    /// <summary>Shown as "ReFS".</summary>
    ReFS = 15,

    /// <summary>Shown as "ext4".</summary>
    Ext4 = 33024,

    /// <summary>Shown as "Btrfs".</summary>
    Btrfs = 33025,

    /// <summary>Shown as "CSVFS_NTFS".</summary>
    CSVFS_NTFS = 32768,

    /// <summary>Shown as "CSVFS_ReFS".</summary>
    CSVFS_ReFS = 32769,
}
