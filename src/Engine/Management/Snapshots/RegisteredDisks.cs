using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Management;

/// <summary>The registered disks at one moment, and the members that they are.</summary>
internal sealed class RegisteredDisks
{
    private readonly Dictionary<RegisteredDiskSnapshot, (ManagedPoolSnapshot Pool, DiskDescription Member)> _members = [];
    private readonly Dictionary<(PoolId Pool, DiskNumber Member), RegisteredDiskSnapshot> _byMember = [];

    /// <summary>Finds the members, each in the first pool that has it.</summary>
    /// <param name="disks">The registered disks, in the order of registration.</param>
    /// <param name="pools">The pools, in the order in which they became known.</param>
    internal RegisteredDisks(IReadOnlyList<RegisteredDiskSnapshot> disks, IReadOnlyList<ManagedPoolSnapshot> pools)
    {
        All = disks;
        foreach (RegisteredDiskSnapshot disk in disks)
        {
            foreach (ManagedPoolSnapshot pool in pools)
            {
                if (ManagedPool.MemberFor(pool.Id, pool.State, disk.Stored, disk.Condition) is { } member)
                {
                    _members.TryAdd(disk, (pool, member));
                    _byMember.TryAdd((pool.Id, member.Number), disk);
                }
            }
        }
    }

    /// <summary>Every registered disk, in the order of registration.</summary>
    internal IReadOnlyList<RegisteredDiskSnapshot> All { get; }

    /// <summary>Returns the member that a disk is, with its pool; null for one that is none.</summary>
    internal (ManagedPoolSnapshot Pool, DiskDescription Member)? MemberOf(RegisteredDiskSnapshot disk) =>
        _members.TryGetValue(disk, out (ManagedPoolSnapshot Pool, DiskDescription Member) member) ? member : null;

    /// <summary>Returns the disk that a member is; null while none is.</summary>
    internal RegisteredDiskSnapshot? DiskOf(ManagedPoolSnapshot pool, DiskNumber member) => _byMember.GetValueOrDefault((pool.Id, member));

    /// <summary>Names the devices that carry the identity of a member, of which none is used for that reason; empty when there are none.</summary>
    internal string CopiesOf(DiskDescription member) =>
        All.Select(static disk => disk.Condition)
            .FirstOrDefault(condition => condition is { Copy: CopyState.Undecided, Label: { } label } && label.Disk == member.Id)?.Problem ?? "";

    /// <summary>Whether a disk is used by an open pool.</summary>
    internal bool IsInOpenPool(RegisteredDiskSnapshot disk) => !disk.IsOpen && disk.Condition.Problem.Length == 0 && MemberOf(disk) is { Pool.Pool: not null };

    /// <summary>Returns the time of the next search for a missing member, on the lane's clock.</summary>
    internal long NextLookNs(ManagedPoolSnapshot pool, DiskNumber member) => Math.Max(pool.NotBeforeNs(member), DiskOf(pool, member)?.NextLookNs ?? 0);
}
