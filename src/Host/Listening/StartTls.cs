using System.Buffers.Binary;
using System.Text;

namespace TierSpaces.Host.Listening;

// The plain part of an NBD session that has to be ciphered: fixed newstyle, until the client asks for TLS.
//
// Invariants
//  1. The export is not named, listed or entered before TLS: every option but STARTTLS and ABORT is answered with TLS_REQD.
//  2. No byte behind the answer to STARTTLS is read here: what comes next belongs to TLS.

/// <summary>Negotiates with NBD clients until they ask for TLS, and with the export in their place afterwards.</summary>
internal static class StartTls
{
    private const ulong GreetingMagic = 0x4e42444d41474943;   // NBDMAGIC
    private const ulong OptionMagic = 0x49484156454F5054;     // IHAVEOPT
    private const ulong ReplyMagic = 0x3e889045565a9;
    private const uint ExportName = 1;
    private const uint Abort = 2;
    private const uint StartTlsOption = 5;
    private const uint Ack = 1;
    private const uint Invalid = 0x8000_0003;
    private const uint TlsRequired = 0x8000_0005;
    private const uint Offered = 3;                           // fixed newstyle, no zeroes
    private const uint FixedNewstyle = 1;
    private const int GreetingBytes = 18;
    private const int OptionBytes = 16;
    private const int ReplyBytes = 20;
    private const int OptionDataMax = 8 << 10;
    private const int OptionsMax = 256;

    /// <summary>
    /// Greets a client and answers its options until it asks for TLS, which it may begin then. Returns its flags; null: the connection is to be closed.
    /// </summary>
    public static async Task<uint?> AwaitAsync(Stream client, CancellationToken cancellation)
    {
        byte[] bytes = new byte[OptionBytes];
        await client.WriteAsync(Greeting(), cancellation).ConfigureAwait(false);
        await client.ReadExactlyAsync(bytes.AsMemory(0, sizeof(uint)), cancellation).ConfigureAwait(false);
        uint flags = BinaryPrimitives.ReadUInt32BigEndian(bytes);
        if ((flags & ~Offered) != 0 || (flags & FixedNewstyle) == 0)
        {
            return null;
        }

        for (int options = 0; options < OptionsMax; options++)
        {
            await client.ReadExactlyAsync(bytes, cancellation).ConfigureAwait(false);
            uint option = BinaryPrimitives.ReadUInt32BigEndian(bytes.AsSpan(sizeof(ulong)));
            uint length = BinaryPrimitives.ReadUInt32BigEndian(bytes.AsSpan(sizeof(ulong) + sizeof(uint)));
            if (BinaryPrimitives.ReadUInt64BigEndian(bytes) != OptionMagic || length > OptionDataMax || option == ExportName)
            {
                return null;   // EXPORT_NAME has no error reply
            }

            await client.ReadExactlyAsync(new byte[length], cancellation).ConfigureAwait(false);
            (uint answer, string text) = AnswerTo(option, length);
            await client.WriteAsync(Reply(option, answer, text), cancellation).ConfigureAwait(false);
            if (answer == Ack)
            {
                return option == StartTlsOption ? flags : null;
            }
        }

        return null;
    }

    /// <summary>Takes the greeting of the export and sends it the flags of the client, who goes on with its options behind TLS.</summary>
    public static async Task EnterAsync(Stream export, uint flags, CancellationToken cancellation)
    {
        byte[] bytes = new byte[GreetingBytes];
        await export.ReadExactlyAsync(bytes, cancellation).ConfigureAwait(false);
        byte[] answer = new byte[sizeof(uint)];
        BinaryPrimitives.WriteUInt32BigEndian(answer, flags);
        await export.WriteAsync(answer, cancellation).ConfigureAwait(false);
    }

    private static (uint Answer, string Text) AnswerTo(uint option, uint length) => option switch
    {
        Abort => (Ack, ""),
        StartTlsOption when length > 0 => (Invalid, "this option has no data"),
        StartTlsOption => (Ack, ""),
        _ => (TlsRequired, "this address takes clients with TLS only"),
    };

    private static byte[] Greeting()
    {
        byte[] bytes = new byte[GreetingBytes];
        BinaryPrimitives.WriteUInt64BigEndian(bytes, GreetingMagic);
        BinaryPrimitives.WriteUInt64BigEndian(bytes.AsSpan(sizeof(ulong)), OptionMagic);
        BinaryPrimitives.WriteUInt16BigEndian(bytes.AsSpan(2 * sizeof(ulong)), (ushort)Offered);
        return bytes;
    }

    private static byte[] Reply(uint option, uint type, string text)
    {
        byte[] bytes = new byte[ReplyBytes + text.Length];
        BinaryPrimitives.WriteUInt64BigEndian(bytes, ReplyMagic);
        BinaryPrimitives.WriteUInt32BigEndian(bytes.AsSpan(8), option);
        BinaryPrimitives.WriteUInt32BigEndian(bytes.AsSpan(12), type);
        BinaryPrimitives.WriteUInt32BigEndian(bytes.AsSpan(16), (uint)text.Length);
        Encoding.ASCII.GetBytes(text, bytes.AsSpan(ReplyBytes));
        return bytes;
    }
}
