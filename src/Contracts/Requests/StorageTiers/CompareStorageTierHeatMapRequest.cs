namespace TierSpaces.Contracts;

/// <summary>Compares two files with the heat of virtual disks.</summary>
[Verb(
    "Compare-StorageTierHeatMap", "Compares two files that Export-StorageTierHeatMap wrote: the slices whose heat has changed most.", IsOurs = true)]
public sealed record CompareStorageTierHeatMapRequest : StorageRequest<StorageTierHeatDifferenceInfo>
{
    [VerbParameter("The earlier file.", Required = true, Position = 0, Kind = ParameterKind.Path)]
    public string? ReferencePath { get; init; }

    [VerbParameter("The later file.", Required = true, Position = 1, Kind = ParameterKind.Path)]
    public string? DifferencePath { get; init; }

    [VerbParameter("So many slices at most, the greatest change first; 1 to 10000 (default 100).")]
    public uint? Greatest { get; init; }
}
