using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Verbs.Mapping;
using TierSpaces.Host.Volumes;

namespace TierSpaces.Host.Health;

/// <summary>Health of every object at one moment: that of the statuses which the verbs show, and no other.</summary>
/// <param name="Objects">The objects: pools, virtual disks, physical disks, and recorded mounts of volumes.</param>
internal sealed record HealthReport(IReadOnlyList<ObjectHealth> Objects)
{
    private const string Unopened = "Incomplete";
    private const string Lost = "Lost Communication";

    /// <summary>Worst health of all.</summary>
    public HealthStatus Worst => Objects.Select(static one => one.Health).DefaultIfEmpty(HealthStatus.Healthy).Max();

    /// <summary>A line for each object that is not healthy, the worst first.</summary>
    public string[] Faults =>
        [.. Objects.Where(static one => one.Health != HealthStatus.Healthy).OrderByDescending(static one => one.Health).Select(static one => one.Line)];

    /// <summary>
    /// Whether physical disks are away of which it is not known what they hold: objects may be missing from the report because they are on those, and not
    /// because they were removed.
    /// </summary>
    public bool IsPartial => Objects.Any(static one => one is { Subject: HealthSubject.PhysicalDisk, PoolName.Length: 0, Status: Lost } || IsUnknownPool(one));

    /// <summary>Computes the report of a snapshot.</summary>
    /// <param name="now">The snapshot.</param>
    /// <param name="mounts">Recorded mounts, with the reason for which they failed; empty for those that did not.</param>
    public static HealthReport Of(SubsystemSnapshot now, IEnumerable<(MountEntry Mount, string Fault)> mounts)
    {
        Dictionary<Guid, string> names = now.Pools.ToDictionary(static pool => pool.UniqueId, static pool => pool.Description.FriendlyName);
        string NameOf(Guid? pool) => pool is { } id ? names.GetValueOrDefault(id, "") : "";
        Dictionary<string, string> pools = now.VirtualDisks.ToDictionary(
            static disk => Identifiers.OfVirtualDisk(disk.Description.Id.Value), disk => NameOf(disk.PoolId));
        return new HealthReport(
        [
            .. now.Pools.Select(static pool => new ObjectHealth(
                HealthSubject.StoragePool, Identifiers.OfPoolOrDisk(pool.UniqueId), pool.Description.FriendlyName, "", (HealthStatus)pool.Health,
                pool.ToInfo().OperationalStatus[0], pool.StatusReason)),
            .. now.UnknownPools.Select(static pool => new ObjectHealth(
                HealthSubject.StoragePool, Identifiers.OfPoolOrDisk(pool.UniqueId), pool.UniqueId.ToString("B"), "", HealthStatus.Unhealthy, Unopened,
                $"It is not open: {pool.Reason}.")),
            .. now.VirtualDisks.Select(disk => new ObjectHealth(
                HealthSubject.VirtualDisk, Identifiers.OfVirtualDisk(disk.Description.Id.Value), disk.Description.FriendlyName, NameOf(disk.PoolId),
                (HealthStatus)disk.Health, disk.OperationalStatus, disk.StatusReason)),
            .. now.PhysicalDisks.Select(disk => new ObjectHealth(
                HealthSubject.PhysicalDisk, Identifiers.OfPoolOrDisk(disk.UniqueId), disk.FriendlyName, NameOf(disk.PoolId), (HealthStatus)disk.Health,
                disk.OperationalStatus, disk.StatusReason)),
            .. mounts.Select(mount => OfMount(mount.Mount, mount.Fault, pools.GetValueOrDefault(mount.Mount.VirtualDisk, ""))),
        ]);
    }

    private static ObjectHealth OfMount(MountEntry mount, string fault, string poolName)
    {
        bool isSound = fault.Length == 0;
        return new ObjectHealth(
            HealthSubject.Volume, $"{mount.VirtualDisk}/{mount.Partition}{mount.Path}", mount.Path, poolName,
            isSound ? HealthStatus.Healthy : HealthStatus.Warning, isSound ? "OK" : "Error", isSound ? "" : $"It is not mounted: {fault}");
    }

    private static bool IsUnknownPool(ObjectHealth one) => one.Subject == HealthSubject.StoragePool && one.Name == one.UniqueId;
}
