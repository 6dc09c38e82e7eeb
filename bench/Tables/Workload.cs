using TierSpaces.Bench.Nbd;

namespace TierSpaces.Bench.Tables;

/// <summary>One kind of load.</summary>
/// <param name="Name">As the table calls it.</param>
/// <param name="Mode">As <c>nbd-load</c> and fio call it.</param>
/// <param name="Block">Bytes per request.</param>
/// <param name="Depth">Requests in flight.</param>
/// <param name="Stride">Distance between two places of requests in bytes; 0: they lie side by side.</param>
/// <param name="Flushes">A flush after every write.</param>
/// <param name="Stretch">Factor of its time against others: slow disks need longer for a figure.</param>
/// <param name="Length">Bytes that are loaded, from the beginning; 0: all.</param>
internal sealed record Workload(
    string Name, string Mode, int Block, int Depth, long Stride = 0, bool Flushes = false, double Stretch = 1, long Length = 0)
{
    internal bool Writes => Mode.EndsWith("write", StringComparison.Ordinal);

    internal LoadOptions On(string socket, string export, int pid, double seconds, double warmup) => new(
        socket, export, Writes, Mode.StartsWith("rand", StringComparison.Ordinal), Block, Depth, 1, seconds, warmup, Length, pid, Stride, Flushes);
}

/// <summary>Outcome of one run of a load.</summary>
/// <param name="Rate">Requests per second.</param>
/// <param name="CpuUs">Processor time of the server per request, in microseconds; null where there is no server.</param>
/// <param name="OthersCpu">Processors used by neither client nor server; null where that is not known.</param>
internal sealed record Measurement(double Rate, double? CpuUs, double? OthersCpu);

/// <summary>Something that takes a load.</summary>
internal interface IMeasured
{
    /// <summary>As comparisons call it.</summary>
    string Name { get; }

    Measurement Measure(Workload workload, double seconds);
}

/// <summary>An NBD server, loaded by the lean client in this process.</summary>
internal sealed record NbdTarget(string Name, string Socket, string Export, int Pid) : IMeasured
{
    private const double WarmupShare = 0.3;
    private const double TurnSeconds = 0.1;

    /// <summary>Writes everything once and flushes, so that reads have data to read.</summary>
    internal NbdTarget Filled(long stride = 0)
    {
        NbdLoad.Fill(Socket, Export, stride);
        return this;
    }

    public Measurement Measure(Workload workload, double seconds)
    {
        return MeasurementOf(NbdLoad.Run(Load(workload, seconds)));
    }

    /// <summary>Measures several in short turns. Only for reads: what writes leave to be done is done in the turns of others.</summary>
    internal static Dictionary<string, Measurement> MeasureInTurns(IReadOnlyList<NbdTarget> targets, Workload workload, double seconds)
    {
        LoadResult[] results = LoadInTurns.Run([.. targets.Select(target => target.Load(workload, seconds))], TurnSeconds * workload.Stretch);
        return targets.Zip(results).ToDictionary(pair => pair.First.Name, pair => MeasurementOf(pair.Second));
    }

    private static Measurement MeasurementOf(LoadResult result) => new(result.Iops, result.ServerCpuUs, result.OthersCpu);

    private LoadOptions Load(Workload workload, double seconds) => workload.On(Socket, Export, Pid, seconds, seconds * WarmupShare);
}
