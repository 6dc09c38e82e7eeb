using System.Diagnostics;
using TierSpaces.Acceptance;

namespace TierSpaces.Host.Tests.Serving;

/// <summary>A client of one virtual disk, one request at a time, and the longest time that any of them takes.</summary>
internal sealed class PauseMeter : IDisposable
{
    private const int Block = 4096;
    private const int Blocks = 1024;

    private readonly NbdClient _client;
    private readonly Thread _thread;
    private readonly byte[] _data = new byte[Block];
    private long _longest;   // ticks, since it was last taken
    private long _begun;     // of the request under way
    private volatile bool _stops;
    private volatile Exception? _failure;

    internal PauseMeter(string uri)
    {
        _client = new NbdClient(uri);
        _begun = Stopwatch.GetTimestamp();
        _thread = new Thread(Work) { IsBackground = true };
        _thread.Start();
    }

    /// <summary>Requests that have ended.</summary>
    internal long Requests { get; private set; }

    public void Dispose()
    {
        _stops = true;
        if (!_thread.Join(TimeSpan.FromSeconds(30)))
        {
            throw new TimeoutException("A request is not answered.");
        }

        _client.Dispose();
        Assert.Null(_failure);
    }

    /// <summary>Returns the longest request while something is done, the one included that is under way at its end.</summary>
    internal TimeSpan During(Action work)
    {
        Interlocked.Exchange(ref _longest, 0);
        long from = Stopwatch.GetTimestamp();
        work();
        long open = Stopwatch.GetTimestamp() - Math.Max(from, Interlocked.Read(ref _begun));
        Assert.Null(_failure);
        return Stopwatch.GetElapsedTime(0, Math.Max(open, Interlocked.Read(ref _longest)));
    }

    /// <summary>Returns the longest request in a second in which nothing is done.</summary>
    internal TimeSpan Quiet() => During(static () => Thread.Sleep(1000));

    private void Work()
    {
        try
        {
            for (ulong number = 0; !_stops; number++)
            {
                Interlocked.Exchange(ref _begun, Stopwatch.GetTimestamp());
                long offset = (long)(number * 7919 % Blocks) * Block;
                bool isWrite = number % 2 == 0;
                _client.Send(number, isWrite ? NbdClient.Write : NbdClient.Read, 0, offset, Block, isWrite ? _data : []);
                Assert.Equal((number, 0U), _client.NextAnswer());
                if (!isWrite)
                {
                    _client.Receive(_data);
                }

                long took = Stopwatch.GetTimestamp() - _begun;
                Requests++;
                if (took > Interlocked.Read(ref _longest))
                {
                    Interlocked.Exchange(ref _longest, took);
                }
            }
        }
        catch (Exception failure)
        {
            _failure = failure;
        }
    }
}
