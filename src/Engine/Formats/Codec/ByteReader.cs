using System.Buffers.Binary;
using System.Text;

namespace TierSpaces.Engine.Formats;

/// <summary>
/// Reads little-endian fields from untrusted bytes. Reading past the end, or an impossible value, gives a
/// default and sets <see cref="Failed"/>; nothing throws and nothing is allocated beyond the bytes that are really there.
/// </summary>
public ref struct ByteReader(ReadOnlySpan<byte> bytes)
{
    private static readonly UTF8Encoding s_strict = new(false, throwOnInvalidBytes: true);

    private ReadOnlySpan<byte> _rest = bytes;

    /// <summary>Whether anything read so far was not there or not possible.</summary>
    public bool Failed { get; private set; }

    /// <summary>Bytes not read yet.</summary>
    public readonly int Remaining => _rest.Length;

    /// <summary>One byte.</summary>
    public byte U8() => Take(1) is { Length: 1 } b ? b[0] : (byte)0;

    /// <summary>A truth value; anything but 0 and 1 fails.</summary>
    public bool Bool()
    {
        byte value = U8();
        Failed |= value > 1;
        return value == 1;
    }

    /// <summary>16 bits.</summary>
    public ushort U16() => Take(2) is { Length: 2 } b ? BinaryPrimitives.ReadUInt16LittleEndian(b) : (ushort)0;

    /// <summary>32 bits.</summary>
    public uint U32() => Take(4) is { Length: 4 } b ? BinaryPrimitives.ReadUInt32LittleEndian(b) : 0;

    /// <summary>64 bits.</summary>
    public ulong U64() => Take(8) is { Length: 8 } b ? BinaryPrimitives.ReadUInt64LittleEndian(b) : 0;

    /// <summary>A signed number that is never negative.</summary>
    public long I64()
    {
        ulong value = U64();
        Failed |= value > long.MaxValue;
        return Failed ? 0 : (long)value;
    }

    /// <summary>A count of things that each take at least <paramref name="bytesEach"/> bytes of what is left.</summary>
    public int Count(int bytesEach)
    {
        uint value = U32();
        Failed |= value > (uint)(Remaining / bytesEach);
        return Failed ? 0 : (int)value;
    }

    /// <summary>A GUID.</summary>
    public Guid Guid() => Take(16) is { Length: 16 } b ? new Guid(b) : default;

    /// <summary>A string; malformed UTF-8 fails.</summary>
    public string Text()
    {
        ReadOnlySpan<byte> bytes = Take(U16());
        try
        {
            return s_strict.GetString(bytes);
        }
        catch (DecoderFallbackException)
        {
            Failed = true;
            return "";
        }
    }

    /// <summary>Bytes behind a 32-bit length.</summary>
    public byte[] Blob() => Take(Count(1)).ToArray();

    /// <summary>The next <paramref name="count"/> bytes, or none when there are not as many.</summary>
    public ReadOnlySpan<byte> Take(int count)
    {
        if (Failed || count > _rest.Length)
        {
            Failed = true;
            return default;
        }

        ReadOnlySpan<byte> taken = _rest[..count];
        _rest = _rest[count..];
        return taken;
    }

    /// <summary>Marks the bytes as impossible.</summary>
    public void Fail() => Failed = true;
}
