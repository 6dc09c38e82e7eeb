using System.Collections.Concurrent;
using TierSpaces.Contracts;

namespace TierSpaces.Cmdlets;

/// <summary>The connection to the host of the current home. A session may move between homes by setting TIERSPACES_HOME.</summary>
internal static class HostConnection
{
    private static readonly ConcurrentDictionary<(string Home, bool Starts), ManagementClient> s_clients = new();

    /// <summary>The client for a verb, which starts a host where there is none unless the verb is about the host itself.</summary>
    internal static ManagementClient For(VerbDescription verb) => Client(!verb.Verb.StartsNoHost);

    /// <summary>The client that starts no host.</summary>
    internal static ManagementClient Running() => Client(starts: false);

    private static ManagementClient Client(bool starts)
    {
        HostPaths paths = HostPaths.FromEnvironment();
        return s_clients.GetOrAdd(
            (paths.Home, Starts: starts),
            key => new ManagementClient(paths, key.Starts ? ProcessHostLauncher.LaunchAsync : null));
    }
}
