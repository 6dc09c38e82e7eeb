using TierSpaces.Contracts;

namespace TierSpaces.Host.Health;

/// <summary>Advice to an administrator about an object that is not healthy. It follows from kind and operational status alone.</summary>
internal static class HealthAdvice
{
    /// <summary>Returns the recommended action in words; empty for an object that is healthy.</summary>
    public static string For(ObjectHealth one) => one.Health == HealthStatus.Healthy ? "" : one.Subject switch
    {
        HealthSubject.PhysicalDisk => ForDisk(one.Status, one.PoolName.Length > 0),
        HealthSubject.VirtualDisk => ForVirtualDisk(one.Status),
        HealthSubject.StoragePool => ForPool(one.Status),
        _ => "Remove the cause, then mount it: Get-Volume shows the command.",
    };

    private static string ForDisk(string status, bool isMember) => status switch
    {
        "Lost Communication" when isMember => "Check the disk, its cable and its power: it takes part again by itself when it is back. If it is lost for good, add a physical disk "
            + "(Add-PhysicalDisk), retire this one (Set-PhysicalDisk -Usage Retired), wait for the repair (tierspaces wait), then remove it (Remove-PhysicalDisk).",
        "Lost Communication" => "Check the disk, its cable and its power. If it is lost for good, forget it (Unregister-PhysicalDisk).",
        "Predictive Failure" => "Replace it: add a physical disk (Add-PhysicalDisk), wait for the repair (tierspaces wait), then remove this one (Remove-PhysicalDisk).",
        _ => "Look at Get-PhysicalDisk before the disk is used: Reset-PhysicalDisk makes it usable again and erases it.",
    };

    private static string ForVirtualDisk(string status) => status switch
    {
        "Stressed" => "Add physical disks to the storage pool (Add-PhysicalDisk), or remove data.",
        "Error" => "Restore what the reason names from a backup.",
        "Detached" or "No Redundancy" => "Bring the physical disks that are away back, and remove the cause that the reason names.",
        _ => "Bring the physical disks that are away back, or add others. It is repaired by itself then; Get-StorageJob shows the repair.",
    };

    private static string ForPool(string status) => status switch
    {
        "Incomplete" => "Bring its physical disks back: it is opened by itself when the majority is there.",
        "Degraded" => "Bring the missing physical disks back, or replace them.",
        _ => "Add physical disks to the storage pool (Add-PhysicalDisk), or remove data.",
    };
}
