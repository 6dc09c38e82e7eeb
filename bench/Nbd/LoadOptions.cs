namespace TierSpaces.Bench.Nbd;

/// <summary>Load for a server.</summary>
/// <param name="Socket">Path of the server's Unix socket.</param>
/// <param name="Export">Name of the export.</param>
/// <param name="Writes">Whether requests write; otherwise they read.</param>
/// <param name="Random">Whether places are random; otherwise they follow each other.</param>
/// <param name="Block">Bytes of a request.</param>
/// <param name="Depth">Requests in flight on each connection.</param>
/// <param name="Connections">Number of connections.</param>
/// <param name="Seconds">Length of the measured time.</param>
/// <param name="Warmup">Seconds of load before the measured time.</param>
/// <param name="Length">Bytes of the export that are used, from its start.</param>
/// <param name="Stride">Distance between two places of requests in bytes; 0: they lie side by side.</param>
/// <param name="Pid">The server's process, whose processor time is counted; this one when the server runs in it; 0: not counted.</param>
/// <param name="Flushes">Every write is followed by a flush, and counts when that has ended.</param>
/// <param name="Durable">Every write has FUA: it is durable when it is answered.</param>
/// <param name="Operations">The load ends after so many requests or after its time, whichever comes first; 0: after its time.</param>
/// <param name="Seed">Chooses the random places: the same one gives the same places in the same order.</param>
/// <param name="FlushEvery">
/// A flush follows every so many writes of a connection, and the last of them counts when that has ended; 0: none. At a depth of more than 1 the
/// other writes go on meanwhile.
/// </param>
internal sealed record LoadOptions(
    string Socket, string Export, bool Writes, bool Random, int Block, int Depth, int Connections, double Seconds, double Warmup,
    long Length, int Pid, long Stride = 0, bool Flushes = false, bool Durable = false, long Operations = 0, int Seed = 0,
    int FlushEvery = 0)
{
    internal static LoadOptions From(Arguments arguments)
    {
        string mode = arguments.Text("mode", "randread");
        if (mode is not ("randread" or "randwrite" or "read" or "write"))
        {
            throw new ArgumentException($"--mode is '{mode}'; it may be randread, randwrite, read or write.");
        }

        return new LoadOptions(
            arguments.Text("socket"),
            arguments.Text("export", ""),
            mode.EndsWith("write", StringComparison.Ordinal),
            mode.StartsWith("rand", StringComparison.Ordinal),
            (int)arguments.Number("block", 4096, 512, 32 << 20),
            (int)arguments.Number("depth", 32, 1, 256),
            (int)arguments.Number("connections", 1, 1, 64),
            arguments.Number("seconds", 5, 1, 3600),
            arguments.Number("warmup", 1, 0, 3600),
            arguments.Number("length", 0, 0, long.MaxValue),
            (int)arguments.Number("pid", 0, 0, int.MaxValue),
            arguments.Number("stride", 0, 0, long.MaxValue),
            arguments.Flag("Flush"),
            arguments.Flag("Fua"),
            arguments.Number("operations", 0, 0, long.MaxValue),
            (int)arguments.Number("seed", 0, 0, int.MaxValue),
            (int)arguments.Number("flush-every", 0, 0, int.MaxValue));
    }
}
