using System.Diagnostics;

namespace TierSpaces.Bench.Nbd;

/// <summary>
/// The lean load client: one thread, a few connections, each with a fixed number of requests in flight. Measures any
/// NBD server on a Unix socket; one connection sleeps in its receive, several in poll.
/// </summary>
internal static unsafe class NbdLoad
{
    internal static LoadResult Run(LoadOptions options)
    {
        LatencyHistogram warmup = new(), latency = new();
        Drive(options, options.Warmup, warmup);
        ProcessorTimes before = ProcessorTimes.Now(options.Pid);
        (long operations, double seconds) = Drive(options, options.Seconds, latency);
        ProcessorTimes used = ProcessorTimes.Now(options.Pid) - before;
        bool knowsServer = options.Pid > 0;
        return new LoadResult(
            operations,
            seconds,
            options.Block,
            latency,
            used.Client / seconds,
            knowsServer ? used.Server * 1e6 / Math.Max(operations, 1) : null,
            knowsServer ? Math.Max(0, used.Machine - used.Client - used.Server) / seconds : null);
    }

    /// <summary>Writes every megabyte of an export once, or with a stride one block in each, then flushes.</summary>
    internal static void Fill(string socket, string export, long stride = 0)
    {
        LoadOptions options = new(socket, export, Writes: true, Random: false, stride > 0 ? 4096 : 1 << 20, 8, 1, 0, 0, 0, 0, stride);
        LoadConnection connection = new(options, 0, new LatencyHistogram());
        connection.Start();
        while (connection.Completed < connection.Blocks + options.Depth)
        {
            Turn([connection]);
        }

        End(connection, flush: true);
    }

    private static (long Operations, double Seconds) Drive(LoadOptions options, double seconds, LatencyHistogram latency)
    {
        LoadConnection[] connections = [.. Enumerable.Range(0, options.Connections).Select(i => new LoadConnection(options, i, latency))];
        Stopwatch watch = Stopwatch.StartNew();
        long end = (long)(seconds * Stopwatch.Frequency) + Stopwatch.GetTimestamp();
        foreach (LoadConnection connection in connections)
        {
            connection.Start();
        }

        while (Stopwatch.GetTimestamp() < end)
        {
            Turn(connections);
        }

        double elapsed = watch.Elapsed.TotalSeconds;
        long operations = connections.Sum(connection => connection.Completed);
        foreach (LoadConnection connection in connections)
        {
            End(connection);
        }

        return (operations, elapsed);
    }

    private static void End(LoadConnection connection, bool flush = false)
    {
        connection.BeginEnd();
        Await(connection);
        if (flush)
        {
            connection.Flush();
            Await(connection);
        }

        connection.Dispose();
    }

    private static void Await(LoadConnection connection)
    {
        while (connection.IsBusy)
        {
            Turn([connection]);
        }
    }

    private static void Turn(LoadConnection[] connections)
    {
        if (connections is [{ HasUnsent: false } only])
        {
            only.Receive(wait: true);
            return;
        }

        LibC.PollEntry* entries = stackalloc LibC.PollEntry[connections.Length];
        for (int i = 0; i < connections.Length; i++)
        {
            short events = connections[i].HasUnsent ? (short)(LibC.PollIn | LibC.PollOut) : LibC.PollIn;
            entries[i] = new LibC.PollEntry { Descriptor = connections[i].Descriptor, Events = events, Returned = 0 };
        }

        LibC.Poll(entries, (ulong)connections.Length, 1000);
        for (int i = 0; i < connections.Length; i++)
        {
            if ((entries[i].Returned & LibC.PollOut) != 0)
            {
                connections[i].Send();
            }

            if ((entries[i].Returned & ~LibC.PollOut) != 0)
            {
                connections[i].Receive(wait: false);
            }
        }
    }
}
