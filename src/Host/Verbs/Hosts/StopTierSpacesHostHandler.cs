using TierSpaces.Contracts;
using TierSpaces.Host.Serving;

namespace TierSpaces.Host.Verbs.Hosts;

/// <summary>Stop-TierSpacesHost: the answer is sent, then the host stops in good order.</summary>
internal sealed class StopTierSpacesHostHandler(HostServices services)
    : VerbHandler<StopTierSpacesHostRequest, TierSpacesHostInfo>
{
    /// <inheritdoc/>
    protected override Task HandleAsync(
        StopTierSpacesHostRequest request, ReplyBuilder<TierSpacesHostInfo> reply, CancellationToken cancellation) =>
        reply.DoAsync($"Stop the host of {services.Paths.Home}", () =>
        {
            services.RequestStop();
            return Task.CompletedTask;
        });
}
