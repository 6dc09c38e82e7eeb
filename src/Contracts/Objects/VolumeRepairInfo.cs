namespace TierSpaces.Contracts;

/// <summary>Outcome of Repair-Volume for one volume. A shell gets the status alone.</summary>
[WindowsClass("VolumeRepair", "DriveLetter", "FriendlyName=FileSystemLabel", "RepairStatus", Value = nameof(RepairStatus))]
public sealed record VolumeRepairInfo
{
    /// <summary>Drive letter of the volume; null for none.</summary>
    public string? DriveLetter { get; init; }

    /// <summary>Label of the volume.</summary>
    public string FileSystemLabel { get; init; } = "";

    /// <summary>NoErrorsFound, ErrorsFound or ErrorsFixed.</summary>
    public string RepairStatus { get; init; } = "";
}
