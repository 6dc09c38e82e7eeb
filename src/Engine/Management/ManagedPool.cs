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

    /// <summary>What is known of it.</summary>
    internal PoolState? State => Pool?.State ?? LastKnownState;

    /// <summary>Its virtual disks, while it is open.</summary>
    internal Dictionary<VirtualDiskId, ManagedVirtualDisk> VirtualDisks { get; } = [];
}

/// <summary>An open virtual disk and its export.</summary>
internal sealed class ManagedVirtualDisk(OpenVirtualDisk open)
{
    internal OpenVirtualDisk Open { get; } = open;

    internal NbdServer? Server { get; set; }

    internal NbdExport? Export { get; set; }

    internal string SocketPath { get; set; } = "";

    internal bool IsExported => Server is not null;
}
