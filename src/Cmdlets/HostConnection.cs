using System.Collections.Concurrent;
using TierSpaces.Contracts;

namespace TierSpaces.Cmdlets;

/// <summary>The connection to the host of the current home. A session may move between homes by setting TIERSPACES_HOME.</summary>
internal static class HostConnection
{
    private static readonly ConcurrentDictionary<string, ManagementClient> s_byHome = new();

    internal static ManagementClient Current
    {
        get
        {
            HostPaths paths = HostPaths.FromEnvironment();
            return s_byHome.GetOrAdd(paths.Home, _ => new ManagementClient(paths, ProcessHostLauncher.LaunchAsync));
        }
    }
}
