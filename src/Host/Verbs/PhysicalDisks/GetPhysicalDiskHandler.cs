using System.Globalization;
using TierSpaces.Contracts;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Primitives;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.StorageFaultDomains;
using TierSpaces.Host.Verbs.Mapping;
using TierSpaces.Host.Verbs.Subsystems;

namespace TierSpaces.Host.Verbs.PhysicalDisks;

/// <summary>Get-PhysicalDisk: lists physical disks, by name, by what they belong to, or by what lies on them.</summary>
internal sealed class GetPhysicalDiskHandler(HostServices services) : VerbHandler<GetPhysicalDiskRequest, PhysicalDiskInfo>
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(
        GetPhysicalDiskRequest request, ReplyBuilder<PhysicalDiskInfo> reply, CancellationToken cancellation)
    {
        Catalogue all = await Catalogue.ReadAsync(services).ConfigureAwait(false);
        if (request.StorageSubsystem is { } subsystem)
        {
            LocalSubsystem.Selector.One(subsystem);
        }

        if (request.StorageNode is { } node)
        {
            LocalNode.Selector.One(node);
        }

        string? domain = request.StorageEnclosure ?? request.StorageScaleUnit ?? request.StorageChassis ?? request.StorageRack;
        IEnumerable<PhysicalDiskStatus> disks = domain is not null ? all.FaultDomains.One(domain).Disks
            : request.StoragePool is { } pool ? InPool(all, all.Pools.One(pool))
            : request.VirtualDisk is { } disk ? Under(all, all.VirtualDisks.One(disk), request)
            : Named(all, request, reply.Fail);
        reply.Add(disks.Where(disk => !request.HasMetadata || disk.HoldsMetadata).OrderBy(disk => (uint)disk.DeviceId).Select(disk => disk.ToInfo())
            .Where(info => Passes(info, request)));
    }

    private static IEnumerable<PhysicalDiskStatus> Named(Catalogue all, GetPhysicalDiskRequest request, Action<StorageErrorInfo> fail)
    {
        string? uniqueId = request.UniqueId ?? request.ObjectId?.Split('=')[^1];
        return request.DeviceNumber is { } number
            ? all.Disks.By("DeviceNumber", disk => disk.DeviceId.ToString(CultureInfo.InvariantCulture), [number], fail)
            : request is { SerialNumber: { } serial, FriendlyName: null }
            ? all.Disks.By("SerialNumber", disk => disk.SerialNumber, [serial], fail)
            : all.Disks.Select(request.FriendlyName, uniqueId, null, ListOf(request.InputObject), fail);
    }

    private static IEnumerable<PhysicalDiskStatus> InPool(Catalogue all, StoragePoolTarget pool) =>
        pool.IsPrimordial ? all.Disks.All : all.Disks.All.Where(disk => disk.PoolId == pool.Id);

    /// <summary>The disks of the virtual disk's pool that hold (or do not hold) what was asked for.</summary>
    private static IEnumerable<PhysicalDiskStatus> Under(Catalogue all, VirtualDiskStatus disk, GetPhysicalDiskRequest request)
    {
        (ulong from, ulong to) = (request.VirtualRangeMin ?? 0, request.VirtualRangeMax ?? ulong.MaxValue);
        IEnumerable<PhysicalExtent> extents = all.Now.Extents(disk.Description.Id.Value)
            .Where(extent => (ulong)extent.VirtualOffset <= to && (ulong)(extent.VirtualOffset + extent.Size) > from);
        extents = request.NoRedundancy ? extents.GroupBy(static extent => (extent.VirtualOffset, extent.Column)).SelectMany(OnlyCopy) : extents;
        HashSet<Guid> holders = [.. extents.Select(static extent => extent.PhysicalDisk)];
        bool? holds = request.HasAllocations ?? (request.SelectedForUse is null ? true : null);
        return all.Disks.All.Where(candidate => candidate.PoolId == disk.PoolId
            && (holds is null || holders.Contains(candidate.UniqueId) == holds)
            && (request.SelectedForUse is null || MayUse(disk, candidate) == request.SelectedForUse));
    }

    /// <summary>Whether a virtual disk takes further slabs from a disk of its pool: one that its creation named, else any in automatic use.</summary>
    private static bool MayUse(VirtualDiskStatus disk, PhysicalDiskStatus candidate)
    {
        System.Collections.Immutable.ImmutableArray<DiskNumber> told = disk.Description.AllowedDisks;
        return candidate.Member is { } member && (told.IsDefaultOrEmpty
            ? candidate.Usage == DiskUsage.AutoSelect
            : told.Contains(member));
    }

    /// <summary>The one good copy of a column's part; nothing when there are more, or none.</summary>
    private static IEnumerable<PhysicalExtent> OnlyCopy(IEnumerable<PhysicalExtent> copies) =>
        copies.Where(copy => !copy.IsMissing && !copy.IsStale).ToArray() is [var only] ? [only] : [];

    private static bool Passes(PhysicalDiskInfo disk, GetPhysicalDiskRequest request) =>
        Fits(request.SerialNumber, disk.SerialNumber) && Fits(request.Description, disk.Description)
        && Fits(request.Manufacturer, disk.Manufacturer) && Fits(request.Model, disk.Model)
        && (request.Usage is null || disk.Usage == DisplayName.Of(request.Usage))
        && (request.HealthStatus is null || disk.HealthStatus == DisplayName.Of(request.HealthStatus))
        && (request.CanPool is null || disk.CanPool == request.CanPool);

    private static bool Fits(string? pattern, string? text) => pattern is null || new WildcardPattern(pattern).Fits(text ?? "");

    private static string[]? ListOf(string? text) => text is null ? null : [text];
}
