using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Verification;

/// <summary>Plan of a power-cut test.</summary>
public sealed record PowerCutPlan
{
    /// <summary>Emulated disks of its pool.</summary>
    public required int Disks { get; init; }

    /// <summary>Bytes of each of them.</summary>
    public required long DiskBytes { get; init; }

    /// <summary>Sector of each of them in bytes, 512 or 4096: what a cut leaves whole.</summary>
    public required int SectorSize { get; init; }

    /// <summary>Decides the virtual disk, once the pool is there.</summary>
    public required Func<Pool, VirtualDiskDescription> Layout { get; init; }

    /// <summary>The virtual disk, where it is decided before: one that may have a write cache and tiers. Null: <see cref="Layout"/> decides it.</summary>
    public VirtualDiskDescription? Disk { get; init; }

    /// <summary>Power cuts.</summary>
    public required int Cuts { get; init; }

    /// <summary>Decides everything that is random.</summary>
    public required ulong Seed { get; init; }

    /// <summary>A planted fault: the disks acknowledge flushes and carry none out. The test has to notice.</summary>
    public bool FlushLies { get; init; }
}

/// <summary>Result of a power-cut test.</summary>
public sealed record PowerCutResult
{
    /// <summary>The virtual disk as it was made.</summary>
    public required VirtualDiskDescription Layout { get; init; }

    /// <summary>Power cuts under load.</summary>
    public int Cuts { get; init; }

    /// <summary>Power cuts while a crash state recovered.</summary>
    public int CutsWhileRecovering { get; init; }

    /// <summary>Crash states opened and read from end to end: several of each cut, each with other writes kept.</summary>
    public long CrashStates { get; init; }

    /// <summary>Sectors of 512 bytes compared, all readings counted.</summary>
    public long SectorsVerified { get; init; }

    /// <summary>Writes, zeroing and unmaps that ended before a cut.</summary>
    public long Writes { get; init; }

    /// <summary>Flushes and FUA writes that ended before a cut.</summary>
    public long Flushes { get; init; }

    /// <summary>Bytes of the write cache that reached their homes during the load.</summary>
    public long CacheDestaged { get; init; }

    /// <summary>Slices that moved to another tier during the load.</summary>
    public long SlicesMoved { get; init; }

    /// <summary>Times that the promise was broken, at most once in a crash state.</summary>
    public long Violations { get; init; }

    /// <summary>The first of them in words.</summary>
    public IReadOnlyList<string> ViolationDescriptions { get; init; } = [];
}
