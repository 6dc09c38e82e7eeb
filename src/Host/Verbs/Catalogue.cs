using TierSpaces.Contracts;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.Mapping;
using TierSpaces.Host.Verbs.StorageFaultDomains;

namespace TierSpaces.Host.Verbs;

/// <summary>Everything there is at one moment, ready to be selected from. A verb reads it once, at its beginning.</summary>
internal sealed class Catalogue
{
    private readonly Lazy<Selector<PhysicalDiskStatus>> _disks;
    private readonly Lazy<FaultDomain[]> _domains;
    private readonly Lazy<Selector<FaultDomain>> _faultDomains;
    private readonly Lazy<Selector<FaultDomain>> _enclosures;
    private readonly Lazy<Selector<StoragePoolTarget>> _pools;
    private readonly Lazy<Selector<VirtualDiskStatus>> _virtualDisks;
    private readonly Lazy<Selector<VirtualDiskDescription>> _virtualDiskNames;
    private readonly Lazy<Selector<StorageTierStatus>> _tiers;
    private readonly Lazy<Selector<JobStatus>> _jobs;
    private readonly Lazy<Selector<ResiliencyTarget>> _settings;

    private Catalogue(SubsystemSnapshot now)
    {
        Now = now;
        _disks = new(() => new("MSFT_PhysicalDisk", now.PhysicalDisks, disk => Identifiers.OfPoolOrDisk(disk.UniqueId), disk => disk.FriendlyName));
        _domains = new(() => FaultDomain.Of(now.PhysicalDisks));
        _faultDomains = new(() => Domains("MSFT_StorageFaultDomain", _domains.Value));
        _enclosures = new(() => Domains(
            "MSFT_StorageEnclosure", [.. _domains.Value.Where(static domain => domain.Type == StorageFaultDomainType.StorageEnclosure)]));
        _pools = new(() => new(
            "MSFT_StoragePool", [.. now.Pools.Select(pool => new StoragePoolTarget(pool)), new(null)], pool => Identifiers.OfPoolOrDisk(pool.Id),
            pool => pool.FriendlyName));
        _virtualDisks = new(() => new(
            "MSFT_VirtualDisk", now.VirtualDisks, disk => Identifiers.OfVirtualDisk(disk.Description.Id.Value),
            disk => disk.Description.FriendlyName));
        _virtualDiskNames = new(() => new(
            "MSFT_VirtualDisk", [.. now.VirtualDiskDescriptions], disk => Identifiers.OfVirtualDisk(disk.Id.Value), disk => disk.FriendlyName));
        _tiers = new(() => new("MSFT_StorageTier", now.Tiers, tier => Identifiers.OfPoolOrDisk(tier.UniqueId), tier => tier.FriendlyName));
        _jobs = new(() => new("MSFT_StorageJob", now.Jobs, job => Identifiers.OfPoolOrDisk(job.UniqueId), job => job.Name));
        _settings = new(() => new(
            "MSFT_ResiliencySetting",
            [.. now.Pools.SelectMany(pool => pool.Description.ResiliencySettings.Select(setting => new ResiliencyTarget(pool, setting)))],
            target => target.UniqueId, target => target.Setting.Name));
    }

    /// <summary>The snapshot that everything is computed from, when it is asked for.</summary>
    public SubsystemSnapshot Now { get; }

    /// <summary>Physical disks.</summary>
    public Selector<PhysicalDiskStatus> Disks => _disks.Value;

    /// <summary>Fault domains, the widest first, disks last; the name of one may be that of others too.</summary>
    public Selector<FaultDomain> FaultDomains => _faultDomains.Value;

    /// <summary>Enclosures.</summary>
    public Selector<FaultDomain> Enclosures => _enclosures.Value;

    /// <summary>Pools, the primordial one last.</summary>
    public Selector<StoragePoolTarget> Pools => _pools.Value;

    /// <summary>Virtual disks.</summary>
    public Selector<VirtualDiskStatus> VirtualDisks => _virtualDisks.Value;

    /// <summary>The same virtual disks without their statuses, which take time.</summary>
    public Selector<VirtualDiskDescription> VirtualDiskNames => _virtualDiskNames.Value;

    /// <summary>Storage tiers; the name of one may be that of one in another pool.</summary>
    public Selector<StorageTierStatus> Tiers => _tiers.Value;

    /// <summary>Storage jobs; the name of one may be that of others too.</summary>
    public Selector<JobStatus> Jobs => _jobs.Value;

    /// <summary>Resiliency settings of every pool.</summary>
    public Selector<ResiliencyTarget> Settings => _settings.Value;

    /// <summary>Reads it.</summary>
    /// <param name="services">The host.</param>
    /// <param name="withReliability">Whether the reliability counters of the disks are read, too.</param>
    public static async Task<Catalogue> ReadAsync(HostServices services, bool withReliability = false) =>
        new(await services.Subsystem.SnapshotAsync(withReliability).ConfigureAwait(false));

    private static Selector<FaultDomain> Domains(string windowsClass, FaultDomain[] domains) =>
        new(windowsClass, domains, static domain => domain.UniqueId, static domain => domain.FriendlyName);

    /// <summary>Slab size of a pool, in bytes.</summary>
    public long SlabBytesOf(Guid pool) => Pools.All.First(target => target.Id == pool).Concrete.Description.Slabs.DataBytes;
}
