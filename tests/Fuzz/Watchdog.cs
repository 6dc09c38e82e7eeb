using System.Diagnostics;

namespace TierSpaces.Fuzz;

/// <summary>
/// Ends the process when one execution takes too long, and says which: a parser that hangs cannot be made to go on. The time is the
/// process's own on its processors, so that a busy machine does not count as a hang.
/// </summary>
internal sealed class Watchdog
{
    private static readonly TimeSpan s_limit = TimeSpan.FromSeconds(10);

    private readonly Action<byte[]> _hangs;
    private byte[]? _input;
    private long _number;

    /// <summary>Starts watching.</summary>
    /// <param name="hangs">Told the input; the process ends when it returns.</param>
    internal Watchdog(Action<byte[]> hangs)
    {
        _hangs = hangs;
        new Thread(Watch) { IsBackground = true, Name = "watchdog" }.Start();
    }

    /// <summary>An execution begins.</summary>
    internal void Begin(byte[] input)
    {
        Volatile.Write(ref _input, input);
        Interlocked.Increment(ref _number);
    }

    private void Watch()
    {
        long last = -1;
        TimeSpan since = default;
        while (true)
        {
            Thread.Sleep(500);
            long number = Interlocked.Read(ref _number);
            TimeSpan now = Process.GetCurrentProcess().TotalProcessorTime;
            if (number != last)
            {
                (last, since) = (number, now);
            }
            else if (number > 0 && now - since > s_limit && Volatile.Read(ref _input) is { } input)
            {
                _hangs(input);
                Environment.Exit(1);
            }
        }
    }

    /// <summary>Nothing is under way.</summary>
    internal void End() => Volatile.Write(ref _input, null);
}
