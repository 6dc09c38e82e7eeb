using System.Runtime.InteropServices;
using TierSpaces.Bench.Tables;
using TierSpaces.Engine.Lanes;

namespace TierSpaces.Bench.Experiments;

/// <summary>The real host, started when an experiment asks for it. One that runs the engine in its own process never does.</summary>
internal sealed class HostOnDemand(string executable) : IDisposable
{
    private BenchHost? _host;

    /// <summary>The host, running.</summary>
    internal BenchHost Host => _host ??= Started();

    /// <summary>The server, for the page.</summary>
    internal string Facts => _host is { } host ? $"{host.Runtime}, {host.Backend}" : InProcess();

    public void Dispose() => _host?.Dispose();

    private BenchHost Started()
    {
        BenchHost host = new(executable);
        host.Start();
        return host;
    }

    private static string InProcess()
    {
        using Lane lane = LaneFactory.Create("facts");
        return $"the engine in the process that loads it; {RuntimeInformation.FrameworkDescription}, {lane.BackendReason}";
    }
}
