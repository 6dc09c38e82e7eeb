namespace TierSpaces.Contracts;

/// <summary>Settings of a template of storage tiers that New-StorageTier and Set-StorageTier take; null: not given.</summary>
public interface ITierTemplateSettings
{
    /// <summary>Kind of medium.</summary>
    MediaType? MediaType { get; }

    /// <summary>Name of the resiliency setting.</summary>
    string? ResiliencySettingName { get; }

    /// <summary>Disks that may fail without loss of data.</summary>
    ushort? PhysicalDiskRedundancy { get; }

    /// <summary>Copies of the data.</summary>
    ushort? NumberOfDataCopies { get; }

    /// <summary>Columns that data is striped over.</summary>
    ushort? NumberOfColumns { get; }

    /// <summary>Bytes of a strip.</summary>
    ulong? Interleave { get; }

    /// <summary>Text of the user.</summary>
    string? Description { get; }

    /// <summary>Fault domains of which each holds at most one copy of a block.</summary>
    FaultDomainType? FaultDomainAwareness { get; }

    /// <summary>Fault domains of which each holds at most one disk of a row.</summary>
    FaultDomainType? ColumnIsolation { get; }

    /// <summary>Time at which slabs are allocated.</summary>
    ProvisioningType? ProvisioningType { get; }
}
