namespace TierSpaces.Contracts;

/// <summary>Result of power cuts on a layout. Returned by Test-StoragePowerCut.</summary>
[WindowsClass(
    "TierSpaces_StoragePowerCut",
    "FriendlyName", "Layout=ResiliencySettingName", "Cache=WriteCacheSize:bytes", "Tiers=NumberOfTiers", "Cuts", "Violations", "Seed",
    "ElapsedTime")]
public sealed record StoragePowerCutInfo
{
    /// <summary>Name of the virtual disk whose layout was tried, or empty.</summary>
    public string FriendlyName { get; init; } = "";

    /// <summary>Simple, Mirror or Parity.</summary>
    public string ResiliencySettingName { get; init; } = "";

    /// <summary>Columns.</summary>
    public ushort NumberOfColumns { get; init; }

    /// <summary>Copies of the data.</summary>
    public ushort NumberOfDataCopies { get; init; }

    /// <summary>Bytes of a strip.</summary>
    public ulong Interleave { get; init; }

    /// <summary>Logical sector of the virtual disk in bytes.</summary>
    public ulong LogicalSectorSize { get; init; }

    /// <summary>Fixed or Thin.</summary>
    public string ProvisioningType { get; init; } = "";

    /// <summary>None or CRC32C.</summary>
    public string Checksum { get; init; } = "";

    /// <summary>Size of the emulated virtual disk in bytes.</summary>
    public ulong Size { get; init; }

    /// <summary>Size of one copy of its write cache in bytes; 0: none.</summary>
    public ulong WriteCacheSize { get; init; }

    /// <summary>Its tiers, between which slices move during the load; 0: none.</summary>
    public ushort NumberOfTiers { get; init; }

    /// <summary>Power cuts under load.</summary>
    public ulong Cuts { get; init; }

    /// <summary>Power cuts while the virtual disk recovered from one.</summary>
    public ulong CutsWhileRecovering { get; init; }

    /// <summary>Crash states opened and read from end to end: several of each cut, each with other unflushed writes kept.</summary>
    public ulong CrashStates { get; init; }

    /// <summary>Sectors of 512 bytes compared, all readings counted.</summary>
    public ulong SectorsVerified { get; init; }

    /// <summary>Writes, zeroing and unmaps that ended before a cut.</summary>
    public ulong Writes { get; init; }

    /// <summary>Flushes and FUA writes that ended before a cut.</summary>
    public ulong Flushes { get; init; }

    /// <summary>Crash states that broke the promise; 0 is what proves it.</summary>
    public ulong Violations { get; init; }

    /// <summary>The first ten of them in words, each with its seed.</summary>
    public string[] ViolationDescriptions { get; init; } = [];

    /// <summary>Seed that makes the same cuts again.</summary>
    public uint Seed { get; init; }

    /// <summary>Duration of the test, as hours:minutes:seconds.</summary>
    public string ElapsedTime { get; init; } = "";
}
