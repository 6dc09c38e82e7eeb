using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.Hosts;

namespace TierSpaces.Host.Verbs;

/// <summary>The list of handlers, one per verb. A list and not a search: a host must be up in a fraction of a second.</summary>
internal static class VerbHandlers
{
    /// <summary>Makes the handlers of one host.</summary>
    public static IVerbHandler[] Create(HostServices services) =>
    [
        new GetTierSpacesHostHandler(services),
        new StartTierSpacesHostHandler(services),
        new StopTierSpacesHostHandler(services),
    ];
}
