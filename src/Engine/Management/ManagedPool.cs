using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Management;

// Invariants
//  1. Pool is not null exactly while the pool is open; VirtualDisks and Unopened are empty while it is not.
//  2. Facts of the pool stay known while it is closed.
//  3. Jobs on any lane read how busy the clients are: the list of counters is replaced as a whole when a virtual disk is opened or closed.

/// <summary>A pool that the host knows: open, or seen but incomplete.</summary>
internal sealed class ManagedPool(PoolId id)
{
    private readonly Dictionary<VirtualDiskId, ManagedVirtualDisk> _virtualDisks = [];
    private volatile IoCounters[] _traffic = [];   // of the clients of its virtual disks
    private string _reason = "";
    private long _nextOpeningNs;   // before this, on the lane's clock, a lost pool is not opened again

    internal PoolId Id { get; } = id;

    /// <summary>The pool while it is open.</summary>
    internal Pool? Pool { get; private set; }

    /// <summary>Its opening while that is under way; null otherwise.</summary>
    internal PoolOpeningState? Opening { get; private set; }

    /// <summary>Reason why the pool is not open.</summary>
    internal string Reason => Opening?.Text ?? _reason;

    /// <summary>Status of the pool while it is not open: Incomplete, ReadOnly, or InService while its lease is waited for.</summary>
    internal PoolOperationalStatus ClosedStatus { get; private set; } = PoolOperationalStatus.Incomplete;

    /// <summary>State of the pool as its members reported it, or as the host remembers it, while the pool is not open.</summary>
    internal PoolState? LastKnownState { get; private set; }

    /// <summary>Whether it was closed because it lost the majority of its votes; it is opened again when that is back.</summary>
    internal bool IsLost { get; private set; }

    /// <summary>Whether it is not open because its lease is waited for; it is opened when that is taken.</summary>
    internal bool AwaitsLease { get; private set; }

    /// <summary>Takes its lease, over several attempts to open it.</summary>
    internal LeaseTaker Lease { get; } = new();

    /// <summary>State of the pool, or the last known state while it is not open.</summary>
    internal PoolState? State => Pool?.State ?? LastKnownState;

    /// <summary>Its virtual disks, while it is open.</summary>
    internal IReadOnlyDictionary<VirtualDiskId, ManagedVirtualDisk> VirtualDisks => _virtualDisks;

    /// <summary>Virtual disks of the open pool that could not be opened, with the reason. Connecting one tries again.</summary>
    internal Dictionary<VirtualDiskId, string> Unopened { get; } = [];

    /// <summary>Number of disks that have come back into the view since the host started.</summary>
    internal long Joins { get; private set; }

    /// <summary>Members that are missing, or were within the last hour.</summary>
    internal Dictionary<DiskNumber, Absence> Absences { get; } = [];

    /// <summary>Requests of clients of its virtual disks completed so far and under way now; read on any lane.</summary>
    internal (long Completed, int UnderWay) Clients
    {
        get
        {
            long completed = 0;
            int underWay = 0;
            foreach (IoCounters counters in _traffic)
            {
                completed += counters.Operations;
                underWay += counters.Queue;
            }

            return (completed, underWay);
        }
    }

    /// <summary>Lists an open virtual disk, in place of one with its identity.</summary>
    internal void Add(ManagedVirtualDisk disk)
    {
        _virtualDisks[disk.Description.Id] = disk;
        NoteTraffic();
    }

    /// <summary>Lists a virtual disk as open no more.</summary>
    internal void Remove(VirtualDiskId disk)
    {
        _virtualDisks.Remove(disk);
        NoteTraffic();
    }

    /// <summary>Whether a virtual disk is the open one of its identity, and not one that was closed or reopened meanwhile.</summary>
    internal bool Has(ManagedVirtualDisk disk) => _virtualDisks.GetValueOrDefault(disk.Description.Id) == disk;

    /// <summary>Lists no virtual disk any more: all are closed.</summary>
    internal void RemoveDisks()
    {
        _virtualDisks.Clear();
        Unopened.Clear();
        NoteTraffic();
    }

    /// <summary>Notes that the pool was made.</summary>
    internal void SetOpen(Pool pool) => Pool = pool;

    /// <summary>Notes the result of an attempt to open the pool.</summary>
    internal void SetOpened(PoolOpenResult result)
    {
        Pool = result.Pool;
        _reason = result.Reason;
        ClosedStatus = result.Status;
        LastKnownState = Pool is not null ? null : result.LastKnownState ?? LastKnownState;
        IsLost &= Pool is null;
        AwaitsLease = result.AwaitsLease;
    }

    /// <summary>Notes what is remembered of a pool that is not open; what its members report goes before it.</summary>
    internal void SetKnown(PoolState remembered, string reason)
    {
        LastKnownState ??= remembered;
        _reason = _reason.Length > 0 ? _reason : reason;
    }

    /// <summary>Notes the reason why the pool is not opened.</summary>
    internal void SetReason(string reason) => _reason = reason;

    /// <summary>Keeps the state of a pool that is about to be closed because it lost the majority of its votes.</summary>
    internal void SetLost(Pool lost)
    {
        IsLost = true;
        _reason = lost.StatusReason;
        LastKnownState = lost.State;
    }

    /// <summary>Closes the pool, which has no open virtual disks any more.</summary>
    internal async LaneTask<Nothing> Close(bool clean)
    {
        if (Pool is { } pool)
        {
            await pool.Close(clean);
        }

        Pool = null;
        return default;
    }

    /// <summary>Closes a pool that is about to be removed; its last known state stays.</summary>
    internal async LaneTask<Nothing> CloseForRemoval()
    {
        LastKnownState = Pool!.State;
        await Pool.Close();
        Pool = null;
        _reason = "it is being removed";
        return default;
    }

    /// <summary>The pool is being opened, and a step of that has begun.</summary>
    internal void ShowOpening(PoolOpeningState opening) => Opening = opening;

    /// <summary>The opening of the pool has ended.</summary>
    internal void EndOpening() => Opening = null;

    /// <summary>A disk has come back into the view.</summary>
    internal void NoteJoined() => Joins++;

    /// <summary>Whether a pool that is lost or awaits its lease is to be opened now; if so, the next is due after <paramref name="periodNs"/>.</summary>
    internal bool TakeOpeningTurn(long nowNs, long periodNs)
    {
        if (Pool is not null || !(IsLost || AwaitsLease) || nowNs < _nextOpeningNs)
        {
            return false;
        }

        _nextOpeningNs = nowNs + periodNs;
        return true;
    }

    /// <summary>
    /// Returns the member that a disk is. Its label names the member; if the disk was not present since the host started, the pool's last known state does.
    /// </summary>
    internal DiskDescription? MemberFor(RegisteredDisk disk) => MemberFor(Id, State, disk.Stored, disk.Condition);

    /// <summary>Returns the member that a disk is of a pool in a state.</summary>
    internal static DiskDescription? MemberFor(PoolId pool, PoolState? state, StoredDisk stored, DiskCondition condition) =>
        condition.IsSplit || condition.Copy != CopyState.None ? null : condition.Scan is { Kind: not ScanKind.Unreadable } scan
        ? scan.Label is { } label && label.Pool == pool && state?.Disk(label.Number)?.Description is { } member && member.Id == label.Disk ? member : null
        : state?.Disks.Values.FirstOrDefault(known => known.Description.Id.Value == stored.LastMember)?.Description;

    /// <summary>Refuses a change of a pool that is read-only.</summary>
    /// <exception cref="ManagementException">The open pool is read-only.</exception>
    internal void RequireWritable()
    {
        PoolDescription pool = Pool!.State.Pool!;
        if (pool.IsReadOnly)
        {
            throw new ManagementException(ManagementError.PoolReadOnly, $"Storage pool '{pool.FriendlyName}' is read-only.", "Set -IsReadOnly $false first.");
        }
    }

    private void NoteTraffic() => _traffic = [.. _virtualDisks.Values.Select(static disk => disk.Traffic)];
}

/// <summary>A member that has left its pool; times are the lane's.</summary>
internal sealed class Absence
{
    private const int DoublingsMax = 10;

    private int _departures;   // each less than an hour after the one before
    private bool _isShared;    // it left together with others: that departure is not counted

    /// <summary>Time at which the member was last found to be missing.</summary>
    internal long SinceNs { get; private set; }

    /// <summary>Whether it is missing now.</summary>
    internal bool IsMissing { get; private set; }

    /// <summary>Before this it is not looked for.</summary>
    internal long NotBeforeNs { get; private set; }

    /// <summary>The member has left.</summary>
    /// <param name="nowNs">Time on the lane's clock.</param>
    /// <param name="pollNs">Shortest time between two looks, in nanoseconds.</param>
    internal void Leave(long nowNs, long pollNs)
    {
        (IsMissing, SinceNs) = (true, nowNs);
        AwaitNextTry(nowNs, pollNs);
    }

    /// <summary>The member has just left, or is about to try to rejoin: it is looked for after a time that doubles with each departure.</summary>
    internal void AwaitNextTry(long nowNs, long pollNs)
    {
        _isShared = false;
        NotBeforeNs = nowNs + (pollNs << Math.Min(_departures++, DoublingsMax));
    }

    /// <summary>The member has left for a cause that others share: its departure does not count, once.</summary>
    internal void Discount(long pollNs)
    {
        if (!_isShared)
        {
            _isShared = true;
            _departures--;
            NotBeforeNs = SinceNs + pollNs;
        }
    }

    /// <summary>It has been looked whether the member is still missing. Should it leave again, that is another departure.</summary>
    internal void NoteLook(bool isMissing) => IsMissing = isMissing;
}
