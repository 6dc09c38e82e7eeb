using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;

namespace TierSpaces.Engine.Primitives;

// One pass over all strips: at each offset, four vectors of P and four of Q stay in registers while the columns are read, each once. So a strip is read
// once whatever the number of columns is, and a sum is written once. Bytes after the last four vectors are left to the scalar kernel.

/// <summary>Loops over strips with vectors of one width.</summary>
internal sealed unsafe class VectorKernel<TSet, TVector>(string name) : ParityKernel
    where TSet : struct, IVectorSet<TVector>
    where TVector : struct
{
    /// <inheritdoc/>
    internal override string Name => name;

    private static int Step => 4 * TSet.Size;

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveOptimization)]
    internal override void Xor(byte** sources, int count, byte* target, bool adds, int from, int to)
    {
        int at = from;
        for (; at <= to - Step; at += Step)
        {
            TVector s0 = default, s1 = default, s2 = default, s3 = default;
            if (adds)
            {
                Load(target + at, out s0, out s1, out s2, out s3);
            }

            for (int i = 0; i < count; i++)
            {
                Add(sources[i] + at, ref s0, ref s1, ref s2, ref s3);
            }

            Store(target + at, s0, s1, s2, s3);
        }

        ScalarKernel.Instance.Xor(sources, count, target, adds, at, to);
    }

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveOptimization)]
    internal override void Compute(in StripSet strips, bool adds, int from, int to)
    {
        byte** data = strips.Data;
        int count = strips.Count;
        byte* p = strips.P;
        byte* q = strips.Q;
        int at = from;
        for (; at <= to - Step; at += Step)
        {
            Sums(
                data,
                count,
                at,
                out TVector p0,
                out TVector p1,
                out TVector p2,
                out TVector p3,
                out TVector q0,
                out TVector q1,
                out TVector q2,
                out TVector q3);
            if (adds)
            {
                AddIfAny(p, at, ref p0, ref p1, ref p2, ref p3);
                Add(q + at, ref q0, ref q1, ref q2, ref q3);
            }

            if (p != null)
            {
                Store(p + at, p0, p1, p2, p3);
            }

            Store(q + at, q0, q1, q2, q3);
        }

        ScalarKernel.Instance.Compute(strips, adds, at, to);
    }

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveOptimization)]
    internal override void Update(byte* delta, byte factor, byte* p, byte* q, int from, int to)
    {
        Tables(factor, out TVector low, out TVector high);
        int at = from;
        for (; at <= to - Step; at += Step)
        {
            Load(delta + at, out TVector d0, out TVector d1, out TVector d2, out TVector d3);
            if (p != null)
            {
                Load(p + at, out TVector p0, out TVector p1, out TVector p2, out TVector p3);
                Store(p + at, TSet.Xor(p0, d0), TSet.Xor(p1, d1), TSet.Xor(p2, d2), TSet.Xor(p3, d3));
            }

            Load(q + at, out TVector q0, out TVector q1, out TVector q2, out TVector q3);
            Store(
                q + at,
                TSet.Xor(q0, TSet.Multiply(d0, low, high)),
                TSet.Xor(q1, TSet.Multiply(d1, low, high)),
                TSet.Xor(q2, TSet.Multiply(d2, low, high)),
                TSet.Xor(q3, TSet.Multiply(d3, low, high)));
        }

        ScalarKernel.Instance.Update(delta, factor, p, q, at, to);
    }

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveOptimization)]
    internal override void SolveOne(in StripSet strips, byte factor, byte* target, int from, int to)
    {
        byte** data = strips.Data;
        int count = strips.Count;
        byte* q = strips.Q;
        Tables(factor, out TVector low, out TVector high);
        int at = from;
        for (; at <= to - Step; at += Step)
        {
            Sums(data, count, at, out _, out _, out _, out _, out TVector q0, out TVector q1, out TVector q2, out TVector q3);
            AddIfAny(q, at, ref q0, ref q1, ref q2, ref q3);
            Store(
                target + at,
                TSet.Multiply(q0, low, high),
                TSet.Multiply(q1, low, high),
                TSet.Multiply(q2, low, high),
                TSet.Multiply(q3, low, high));
        }

        ScalarKernel.Instance.SolveOne(strips, factor, target, at, to);
    }

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveOptimization)]
    internal override void SolveTwo(in StripSet strips, byte byP, byte byQ, byte* first, byte* second, int from, int to)
    {
        byte** data = strips.Data;
        int count = strips.Count;
        byte* p = strips.P;
        byte* q = strips.Q;
        Tables(byP, out TVector lowP, out TVector highP);
        Tables(byQ, out TVector lowQ, out TVector highQ);
        int at = from;
        for (; at <= to - Step; at += Step)
        {
            Sums(
                data,
                count,
                at,
                out TVector p0,
                out TVector p1,
                out TVector p2,
                out TVector p3,
                out TVector q0,
                out TVector q1,
                out TVector q2,
                out TVector q3);
            AddIfAny(p, at, ref p0, ref p1, ref p2, ref p3);
            AddIfAny(q, at, ref q0, ref q1, ref q2, ref q3);
            q0 = TSet.Xor(TSet.Multiply(p0, lowP, highP), TSet.Multiply(q0, lowQ, highQ));
            q1 = TSet.Xor(TSet.Multiply(p1, lowP, highP), TSet.Multiply(q1, lowQ, highQ));
            q2 = TSet.Xor(TSet.Multiply(p2, lowP, highP), TSet.Multiply(q2, lowQ, highQ));
            q3 = TSet.Xor(TSet.Multiply(p3, lowP, highP), TSet.Multiply(q3, lowQ, highQ));
            Store(first + at, q0, q1, q2, q3);
            if (second != null)
            {
                Store(second + at, TSet.Xor(p0, q0), TSet.Xor(p1, q1), TSet.Xor(p2, q2), TSet.Xor(p3, q3));
            }
        }

        ScalarKernel.Instance.SolveTwo(strips, byP, byQ, first, second, at, to);
    }

    /// <summary>Gives P and Q of the data at one offset: from the last column down, Q is doubled and the column is added.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static void Sums(
        byte** data,
        int count,
        int at,
        out TVector p0,
        out TVector p1,
        out TVector p2,
        out TVector p3,
        out TVector q0,
        out TVector q1,
        out TVector q2,
        out TVector q3)
    {
        p0 = p1 = p2 = p3 = default;
        if (count > 0 && data[count - 1] != null)
        {
            Load(data[count - 1] + at, out p0, out p1, out p2, out p3);
        }

        q0 = p0;
        q1 = p1;
        q2 = p2;
        q3 = p3;
        for (int i = count - 2; i >= 0; i--)
        {
            byte* column = data[i];
            if (column == null)
            {
                q0 = TSet.Double(q0);
                q1 = TSet.Double(q1);
                q2 = TSet.Double(q2);
                q3 = TSet.Double(q3);
                continue;
            }

            Load(column + at, out TVector d0, out TVector d1, out TVector d2, out TVector d3);
            p0 = TSet.Xor(p0, d0);
            p1 = TSet.Xor(p1, d1);
            p2 = TSet.Xor(p2, d2);
            p3 = TSet.Xor(p3, d3);
            q0 = TSet.DoubleXor(q0, d0);
            q1 = TSet.DoubleXor(q1, d1);
            q2 = TSet.DoubleXor(q2, d2);
            q3 = TSet.DoubleXor(q3, d3);
        }
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static void Tables(byte factor, out TVector low, out TVector high)
    {
        ref byte products = ref MemoryMarshal.GetReference(GaloisField.Products(factor));
        low = TSet.Repeat(Vector128.LoadUnsafe(ref products));
        high = TSet.Repeat(Vector128.LoadUnsafe(ref products, 16));
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static void Load(byte* source, out TVector v0, out TVector v1, out TVector v2, out TVector v3)
    {
        v0 = TSet.Load(source);
        v1 = TSet.Load(source + TSet.Size);
        v2 = TSet.Load(source + (2 * TSet.Size));
        v3 = TSet.Load(source + (3 * TSet.Size));
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static void Store(byte* target, TVector v0, TVector v1, TVector v2, TVector v3)
    {
        TSet.Store(v0, target);
        TSet.Store(v1, target + TSet.Size);
        TSet.Store(v2, target + (2 * TSet.Size));
        TSet.Store(v3, target + (3 * TSet.Size));
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static void Add(byte* source, ref TVector v0, ref TVector v1, ref TVector v2, ref TVector v3)
    {
        v0 = TSet.Xor(v0, TSet.Load(source));
        v1 = TSet.Xor(v1, TSet.Load(source + TSet.Size));
        v2 = TSet.Xor(v2, TSet.Load(source + (2 * TSet.Size)));
        v3 = TSet.Xor(v3, TSet.Load(source + (3 * TSet.Size)));
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static void AddIfAny(byte* strip, int at, ref TVector v0, ref TVector v1, ref TVector v2, ref TVector v3)
    {
        if (strip != null)
        {
            Add(strip + at, ref v0, ref v1, ref v2, ref v3);
        }
    }
}
