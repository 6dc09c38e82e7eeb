using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.Mapping;
using TierSpaces.Host.Verbs.StorageFaultDomains;

namespace TierSpaces.Host.Verbs;

/// <summary>Everything there is at one moment, ready to be selected from. A verb reads it once, at its beginning.</summary>
internal sealed class Catalogue
{
    private Catalogue(SubsystemSnapshot now)
    {
        Disks = new("MSFT_PhysicalDisk", now.PhysicalDisks, disk => Identifiers.OfPoolOrDisk(disk.UniqueId), disk => disk.FriendlyName);
        FaultDomain[] domains = FaultDomain.Of(now.PhysicalDisks);
        FaultDomains = Domains("MSFT_StorageFaultDomain", domains);
        Enclosures = Domains("MSFT_StorageEnclosure", [.. domains.Where(static domain => domain.Type == StorageFaultDomainType.StorageEnclosure)]);
        StoragePoolTarget[] targets = [.. now.Pools.Select(pool => new StoragePoolTarget(pool)), new(null)];
        Pools = new("MSFT_StoragePool", targets, pool => Identifiers.OfPoolOrDisk(pool.Id), pool => pool.FriendlyName);
        VirtualDisks = new(
            "MSFT_VirtualDisk", now.VirtualDisks, disk => Identifiers.OfVirtualDisk(disk.Description.Id.Value),
            disk => disk.Description.FriendlyName);
        Tiers = new("MSFT_StorageTier", now.Tiers, tier => Identifiers.OfPoolOrDisk(tier.UniqueId), tier => tier.FriendlyName);
        Jobs = new("MSFT_StorageJob", now.Jobs, job => Identifiers.OfPoolOrDisk(job.UniqueId), job => job.Name);
        Settings = new(
            "MSFT_ResiliencySetting",
            [.. now.Pools.SelectMany(pool => pool.Description.ResiliencySettings.Select(setting => new ResiliencyTarget(pool, setting)))],
            target => target.UniqueId, target => target.Setting.Name);
    }

    /// <summary>Physical disks.</summary>
    public Selector<PhysicalDiskStatus> Disks { get; }

    /// <summary>Fault domains, the widest first, disks last; the name of one may be that of others too.</summary>
    public Selector<FaultDomain> FaultDomains { get; }

    /// <summary>Enclosures.</summary>
    public Selector<FaultDomain> Enclosures { get; }

    /// <summary>Pools, the primordial one last.</summary>
    public Selector<StoragePoolTarget> Pools { get; }

    /// <summary>Virtual disks.</summary>
    public Selector<VirtualDiskStatus> VirtualDisks { get; }

    /// <summary>Storage tiers; the name of one may be that of one in another pool.</summary>
    public Selector<StorageTierStatus> Tiers { get; }

    /// <summary>Storage jobs; the name of one may be that of others too.</summary>
    public Selector<JobStatus> Jobs { get; }

    /// <summary>Resiliency settings of every pool.</summary>
    public Selector<ResiliencyTarget> Settings { get; }

    /// <summary>Reads it.</summary>
    public static async Task<Catalogue> ReadAsync(HostServices services) => new(await services.Subsystem.SnapshotAsync().ConfigureAwait(false));

    private static Selector<FaultDomain> Domains(string windowsClass, FaultDomain[] domains) =>
        new(windowsClass, domains, static domain => domain.UniqueId, static domain => domain.FriendlyName);

    /// <summary>Slab size of a pool, in bytes.</summary>
    public long SlabBytesOf(Guid pool) => Pools.All.First(target => target.Id == pool).Concrete.Description.Slabs.DataBytes;
}
