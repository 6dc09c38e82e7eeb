using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Management;

/// <summary>Verbs of the reliability counters of physical disks.</summary>
public sealed class ReliabilityService
{
    private readonly SubsystemCore _core;
    private readonly ReliabilityRecords _reliability;
    private readonly FailingDisks _failing;
    private readonly PhysicalDiskStatuses _diskStatuses;

    internal ReliabilityService(
        SubsystemCore core, ReliabilityRecords reliability, FailingDisks failing, PhysicalDiskStatuses diskStatuses) =>
        (_core, _reliability, _failing, _diskStatuses) = (core, reliability, failing, diskStatuses);

    /// <summary>The reliability counters of a physical disk.</summary>
    /// <exception cref="ManagementException">There is no such disk.</exception>
    public Task<DiskReliability> GetAsync(Guid disk) => _core.Verbs.Look(() =>
    {
        RequireDisk(disk);
        _reliability.Gather();
        return _reliability.Of(disk);
    });

    /// <summary>Lets the reliability counters of a physical disk begin at zero.</summary>
    /// <exception cref="ManagementException">There is no such disk.</exception>
    public Task<DiskReliability> ResetAsync(Guid disk) => _core.Verbs.Change(async LaneTask<DiskReliability> () =>
    {
        RequireDisk(disk);
        _reliability.Gather();
        _reliability.Reset(disk);
        _failing.Forget(disk);
        await _reliability.Save();
        return _reliability.Of(disk);
    });

    private void RequireDisk(Guid disk)
    {
        if (!_diskStatuses.All().Any(known => known.UniqueId == disk))
        {
            throw new ManagementException(ManagementError.ObjectNotFound, $"There is no physical disk {disk}.", "Look at Get-PhysicalDisk.");
        }
    }
}
