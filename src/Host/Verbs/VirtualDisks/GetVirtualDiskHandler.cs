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
        Catalogue all = await Catalogue.ReadAsync(services).ConfigureAwait(false);
        IEnumerable<VirtualDiskStatus> disks = request.PhysicalDisk is { } physical
            ? await OnAsync(all, all.Disks.One(physical), request).ConfigureAwait(false)
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

        if (request.StorageTier is { } tier)
        {
            Guid? target = all.Tiers.One(tier).VirtualDisk;
            return all.VirtualDisks.All.Where(disk => disk.Description.Id.Value == target);
        }

        if (request.StoragePool is { } named)
        {
            StoragePoolTarget pool = all.Pools.One(named);
            return all.VirtualDisks.All.Where(disk => disk.PoolId == pool.Id);
        }

        return all.VirtualDisks.Select(request.FriendlyName, request.UniqueId, request.Name, null, fail);
    }

    /// <summary>Virtual disks with slabs on a physical disk, in a range of it, or with their only good copy there.</summary>
    private async Task<IEnumerable<VirtualDiskStatus>> OnAsync(
        Catalogue all, PhysicalDiskStatus disk, GetVirtualDiskRequest request)
    {
        (ulong from, ulong to) = (request.PhysicalRangeMin ?? 0, request.PhysicalRangeMax ?? ulong.MaxValue);
        PhysicalExtent[] extents = await services.Subsystem.Placements.ExtentsAsync(null, null).ConfigureAwait(false);
        HashSet<Guid> there = extents
            .Where(extent => extent.PhysicalDisk == disk.UniqueId)
            .Where(extent => (ulong)extent.PhysicalOffset <= to && (ulong)(extent.PhysicalOffset + extent.Size) > from)
            .Where(extent => !request.NoRedundancy || IsOnlyCopy(extent, extents))
            .Select(extent => extent.VirtualDisk).ToHashSet();
        return all.VirtualDisks.All.Where(candidate => there.Contains(candidate.Description.Id.Value));
    }

    private static bool IsOnlyCopy(PhysicalExtent extent, PhysicalExtent[] all) => !all.Any(other =>
        other != extent && !other.IsMissing && !other.IsStale && other.VirtualDisk == extent.VirtualDisk
        && other.VirtualOffset == extent.VirtualOffset && other.Column == extent.Column);

    private static bool Passes(VirtualDiskInfo disk, GetVirtualDiskRequest request) =>
        (request.HealthStatus is null || DisplayName.Of(request.HealthStatus).Contains(disk.HealthStatus))
        && (request.Usage is null || DisplayName.Of(request.Usage).Contains(disk.Usage))
        && (request.IsSnapshot is null || request.IsSnapshot.Contains(false))
        && (request.OtherUsageDescription is null
            || request.OtherUsageDescription.Any(pattern => new WildcardPattern(pattern).Fits(disk.OtherUsageDescription ?? "")));
}
