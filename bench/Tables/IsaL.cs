using System.Runtime.InteropServices;

namespace TierSpaces.Bench.Tables;

/// <summary>
/// Intel's ISA-L (libisal2), which the arithmetic of parity is measured against. It is loaded when it is there, by the benchmark alone. Its buffers are aligned
/// to 64 bytes here, and their lengths are multiples of 64.
/// </summary>
internal sealed unsafe class IsaL
{
    private const string Library = "libisal.so.2";

    private readonly delegate* unmanaged[Cdecl]<int, int, void**, int> _xor;
    private readonly delegate* unmanaged[Cdecl]<int, int, void**, int> _pq;
    private readonly delegate* unmanaged[Cdecl]<int, int, byte*, byte*, void> _tables;
    private readonly delegate* unmanaged[Cdecl]<int, int, int, byte*, byte**, byte**, void> _encode;

    private IsaL(nint library)
    {
        _xor = (delegate* unmanaged[Cdecl]<int, int, void**, int>)NativeLibrary.GetExport(library, "xor_gen");
        _pq = (delegate* unmanaged[Cdecl]<int, int, void**, int>)NativeLibrary.GetExport(library, "pq_gen");
        _tables = (delegate* unmanaged[Cdecl]<int, int, byte*, byte*, void>)NativeLibrary.GetExport(library, "ec_init_tables");
        _encode = (delegate* unmanaged[Cdecl]<int, int, int, byte*, byte**, byte**, void>)NativeLibrary.GetExport(library, "ec_encode_data");
    }

    /// <summary>Bytes of the tables of one coefficient.</summary>
    internal const int TableBytes = 32;

    /// <summary>Advice where it is missing.</summary>
    internal const string Missing = $"{Library} is not installed, so nothing is measured against it: sudo apt-get install -y libisal2";

    /// <summary>Loads the library; null: it is not installed.</summary>
    internal static IsaL? Load() => NativeLibrary.TryLoad(Library, out nint library) ? new IsaL(library) : null;

    /// <summary>Writes the XOR of all strips but the last one to the last one.</summary>
    internal void Xor(void** strips, int count, int length) => Require(_xor(count, length, strips), "xor_gen");

    /// <summary>Writes P and Q of all strips but the last two to these.</summary>
    internal void PQ(void** strips, int count, int length) => Require(_pq(count, length, strips), "pq_gen");

    /// <summary>Makes the tables for a matrix of coefficients, one row of <paramref name="columns"/> for each result.</summary>
    internal void Tables(int columns, int rows, byte* coefficients, byte* tables) => _tables(columns, rows, coefficients, tables);

    /// <summary>Writes the sums of the strips times their coefficients, one for each row.</summary>
    internal void Encode(int length, int columns, int rows, byte* tables, byte** strips, byte** results) =>
        _encode(length, columns, rows, tables, strips, results);

    private static void Require(int result, string function)
    {
        if (result != 0)
        {
            throw new IOException($"{function} of {Library} failed: {result}.");
        }
    }
}
