using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Devices.Identity;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

// Reliability counters of physical disks: gathered from the devices and the spaces when somebody looks, once a minute, and before
// either goes away.
public sealed partial class StorageSubsystem
{
    private readonly ReliabilityLedger _reliability;

    /// <summary>The reliability counters of a physical disk.</summary>
    /// <exception cref="RefusedException">There is no such disk.</exception>
    public Task<DiskReliability> ReliabilityAsync(Guid disk) => Look(() =>
    {
        RequireDisk(disk);
        GatherReliability();
        return _reliability.Of(disk);
    });

    /// <summary>Lets the reliability counters of a physical disk begin at zero.</summary>
    /// <exception cref="RefusedException">There is no such disk.</exception>
    public Task<DiskReliability> ResetReliabilityAsync(Guid disk) => Look(() =>
    {
        RequireDisk(disk);
        GatherReliability();
        _reliability.Reset(disk);
        _errorWatches.Remove(disk);
        SaveReliability();
        return _reliability.Of(disk);
    });

    private void RequireDisk(Guid disk)
    {
        if (!AllDisks().Any(known => known.UniqueId == disk))
        {
            throw new RefusedException(Refusal.ObjectNotFound, $"There is no physical disk {disk}.", "Look at Get-PhysicalDisk.");
        }
    }

    private void GatherReliability()
    {
        foreach (ManagedPool managed in _pools.Values)
        {
            if (managed.Pool is { } pool)
            {
                GatherReliability(managed, pool);
            }
        }
    }

    private void GatherReliability(ManagedPool managed, Pool pool)
    {
        foreach (DiskState disk in pool.State.Disks.Values)
        {
            if (pool.Disk(disk.Description.Number) is MeteredDisk device)
            {
                _reliability.Observe(disk.Description.Id.Value, device.Counters);
            }
        }

        foreach ((_, ManagedVirtualDisk virtualDisk) in UsersOf(managed))
        {
            GatherFindings(pool, virtualDisk);
        }
    }

    private void GatherFindings(Pool pool, ManagedVirtualDisk virtualDisk)
    {
        foreach (((int number, DiskFinding finding), long count) in virtualDisk.Open.TakeFindings(pool))
        {
            if (pool.State.Disk(new DiskNumber((ushort)number)) is { } disk)
            {
                _reliability.Note(disk.Description.Id.Value, finding, count);
            }
        }
    }

    private void SaveReliability()
    {
        try
        {
            _reliability.Save();
        }
        catch (IOException full)
        {
            _options.Notice($"The reliability counters cannot be kept: {full.Message}");
        }
    }
}
