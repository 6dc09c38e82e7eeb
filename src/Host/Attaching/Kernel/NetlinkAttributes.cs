using System.Runtime.InteropServices;
using System.Text;

namespace TierSpaces.Host.Attaching.Kernel;

/// <summary>
/// Attributes of a netlink message, written and read: length and type in two bytes each, then the value, padded to four bytes;
/// all numbers in the machine's own byte order. A value may itself be attributes.
/// </summary>
internal sealed class NetlinkAttributes
{
    private const int Header = 4;
    private const ushort Nested = 0x8000;
    private const ushort TypeMask = 0x3fff;
    private readonly List<byte> _bytes = [];

    /// <summary>Attributes that have been added, as they go into a message.</summary>
    public ReadOnlySpan<byte> Bytes => CollectionsMarshal.AsSpan(_bytes);

    /// <summary>Adds a number of four bytes.</summary>
    public NetlinkAttributes Add(ushort type, uint value) => Add(type, BitConverter.GetBytes(value));

    /// <summary>Adds a number of eight bytes.</summary>
    public NetlinkAttributes Add(ushort type, ulong value) => Add(type, BitConverter.GetBytes(value));

    /// <summary>Adds a text, with the zero at its end.</summary>
    public NetlinkAttributes Add(ushort type, string value) => Add(type, Encoding.UTF8.GetBytes(value + "\0"));

    /// <summary>Adds attributes as one attribute.</summary>
    public NetlinkAttributes Add(ushort type, NetlinkAttributes value) => Add((ushort)(type | Nested), value.Bytes);

    /// <summary>
    /// The attributes in some bytes, by type; the last of a type wins. Ends at the first one that is not whole.
    /// </summary>
    public static Dictionary<ushort, byte[]> Read(ReadOnlySpan<byte> bytes)
    {
        Dictionary<ushort, byte[]> attributes = new Dictionary<ushort, byte[]>();
        while (bytes.Length >= Header)
        {
            ushort length = MemoryMarshal.Read<ushort>(bytes);
            if (length < Header || length > bytes.Length)
            {
                break;
            }

            attributes[(ushort)(MemoryMarshal.Read<ushort>(bytes[2..]) & TypeMask)] = bytes[Header..length].ToArray();
            bytes = bytes[Math.Min(Padded(length), bytes.Length)..];
        }

        return attributes;
    }

    private NetlinkAttributes Add(ushort type, ReadOnlySpan<byte> value)
    {
        int length = Header + value.Length;
        _bytes.AddRange(BitConverter.GetBytes((ushort)length));
        _bytes.AddRange(BitConverter.GetBytes(type));
        _bytes.AddRange(value);
        _bytes.AddRange(new byte[Padded(length) - length]);
        return this;
    }

    private static int Padded(int length) => (length + 3) & ~3;
}
