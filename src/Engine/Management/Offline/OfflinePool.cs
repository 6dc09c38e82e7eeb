using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Management;

/// <summary>A pool on closed disks, as the reader of its format describes it. Nothing in it can be written.</summary>
/// <param name="Format">Name of the format.</param>
/// <param name="Disks">The disks, in the order in which they were named.</param>
public sealed record OfflinePool(string Format, IReadOnlyList<OfflineDisk> Disks)
{
    /// <summary>Name of the pool; empty if none of the disks is a readable member.</summary>
    public string FriendlyName { get; init; } = "";

    /// <summary>Properties of the pool and of its members, one a line, for people.</summary>
    public IReadOnlyList<string> Details { get; init; } = [];

    /// <summary>The virtual disks that the pool describes; those that cannot be read too.</summary>
    public IReadOnlyList<OfflineVirtualDisk> VirtualDisks { get; init; } = [];

    /// <summary>Remarks on what is read from these disks, for people.</summary>
    public IReadOnlyList<string> Remarks { get; init; } = [];

    /// <summary>Reason why the pool could not be opened from these disks; empty if it could.</summary>
    public string Reason { get; init; } = "";
}

/// <summary>A closed disk.</summary>
/// <param name="Disk">The disk, open for reading as long as its pool is looked at.</param>
/// <param name="IsMember">Whether the format recognizes it as a member of a pool.</param>
/// <param name="Content">Content of the disk, in words.</param>
/// <param name="Details">Properties of its metadata, one a line, for people.</param>
public sealed record OfflineDisk(IDisk Disk, bool IsMember, string Content, IReadOnlyList<string> Details);

/// <summary>A virtual disk of a closed pool.</summary>
/// <param name="UniqueId">Identity, by which it can be named.</param>
/// <param name="FriendlyName">Name, by which it can be named too.</param>
/// <param name="SizeBytes">Size in bytes.</param>
/// <param name="Details">Layout and provisioning, for people.</param>
/// <param name="Open">Opens its data for reading, with all recovery that its format needs.</param>
public sealed record OfflineVirtualDisk(string UniqueId, string FriendlyName, long SizeBytes, string Details, Func<LaneTask<OfflineStore>> Open);

/// <summary>The data of a virtual disk, to be read alone.</summary>
/// <param name="Store">The data; null if it cannot be read.</param>
/// <param name="Reason">Reason why the data cannot be read, else empty.</param>
public readonly record struct OfflineStore(IBlockStore? Store, string Reason);

/// <summary>Outcome of an extraction.</summary>
/// <param name="Reason">Reason why nothing was extracted; empty if something was.</param>
public sealed record OfflineExtract(string Reason)
{
    /// <summary>Ranges that could not be read, in bytes and in rising order; neighbours are one range.</summary>
    public IReadOnlyList<(long Offset, long Length)> Unread { get; init; } = [];

    /// <summary>Remarks on what was read, for people.</summary>
    public IReadOnlyList<string> Remarks { get; init; } = [];
}
