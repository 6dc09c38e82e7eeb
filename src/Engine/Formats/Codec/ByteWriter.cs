using System.Buffers.Binary;
using System.Text;

namespace TierSpaces.Engine.Formats;

/// <summary>Appends little-endian fields to a growing buffer. Metadata only; the data path writes in place.</summary>
public sealed class ByteWriter(int capacity = 256)
{
    private byte[] _bytes = new byte[capacity];

    /// <summary>Bytes written so far.</summary>
    public int Length { get; private set; }

    /// <summary>Bytes that have been written; valid until the next write.</summary>
    public ReadOnlySpan<byte> Written => _bytes.AsSpan(0, Length);

    /// <summary>Forgets everything written, keeps the memory.</summary>
    public void Clear() => Length = 0;

    /// <summary>Appends one byte.</summary>
    public void U8(byte value) => Reserve(1)[0] = value;

    /// <summary>Appends a truth value as one byte.</summary>
    public void Bool(bool value) => U8(value ? (byte)1 : (byte)0);

    /// <summary>Appends 16 bits.</summary>
    public void U16(ushort value) => BinaryPrimitives.WriteUInt16LittleEndian(Reserve(2), value);

    /// <summary>Appends 32 bits.</summary>
    public void U32(uint value) => BinaryPrimitives.WriteUInt32LittleEndian(Reserve(4), value);

    /// <summary>Appends 64 bits.</summary>
    public void U64(ulong value) => BinaryPrimitives.WriteUInt64LittleEndian(Reserve(8), value);

    /// <summary>Appends a signed number that is never negative.</summary>
    public void I64(long value) => U64((ulong)value);

    /// <summary>Appends a GUID as 16 bytes in its little-endian field order.</summary>
    public void Guid(Guid value) => value.TryWriteBytes(Reserve(16));

    /// <summary>Appends a string: 16-bit length in bytes, then UTF-8.</summary>
    public void Text(string value)
    {
        int length = Encoding.UTF8.GetByteCount(value);
        U16(checked((ushort)length));
        Encoding.UTF8.GetBytes(value, Reserve(length));
    }

    /// <summary>Appends bytes: 32-bit length, then the bytes.</summary>
    public void Blob(ReadOnlySpan<byte> value)
    {
        U32((uint)value.Length);
        Raw(value);
    }

    /// <summary>Appends bytes without a length.</summary>
    public void Raw(ReadOnlySpan<byte> value) => value.CopyTo(Reserve(value.Length));

    /// <summary>Overwrites 32 bits written earlier.</summary>
    public void PatchU32(int at, uint value) => BinaryPrimitives.WriteUInt32LittleEndian(_bytes.AsSpan(at, 4), value);

    private Span<byte> Reserve(int count)
    {
        if (Length + count > _bytes.Length)
        {
            Array.Resize(ref _bytes, Math.Max(_bytes.Length * 2, Length + count));
        }

        Length += count;
        return _bytes.AsSpan(Length - count, count);
    }
}
