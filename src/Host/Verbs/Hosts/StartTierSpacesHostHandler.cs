using TierSpaces.Contracts;
using TierSpaces.Host.Serving;

namespace TierSpaces.Host.Verbs.Hosts;

/// <summary>Start-TierSpacesHost: whoever asks has started the host already; the answer describes it.</summary>
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
