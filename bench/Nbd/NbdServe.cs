using TierSpaces.Engine.Exports.Nbd;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;
using TierSpaces.Interop.Tests;

namespace TierSpaces.Bench.Nbd;

/// <summary>The engine's NBD server over memory: what lane and protocol cost, with no storage behind them.</summary>
internal static class NbdServe
{
    internal static void Run(Arguments arguments)
    {
        string socket = arguments.Text("socket");
        long size = arguments.Number("size", 256 << 20, 4096, 1L << 40);
        int block = (int)arguments.Number("block", 512, 512, 4096);
        arguments.ThrowIfUnused();
        using MemoryStore store = new(size, block);
        using Lane lane = LaneFactory.Create("bench");
        NbdServer server = new(lane, notice: Console.Error.WriteLine);
        NbdExport export = new(Guid.Empty, "memory", "memory of the bench", store, isReadOnly: false);
        server.Add(export);
        lane.InvokeAsync(() => LaneTask.FromResult(server.ListenUnix(lane.Network, socket))).GetAwaiter().GetResult();
        Console.WriteLine($"{lane.BackendReason}; serving {socket}");
        Console.In.ReadToEnd();
        lane.InvokeAsync(async () =>
        {
            await server.Close();
            return 0;
        }).GetAwaiter().GetResult();
        NbdCounters done = export.Counters;
        Console.WriteLine($"{done.Reads} reads, {done.BytesRead} bytes; {done.Writes} writes, {done.BytesWritten} bytes; {done.Errors} errors");
    }
}
