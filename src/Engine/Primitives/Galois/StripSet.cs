namespace TierSpaces.Engine.Primitives;

/// <summary>Addresses of the strips of one stripe. An address of null is a strip of zeros, or one that is not used; it is never accessed.</summary>
internal readonly unsafe struct StripSet(byte** data, int count, byte* p, byte* q)
{
    /// <summary>Addresses of the data strips, by column.</summary>
    internal byte** Data => data;

    /// <summary>Number of columns. Columns above it are zeros.</summary>
    internal int Count => count;

    /// <summary>Address of P: the sum of the data strips.</summary>
    internal byte* P => p;

    /// <summary>Address of Q: the sum of the data strips, each times the generator to the power of its column.</summary>
    internal byte* Q => q;
}
