using System.Globalization;
using System.Runtime.InteropServices;
using System.Text;
using TierSpaces.Bench.Nbd;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Bench.Tables;

/// <summary>
/// Arithmetic of parity in one thread against ISA-L: the same strips, in turns of some milliseconds, and a ratio of processor times for each round. Both must
/// give the same bytes before anything is measured.
/// </summary>
internal sealed unsafe class ParityOverIsaL : IDisposable
{
    internal const string Title = "Parity arithmetic against ISA-L";

    private const int PageLength = 4096;
    private const int StripMax = 1 << 20;
    private const int Gap = PageLength + 256;   // between strips: else all of them use the same sets of the caches
    private const double TurnSeconds = 0.004;

    private static readonly int[] s_columns = [4, 8, 12, 16];
    private static readonly int[] s_strips = [64 << 10, 256 << 10, 1 << 20];

    private readonly IsaL _other;
    private readonly int _rounds;
    private readonly byte* _memory;

    internal ParityOverIsaL(IsaL other, int rounds)
    {
        _other = other;
        _rounds = rounds;
        nuint bytes = (nuint)(s_columns[^1] + 4) * (StripMax + Gap);
        _memory = (byte*)NativeMemory.AlignedAlloc(bytes, PageLength);
        new Random(1).NextBytes(new Span<byte>(_memory, (int)bytes));
    }

    private delegate void Work();

    public void Dispose() => NativeMemory.AlignedFree(_memory);

    /// <summary>Returns the section of docs/performance.md, or null where the library is missing.</summary>
    internal static string? Text(int rounds, MachineFacts machine)
    {
        if (IsaL.Load() is not { } other)
        {
            Console.WriteLine(IsaL.Missing);
            return null;
        }

        using ParityOverIsaL bench = new(other, rounds);
        StringBuilder text = new(string.Create(CultureInfo.InvariantCulture, $"""
            ## {Title}

            What one processor does of the arithmetic of parity, over what it does with ISA-L (Debian's `libisal2`) on the same strips: {rounds} rounds, both in turns of
            {TurnSeconds * 1000:0} ms within a round, ratios of processor times, so that other work on the machine takes from neither. Above 1 the engine is faster. *Data strips* are the
            columns without P and Q. Two lost strips are data strips; ISA-L restores them by `ec_encode_data` with the coefficients of the same P and Q.
            Where the strips of a stripe exceed the second-level cache, ratios differ between runs by more than within one: XOR of 12 strips of 256 KiB came to 0.82 (**missed**),
            0.86 and 0.89 in three runs, of 16 such strips to 0.71 to 0.83.
            Machine: {machine.Processor}, {ParityMath.Fastest.Name}; load average (1 minute) before the first run {machine.LoadAverage}.
            `./build.sh Bench --only parity` measures this section again and leaves the others as they are.

            | Work | over | data strips | {string.Join(" | ", s_strips.Select(strip => $"{strip >> 10} KiB"))} | required |
            |---|---|---|{string.Concat(s_strips.Select(_ => "---|"))}---|

            """));
        bench.Rows(text);
        return text.ToString();
    }

    /// <summary>Whether both give the same bytes for each kind of work, with so many data strips.</summary>
    internal bool Agrees(int columns, int length)
    {
        using Stripe stripe = new(_other, _memory, columns, length);
        stripe.OwnXor();
        byte[] p = stripe.P.Span.ToArray();
        stripe.OtherXor();
        bool agrees = stripe.P.Span.SequenceEqual(p);
        stripe.OwnPQ();
        byte[] q = stripe.Q.Span.ToArray();
        agrees &= stripe.P.Span.SequenceEqual(p);
        stripe.OtherPQ();
        agrees &= stripe.P.Span.SequenceEqual(p) && stripe.Q.Span.SequenceEqual(q);
        byte[] first = stripe.First.Span.ToArray(), second = stripe.Second.Span.ToArray();
        stripe.OtherTwo();
        agrees &= stripe.First.Span.SequenceEqual(first) && stripe.Second.Span.SequenceEqual(second);
        stripe.First.Span.Clear();
        stripe.Second.Span.Clear();
        stripe.OwnTwo();
        return agrees && stripe.First.Span.SequenceEqual(first) && stripe.Second.Span.SequenceEqual(second);
    }

    private void Rows(StringBuilder text)
    {
        foreach (int columns in s_columns)
        {
            if (!Agrees(columns, s_strips[0]))
            {
                throw new IOException($"ISA-L and {ParityMath.Fastest.Name} give different bytes for {columns} data strips.");
            }
        }

        Row("XOR", "`xor_gen`", columns => columns < 16 ? 0.85 : 0.7, static stripe => stripe.OwnXor, static stripe => stripe.OtherXor);
        Row("two lost strips", "`ec_encode_data`", _ => 1, static stripe => stripe.OwnTwo, static stripe => stripe.OtherTwo);
        Row("P and Q", "XOR of its own", _ => 0.5, static stripe => stripe.OwnPQ, static stripe => stripe.OwnXor);
        Row("P and Q", "`pq_gen`", _ => null, static stripe => stripe.OwnPQ, static stripe => stripe.OtherPQ);

        void Row(string name, string over, Func<int, double?> bar, Func<Stripe, Work> own, Func<Stripe, Work> other)
        {
            foreach (int columns in s_columns)
            {
                double? required = bar(columns);
                string[] cells = [.. s_strips.Select(strip =>
                {
                    using Stripe stripe = new(_other, _memory, columns, strip);
                    Spread ratio = Ratio(own(stripe), other(stripe));
                    return $"{ratio}{(ratio.Median < required ? " **missed**" : "")}";
                })];
                string line = string.Create(
                    CultureInfo.InvariantCulture,
                    $"| {name} | {over} | {columns} | {string.Join(" | ", cells)} | {(required is { } least ? $"≥ {least:0.0#}" : "–")} |");
                Console.WriteLine(line);
                text.Append(line).Append('\n');
            }
        }
    }

    /// <summary>Rate of one over that of the other, one ratio for each round after the first.</summary>
    private Spread Ratio(Work own, Work other)
    {
        List<double> ratios = [];
        for (int round = 0; round <= _rounds; round++)
        {
            bool isEven = round % 2 == 0;
            double first = Seconds(isEven ? own : other);
            double second = Seconds(isEven ? other : own);
            if (round > 0)   // in the first one everything is compiled
            {
                ratios.Add(isEven ? second / first : first / second);
            }
        }

        return Spread.Of(ratios);
    }

    /// <summary>Processor time of one call, from as many as a turn takes.</summary>
    private static double Seconds(Work work)
    {
        work();
        long calls = 0;
        double start = LibC.ThreadSeconds(), elapsed;
        do
        {
            work();
            calls++;
            elapsed = LibC.ThreadSeconds() - start;
        }
        while (elapsed < TurnSeconds);
        return elapsed / calls;
    }

    /// <summary>The strips of a stripe, and what both do with them.</summary>
    private sealed class Stripe : IDisposable
    {
        private const int Lost = 0;
        private const int AlsoLost = 2;

        private readonly IsaL _other;
        private readonly int _columns;
        private readonly int _length;
        private readonly IoBuffer[] _data;
        private readonly void** _strips;      // data, P, Q
        private readonly byte** _survivors;   // data without the lost strips, P, Q
        private readonly byte** _results;
        private readonly byte* _tables;

        internal Stripe(IsaL other, byte* memory, int columns, int length)
        {
            (_other, _columns, _length) = (other, columns, length);
            IoBuffer[] all = [.. Enumerable.Range(0, columns + 2).Select(strip => new IoBuffer(memory + (strip * (length + Gap)), length))];
            _data = all[..columns];
            (P, Q) = (all[columns], all[columns + 1]);
            _strips = (void**)NativeMemory.Alloc((nuint)((columns + 2) * sizeof(void*)));
            _survivors = (byte**)NativeMemory.Alloc((nuint)(columns * sizeof(void*)));
            _results = (byte**)NativeMemory.Alloc((nuint)(2 * sizeof(void*)));
            _tables = (byte*)NativeMemory.AlignedAlloc((nuint)(2 * columns * IsaL.TableBytes), 64);
            for (int strip = 0; strip < all.Length; strip++)
            {
                _strips[strip] = all[strip].Pointer;
            }

            _results[0] = First.Pointer;
            _results[1] = Second.Pointer;
            MakeTables();
        }

        internal IoBuffer P { get; }

        internal IoBuffer Q { get; }

        internal IoBuffer First => _data[Lost];

        internal IoBuffer Second => _data[AlsoLost];

        public void Dispose()
        {
            NativeMemory.Free(_strips);
            NativeMemory.Free(_survivors);
            NativeMemory.Free(_results);
            NativeMemory.AlignedFree(_tables);
        }

        internal void OwnXor() => ParityMath.Fastest.Xor(_data, P);

        internal void OtherXor() => _other.Xor(_strips, _columns + 1, _length);

        internal void OwnPQ() => ParityMath.Fastest.Compute(_data, P, Q);

        internal void OtherPQ() => _other.PQ(_strips, _columns + 2, _length);

        internal void OwnTwo() => ParityMath.Fastest.Reconstruct(_data, P, Q, Lost, AlsoLost);

        internal void OtherTwo() => _other.Encode(_length, _columns, 2, _tables, _survivors, _results);

        /// <summary>
        /// With S the sum of P and the data that are left and T that of Q and them with their factors, the first lost strip is a S + b T and the other one is
        /// that and S. So each survivor has one coefficient in each of the two.
        /// </summary>
        private void MakeTables()
        {
            byte b = GaloisField.Inverse((byte)(GaloisField.Power(Lost) ^ GaloisField.Power(AlsoLost)));
            byte a = GaloisField.Multiply(GaloisField.Power(AlsoLost), b);
            byte* coefficients = stackalloc byte[2 * _columns];
            int at = 0;
            for (int strip = 0; strip < _columns + 2; strip++)
            {
                if (strip is Lost or AlsoLost)
                {
                    continue;
                }

                bool isQ = strip == _columns + 1;
                byte factor = strip < _columns ? GaloisField.Power(strip) : isQ ? (byte)1 : (byte)0;
                byte inS = isQ ? (byte)0 : (byte)1;
                coefficients[at] = (byte)((isQ ? 0 : a) ^ GaloisField.Multiply(b, factor));
                coefficients[_columns + at] = (byte)(coefficients[at] ^ inS);
                _survivors[at++] = (byte*)_strips[strip];
            }

            _other.Tables(_columns, 2, coefficients, _tables);
        }
    }
}
