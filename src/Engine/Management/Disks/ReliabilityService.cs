using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Management;

/// <summary>Verbs of the reliability counters of physical disks.</summary>
public sealed class ReliabilityService
{
    private readonly SubsystemCore _core;
    private readonly ReliabilityRecords _reliability;
    private readonly FailingDisks _failing;
    private readonly Snapshots _snapshots;

    internal ReliabilityService(SubsystemCore core, ReliabilityRecords reliability, FailingDisks failing, Snapshots snapshots) =>
        (_core, _reliability, _failing, _snapshots) = (core, reliability, failing, snapshots);

    /// <summary>The reliability counters of a physical disk.</summary>
    /// <exception cref="ManagementException">There is no such disk.</exception>
    public Task<DiskReliability> GetAsync(Guid disk) => _core.Verbs.Look(_snapshots.TakeWithReliability, now =>
        now.PhysicalDisks.Any(known => known.UniqueId == disk) ? now.Reliability(disk) : throw Unknown(disk));

    /// <summary>Lets the reliability counters of a physical disk begin at zero.</summary>
    /// <exception cref="ManagementException">There is no such disk.</exception>
    public Task<DiskReliability> ResetAsync(Guid disk) => _core.Verbs.Change(async LaneTask<DiskReliability> () =>
    {
        if (_core.Disks.Find(disk) is null && _core.Pools.FindKnownMember(disk) is null)
        {
            throw Unknown(disk);
        }

        await _reliability.Gather();
        _reliability.Reset(disk);
        _failing.Forget(disk);
        DiskReliability reset = _reliability.Of(disk);   // before the disk does anything more
        await _reliability.Save();
        return reset;
    });

    private static ManagementException Unknown(Guid disk) =>
        new(ManagementError.ObjectNotFound, $"There is no physical disk {disk}.", "Look at Get-PhysicalDisk.");
}
