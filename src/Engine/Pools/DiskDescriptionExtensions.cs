using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;

namespace TierSpaces.Engine.Pools;

/// <summary>A disk's description in the terms of Devices.</summary>
public static class DiskDescriptionExtensions
{
    /// <summary>Kind of medium.</summary>
    public static MediaType Media(this DiskDescription disk) => (MediaType)disk.MediaTypeCode;

    /// <summary>Kind of connection.</summary>
    public static BusType Bus(this DiskDescription disk) => (BusType)disk.BusTypeCode;

    /// <summary>Whether the medium is flash or storage class memory.</summary>
    public static bool IsFlash(this DiskDescription disk) => disk.Media() is MediaType.SSD or MediaType.SCM;
}
