using System.Diagnostics.CodeAnalysis;

namespace TierSpaces.Engine.Primitives;

// Single and dual parity over strips in unmanaged memory. With data strips d(0) to d(D-1), one for each column:
//
//   P = d(0) + d(1) + … + d(D-1)
//   Q = g^0 d(0) + g^1 d(1) + … + g^(D-1) d(D-1)      over GF(2^8), see GaloisField
//
// Let S be P plus the sum of the data that are left, and T be Q plus their sum with factors. Both are sums of the erased data alone. So if
// one data strip x is erased, S = x and T = g^i x. If two are erased, S = x + y and T = g^i x + g^j y, therefore x = (g^j S + T) / (g^i + g^j) and
// y = S + x. Two columns have different factors, so the divisor is not 0. The formulae are those of H. P. Anvin, "The mathematics of RAID-6".
//
// Invariants
//  1. A default buffer (address null) that is not erased is a strip of zeros, and is not accessed. All other strips of a call have one length, of any number
//     of bytes, at any address.
//  2. Arguments are checked before the first byte is written. A strip that is written shares no byte with another strip of the call.
//  3. The last two positions of a stripe of D columns are P (D) and Q (D + 1).
//  4. Nothing is allocated. Calls may run at the same time on different strips.

/// <summary>Computes, updates and solves single parity (P) and dual parity (P and Q).</summary>
public sealed unsafe class ParityMath
{
    /// <summary>Largest number of data columns. Q has no more factors.</summary>
    public const int ColumnsMax = GaloisField.Order;

    private const int None = -1;
    private const int ChunkMax = 64 << 10;       // of one strip, where strips are read twice
    private const int ChunkMin = 4 << 10;
    private const int Sector = 512;              // chunks are whole sectors, so each one has whole vectors
    private const int CachedBytes = 512 << 10;   // of all strips: what a cache of the second level keeps beside other data

    private readonly ParityKernel _kernel;

    internal ParityMath(ParityKernel kernel) => _kernel = kernel;

    /// <summary>Gets the fastest implementation that this processor can run, chosen once.</summary>
    public static ParityMath Fastest { get; } = new(ParityKernel.Available[0]);

    /// <summary>Gets the name of the implementation: the vectors that it uses.</summary>
    public string Name => _kernel.Name;

    /// <summary>Writes the XOR of strips to <paramref name="target"/>: P of data strips, or the difference of two versions of one strip.</summary>
    /// <param name="data">1 to 255 strips. Default buffers count as zeros.</param>
    /// <param name="target">Strip that is written.</param>
    /// <exception cref="ArgumentException">Number or length of the strips is not valid, or the target overlaps one of them.</exception>
    public void Xor(ReadOnlySpan<IoBuffer> data, IoBuffer target) => Sum(data, target, default, adds: false);

    /// <summary>Writes P and Q of data strips. Each strip is read once.</summary>
    /// <param name="data">1 to 255 strips, by column. Default buffers count as zeros.</param>
    /// <param name="p">P, or a default buffer if only Q is computed.</param>
    /// <param name="q">Q, or a default buffer if only P is computed.</param>
    /// <exception cref="ArgumentException">
    /// Number or length of the strips is not valid, P and Q are both default, or one of them overlaps another strip.
    /// </exception>
    public void Compute(ReadOnlySpan<IoBuffer> data, IoBuffer p, IoBuffer q) => Sum(data, p, q, adds: false);

    /// <summary>
    /// Adds data strips to P and Q. If P and Q are those of some columns, and <paramref name="data"/> has only other columns, they become those of all.
    /// </summary>
    /// <param name="data">1 to 255 strips, by column. Default buffers count as zeros.</param>
    /// <param name="p">P, or a default buffer if only Q is changed.</param>
    /// <param name="q">Q, or a default buffer if only P is changed.</param>
    /// <exception cref="ArgumentException">
    /// Number or length of the strips is not valid, P and Q are both default, or one of them overlaps another strip.
    /// </exception>
    public void Accumulate(ReadOnlySpan<IoBuffer> data, IoBuffer p, IoBuffer q) => Sum(data, p, q, adds: true);

    /// <summary>
    /// Changes P and Q as a partial write of one column does: P by the difference of old and new data, Q by the difference times the factor of the column.
    /// </summary>
    /// <param name="column">Column that was written: 0 to 254.</param>
    /// <param name="delta">XOR of old and new data of the column.</param>
    /// <param name="p">P, or a default buffer if only Q is changed.</param>
    /// <param name="q">Q, or a default buffer if only P is changed.</param>
    /// <exception cref="ArgumentOutOfRangeException">The column is out of range.</exception>
    /// <exception cref="ArgumentException">The length of a strip is not valid, P and Q are both default, or one of them overlaps another strip.</exception>
    public void Update(int column, IoBuffer delta, IoBuffer p, IoBuffer q)
    {
        if ((uint)column >= ColumnsMax)
        {
            throw new ArgumentOutOfRangeException(nameof(column), column, $"Valid: 0 to {ColumnsMax - 1}.");
        }

        int length = LengthOfTargets(p, q);
        CheckSource(delta, length, p, q, nameof(delta));
        byte* source = delta.Pointer;
        if (source == null)
        {
            return;
        }

        if (q.Pointer == null)
        {
            _kernel.Xor(&source, 1, p.Pointer, adds: true, 0, length);
            return;
        }

        _kernel.Update(source, GaloisField.Power(column), p.Pointer, q.Pointer, 0, length);
    }

    /// <summary>
    /// Restores one erased strip of a stripe: a data strip from P and the other data, P or Q from the data. Q is not accessed unless it is restored.
    /// </summary>
    /// <param name="data">1 to 255 strips, by column. Default buffers count as zeros.</param>
    /// <param name="p">P.</param>
    /// <param name="q">Q, or a default buffer with single parity.</param>
    /// <param name="erased">Position of the erased strip: a column, the number of columns for P, or one more for Q. The strip there is written.</param>
    /// <exception cref="ArgumentOutOfRangeException">The position is out of range.</exception>
    /// <exception cref="ArgumentException">
    /// Number or length of the strips is not valid, there is no buffer at the position, or it overlaps another strip.
    /// </exception>
    public void Reconstruct(ReadOnlySpan<IoBuffer> data, IoBuffer p, IoBuffer q, int erased)
    {
        CheckColumns(data);
        CheckPosition(erased, data.Length, nameof(erased));
        Restore(data, p, q, erased, None);
    }

    /// <summary>
    /// Restores two erased strips of a stripe with dual parity. An erased strip with a default buffer is neither read nor restored; the other one is.
    /// So one data strip is restored from Q if P is erased too.
    /// </summary>
    /// <param name="data">1 to 255 strips, by column. Default buffers that are not erased count as zeros.</param>
    /// <param name="p">P.</param>
    /// <param name="q">Q.</param>
    /// <param name="erased">Position of an erased strip: a column, the number of columns for P, or one more for Q. The strip there is written.</param>
    /// <param name="alsoErased">Position of the other erased strip.</param>
    /// <exception cref="ArgumentOutOfRangeException">A position is out of range.</exception>
    /// <exception cref="ArgumentException">
    /// The positions are the same one, number or length of the strips is not valid, there is no buffer at either position, a data strip without a buffer is
    /// erased with P or Q, or a strip that is written overlaps another one.
    /// </exception>
    public void Reconstruct(ReadOnlySpan<IoBuffer> data, IoBuffer p, IoBuffer q, int erased, int alsoErased)
    {
        CheckColumns(data);
        CheckPosition(erased, data.Length, nameof(erased));
        CheckPosition(alsoErased, data.Length, nameof(alsoErased));
        if (erased == alsoErased)
        {
            throw new ArgumentException($"{alsoErased} is the position of the other erased strip. Valid: another position.", nameof(alsoErased));
        }

        Restore(data, p, q, Math.Min(erased, alsoErased), Math.Max(erased, alsoErased));
    }

    private void Sum(ReadOnlySpan<IoBuffer> data, IoBuffer p, IoBuffer q, bool adds)
    {
        CheckColumns(data);
        int length = LengthOfTargets(p, q);
        byte** columns = stackalloc byte*[data.Length];
        int count = Gather(data, columns, None, None, p, q, length);
        Sum(new StripSet(columns, count, p.Pointer, q.Pointer), adds, 0, length);
    }

    /// <summary>Computes or adds to whichever of P and Q have an address. The addresses of the columns may be in another order afterwards.</summary>
    private void Sum(in StripSet strips, bool adds, int from, int to)
    {
        if (strips.Q == null)
        {
            int count = 0;
            for (int i = 0; i < strips.Count; i++)
            {
                if (strips.Data[i] != null)
                {
                    strips.Data[count++] = strips.Data[i];
                }
            }

            _kernel.Xor(strips.Data, count, strips.P, adds, from, to);
            return;
        }

        _kernel.Compute(strips, adds, from, to);
    }

    /// <summary>Restores what is erased: <paramref name="low"/>, and <paramref name="high"/> unless that is none.</summary>
    private void Restore(ReadOnlySpan<IoBuffer> data, IoBuffer p, IoBuffer q, int low, int high)
    {
        int columns = data.Length;
        bool isErasedP = low == columns || high == columns;
        bool isErasedQ = low == columns + 1 || high == columns + 1;
        IoBuffer first = At(data, p, q, low), second = high == None ? default : At(data, p, q, high);
        if (first.Pointer == null && second.Pointer != null && low < columns && high >= columns)
        {
            throw new ArgumentException($"data[{low}]: has no buffer, but P or Q that is restored contains it. Give it a buffer.", nameof(data));
        }

        int length = LengthOfTargets(first, second);
        byte** addresses = stackalloc byte*[columns];
        int count = Gather(data, addresses, low, high, first, second, length);
        if (!isErasedP)
        {
            CheckSource(p, length, first, second, nameof(p));
        }

        if (!isErasedQ)
        {
            CheckSource(q, length, first, second, nameof(q));
        }

        if (high >= 0 && high < columns)
        {
            SolveTwo(new StripSet(addresses, count, p.Pointer, q.Pointer), low, first.Pointer, high, second.Pointer, length);
        }
        else if (low < columns)
        {
            SolveOne(new StripSet(addresses, count, isErasedP ? null : p.Pointer, q.Pointer), low, first.Pointer, second.Pointer, isErasedP, length);
        }
        else
        {
            Sum(new StripSet(addresses, count, isErasedP ? p.Pointer : null, isErasedQ ? q.Pointer : null), adds: false, 0, length);
        }
    }

    /// <summary>Restores two data strips, or the one of them that has an address.</summary>
    private void SolveTwo(in StripSet strips, int low, byte* first, int high, byte* second, int length)
    {
        if (first == null)
        {
            (low, high) = (high, low);
            first = second;
            second = null;
        }

        byte inverse = GaloisField.Inverse((byte)(GaloisField.Power(low) ^ GaloisField.Power(high)));
        _kernel.SolveTwo(strips, GaloisField.Multiply(GaloisField.Power(high), inverse), inverse, first, second, 0, length);
    }

    /// <summary>
    /// Restores a data strip, from P unless that is erased, and then the parity that is erased too. The parity reads all strips once more, so this
    /// is done in chunks that a cache keeps.
    /// </summary>
    private void SolveOne(in StripSet strips, int column, byte* target, byte* parity, bool isErasedP, int length)
    {
        byte factor = GaloisField.Inverse(GaloisField.Power(column));
        int chunk = parity == null ? length : Math.Clamp((CachedBytes / (strips.Count + 2)) & -Sector, ChunkMin, ChunkMax);
        byte** all = stackalloc byte*[Math.Max(strips.Count, column + 1)];
        for (int from = 0; from < length;)
        {
            int to = length - from < chunk ? length : from + chunk;
            if (isErasedP)
            {
                _kernel.SolveOne(new StripSet(strips.Data, strips.Count, null, strips.Q), factor, target, from, to);
            }
            else
            {
                int count = Copy(strips, all, column, strips.P);
                Sum(new StripSet(all, count, target, null), adds: false, from, to);
            }

            if (parity != null)
            {
                int count = Copy(strips, all, column, target);
                Sum(new StripSet(all, count, isErasedP ? parity : null, isErasedP ? null : parity), adds: false, from, to);
            }

            from = to;
        }
    }

    /// <summary>Copies the addresses of the columns, with that of one column replaced. Returns their number.</summary>
    private static int Copy(in StripSet strips, byte** copy, int column, byte* replaced)
    {
        int count = Math.Max(strips.Count, column + 1);
        for (int i = 0; i < count; i++)
        {
            copy[i] = i == column ? replaced : i < strips.Count ? strips.Data[i] : null;
        }

        return count;
    }

    /// <summary>
    /// Checks data strips and collects their addresses, null for those that are erased. Returns the number of columns up to the last one with an address.
    /// </summary>
    private static int Gather(ReadOnlySpan<IoBuffer> data, byte** addresses, int low, int high, IoBuffer first, IoBuffer second, int length)
    {
        int count = 0;
        for (int i = 0; i < data.Length; i++)
        {
            addresses[i] = null;
            if (i == low || i == high || data[i].Pointer == null)
            {
                continue;
            }

            if (!IsSource(data[i], length, first, second))
            {
                ThrowNoSource(data[i], length, $"{nameof(data)}[{i}]");
            }

            addresses[i] = data[i].Pointer;
            count = i + 1;
        }

        return count;
    }

    private static IoBuffer At(ReadOnlySpan<IoBuffer> data, IoBuffer p, IoBuffer q, int position) =>
        position < data.Length ? data[position] : position == data.Length ? p : q;

    /// <summary>Returns the length of one or two strips that are written.</summary>
    private static int LengthOfTargets(IoBuffer first, IoBuffer second)
    {
        if (first.Pointer == null && second.Pointer == null)
        {
            throw new ArgumentException("No strip that would be written has a buffer. Give one of them a buffer.");
        }

        if (first.Pointer != null && second.Pointer != null && (first.Length != second.Length || Overlaps(first, second)))
        {
            throw new ArgumentException(
                $"The strips that would be written have {first.Length} and {second.Length} bytes, or overlap. Valid: strips of one length without a common byte.");
        }

        return first.Pointer != null ? first.Length : second.Length;
    }

    private static void CheckColumns(ReadOnlySpan<IoBuffer> data)
    {
        if (data.Length is 0 or > ColumnsMax)
        {
            throw new ArgumentException($"{data.Length} strips. Valid: 1 to {ColumnsMax}.", nameof(data));
        }
    }

    private static void CheckPosition(int position, int columns, string name)
    {
        if ((uint)position > (uint)columns + 1)
        {
            throw new ArgumentOutOfRangeException(name, position, $"Valid: 0 to {columns - 1} for data, {columns} for P, {columns + 1} for Q.");
        }
    }

    private static void CheckSource(IoBuffer source, int length, IoBuffer first, IoBuffer second, string name)
    {
        if (source.Pointer != null && !IsSource(source, length, first, second))
        {
            ThrowNoSource(source, length, name);
        }
    }

    private static bool IsSource(IoBuffer source, int length, IoBuffer first, IoBuffer second) =>
        source.Length == length && !Overlaps(source, first) && !Overlaps(source, second);

    private static bool Overlaps(IoBuffer one, IoBuffer other) =>
        one.Pointer < other.Pointer + other.Length && other.Pointer < one.Pointer + one.Length;

    [DoesNotReturn]
    private static void ThrowNoSource(IoBuffer source, int length, string name) =>
        throw new ArgumentException($"{name}: has {source.Length} bytes, or overlaps a strip that is written. Valid: {length} bytes of other memory.");
}
