using TierSpaces.Engine.Exports.Nbd;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

/// <summary>A pool that the host knows: open, or seen but incomplete.</summary>
internal sealed class ManagedPool(PoolId id)
{
    internal PoolId Id { get; } = id;

    /// <summary>The pool while it is open.</summary>
    internal Pool? Pool { get; set; }

    /// <summary>Why it is not open.</summary>
    internal string Reason { get; set; } = "";

    /// <summary>What its members say of it while it is not open.</summary>
    internal PoolState? LastKnownState { get; set; }

    /// <summary>Whether it was closed because it lost the majority of its metadata votes; it is opened again when that is back.</summary>
    internal bool IsLost { get; set; }

    /// <summary>Before this, on the lane's clock, a lost pool is not opened again.</summary>
    internal long NextOpeningNs { get; set; }

    /// <summary>What is known of it.</summary>
    internal PoolState? State => Pool?.State ?? LastKnownState;

    /// <summary>Its virtual disks, while it is open.</summary>
    internal Dictionary<VirtualDiskId, ManagedVirtualDisk> VirtualDisks { get; } = [];

    /// <summary>Virtual disks of the open pool that could not be opened, with the reason. Connecting one tries again.</summary>
    internal Dictionary<VirtualDiskId, string> Unopened { get; } = [];

    /// <summary>Members that are missing, or were within the last hour.</summary>
    internal Dictionary<DiskNumber, Absence> Absences { get; } = [];
}

/// <summary>A member that has left its pool; times are the lane's.</summary>
internal sealed class Absence
{
    /// <summary>When it was last found to be missing.</summary>
    internal long SinceNs { get; set; }

    /// <summary>Whether it is missing now.</summary>
    internal bool IsMissing { get; set; }

    /// <summary>How often it has left, each time less than an hour after the time before.</summary>
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

    internal NbdServer? Server { get; set; }

    internal NbdExport? Export { get; set; }

    internal string SocketPath { get; set; } = "";

    internal bool IsExported => Server is not null;

    /// <summary>Whether it is to be opened again as soon as no commit that concerns it is undecided.</summary>
    internal bool AwaitsDecision { get; set; }

    /// <summary>Why it is not exported although it is to be; empty otherwise.</summary>
    internal string ExportProblem { get; set; } = "";

    /// <summary>Whether a user stopped its repair: none is begun for stale copies without a command, or until another disk is back.</summary>
    internal bool IsResyncStopped { get; set; }

    /// <summary>Before this, on the lane's clock, no repair is begun without a command.</summary>
    internal long RepairNotBeforeNs { get; set; }

    /// <summary>Bytes that its last repair could have made whole and did not.</summary>
    internal long LeftByRepair { get; set; }

    /// <summary>Repairs in a row that left more than half of what the one before left: the next one waits twice as long.</summary>
    internal int VainRepairs { get; set; }

    /// <summary>Disks that were to be drained when a user stopped its repair: for these alone none is begun without a command.</summary>
    internal (Pool Pool, DiskNumber Disk)[] StoppedFor { get; set; } = [];
}
