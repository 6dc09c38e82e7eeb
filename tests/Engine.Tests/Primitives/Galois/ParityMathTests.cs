using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tests.Primitives;

/// <summary>P and Q, their updates and what they restore, with every kernel that this processor can run.</summary>
public sealed class ParityMathTests
{
    /// <summary>Names of all kernels.</summary>
    public static TheoryData<string> Kernels => [.. ParityKernel.Available.Select(static kernel => kernel.Name)];

    [Fact]
    public void The_fastest_kernel_is_the_first_one() => Assert.Equal(ParityKernel.Available[0].Name, ParityMath.Fastest.Name);

    [Theory]
    [MemberData(nameof(Kernels))]
    public void P_and_Q_are_those_of_the_definition(string name)
    {
        foreach (int columns in new[] { 1, 2, 3, 6, 14, 62, 255 })
        {
            using Stripe stripe = new(columns, columns, 777, missing: columns > 3 ? 2 : 0);
            (byte[] p, byte[] q) = ParityModel.Parity([.. stripe.Data.Select(static strip => strip.Length == 0 ? null : strip.Span.ToArray())], 777);

            Math(name).Compute(stripe.Data, stripe.P, stripe.Q);

            Assert.Equal(p, stripe.P.Span.ToArray());
            Assert.Equal(q, stripe.Q.Span.ToArray());
            stripe.Memory.CheckGuards();
        }
    }

    [Theory]
    [MemberData(nameof(Kernels))]
    public void Only_P_or_only_Q_is_computed_where_the_other_has_no_buffer(string name)
    {
        using Stripe stripe = Encoded(name, 1, 5, 600, missing: 1);
        IoBuffer p = stripe.Memory.Random(600), q = stripe.Memory.Random(600), sum = stripe.Memory.Random(600);

        Math(name).Compute(stripe.Data, p, default);
        Math(name).Compute(stripe.Data, default, q);
        Math(name).Xor(stripe.Data, sum);

        AssertSame(stripe.P, p);
        AssertSame(stripe.Q, q);
        AssertSame(stripe.P, sum);
    }

    [Theory]
    [MemberData(nameof(Kernels))]
    public void Q_tells_columns_apart_that_P_does_not(string name)
    {
        using Stripe stripe = Encoded(name, 2, 4, 512);
        IoBuffer p = stripe.Memory.Copy(stripe.P), q = stripe.Memory.Copy(stripe.Q);
        Assert.False(p.Span.SequenceEqual(q.Span));
        (stripe.Data[1], stripe.Data[3]) = (stripe.Data[3], stripe.Data[1]);

        Math(name).Compute(stripe.Data, stripe.P, stripe.Q);

        AssertSame(p, stripe.P);
        for (int i = 0; i < 512; i++)
        {
            byte difference = (byte)(stripe.Data[1].Span[i] ^ stripe.Data[3].Span[i]);
            Assert.Equal(ParityModel.Multiply(difference, 0x02 ^ 0x08), stripe.Q.Span[i] ^ q.Span[i]);
        }
    }

    [Theory]
    [MemberData(nameof(Kernels))]
    public void A_missing_strip_counts_as_zeros(string name)
    {
        using Stripe stripe = Encoded(name, 3, 7, 700, missing: 3);
        IoBuffer p = stripe.Memory.Random(700), q = stripe.Memory.Random(700);
        IoBuffer zeros = stripe.Memory.Random(700);
        zeros.Span.Clear();

        Math(name).Compute([.. stripe.Data.Select(strip => strip.Length == 0 ? zeros : strip)], p, q);
        AssertSame(stripe.P, p);
        AssertSame(stripe.Q, q);

        Math(name).Compute(new IoBuffer[7], p, q);
        AssertSame(zeros, p);
        AssertSame(zeros, q);
    }

    [Theory]
    [MemberData(nameof(Kernels))]
    public void Parity_of_some_columns_and_then_the_others_is_that_of_all(string name)
    {
        using Stripe stripe = Encoded(name, 4, 9, 1023);
        foreach (bool hasP in new[] { true, false })
        {
            foreach (bool hasQ in new[] { true, !hasP })
            {
                IoBuffer p = hasP ? stripe.Memory.Random(1023) : default, q = hasQ ? stripe.Memory.Random(1023) : default;
                Math(name).Compute([.. stripe.Data.Select(static (strip, i) => i % 3 == 0 ? strip : default)], p, q);
                Math(name).Accumulate([.. stripe.Data.Select(static (strip, i) => i % 3 == 0 ? default : strip)], p, q);
                AssertSame(hasP ? stripe.P : default, p);
                AssertSame(hasQ ? stripe.Q : default, q);
            }
        }
    }

    [Theory]
    [MemberData(nameof(Kernels))]
    public void An_update_by_the_difference_is_what_computing_again_gives(string name)
    {
        foreach ((int columns, int column) in new[] { (1, 0), (3, 1), (14, 13), (62, 40), (255, 254) })
        {
            using Stripe stripe = Encoded(name, columns, columns, 1100);
            IoBuffer written = stripe.Memory.Random(1100), delta = stripe.Memory.Random(1100);
            IoBuffer onlyP = stripe.Memory.Copy(stripe.P), onlyQ = stripe.Memory.Copy(stripe.Q);
            Math(name).Xor([stripe.Data[column], written], delta);
            stripe.Data[column] = written;

            Math(name).Update(column, delta, stripe.P, stripe.Q);
            Math(name).Update(column, delta, onlyP, default);
            Math(name).Update(column, delta, default, onlyQ);

            AssertSame(stripe.P, onlyP);
            AssertSame(stripe.Q, onlyQ);
            Math(name).Compute(stripe.Data, onlyP, onlyQ);
            AssertSame(onlyP, stripe.P);
            AssertSame(onlyQ, stripe.Q);
            Math(name).Update(column, default, stripe.P, stripe.Q);
            AssertSame(onlyQ, stripe.Q);
        }
    }

    [Theory]
    [MemberData(nameof(Kernels))]
    public void All_one_and_two_erasures_of_up_to_16_columns_are_restored(string name)
    {
        for (int columns = 1; columns <= 16; columns++)
        {
            for (int first = 0; first < columns + 2; first++)
            {
                for (int second = first; second < columns + 2; second++)
                {
                    Restore(name, columns, columns, 261, missing: 0, first, second);
                }
            }
        }
    }

    [Theory]
    [MemberData(nameof(Kernels))]
    public void Random_erasures_of_more_columns_are_restored(string name)
    {
        Random random = new(5);
        for (int i = 0; i < 150; i++)
        {
            int columns = i < 5 ? 255 : random.Next(1, 63);
            Restore(name, i, columns, random.Next(1, 1500), random.Next(3), random.Next(columns + 2), random.Next(columns + 2));
        }
    }

    [Theory]
    [MemberData(nameof(Kernels))]
    public void Strips_of_many_chunks_are_restored(string name)
    {
        foreach ((int first, int second) in new[] { (0, 1), (2, 3), (1, 4), (4, 5), (3, 3) })
        {
            Restore(name, 1, 4, 200_001, missing: 0, first, second);
            Restore(name, 1, 4, 3 * 65_536, missing: 1, first, second);
        }

        Restore(name, 1, 60, 50_000, missing: 0, 30, 60);
        Restore(name, 1, 60, 50_000, missing: 0, 59, 61);
    }

    [Theory]
    [MemberData(nameof(Kernels))]
    public void An_erased_strip_without_a_buffer_is_not_restored_and_the_other_one_is(string name)
    {
        const int columns = 5;
        for (int first = 0; first < columns + 2; first++)
        {
            for (int second = 0; second < columns + 2; second++)
            {
                if (first == second || (second < columns && first >= columns))
                {
                    continue;
                }

                using Stripe stripe = Encoded(name, 6, columns, 900, missing: 1);
                IoBuffer expected = stripe.Erase(first);
                stripe[second] = default;

                Math(name).Reconstruct(stripe.Data, stripe.P, stripe.Q, first, second);

                AssertSame(expected, stripe[first]);
                stripe.Memory.CheckGuards();
            }
        }
    }

    [Theory]
    [MemberData(nameof(Kernels))]
    public void Single_parity_restores_without_Q(string name)
    {
        for (int erased = 0; erased <= 3; erased++)
        {
            using Stripe stripe = Encoded(name, 7, 3, 600);
            stripe.Q = default;
            IoBuffer expected = stripe.Erase(erased);

            Math(name).Reconstruct(stripe.Data, stripe.P, stripe.Q, erased);

            AssertSame(expected, stripe[erased]);
        }
    }

    [Theory]
    [MemberData(nameof(Kernels))]
    public void P_and_Q_that_count_as_zeros_restore_data_that_cancels_out(string name)
    {
        using Stripe stripe = new(1, 3, 600, missing: 0);
        stripe.Data[0].Span.CopyTo(stripe.Data[2].Span);
        stripe.Data[1] = default;
        Math(name).Compute(stripe.Data, stripe.P, stripe.Q);
        IoBuffer p = stripe.P, q = stripe.Q, expected = stripe.Erase(2);

        Math(name).Reconstruct(stripe.Data, default, q, 2);

        Assert.False(p.Span.ContainsAnyExcept((byte)0));
        AssertSame(expected, stripe.Data[2]);
    }

    [Fact]
    public void No_call_allocates()
    {
        using Stripe stripe = Encoded(ParityMath.Fastest.Name, 8, 6, 8192);
        IoBuffer[] data = stripe.Data;
        IoBuffer p = stripe.P, q = stripe.Q, delta = stripe.Memory.Random(8192);
        CallAll();
        long least = long.MaxValue;
        for (int i = 0; i < 5; i++)   // a collection started by another test counts what is left of the thread's allocation buffer
        {
            long before = GC.GetAllocatedBytesForCurrentThread();
            CallAll();
            least = System.Math.Min(least, GC.GetAllocatedBytesForCurrentThread() - before);
        }

        Assert.Equal(0, least);

        void CallAll()
        {
            ParityMath math = ParityMath.Fastest;
            math.Xor([data[0], data[1]], delta);
            math.Update(3, delta, p, q);
            math.Update(3, delta, p, default);
            math.Accumulate(data, p, q);
            math.Compute(data, p, q);
            math.Compute(data, p, default);
            math.Reconstruct(data, p, q, 2);
            math.Reconstruct(data, p, q, 6);
            math.Reconstruct(data, p, q, 2, 4);
            math.Reconstruct(data, p, q, 2, 6);
            math.Reconstruct(data, p, q, 2, 7);
            math.Reconstruct(data, p, q, 6, 7);
        }
    }

    [Fact]
    public void Arguments_out_of_range_are_refused_and_change_nothing()
    {
        using Stripe stripe = Encoded("Scalar", 9, 3, 600);
        IoBuffer[] data = stripe.Data, short1 = [data[0], data[1].Slice(0, 599), data[2]], none1 = [data[0], default, data[2]];
        IoBuffer p = stripe.P, q = stripe.Q, shortP = p.Slice(0, 599), expectedP = stripe.Memory.Copy(p), expectedQ = stripe.Memory.Copy(q);
        ParityMath math = ParityMath.Fastest;

        Refused<ArgumentException>(() => math.Compute([], p, q), "1 to 255");
        Refused<ArgumentException>(() => math.Compute(new IoBuffer[256], p, q), "1 to 255");
        Refused<ArgumentException>(() => math.Compute(data, default, default), "buffer");
        Refused<ArgumentException>(() => math.Compute(short1, p, q), "data[1]");
        Refused<ArgumentException>(() => math.Compute(data, shortP, q), "599 and 600");
        Refused<ArgumentException>(() => math.Compute(data, p, p), "overlap");
        Refused<ArgumentException>(() => math.Compute([data[0], p], p, q), "data[1]");
        Refused<ArgumentException>(() => math.Accumulate([data[0].Slice(1, 599)], data[0].Slice(0, 599), default), "data[0]");
        Refused<ArgumentException>(() => math.Xor([q], q), "data[0]");
        Refused<ArgumentOutOfRangeException>(() => math.Update(-1, data[0], p, q), "0 to 254");
        Refused<ArgumentOutOfRangeException>(() => math.Update(255, data[0], p, q), "0 to 254");
        Refused<ArgumentException>(() => math.Update(0, short1[1], p, q), "delta");
        Refused<ArgumentException>(() => math.Update(0, q, p, q), "delta");
        Refused<ArgumentOutOfRangeException>(() => math.Reconstruct(data, p, q, -1), "0 to 2 for data, 3 for P, 4 for Q");
        Refused<ArgumentOutOfRangeException>(() => math.Reconstruct(data, p, q, 5), "0 to 2 for data, 3 for P, 4 for Q");
        Refused<ArgumentOutOfRangeException>(() => math.Reconstruct(data, p, q, 0, 5), "0 to 2 for data, 3 for P, 4 for Q");
        Refused<ArgumentException>(() => math.Reconstruct(data, p, q, 3, 3), "other erased strip");
        Refused<ArgumentException>(() => math.Reconstruct(none1, p, q, 1), "buffer");
        Refused<ArgumentException>(() => math.Reconstruct(none1, p, q, 1, 3), "data[1]");
        Refused<ArgumentException>(() => math.Reconstruct(none1, p, q, 4, 1), "data[1]");
        Refused<ArgumentException>(() => math.Reconstruct(data, shortP, q, 0), "p:");
        Refused<ArgumentException>(() => math.Reconstruct(data, p, q.Slice(0, 1), 3), "q:");
        Refused<ArgumentException>(() => math.Reconstruct([], p, q, 0), "1 to 255");

        AssertSame(expectedP, p);
        AssertSame(expectedQ, q);
        math.Compute(data, p, q);
        AssertSame(expectedP, p);
        AssertSame(expectedQ, q);
    }

    [Fact]
    public void Strips_without_a_byte_need_no_work()
    {
        using Stripe stripe = new(1, 3, 0, missing: 0);

        ParityMath.Fastest.Compute(stripe.Data, stripe.P, stripe.Q);
        ParityMath.Fastest.Reconstruct(stripe.Data, stripe.P, stripe.Q, 1, 3);

        stripe.Memory.CheckGuards();
    }

    private static ParityMath Math(string name) => new(ParityKernel.Available.Single(kernel => kernel.Name == name));

    private static Stripe Encoded(string name, int seed, int columns, int length, int missing = 0)
    {
        Stripe stripe = new(seed, columns, length, missing);
        Math(name).Compute(stripe.Data, stripe.P, stripe.Q);
        return stripe;
    }

    /// <summary>Overwrites one or two strips and checks that they are restored and nothing else changes.</summary>
    private static void Restore(string name, int seed, int columns, int length, int missing, int first, int second)
    {
        using Stripe stripe = Encoded(name, seed, columns, length, missing);
        IoBuffer[] expected = [.. Enumerable.Range(0, columns + 2).Select(i => stripe.Memory.Copy(stripe[i]))];
        stripe.Erase(first);
        if (first == second)
        {
            Math(name).Reconstruct(stripe.Data, stripe.P, stripe.Q, first);
        }
        else
        {
            stripe.Erase(second);
            Math(name).Reconstruct(stripe.Data, stripe.P, stripe.Q, second, first);
        }

        for (int i = 0; i < columns + 2; i++)
        {
            bool isSame = stripe[i].Span.SequenceEqual(expected[i].Span) || (expected[i].Length == 0 && !stripe[i].Span.ContainsAnyExcept((byte)0));
            Assert.True(isSame, $"{columns} columns of {length} bytes, {first} and {second} erased: {i} differs");
        }

        stripe.Memory.CheckGuards();
    }

    private static void Refused<TException>(Action call, string part)
        where TException : ArgumentException => Assert.Contains(part, Assert.Throws<TException>(call).Message, StringComparison.Ordinal);

    private static void AssertSame(IoBuffer expected, IoBuffer found) => Assert.True(expected.Span.SequenceEqual(found.Span));

    /// <summary>A stripe of random data; P and Q are random until they are computed.</summary>
    private sealed class Stripe : IDisposable
    {
        internal Stripe(int seed, int columns, int length, int missing)
        {
            Random random = new(seed);
            Memory = new StripMemory(random);
            Data = [.. Enumerable.Range(0, columns).Select(_ => Memory.Random(length))];
            for (int i = 0; i < missing; i++)
            {
                Data[random.Next(columns)] = default;
            }

            P = Memory.Random(length);
            Q = Memory.Random(length);
        }

        internal StripMemory Memory { get; }

        internal IoBuffer[] Data { get; }

        internal IoBuffer P { get; private set; }

        internal IoBuffer Q { get; set; }

        /// <summary>The strip at a position: a column, then P, then Q.</summary>
        internal IoBuffer this[int position]
        {
            get => position < Data.Length ? Data[position] : position == Data.Length ? P : Q;
            set
            {
                if (position < Data.Length)
                {
                    Data[position] = value;
                }
                else if (position == Data.Length)
                {
                    P = value;
                }
                else
                {
                    Q = value;
                }
            }
        }

        public void Dispose() => Memory.Dispose();

        /// <summary>Replaces a strip by one of random bytes, and returns what it was: zeros where there was none.</summary>
        internal IoBuffer Erase(int position)
        {
            IoBuffer erased = this[position], bytes = Memory.Random(P.Length);
            this[position] = bytes;
            if (erased.Length > 0)
            {
                return erased;
            }

            erased = Memory.Random(bytes.Length);
            erased.Span.Clear();
            return erased;
        }
    }
}
