using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Management;

// Counters are gathered when they are asked for, once a minute, and before a device or a space goes away.

/// <summary>The reliability counters of the disks of open pools: gathers them from devices and spaces, and saves them.</summary>
internal sealed class ReliabilityRecords(SubsystemCore core)
{
    private readonly ReliabilityLedger _ledger = new(core.State);

    /// <summary>Reads the counters that were saved. Returns a message about what could not be read, or nothing.</summary>
    internal LaneTask<string> Load() => _ledger.Load();

    /// <summary>The counters of a disk, as they were last gathered.</summary>
    internal DiskReliability Of(Guid disk) => _ledger.Of(disk);

    /// <summary>Returns the counters of all disks, as they were last gathered.</summary>
    internal Dictionary<Guid, DiskReliability> Copy() => _ledger.Copy();

    /// <summary>The disks that have had too many errors.</summary>
    internal IEnumerable<Guid> PastThreshold => _ledger.PastThreshold;

    /// <summary>Lets the counters of a disk begin at zero.</summary>
    internal void Reset(Guid disk) => _ledger.Reset(disk);

    /// <summary>Notes whether a disk has had too many errors.</summary>
    internal void SetPastThreshold(Guid disk, bool isPast) => _ledger.SetPastThreshold(disk, isPast);

    /// <summary>Counts what was found out about a disk.</summary>
    internal void Note(Guid disk, DiskFinding finding, long count) => _ledger.Note(disk, finding, count);

    /// <summary>Gathers the counters of every open pool.</summary>
    internal void Gather()
    {
        foreach (ManagedPool managed in core.Pools.All)
        {
            if (managed.Pool is { } pool)
            {
                Gather(managed, pool);
            }
        }
    }

    internal void Gather(ManagedPool managed, Pool pool)
    {
        foreach (DiskState disk in pool.State.Disks.Values)
        {
            if (pool.Disk(disk.Description.Number) is MeteredDisk device)
            {
                _ledger.Observe(disk.Description.Id.Value, device);
            }
        }

        foreach ((_, ManagedVirtualDisk virtualDisk) in core.Pools.UsersOf(managed))
        {
            GatherFindings(pool, virtualDisk);
        }
    }

    /// <summary>Gathers what a virtual disk has found out about the disks of a pool.</summary>
    internal void GatherFindings(Pool pool, ManagedVirtualDisk virtualDisk)
    {
        foreach (((int number, DiskFinding finding), long count) in virtualDisk.Open.TakeFindings(pool.Id))
        {
            if (pool.State.Disk(new DiskNumber((ushort)number)) is { } disk)
            {
                _ledger.Note(disk.Description.Id.Value, finding, count);
            }
        }
    }

    /// <summary>Saves the counters; a failure is reported.</summary>
    internal async LaneTask<Nothing> Save()
    {
        try
        {
            return await _ledger.Save();
        }
        catch (IOException full)
        {
            core.Notice($"The reliability counters cannot be kept: {full.Message}");
            return default;
        }
    }
}
