using System.Buffers.Binary;

namespace TierSpaces.Engine.Exports.Nbd;

/// <summary>Reads the data of one option, which is whole in memory; every length in it is checked against what is left.</summary>
internal ref struct NbdOptionReader(ReadOnlySpan<byte> data)
{
    private const int LongestName = 4096;

    private ReadOnlySpan<byte> _left = data;

    internal readonly bool IsAtEnd => _left.IsEmpty;

    internal bool TryReadUInt16(out ushort value)
    {
        if (!BinaryPrimitives.TryReadUInt16BigEndian(_left, out value))
        {
            return false;
        }

        _left = _left[2..];
        return true;
    }

    internal bool TryReadUInt32(out uint value)
    {
        if (!BinaryPrimitives.TryReadUInt32BigEndian(_left, out value))
        {
            return false;
        }

        _left = _left[4..];
        return true;
    }

    /// <summary>A 32-bit length and so many bytes.</summary>
    internal bool TryReadString(out ReadOnlySpan<byte> value)
    {
        value = default;
        if (!TryReadUInt32(out uint length) || length > LongestName || length > (uint)_left.Length)
        {
            return false;
        }

        value = _left[..(int)length];
        _left = _left[(int)length..];
        return true;
    }
}
