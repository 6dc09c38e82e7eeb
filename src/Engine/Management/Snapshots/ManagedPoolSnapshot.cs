using System.Diagnostics.CodeAnalysis;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Management;

/// <summary>Counts of a member disk of an open pool at one moment.</summary>
/// <param name="IsHung">Whether requests to it have passed their deadline.</param>
/// <param name="Counters">Counters of its requests; null for a disk whose requests are not counted.</param>
internal readonly record struct MemberActivity(bool IsHung, IoCounters? Counters);

/// <summary>A pool that the host knows at one moment: open, or seen but incomplete.</summary>
internal sealed class ManagedPoolSnapshot
{
    private readonly Dictionary<VirtualDiskId, string> _unopened;
    private readonly Dictionary<DiskNumber, long> _notBeforeNs;
    private readonly Dictionary<DiskNumber, long> _graceEndNs;   // of those that are missing
    private readonly Dictionary<DiskNumber, MemberActivity> _members = [];

    /// <summary>Copies a pool, on the lane.</summary>
    /// <param name="managed">The pool.</param>
    /// <param name="pool">The snapshot of it while it is open.</param>
    /// <param name="disks">Its open virtual disks.</param>
    /// <param name="graceNs">Grace period of its missing members.</param>
    internal ManagedPoolSnapshot(ManagedPool managed, PoolSnapshot? pool, Dictionary<VirtualDiskId, VirtualDiskSnapshot> disks, long graceNs)
    {
        Id = managed.Id;
        Pool = pool;
        State = pool?.State ?? managed.State;
        Reason = managed.Reason;
        AwaitsLease = managed.AwaitsLease;
        IsBeingOpened = managed.Opening is not null || (pool is null && managed.ClosedStatus == PoolOperationalStatus.InService);
        ClosedStatus = managed.ClosedStatus;
        VirtualDisks = disks;
        _unopened = new Dictionary<VirtualDiskId, string>(managed.Unopened);
        _notBeforeNs = managed.Absences.ToDictionary(static absence => absence.Key, static absence => absence.Value.NotBeforeNs);
        _graceEndNs = managed.Absences.Where(static absence => absence.Value.IsMissing)
            .ToDictionary(static absence => absence.Key, absence => absence.Value.SinceNs + graceNs);
        foreach (DiskNumber number in managed.Pool?.State.Disks.Keys ?? [])
        {
            if (managed.Pool!.Disk(number) is MeteredDisk disk)
            {
                _members[number] = new MemberActivity(disk.IsHung, disk.LifetimeCounters());
            }
        }
    }

    /// <summary>Identity.</summary>
    internal PoolId Id { get; }

    /// <summary>The pool while it is open.</summary>
    internal PoolSnapshot? Pool { get; }

    /// <summary>State of the pool, or the last known state while it is not open.</summary>
    internal PoolState? State { get; }

    /// <summary>Whether it is being opened: the pool itself, or its virtual disks.</summary>
    internal bool IsBeingOpened { get; }

    /// <summary>Whether it is not open because its lease is waited for.</summary>
    internal bool AwaitsLease { get; }

    /// <summary>Reason why the pool is not open.</summary>
    internal string Reason { get; }

    /// <summary>Names the devices that carry one disk identity and are not used for that reason; empty when there are none.</summary>
    internal string Copies { get; init; } = "";

    /// <summary>Status of the pool while it is not open.</summary>
    internal PoolOperationalStatus ClosedStatus { get; }

    /// <summary>Its open virtual disks.</summary>
    internal IReadOnlyDictionary<VirtualDiskId, VirtualDiskSnapshot> VirtualDisks { get; }

    /// <summary>Descriptions of its virtual disks, but those that are being made.</summary>
    internal IEnumerable<VirtualDiskDescription> Descriptions => (State?.VirtualDisks.Values ?? []).Where(static disk => !disk.IsBeingCreated);

    /// <summary>Name of a member that does not answer; null while every one does.</summary>
    internal string? HungDisk => State?.Disks.Values.FirstOrDefault(disk => Activity(disk.Description.Number).IsHung)?.Description.FriendlyName;

    /// <summary>Whether a virtual disk of the open pool could not be opened, and the reason.</summary>
    internal bool TryGetUnopened(VirtualDiskId disk, [NotNullWhen(true)] out string? problem) => _unopened.TryGetValue(disk, out problem);

    /// <summary>Time before which a member is not looked for, on the lane's clock; 0: none.</summary>
    internal long NotBeforeNs(DiskNumber member) => _notBeforeNs.GetValueOrDefault(member);

    /// <summary>End of the grace period of a missing member, on the lane's clock; null for one that is not missing.</summary>
    internal long? GraceEndNs(DiskNumber member) => _graceEndNs.TryGetValue(member, out long at) ? at : null;

    /// <summary>Counts of a member; none while it is missing.</summary>
    internal MemberActivity Activity(DiskNumber member) => _members.GetValueOrDefault(member);
}
