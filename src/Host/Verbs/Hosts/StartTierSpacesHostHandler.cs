using TierSpaces.Contracts;
using TierSpaces.Host.Serving;

namespace TierSpaces.Host.Verbs.Hosts;

/// <summary>Start-TierSpacesHost: the client has started the host before it sends this request; the reply describes the host.</summary>
internal sealed class StartTierSpacesHostHandler(HostServices services)
    : VerbHandler<StartTierSpacesHostRequest, TierSpacesHostInfo>
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(
        StartTierSpacesHostRequest request, ReplyBuilder<TierSpacesHostInfo> reply, CancellationToken cancellation) =>
        await reply.DoAsync(
            $"Leave the host of {services.Paths.Home} running",
            async () => reply.Add(await GetTierSpacesHostHandler.DescribeAsync(services).ConfigureAwait(false))).ConfigureAwait(false);
}
