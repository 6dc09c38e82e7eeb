using System.Diagnostics;

namespace TierSpaces.Bench.Nbd;

/// <summary>
/// The lean load client: one thread, a few connections, each with a fixed number of requests in flight. Measures any
/// NBD server on a Unix socket; one connection sleeps in its receive, several in poll.
/// </summary>
internal static unsafe class NbdLoad
{
    internal static LoadResult Run(LoadOptions options) => Run([options]);

    /// <summary>
    /// Several loads at once, each on a thread of its own, as one: their rates add up. Time, warm-up and server are those of the first.
    /// </summary>
    internal static LoadResult Run(IReadOnlyList<LoadOptions> loads)
    {
        LoadOptions first = loads[0];
        if (first.Warmup > 0)
        {
            DriveAll(loads, first.Warmup);
        }

        ProcessorTimes before = ProcessorTimes.Now(first.Pid);
        (long operations, double seconds, LoadRecord record) = DriveAll(loads, first.Seconds);
        ProcessorTimes used = ProcessorTimes.Now(first.Pid) - before;
        return LoadResult.Of(first, operations, seconds, record, used);
    }

    /// <summary>Writes every megabyte of an export once, or with a stride one block in each, then flushes.</summary>
    internal static void Fill(string socket, string export, long stride = 0)
    {
        LoadOptions options = new(socket, export, Writes: true, Random: false, stride > 0 ? 4096 : 1 << 20, 8, 1, 0, 0, 0, 0, stride);
        LoadConnection connection = new(options, 0, new LoadRecord());
        connection.Start();
        while (connection.Completed < connection.Blocks + options.Depth)
        {
            Turn([connection]);
        }

        End(connection, flush: true);
    }

    private static (long Operations, double Seconds, LoadRecord Record) DriveAll(IReadOnlyList<LoadOptions> loads, double seconds)
    {
        if (loads.Count == 1)
        {
            return Drive(loads[0], seconds);
        }

        (long Operations, double Seconds, LoadRecord Record)[] driven = new (long, double, LoadRecord)[loads.Count];
        Exception?[] failures = new Exception?[loads.Count];
        Thread[] threads = [.. loads.Select((load, index) => new Thread(() => failures[index] = Caught(() => driven[index] = Drive(load, seconds))))];
        Array.ForEach(threads, thread => thread.Start());
        Array.ForEach(threads, thread => thread.Join());
        if (Array.Find(failures, failure => failure is not null) is { } first)
        {
            throw new IOException(first.Message, first);
        }

        LoadRecord record = new();
        Array.ForEach(driven, one => record.Add(one.Record));
        return (driven.Sum(one => one.Operations), driven.Max(one => one.Seconds), record);
    }

    private static Exception? Caught(Action work)
    {
        try
        {
            work();
            return null;
        }
        catch (Exception error) when (error is IOException or ArgumentException)
        {
            return error;
        }
    }

    private static (long Operations, double Seconds, LoadRecord Record) Drive(LoadOptions options, double seconds)
    {
        LoadRecord record = new();
        LoadConnection[] connections = [.. Enumerable.Range(0, options.Connections).Select(i => new LoadConnection(options, i, record))];
        Stopwatch watch = Stopwatch.StartNew();
        long end = (long)(seconds * Stopwatch.Frequency) + Stopwatch.GetTimestamp();
        long most = options.Operations > 0 ? options.Operations : long.MaxValue;
        foreach (LoadConnection connection in connections)
        {
            connection.Start();
        }

        while (Stopwatch.GetTimestamp() < end && record.Latency.Count < most)
        {
            Turn(connections);
        }

        double elapsed = watch.Elapsed.TotalSeconds;
        long operations = record.Latency.Count;
        foreach (LoadConnection connection in connections)
        {
            End(connection);
        }

        return (operations, elapsed, record);
    }

    private static void End(LoadConnection connection, bool flush = false)
    {
        Finish(connection);
        if (flush)
        {
            connection.Flush();
            Await(connection);
        }

        connection.Dispose();
    }

    /// <summary>Starts nothing more and waits for what is in flight.</summary>
    internal static void Finish(LoadConnection connection)
    {
        connection.BeginEnd();
        Await(connection);
    }

    private static void Await(LoadConnection connection)
    {
        while (connection.IsBusy)
        {
            Turn([connection]);
        }
    }

    /// <summary>Waits for replies and answers them with new requests.</summary>
    internal static void Turn(LoadConnection[] connections)
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
