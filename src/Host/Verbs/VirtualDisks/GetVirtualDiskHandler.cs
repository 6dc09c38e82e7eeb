using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.Subsystems;

namespace TierSpaces.Host.Verbs.VirtualDisks;

/// <summary>Get-VirtualDisk: lists virtual disks, by name or by what they belong to or lie on.</summary>
internal sealed class GetVirtualDiskHandler(HostServices services) : VerbHandler<GetVirtualDiskRequest, VirtualDiskInfo>
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(
        GetVirtualDiskRequest request, ReplyBuilder<VirtualDiskInfo> reply, CancellationToken cancellation)
    {
        await services.Startup.WaitAsync().ConfigureAwait(false);
        Catalogue all = await Catalogue.ReadAsync(services).ConfigureAwait(false);
        IEnumerable<VirtualDiskStatus> disks = request.PhysicalDisk is { } physical
            ? On(all, all.Disks.One(physical), request)
            : Select(all, request, reply.Fail);
        reply.Add(disks.Select(disk => services.ToInfo(all, disk)).Where(info => Passes(info, request)));
    }

    private static IEnumerable<VirtualDiskStatus> Select(Catalogue all, GetVirtualDiskRequest request, Action<StorageErrorInfo> fail)
    {
        if (request.StorageSubSystem is { } subsystem)
        {
            LocalSubsystem.Selector.One(subsystem);
            return all.VirtualDisks.All;
        }

        if (request.StorageJob is { } job)
        {
            Guid target = all.Jobs.One(job).VirtualDisk;
            return all.VirtualDisks.All.Where(disk => disk.Description.Id.Value == target);
        }

        if (request.Disk is { } named)
        {
            return [all.VirtualDisks.One(named)];   // a disk has the identifier of its virtual disk
        }

        if (request.StorageTier is { } tier)
        {
            Guid? target = all.Tiers.One(tier).VirtualDisk;
            return all.VirtualDisks.All.Where(disk => disk.Description.Id.Value == target);
        }

        if (request.StoragePool is { } owner)
        {
            StoragePoolTarget pool = all.Pools.One(owner);
            return all.VirtualDisks.All.Where(disk => disk.PoolId == pool.Id);
        }

        return all.VirtualDisks.Select(request.FriendlyName, request.UniqueId, request.Name, null, fail);
    }

    /// <summary>Virtual disks with slabs on a physical disk, in a range of it, or with their only good copy there.</summary>
    private static IEnumerable<VirtualDiskStatus> On(Catalogue all, PhysicalDiskStatus disk, GetVirtualDiskRequest request)
    {
        (ulong from, ulong to) = (request.PhysicalRangeMin ?? 0, request.PhysicalRangeMax ?? ulong.MaxValue);
        IEnumerable<PhysicalExtent> there = all.Now.Extents(physicalDisk: disk.UniqueId)
            .Where(extent => (ulong)extent.PhysicalOffset <= to && (ulong)(extent.PhysicalOffset + extent.Size) > from);
        HashSet<Guid> holding = [.. (request.NoRedundancy ? OnlyCopies(all, [.. there]) : there).Select(static extent => extent.VirtualDisk)];
        return all.VirtualDisks.All.Where(candidate => holding.Contains(candidate.Description.Id.Value));
    }

    /// <summary>The extents of a disk whose column has no good copy elsewhere. Goes over all extents once.</summary>
    private static IEnumerable<PhysicalExtent> OnlyCopies(Catalogue all, List<PhysicalExtent> extents)
    {
        Dictionary<(Guid, long, int), int> good = extents.Select(PartOf).Distinct().ToDictionary(static part => part, static _ => 0);
        foreach (PhysicalExtent extent in all.Now.Extents().Where(IsGood))
        {
            if (good.TryGetValue(PartOf(extent), out int copies))
            {
                good[PartOf(extent)] = copies + 1;
            }
        }

        return extents.Where(extent => good[PartOf(extent)] == (IsGood(extent) ? 1 : 0));
    }

    private static (Guid VirtualDisk, long Offset, int Column) PartOf(PhysicalExtent extent) => (extent.VirtualDisk, extent.VirtualOffset, extent.Column);

    private static bool IsGood(PhysicalExtent extent) => !extent.IsMissing && !extent.IsStale;

    private static bool Passes(VirtualDiskInfo disk, GetVirtualDiskRequest request) =>
        (request.HealthStatus is null || DisplayName.Of(request.HealthStatus).Contains(disk.HealthStatus))
        && (request.Usage is null || DisplayName.Of(request.Usage).Contains(disk.Usage))
        && (request.IsSnapshot is null || request.IsSnapshot.Contains(false))
        && (request.OtherUsageDescription is null
            || request.OtherUsageDescription.Any(pattern => new WildcardPattern(pattern).Fits(disk.OtherUsageDescription ?? "")));
}
