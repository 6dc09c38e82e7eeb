using System.Runtime.Intrinsics;
using System.Runtime.Intrinsics.Arm;
using System.Runtime.Intrinsics.X86;

namespace TierSpaces.Engine.Primitives;

// The loops of parity arithmetic, one class for each way to compute.
//
// Invariants
//  1. A kernel has no state. Every kernel gives the same bytes.
//  2. A kernel accesses the bytes from `from` up to `to` of each strip whose address is not null, and no others. Addresses need no alignment.
//  3. Arguments are checked by ParityMath. A kernel checks nothing.
//  4. At each offset all bytes are read before one is written.

/// <summary>One implementation of the loops over strips.</summary>
internal abstract unsafe class ParityKernel
{
    /// <summary>Gets the kernels that this processor can run, the fastest first. The last one is scalar and runs everywhere.</summary>
    internal static IReadOnlyList<ParityKernel> Available { get; } = Find();

    /// <summary>Name for tests and measurements.</summary>
    internal abstract string Name { get; }

    /// <summary>Writes the XOR of sources to a target, or adds it to the target.</summary>
    /// <param name="sources">Addresses, none of them null.</param>
    /// <param name="count">Number of sources, 0 included.</param>
    /// <param name="target">Address of the target.</param>
    /// <param name="adds">Whether the target keeps its value as one more source.</param>
    /// <param name="from">First byte of each strip.</param>
    /// <param name="to">End of the bytes of each strip.</param>
    internal abstract void Xor(byte** sources, int count, byte* target, bool adds, int from, int to);

    /// <summary>Writes P (unless its address is null) and Q of the data strips, or adds them to P and Q.</summary>
    internal abstract void Compute(in StripSet strips, bool adds, int from, int to);

    /// <summary>Adds <paramref name="delta"/> to <paramref name="p"/> (unless that is null), and its product with a factor to <paramref name="q"/>.</summary>
    internal abstract void Update(byte* delta, byte factor, byte* p, byte* q, int from, int to);

    /// <summary>Writes factor × (Q + sum of g^i × data) to <paramref name="target"/>.</summary>
    internal abstract void SolveOne(in StripSet strips, byte factor, byte* target, int from, int to);

    /// <summary>
    /// Writes byP × S + byQ × T to <paramref name="first"/>, and the sum of that and S to <paramref name="second"/> (unless that is null),
    /// with S = P + sum of data and T = Q + sum of g^i × data.
    /// </summary>
    internal abstract void SolveTwo(in StripSet strips, byte byP, byte byQ, byte* first, byte* second, int from, int to);

    private static List<ParityKernel> Find()
    {
        List<ParityKernel> found = [];
        if (Avx512BW.IsSupported && Vector512.IsHardwareAccelerated)
        {
            found.Add(new VectorKernel<Vector512Set, Vector512<byte>>("Vector512"));
        }

        if (Avx2.IsSupported)
        {
            found.Add(new VectorKernel<Vector256Set, Vector256<byte>>("Vector256"));
        }

        if (Ssse3.IsSupported || AdvSimd.Arm64.IsSupported)
        {
            found.Add(new VectorKernel<Vector128Set, Vector128<byte>>("Vector128"));
        }

        found.Add(new ScalarKernel());
        return found;
    }
}
