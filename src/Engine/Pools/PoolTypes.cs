using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

/// <summary>Environment of a pool.</summary>
/// <param name="Lane">Every call to the pool is made on this lane, and completes on it.</param>
/// <param name="State">Holds the witness file and the first-write journals.</param>
/// <param name="NodeId">Identity of this host, kept in session records.</param>
/// <param name="Deadlines">Deadlines of requests to its disks; null for the defaults.</param>
public sealed record PoolEnvironment(ILane Lane, StateFolder State, Guid NodeId, IoDeadlines? Deadlines = null)
{
    /// <summary>Identity of the running kernel: a stop of the machine ends everything that was under way.</summary>
    public Guid BootId { get; init; }

    /// <summary>Name of the machine, for people.</summary>
    public string HostName { get; init; } = "";

    /// <summary>Whether its disks are only read, and keep what is written in memory: no lease is taken, whichever host holds the pool.</summary>
    public bool IsReadOnly { get; init; }

    /// <summary>
    /// Where a disk was given another superblock in memory, to be read with older copies: the sequence that its own superblock says is durable on it.
    /// </summary>
    internal IReadOnlyDictionary<DiskNumber, ulong> OwnDurable { get; init; } = new Dictionary<DiskNumber, ulong>();

    /// <summary>This host, as leases name it.</summary>
    internal HostIdentity Host => new(NodeId, BootId, HostName);

    /// <summary>Bytes of the first-write journal of each space with checksums, at least 64 KiB. First writes that exceed half of it wait for a flush.</summary>
    public int RecordMemoryBytes { get; init; } = 8 << 20;

    /// <summary>Blocks of 4 KiB in the ring of a write cache after which a summary of them is written: 1 to 65536, or 0 for none.</summary>
    public int CacheSummaryBlocks { get; init; } = 4096;

    /// <summary>Slices of a tiered disk that one commit gives places where commits wait for a rotating disk: a power of two from 2 to 1024.</summary>
    public int FirstWriteWindow { get; init; } = 64;

    /// <summary>Finds the other open pools of the same lane: write caches may be in them.</summary>
    public Func<PoolId, Pool?> FindPool { get; init; } = static _ => null;

    /// <summary>Returns the name of a pool, open or not, for messages.</summary>
    public Func<PoolId, string> NameOfPool { get; init; } = static id => id.ToString();

    /// <summary>Returns the name of a member of a pool, open or not, for messages.</summary>
    public Func<PoolId, DiskNumber, string> NameOfMember { get; init; } = static (_, member) => $"disk {member}";
}

/// <summary>A pool to be made. The slab size follows from the smallest disk.</summary>
public sealed record NewPoolSpec
{
    /// <summary>Name, 1 to 256 characters.</summary>
    public required string FriendlyName { get; init; }

    /// <summary>Settings that are not to be the defaults; name, slabs, time and version in it are ignored.</summary>
    public PoolDescription? Settings { get; init; }

    /// <summary>Version of the format; an older one makes a pool as an older release does.</summary>
    public ushort FormatVersion { get; init; } = PoolDescription.NewestFormat;
}

/// <summary>A disk that is to join a pool.</summary>
/// <param name="Disk">The open disk; the pool owns it from success on and closes it.</param>
/// <param name="FriendlyName">Name shown to users, 1 to 256 characters.</param>
public sealed record NewDiskSpec(IDisk Disk, string FriendlyName)
{
    /// <summary>Purposes for which the pool may use the disk.</summary>
    public DiskUsage Usage { get; init; } = DiskUsage.AutoSelect;

    /// <summary>Medium as the user declared it; null: as the disk reports it.</summary>
    public MediaType? MediaType { get; init; }

    /// <summary>See <see cref="FaultDomains.Path"/>.</summary>
    public string FaultDomainPath { get; init; } = "";

    /// <summary>Enclosure the user has named, or -1.</summary>
    public int EnclosureNumber { get; init; } = -1;

    /// <summary>Slot the user has named, or -1.</summary>
    public int SlotNumber { get; init; } = -1;

    /// <summary>Serial number that the pool keeps; null: as the disk reports it.</summary>
    public string? SerialNumber { get; init; }

    /// <summary>Text of the user, or empty.</summary>
    public string Description { get; init; } = "";
}

/// <summary>Outcome of a commit. The value 0 is none of them, so that an unset result is no success.</summary>
public enum CommitStatus
{
    /// <summary>Durable on a majority and applied to the state.</summary>
    Committed = 1,

    /// <summary>The records contradict the state or are too many for one commit; nothing was changed.</summary>
    Refused,

    /// <summary>
    /// The files under the metadata have been full for a minute, or the metadata area is. In the first case the records may
    /// still be applied later: look at the state before trying again.
    /// </summary>
    NoSpace,

    /// <summary>The majority of the metadata disks is gone. Nothing can be changed until the pool is opened again.</summary>
    NoQuorum,

    /// <summary>The pool is closed.</summary>
    Closed,
}

/// <summary>Result of a commit or of a change of members.</summary>
/// <param name="Status">Status of the commit.</param>
/// <param name="Reason">Reason, for people; empty on success.</param>
public readonly record struct CommitResult(CommitStatus Status, string Reason)
{
    /// <summary>Success.</summary>
    public static CommitResult Committed => new(CommitStatus.Committed, "");

    /// <summary>Whether it was committed.</summary>
    public bool Succeeded => Status == CommitStatus.Committed;
}

/// <summary>Kind of a change of a pool's members.</summary>
public enum MembershipChangeKind
{
    /// <summary>A disk left the view: it misses every write from now on.</summary>
    Left,

    /// <summary>A disk joined, or joined again: it gets writes; its stale rows stay stale until they are resynced.</summary>
    Joined,

    /// <summary>The majority is gone: nothing may be written any more.</summary>
    QuorumLost,
}

/// <summary>A change of a pool's members, reported after the new view is in force.</summary>
/// <param name="Kind">Kind of change.</param>
/// <param name="Disk">The disk; none when quorum was lost.</param>
/// <param name="Reason">Reason, for people.</param>
public sealed record MembershipChange(MembershipChangeKind Kind, DiskNumber Disk, string Reason);

/// <summary>Health, numbered as in Windows.</summary>
public enum HealthStatus
{
    /// <summary>Everything is as configured.</summary>
    Healthy = 0,

    /// <summary>Something is missing; nothing is lost.</summary>
    Warning = 1,

    /// <summary>It cannot be used.</summary>
    Unhealthy = 2,
}

/// <summary>Operations that a pool can do.</summary>
public enum PoolOperationalStatus
{
    /// <summary>Everything.</summary>
    OK,

    /// <summary>Everything, with a disk missing.</summary>
    Degraded,

    /// <summary>Nothing: the majority of its metadata disks is missing.</summary>
    Incomplete,

    /// <summary>Nothing yet: it is being opened.</summary>
    InService,

    /// <summary>Reading.</summary>
    ReadOnly,

    /// <summary>Everything, and the alert threshold of thin virtual disks is reached.</summary>
    Stressed,

    /// <summary>Everything but first writes of thin virtual disks, for which there is no room.</summary>
    Error,
}
