using System.Reflection;
using System.Runtime.InteropServices;
using TierSpaces.Contracts;
using TierSpaces.Host.Serving;

namespace TierSpaces.Host.Verbs.Hosts;

/// <summary>Get-TierSpacesHost: describes this process.</summary>
internal sealed class GetTierSpacesHostHandler(HostServices services)
    : VerbHandler<GetTierSpacesHostRequest, TierSpacesHostInfo>
{
    /// <summary>Version of the executable.</summary>
    public static string Version { get; } =
        typeof(GetTierSpacesHostHandler).Assembly
            .GetCustomAttribute<AssemblyInformationalVersionAttribute>()!.InformationalVersion;

    /// <summary>The host as an object.</summary>
    public static TierSpacesHostInfo Describe(HostServices services) => new()
    {
        ProcessId = Environment.ProcessId,
        SupervisorProcessId = services.SupervisorProcessId,
        Version = Version,
        Runtime = RuntimeInformation.FrameworkDescription,
        StartTime = services.StartTime,
        Home = services.Paths.Home,
        Socket = services.Paths.Socket,
        IOBackend = services.Engine.Backend,
        IOBackendReason = services.Engine.BackendReason,
    };

    private async Task DescribeAsync(ReplyBuilder<TierSpacesHostInfo> reply)
    {
        var pools = await services.Engine.Subsystem.PoolsAsync().ConfigureAwait(false);
        var disks = await services.Engine.Subsystem.VirtualDisksAsync().ConfigureAwait(false);
        reply.Add(Describe(services) with
        {
            Pools = [.. pools.Select(pool => $"{pool.Description.FriendlyName} ({pool.OperationalStatus})")],
            ConnectedVirtualDisks = disks.Count(disk => disk.SocketPath.Length > 0),
        });
    }

    /// <inheritdoc/>
    protected override Task HandleAsync(
        GetTierSpacesHostRequest request, ReplyBuilder<TierSpacesHostInfo> reply, CancellationToken cancellation)
    {
        return DescribeAsync(reply);
    }
}
