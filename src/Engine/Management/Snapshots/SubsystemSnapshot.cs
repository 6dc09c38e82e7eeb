namespace TierSpaces.Engine.Management;

/// <summary>Every object of a subsystem at one moment: no verb and no background loop ran between two of its records.</summary>
/// <param name="PhysicalDisks">Registered disks, and missing members.</param>
/// <param name="Pools">Pools.</param>
/// <param name="VirtualDisks">Virtual disks.</param>
/// <param name="Tiers">Templates, and tiers of virtual disks.</param>
/// <param name="Jobs">Jobs at work, and those that ended lately.</param>
public sealed record SubsystemSnapshot(
    IReadOnlyList<PhysicalDiskStatus> PhysicalDisks, IReadOnlyList<StoragePoolStatus> Pools, IReadOnlyList<VirtualDiskStatus> VirtualDisks,
    IReadOnlyList<StorageTierStatus> Tiers, IReadOnlyList<JobStatus> Jobs);
