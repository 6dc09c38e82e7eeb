using System.Runtime.InteropServices;

namespace TierSpaces.Host.Attaching.Kernel;

/// <summary>
/// One message of generic netlink: 16 bytes of header (length, type, flags, sequence, port), four of the family's own (command,
/// version), then attributes. An answer without attributes is an error number, 0 for success.
/// </summary>
/// <param name="Type">The family, or <see cref="Error"/>.</param>
/// <param name="Sequence">Number of the request it answers; 0 for news.</param>
/// <param name="Body">Everything after the header.</param>
internal sealed record NetlinkMessage(ushort Type, uint Sequence, byte[] Body)
{
    /// <summary>Type of the message that ends an answer.</summary>
    public const ushort Error = 2;

    private const int Header = 16;
    private const int FamilyHeader = 4;
    private const ushort RequestAndAcknowledge = 1 | 4;

    /// <summary>The errno of a message of type <see cref="Error"/>, positive; 0 means done.</summary>
    public int Errno => Type == Error && Body.Length >= sizeof(int) ? -MemoryMarshal.Read<int>(Body) : 0;

    /// <summary>The family's command.</summary>
    public byte Command => Body.Length >= FamilyHeader ? Body[0] : (byte)0;

    /// <summary>Attributes by type.</summary>
    public Dictionary<ushort, byte[]> Attributes =>
        Body.Length >= FamilyHeader ? NetlinkAttributes.Read(Body.AsSpan(FamilyHeader)) : [];

    /// <summary>A request that wants an answer.</summary>
    public static byte[] Request(ushort family, byte command, uint sequence, NetlinkAttributes attributes)
    {
        int length = Header + FamilyHeader + attributes.Bytes.Length;
        return
        [
            .. BitConverter.GetBytes(length), .. BitConverter.GetBytes(family), .. BitConverter.GetBytes(RequestAndAcknowledge),
            .. BitConverter.GetBytes(sequence), .. BitConverter.GetBytes(0), command, 1, 0, 0, .. attributes.Bytes,
        ];
    }

    /// <summary>The messages in what was received at once. Ends at the first one that is not whole.</summary>
    public static IReadOnlyList<NetlinkMessage> Read(ReadOnlySpan<byte> bytes)
    {
        List<NetlinkMessage> messages = new List<NetlinkMessage>();
        while (bytes.Length >= Header)
        {
            int length = MemoryMarshal.Read<int>(bytes);
            if (length < Header || length > bytes.Length)
            {
                break;
            }

            messages.Add(new NetlinkMessage(
                MemoryMarshal.Read<ushort>(bytes[4..]), MemoryMarshal.Read<uint>(bytes[8..]), bytes[Header..length].ToArray()));
            bytes = bytes[Math.Min((length + 3) & ~3, bytes.Length)..];
        }

        return messages;
    }
}
