using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;

namespace TierSpaces.Engine.VirtualDisks;

/// <summary>A tier of a virtual disk to be made; every value is decided and checked by the caller.</summary>
public sealed record NewTierSpec
{
    /// <summary>Name shown to users.</summary>
    public required string FriendlyName { get; init; }

    /// <summary>Words of the user, or empty.</summary>
    public string Description { get; init; } = "";

    /// <summary>Its medium, numbered as in Windows: 3 HDD, 4 SSD, 5 SCM; 0: any.</summary>
    public required ushort MediaTypeCode { get; init; }

    /// <summary>Kind of medium.</summary>
    public MediaType Media() => MediaCode.Of(MediaTypeCode);

    /// <summary>Simple or Mirror.</summary>
    public required string ResiliencySettingName { get; init; }

    /// <summary>Size in bytes, a multiple of the slice size.</summary>
    public required long SizeBytes { get; init; }

    /// <summary>Columns, 1 to 64.</summary>
    public required int NumberOfColumns { get; init; }

    /// <summary>Copies: 1 for Simple, 2 or 3 for Mirror.</summary>
    public required int NumberOfDataCopies { get; init; }

    /// <summary>Bytes of a strip.</summary>
    public required int Interleave { get; init; }

    /// <summary>How far apart copies are kept.</summary>
    public FaultDomainLevel FaultDomainAwareness { get; init; } = FaultDomainLevel.PhysicalDisk;
}
