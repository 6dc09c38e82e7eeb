using TierSpaces.Engine.Caching;
using TierSpaces.Engine.Exports.Nbd;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

// Invariants
//  1. Pool is not null exactly while the pool is open; VirtualDisks and Unopened are empty while it is not.
//  2. What is known of the pool stays known while it is closed.

/// <summary>A pool that the host knows: open, or seen but incomplete.</summary>
internal sealed class ManagedPool(PoolId id)
{
    private long _nextOpeningNs;   // before this, on the lane's clock, a lost pool is not opened again

    internal PoolId Id { get; } = id;

    /// <summary>The pool while it is open.</summary>
    internal Pool? Pool { get; private set; }

    /// <summary>Reason why the pool is not open.</summary>
    internal string Reason { get; private set; } = "";

    /// <summary>State of the pool as its members reported it, while the pool is not open.</summary>
    internal PoolState? LastKnownState { get; private set; }

    /// <summary>Whether it was closed because it lost the majority of its metadata votes; it is opened again when that is back.</summary>
    internal bool IsLost { get; private set; }

    /// <summary>State of the pool, or the last known state while it is not open.</summary>
    internal PoolState? State => Pool?.State ?? LastKnownState;

    /// <summary>Its virtual disks, while it is open.</summary>
    internal Dictionary<VirtualDiskId, ManagedVirtualDisk> VirtualDisks { get; } = [];

    /// <summary>Virtual disks of the open pool that could not be opened, with the reason. Connecting one tries again.</summary>
    internal Dictionary<VirtualDiskId, string> Unopened { get; } = [];

    /// <summary>Members that are missing, or were within the last hour.</summary>
    internal Dictionary<DiskNumber, Absence> Absences { get; } = [];

    /// <summary>Notes that the pool was made.</summary>
    internal void SetOpen(Pool pool) => Pool = pool;

    /// <summary>Notes the result of an attempt to open the pool.</summary>
    internal void SetOpened(PoolOpenResult result)
    {
        Pool = result.Pool;
        Reason = result.Reason;
        LastKnownState = result.LastKnownState ?? (IsLost ? LastKnownState : null);
        IsLost &= Pool is null;
    }

    /// <summary>Notes the reason why the pool is not opened.</summary>
    internal void SetReason(string reason) => Reason = reason;

    /// <summary>Keeps the state of a pool that is about to be closed because it lost the majority of its votes.</summary>
    internal void SetLost(Pool lost)
    {
        IsLost = true;
        Reason = lost.StatusReason;
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
        Reason = "it is being removed";
        return default;
    }

    /// <summary>Returns whether a lost pool is to be opened again now; if so, the next attempt is due after <paramref name="periodNs"/>.</summary>
    internal bool TakeOpeningTurn(long nowNs, long periodNs)
    {
        if (this is not { Pool: null, IsLost: true } || nowNs < _nextOpeningNs)
        {
            return false;
        }

        _nextOpeningNs = nowNs + periodNs;
        return true;
    }

    /// <summary>
    /// Returns the member that a disk is. Its label names the member; if the disk was not present since the host started, the pool's last known state does.
    /// </summary>
    internal DiskDescription? MemberFor(RegisteredDisk disk) => MemberFor(Id, State, disk);

    /// <summary>Returns the member that a disk is of a pool in a state.</summary>
    internal static DiskDescription? MemberFor(PoolId pool, PoolState? state, RegisteredDisk disk) =>
        disk.IsSplit ? null : disk.Scan is { Kind: not ScanKind.Unreadable } scan
        ? scan.Label is { } label && label.Pool == pool && state?.Disk(label.Number)?.Description is { } member && member.Id == label.Disk ? member : null
        : state?.Disks.Values.FirstOrDefault(known => known.Description.Id.Value == disk.LastMember)?.Description;

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
}

/// <summary>A member that has left its pool; times are the lane's.</summary>
internal sealed class Absence
{
    /// <summary>Time at which the member was last found to be missing.</summary>
    internal long SinceNs { get; set; }

    /// <summary>Whether it is missing now.</summary>
    internal bool IsMissing { get; set; }

    /// <summary>Number of departures, each less than an hour after the one before.</summary>
    internal int Departures { get; set; }

    /// <summary>Whether it left together with others: that departure is not counted.</summary>
    internal bool IsShared { get; set; }

    /// <summary>Before this it is not looked for.</summary>
    internal long NotBeforeNs { get; set; }
}

/// <summary>An open virtual disk and its export.</summary>
internal sealed class ManagedVirtualDisk(OpenVirtualDisk open)
{
    internal OpenVirtualDisk Open { get; } = open;

    internal NbdServer? Server { get; private set; }

    internal NbdExport? Export { get; private set; }

    internal string SocketPath { get; private set; } = "";

    internal bool IsExported => Server is not null;

    /// <summary>Whether it has tiers that slices can move between.</summary>
    internal bool HasSeveralTiers => Open.Tiering is { Store.Tiers: > 1 };

    /// <summary>Whether its write cache takes no writes although it is to.</summary>
    internal bool HasLostCache => Open.Cache is { State: WriteCacheState.Retiring or WriteCacheState.WriteThrough };

    /// <summary>Whether it is to be opened again as soon as no commit that concerns it is undecided.</summary>
    internal bool AwaitsDecision { get; set; }

    /// <summary>Reason why the virtual disk is not exported although it should be; empty otherwise.</summary>
    internal string ExportProblem { get; private set; } = "";

    /// <summary>Whether a user stopped its repair: none is begun for stale copies without a command, or until another disk is back.</summary>
    internal bool IsResyncStopped { get; set; }

    /// <summary>Before this, on the lane's clock, no repair is begun without a command.</summary>
    internal long RepairNotBeforeNs { get; set; }

    /// <summary>Disks that its slabs were to leave when it was last found whether a repair is due.</summary>
    internal (Pool Pool, DiskNumber Disk)[] LookedAtFor { get; set; } = [];

    /// <summary>Bytes that its last repair could have made whole and did not.</summary>
    internal long LeftByRepair { get; set; }

    /// <summary>Repairs in a row that left more than half of what the one before left: the next one waits twice as long.</summary>
    internal int VainRepairs { get; set; }

    /// <summary>Disks that were to be drained when a user stopped its repair: for these alone none is begun without a command.</summary>
    internal (Pool Pool, DiskNumber Disk)[] StoppedFor { get; set; } = [];

    /// <summary>Notes that it is exported.</summary>
    internal void SetExported(NbdServer server, NbdExport export, string socketPath) =>
        (Server, Export, SocketPath, ExportProblem) = (server, export, socketPath, "");

    /// <summary>Notes the reason why the virtual disk is not exported although it should be.</summary>
    internal void SetExportProblem(string problem) => ExportProblem = problem;

    /// <summary>Notes that it is exported no more, and returns the server that did, which is still open.</summary>
    internal NbdServer? TakeServer()
    {
        NbdServer? server = Server;
        (Server, Export) = (null, null);
        SocketPath = "";
        return server;
    }
}
