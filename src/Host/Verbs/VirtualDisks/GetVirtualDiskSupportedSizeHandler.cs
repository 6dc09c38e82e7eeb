using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Serving;

namespace TierSpaces.Host.Verbs.VirtualDisks;

/// <summary>Get-VirtualDiskSupportedSize: smallest and largest virtual disk a pool has room for, and the unit between them.</summary>
internal sealed class GetVirtualDiskSupportedSizeHandler(HostServices services)
    : VerbHandler<GetVirtualDiskSupportedSizeRequest, SupportedSizeInfo>
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(
        GetVirtualDiskSupportedSizeRequest request, ReplyBuilder<SupportedSizeInfo> reply, CancellationToken cancellation)
    {
        Catalogue all = await Catalogue.ReadAsync(services).ConfigureAwait(false);
        foreach (StoragePoolTarget pool in all.Pools.Select(
            request.StoragePoolFriendlyName, request.StoragePoolUniqueId, request.StoragePoolName, request.InputObject, reply.Fail))
        {
            await reply.TryAsync(() =>
            {
                string layout = Named(request, pool) ?? pool.Concrete.Description.ResiliencySettingNameDefault;
                SupportedSize size = all.Now.SupportedSize(pool.Id, layout, (Engine.Formats.FaultDomainLevel?)request.FaultDomainAwareness);
                reply.Add(new SupportedSizeInfo
                {
                    VirtualDiskSizeMin = (ulong)size.Min, VirtualDiskSizeMax = (ulong)size.Max, VirtualDiskSizeDivisor = (ulong)size.Divisor,
                });
                return Task.CompletedTask;
            }).ConfigureAwait(false);
        }
    }

    /// <summary>
    /// The layout that was asked for. With a pool from the pipeline PowerShell's binder takes the pool's Name for it, since the parameter has
    /// that alias.
    /// </summary>
    private static string? Named(GetVirtualDiskSupportedSizeRequest request, StoragePoolTarget pool) =>
        request.InputObject is not null && request.ResiliencySettingName == pool.FriendlyName ? null : request.ResiliencySettingName;
}
