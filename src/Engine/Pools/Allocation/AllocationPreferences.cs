using System.Collections.Immutable;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

/// <summary>Purpose of slabs.</summary>
public enum AllocationPurpose
{
    /// <summary>Data: never on disks of usage Journal.</summary>
    Data,

    /// <summary>Journals and logs: on disks of usage Journal, else flash, else any.</summary>
    Log,

    /// <summary>
    /// Write caches: on disks of usage Journal, else flash too; on another medium only with <see cref="AllocationPreferences.TakesAnyMedium"/>.
    /// </summary>
    Cache,
}

/// <summary>Disks on which slabs may be allocated.</summary>
public sealed record AllocationPreferences
{
    /// <summary>Data on any disk.</summary>
    public static AllocationPreferences Default { get; } = new();

    /// <summary>Purpose of the slabs.</summary>
    public AllocationPurpose Purpose { get; init; } = AllocationPurpose.Data;

    /// <summary>The only kind of medium, or null for any.</summary>
    public MediaType? Media { get; init; }

    /// <summary>The only disks, or empty for all; disks of usage ManualSelect must be named here.</summary>
    public ImmutableArray<DiskNumber> AllowedDisks { get; init; } = [];

    /// <summary>Disks of a write cache beside those of usage Journal, as far as they are flash and suffice; empty: any flash.</summary>
    public ImmutableArray<DiskNumber> PreferredDisks { get; init; } = [];

    /// <summary>Disks to leave out: those a row lies on already.</summary>
    public ImmutableArray<DiskNumber> ExcludedDisks { get; init; } = [];

    /// <summary>Whether hot spares may be taken: for data that is rebuilt when no other disk has room.</summary>
    public bool TakesHotSpares { get; init; }

    /// <summary>Whether a write cache may be on other media than flash, where there is not enough of that.</summary>
    public bool TakesAnyMedium { get; init; }

    /// <summary>Whether retired and missing disks may be taken: for a degraded row.</summary>
    internal bool IsDegraded { get; init; }

    /// <summary>
    /// Level of the fault domains that hold the positions of a row. Above the disk itself, only disks whose domain is known are used, and a domain holds at
    /// most
    /// <see cref="PositionsPerDomain"/> of them, copies of one column never.
    /// </summary>
    public FaultDomainLevel FaultDomainAwareness { get; init; } = FaultDomainLevel.PhysicalDisk;

    /// <summary>Level of the fault domains that hold at most one position of a row.</summary>
    public FaultDomainLevel ColumnIsolation { get; init; } = FaultDomainLevel.PhysicalDisk;

    /// <summary>Most positions of a row in one domain: those that parity can lose; 0: one copy of each column.</summary>
    public int PositionsPerDomain { get; init; }

    /// <summary>The preferences of the data of a virtual disk without tiers.</summary>
    public static AllocationPreferences For(VirtualDiskDescription disk) => For(disk, disk.Parts[0]);

    /// <summary>The preferences of the data of one part of a virtual disk.</summary>
    public static AllocationPreferences For(VirtualDiskDescription disk, TierDescription part) => new()
    {
        Media = part.MediaTypeCode == 0 ? null : part.Media(),
        AllowedDisks = disk.AllowedDisks,
        FaultDomainAwareness = part.FaultDomainAwareness,
        ColumnIsolation = part.ColumnIsolation,
        PositionsPerDomain = part.NumberOfDataCopies > 1 ? 0 : part.PhysicalDiskRedundancy,
    };

    /// <summary>The preferences of the integrity log of a part: as many fault domains as it has copies.</summary>
    public static AllocationPreferences ForLog(TierDescription part) =>
        new() { Purpose = AllocationPurpose.Log, FaultDomainAwareness = part.FaultDomainAwareness };

    /// <summary>
    /// The preferences of the write cache of a virtual disk: the widest fault domains of its parts. A cache that gathers stripes of parity is of use on any
    /// medium.
    /// </summary>
    public static AllocationPreferences ForCache(VirtualDiskDescription disk) => new()
    {
        Purpose = AllocationPurpose.Cache,
        PreferredDisks = disk.AllowedDisks,
        FaultDomainAwareness = disk.Parts.Max(static part => part.FaultDomainAwareness),
        TakesAnyMedium = !disk.IsTiered && disk.Parts[0].Parities > 0,
    };

    /// <summary>
    /// Whether a write cache of automatic size may lie on a disk of the pool: one of usage Journal, or one of flash, of those that the virtual disk was
    /// given if it was given some.
    /// </summary>
    internal bool MayTakeByItself(DiskDescription disk) =>
        disk.Usage == DiskUsage.Journal || (disk.IsFlash() && (PreferredDisks.IsDefaultOrEmpty || PreferredDisks.Contains(disk.Number)));
}
