using TierSpaces.Contracts;
using TierSpaces.Host.Attaching;
using TierSpaces.Host.Serving;

namespace TierSpaces.Host.Verbs.Hosts;

/// <summary>
/// Stop-TierSpacesHost: the answer is sent, then the host stops in good order. While virtual disks are in use it is refused, unless their users are to wait for
/// the next host (-KeepAttached) or are to lose them (-Force).
/// </summary>
internal sealed class StopTierSpacesHostHandler(HostServices services)
    : VerbHandler<StopTierSpacesHostRequest, TierSpacesHostInfo>
{
    /// <inheritdoc/>
    protected override Task HandleAsync(
        StopTierSpacesHostRequest request, ReplyBuilder<TierSpacesHostInfo> reply, CancellationToken cancellation) =>
        reply.DoAsync($"Stop the host of {services.Paths.Home}", async () =>
        {
            if (request.Force && request.KeepAttached)
            {
                throw new StorageException(
                    StorageErrors.InvalidParameter, "-KeepAttached: cannot be used with -Force, which removes what it keeps.", "Leave one of them out.",
                    nameof(request.KeepAttached));
            }

            IReadOnlyList<DiskUsers> users = await DiskUsers.ListAsync(services).ConfigureAwait(false);
            if (request.KeepAttached)
            {
                Array.ForEach(services.Attachments.Records(), record => reply.Warn(
                    $"Virtual disk '{record.FriendlyName}' keeps {record.Device}: its requests wait {services.Attachments.PatienceOf(record)} for the next host."));
                users.Where(static disk => disk.Clients.Length > 0).ToList().ForEach(disk => reply.Warn(disk.WhatStopDoes));
            }
            else if (request.Force)
            {
                await TakeAwayAsync(reply).ConfigureAwait(false);
            }
            else if (users.Count > 0)
            {
                throw new StorageException(
                    StorageErrors.InUse, string.Join(" ", users.Select(static disk => disk.Text)),
                    "Unmount and disconnect them, then stop the host. -KeepAttached stops it and lets their block devices wait for the next host; "
                        + "-Force takes them away from their users.",
                    services.Paths.Home);
            }

            services.RequestStop(request.KeepAttached);
        });

    private async Task TakeAwayAsync(ReplyBuilder<TierSpacesHostInfo> reply)
    {
        foreach (AttachRecord record in services.Attachments.Records())
        {
            foreach (string remark in await services.Connections.TakeAwayAsync(record.UniqueId, isServed: true).ConfigureAwait(false))
            {
                reply.Warn(remark);
            }
        }
    }
}
