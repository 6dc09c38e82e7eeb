using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;

namespace TierSpaces.Engine.Pools;

/// <summary>Reads the numbers by which pool metadata names media and buses. A number that this release does not know is read as "unspecified".</summary>
public static class MediaCode
{
    /// <summary>Kind of medium of a number.</summary>
    public static MediaType Of(ushort code) => Enum.IsDefined((MediaType)code) ? (MediaType)code : MediaType.Unspecified;

    /// <summary>Kind of bus of a number.</summary>
    public static BusType BusOf(ushort code) => Enum.IsDefined((BusType)code) ? (BusType)code : BusType.Unknown;

    /// <summary>Kind of medium of a disk.</summary>
    public static MediaType Media(this DiskDescription disk) => Of(disk.MediaTypeCode);

    /// <summary>Kind of medium that a tier is stored on.</summary>
    public static MediaType Media(this TierDescription tier) => Of(tier.MediaTypeCode);

    /// <summary>Kind of medium that a tier template asks for.</summary>
    public static MediaType Media(this TierTemplate template) => Of(template.MediaTypeCode);

    /// <summary>Kind of connection.</summary>
    public static BusType Bus(this DiskDescription disk) => BusOf(disk.BusTypeCode);

    /// <summary>Whether the medium is flash or storage class memory.</summary>
    public static bool IsFlash(this DiskDescription disk) => disk.Media() is MediaType.SSD or MediaType.SCM;
}
