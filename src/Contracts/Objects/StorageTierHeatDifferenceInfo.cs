namespace TierSpaces.Contracts;

/// <summary>A slice whose heat differs between two files: what Compare-StorageTierHeatMap returns.</summary>
[WindowsClass("TierSpaces_StorageTierHeatDifference", "Offset", "Length:bytes", "HeatBefore", "HeatAfter", "Change")]
public sealed record StorageTierHeatDifferenceInfo
{
    /// <summary>Its number, from 0.</summary>
    public uint Slice { get; init; }

    /// <summary>Its first byte in the virtual disk.</summary>
    public ulong Offset { get; init; }

    /// <summary>In bytes.</summary>
    public ulong Length { get; init; }

    /// <summary>Heat in the earlier file, when that was written.</summary>
    public double HeatBefore { get; init; }

    /// <summary>Heat in the later file, when that was written, counted with the half-life of the earlier one.</summary>
    public double HeatAfter { get; init; }

    /// <summary>Heat that was added; negative where the slice has cooled.</summary>
    public double Change { get; init; }
}
