using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Management;

// Counters are gathered when they are asked for, once a minute, and before a device or a space goes away. The findings of virtual disks are taken on their
// lanes: gathering waits for them as long as a snapshot does, and notes those that come later when they are there.

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
    internal LaneTask<Nothing> Gather()
    {
        ManagedPool[] open = [.. core.Pools.All.Where(static managed => managed.Pool is not null)];
        foreach (ManagedPool managed in open)
        {
            ObserveDevices(managed.Pool!);
        }

        return core.Patience.Ask([.. open.SelectMany(managed => FindingsOf(managed, managed.Pool!))]);
    }

    /// <summary>Gathers what the virtual disks with slabs in a pool have found out about its disks.</summary>
    internal LaneTask<Nothing> GatherFindings(ManagedPool managed, Pool pool) => core.Patience.Ask(FindingsOf(managed, pool));

    private void ObserveDevices(Pool pool)
    {
        foreach (DiskState disk in pool.State.Disks.Values)
        {
            if (pool.Disk(disk.Description.Number) is MeteredDisk device)
            {
                _ledger.Observe(disk.Description.Id.Value, device);
            }
        }
    }

    private (ILane Lane, Func<LaneTask<Nothing>> Send)[] FindingsOf(ManagedPool managed, Pool pool) =>
        [.. core.Pools.UsersOf(managed).Select(user => (user.Disk.Lane, (Func<LaneTask<Nothing>>)(() => TakeFindings(pool, user.Disk))))];

    private async LaneTask<Nothing> TakeFindings(Pool pool, ManagedVirtualDisk virtualDisk)
    {
        foreach (((int number, DiskFinding finding), long count) in await virtualDisk.Ask(open => open.TakeFindings(pool.Id).ToArray()))
        {
            if (pool.State.Disk(new DiskNumber((ushort)number)) is { } disk)
            {
                _ledger.Note(disk.Description.Id.Value, finding, count);
            }
        }

        return default;
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
