using System.Diagnostics;

namespace TierSpaces.Bench.Nbd;

/// <summary>
/// Several servers, loaded in short turns of one thread, in the order of <see cref="TurnOrder"/>: what the machine does meanwhile weighs on all of
/// them, also when it changes from one second to the next. A turn ends when all of its requests are answered, and its time and processor time
/// are counted until then. For loads that leave no work behind, or that all leave the same: another server's turn pays for that work.
/// </summary>
internal static class LoadInTurns
{
    /// <summary>Loads each for the seconds that the options say, warm-up included, and tells what came of each, in the same order.</summary>
    internal static LoadResult[] Run(IReadOnlyList<LoadOptions> loads, double turnSeconds)
    {
        if (loads.Max(load => load.Warmup) is > 0 and var warmup)
        {
            Drive(loads, warmup, turnSeconds);
        }

        return Drive(loads, loads.Max(load => load.Seconds), turnSeconds);
    }

    private static LoadResult[] Drive(IReadOnlyList<LoadOptions> loads, double seconds, double turnSeconds)
    {
        List<Player> players = [];
        try
        {
            players.AddRange(loads.Select(load => new Player(load)));
            for (int row = 0; row % TurnOrder.Rows(players.Count) != 0 || players.Any(player => player.Seconds < seconds); row++)
            {
                Array.ForEach(TurnOrder.Of(players.Count, row), number => players[number].Play(turnSeconds));
            }

            return [.. players.Select(player => player.Result)];
        }
        finally
        {
            players.ForEach(player => player.Dispose());
        }
    }

    /// <summary>One of the loads; its connections stay open between its turns.</summary>
    private sealed class Player : IDisposable
    {
        private readonly LoadOptions _options;
        private readonly LoadRecord _record = new();
        private readonly LoadConnection[] _connections;
        private ProcessorTimes _used;

        internal Player(LoadOptions options)
        {
            _options = options;
            _connections = [.. Enumerable.Range(0, options.Connections).Select(index => new LoadConnection(options, index, _record))];
        }

        /// <summary>Length of its turns together.</summary>
        internal double Seconds { get; private set; }

        internal LoadResult Result => LoadResult.Of(_options, _record.Latency.Count, Seconds, _record, _used);

        internal void Play(double seconds)
        {
            ProcessorTimes before = ProcessorTimes.Now(_options.Pid);
            long start = Stopwatch.GetTimestamp();
            Array.ForEach(_connections, connection => connection.Start());
            while (Stopwatch.GetElapsedTime(start).TotalSeconds < seconds)
            {
                NbdLoad.Turn(_connections);
            }

            Array.ForEach(_connections, NbdLoad.Finish);
            Seconds += Stopwatch.GetElapsedTime(start).TotalSeconds;
            _used += ProcessorTimes.Now(_options.Pid) - before;
        }

        public void Dispose() => Array.ForEach(_connections, connection => connection.Dispose());
    }
}
