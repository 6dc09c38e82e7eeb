using System.Reflection;
using System.Runtime.InteropServices;
using TierSpaces.Contracts;
using TierSpaces.Host.Health;
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
    public static async Task<TierSpacesHostInfo> DescribeAsync(HostServices services)
    {
        Catalogue all = await Catalogue.ReadAsync(services).ConfigureAwait(false);
        HealthReport health = HealthReport.Of(all.Now, services.Volumes.Mounts.Recorded);
        return new TierSpacesHostInfo
        {
            HealthStatus = DisplayName.Of(health.Worst),
            Faults = health.Faults,
            ProcessId = Environment.ProcessId,
            SupervisorProcessId = services.SupervisorProcessId,
            Version = Version,
            Runtime = RuntimeInformation.FrameworkDescription,
            StartTime = services.StartTime,
            Home = services.Paths.Home,
            Socket = services.Paths.Socket,
            IOBackend = services.IO.Backend,
            IOBackendReason = services.IO.Reason,
            Lanes = services.DataLanes,
            Pools = [.. all.Pools.All.Where(pool => !pool.IsPrimordial).Select(pool => pool.FriendlyName)],
            ConnectedVirtualDisks = all.VirtualDisks.All.Count(disk => disk.SocketPath.Length > 0),
        };
    }

    /// <inheritdoc/>
    protected override async Task HandleAsync(
        GetTierSpacesHostRequest request, ReplyBuilder<TierSpacesHostInfo> reply, CancellationToken cancellation) =>
        reply.Add(await DescribeAsync(services).ConfigureAwait(false));
}
