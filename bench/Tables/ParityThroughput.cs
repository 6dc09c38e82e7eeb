using System.Diagnostics;
using System.Globalization;
using System.Runtime.InteropServices;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Bench.Tables;

/// <summary>
/// Throughput of parity arithmetic in one thread, by implementation and number of data columns: gigabytes of data strips for each second. All strips are in
/// the cache of the processor, as they are after a checksum.
/// </summary>
internal sealed unsafe class ParityThroughput : IDisposable
{
    private const int PageLength = 4096;
    private static readonly int[] s_columns = [3, 6, 14, 62];

    private readonly int _strip;
    private readonly int _rounds;
    private readonly double _seconds;
    private readonly IoBuffer[] _strips;
    private readonly byte* _memory;

    private ParityThroughput(int strip, int rounds, double seconds)
    {
        _strip = strip;
        _rounds = rounds;
        _seconds = seconds;
        int count = s_columns[^1] + 2;
        _memory = (byte*)NativeMemory.AlignedAlloc((nuint)(count * strip), PageLength);
        new Random(1).NextBytes(new Span<byte>(_memory, count * strip));
        _strips = new IoBuffer[count];
        for (int i = 0; i < count; i++)
        {
            _strips[i] = new IoBuffer(_memory + (i * strip), strip);
        }
    }

    public void Dispose() => NativeMemory.AlignedFree(_memory);

    internal static void Run(Arguments arguments)
    {
        int strip = (int)arguments.Number("strip", 64 << 10, 512, 1 << 20);
        int rounds = (int)arguments.Number("rounds", 9, 1, 999);
        long milliseconds = arguments.Number("milliseconds", 20, 1, 10_000);
        arguments.ThrowIfUnused();
        using ParityThroughput bench = new(strip, rounds, milliseconds / 1000.0);
        Console.WriteLine($"GB/s of data, one thread, strips of {strip} bytes, best of {rounds} rounds");
        Console.WriteLine();
        Console.WriteLine($"| | {string.Join(" | ", s_columns.Select(static columns => $"D = {columns}"))} |");
        Console.WriteLine($"|---|{string.Concat(Enumerable.Repeat("---|", s_columns.Length))}");
        foreach (ParityKernel kernel in ParityKernel.Available)
        {
            ParityMath math = new(kernel);
            bench.Row($"{math.Name}: P", (data, p, _) => math.Compute(data, p, default));
            bench.Row($"{math.Name}: P and Q", math.Compute);
            bench.Row($"{math.Name}: two data strips", (data, p, q) => math.Reconstruct(data, p, q, 0, 2));
            bench.Row($"{math.Name}: data strip and P", (data, p, q) => math.Reconstruct(data, p, q, 0, data.Length));
        }
    }

    private void Row(string name, Work work)
    {
        Best(s_columns[0], work);   // everything is compiled
        string figures = string.Join(" | ", s_columns.Select(columns => Best(columns, work).ToString("F1", CultureInfo.InvariantCulture)));
        Console.WriteLine($"| {name} | {figures} |");
    }

    /// <summary>Returns the best throughput of some rounds: other work on the machine only makes a round slower.</summary>
    private double Best(int columns, Work work)
    {
        IoBuffer[] data = _strips[..columns];
        double best = 0;
        for (int round = 0; round < _rounds; round++)
        {
            long calls = 0, start = Stopwatch.GetTimestamp();
            TimeSpan elapsed;
            do
            {
                for (int i = 0; i < 4; i++)
                {
                    work(data, _strips[columns], _strips[columns + 1]);
                }

                calls += 4;
                elapsed = Stopwatch.GetElapsedTime(start);
            }
            while (elapsed.TotalSeconds < _seconds);
            best = Math.Max(best, (double)calls * columns * _strip / elapsed.TotalSeconds / 1e9);
        }

        return best;
    }

    private delegate void Work(ReadOnlySpan<IoBuffer> data, IoBuffer p, IoBuffer q);
}
