using System.Buffers.Binary;
using System.Text;
using TierSpaces.Engine.Exports.Nbd;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Exports.Nbd;

/// <summary>One answer to an option.</summary>
internal sealed record OptionReply(uint Option, uint Type, byte[] Data)
{
    public string Text => Encoding.UTF8.GetString(Data);
}

/// <summary>One answer to a request, error message and payload included.</summary>
internal sealed record Reply(ulong Cookie, bool IsStructured, uint Error, string Message, uint ChunkType, byte[] Data)
{
    /// <summary>Chunks that it came in.</summary>
    public int Chunks { get; init; } = 1;
}

/// <summary>An NBD client written from the protocol document, sharing nothing with the server: numbers are repeated here.</summary>
internal sealed class TestClient
{
    private readonly SimLane _lane;
    private readonly Dictionary<ulong, int> _reads = [];   // cookie → length of data in a simple reply
    private ulong _cookie = 0x1000;

    public TestClient(SimLane lane, NbdServer server, TestSocket? socket = null)
        : this(lane, server.Accept, socket)
    {
    }

    /// <summary>Creates a client; <paramref name="accept"/> gets the server's end of the connection.</summary>
    public TestClient(SimLane lane, Action<TierSpaces.Engine.Lanes.ILaneSocket> accept, TestSocket? socket = null)
    {
        _lane = lane;
        Socket = socket ?? new TestSocket(lane);
        accept(Socket);
    }

    public TestSocket Socket { get; }

    public bool IsStructured { get; private set; }

    /// <summary>Greeting and client flags: fixed newstyle, without zeroes.</summary>
    public TestClient Greet(uint flags = 3)
    {
        byte[] greeting = Take(18);
        Assert.Equal("NBDMAGICIHAVEOPT", Encoding.ASCII.GetString(greeting, 0, 16));
        Assert.Equal(3, BinaryPrimitives.ReadUInt16BigEndian(greeting.AsSpan(16)));
        Socket.ClientSends(UInt32(flags));
        return this;
    }

    /// <summary>Greeting, then into transmission of an export.</summary>
    public TestClient Enter(bool structured = true, bool context = true, string name = "")
    {
        Greet();
        if (structured)
        {
            Assert.Equal(1u, Option(8).Single().Type);
            if (context)
            {
                Assert.Equal([4u, 1u], Option(10, ContextQuery(name, "base:allocation")).Select(r => r.Type));
            }
        }

        Assert.Equal(1u, Option(7, InfoQuery(name)).Last().Type);
        return this;
    }

    public static byte[] InfoQuery(string name, params ushort[] kinds) =>
        [.. Counted(name), .. UInt16((ushort)kinds.Length), .. kinds.SelectMany(UInt16)];

    public static byte[] ContextQuery(string name, params string[] queries) =>
        [.. Counted(name), .. UInt32((uint)queries.Length), .. queries.SelectMany(Counted)];

    public static byte[] OptionBytes(uint option, params byte[] data) =>
        [.. "IHAVEOPT"u8, .. UInt32(option), .. UInt32((uint)data.Length), .. data];

    /// <summary>Sends an option and gives its replies, up to the acknowledgement or an error.</summary>
    public List<OptionReply> Option(uint option, params byte[] data)
    {
        Socket.ClientSends(OptionBytes(option, data));
        List<OptionReply> replies = [];
        do
        {
            byte[] header = Take(20);
            Assert.Equal(0x0003e889045565a9ul, BinaryPrimitives.ReadUInt64BigEndian(header));
            Assert.Equal(option, BinaryPrimitives.ReadUInt32BigEndian(header.AsSpan(8)));
            uint type = BinaryPrimitives.ReadUInt32BigEndian(header.AsSpan(12));
            byte[] payload = Take((int)BinaryPrimitives.ReadUInt32BigEndian(header.AsSpan(16)));
            replies.Add(new OptionReply(option, type, payload));
        }
        while (replies[^1].Type is not 1 and < 0x80000000);
        IsStructured |= option == 8 && replies[^1].Type == 1;
        return replies;
    }

    public static byte[] RequestBytes(ushort command, ulong offset, uint length, ushort flags, ulong cookie, byte[]? payload = null) =>
    [
        .. UInt32(0x25609513), .. UInt16(flags), .. UInt16(command), .. UInt64(cookie), .. UInt64(offset), .. UInt32(length),
        .. payload ?? [],
    ];

    /// <summary>Sends a request and gives its cookie.</summary>
    public ulong Request(ushort command, ulong offset = 0, uint length = 0, ushort flags = 0, byte[]? payload = null)
    {
        ulong cookie = _cookie++;
        if (command == 0)
        {
            _reads[cookie] = (int)length;
        }

        Socket.ClientSends(RequestBytes(command, offset, length, flags, cookie, payload));
        return cookie;
    }

    /// <summary>Sends a request and waits for its reply.</summary>
    public Reply Ask(ushort command, ulong offset = 0, uint length = 0, ushort flags = 0, byte[]? payload = null)
    {
        ulong cookie = Request(command, offset, length, flags, payload);
        Reply reply = TakeReply();
        Assert.Equal(cookie, reply.Cookie);
        return reply;
    }

    /// <summary>The next reply, whichever request it belongs to.</summary>
    public Reply TakeReply()
    {
        byte[] head = Take(16);
        uint magic = BinaryPrimitives.ReadUInt32BigEndian(head);
        ulong cookie = BinaryPrimitives.ReadUInt64BigEndian(head.AsSpan(8));
        _reads.Remove(cookie, out int readLength);
        if (magic == 0x67446698)
        {
            uint error = BinaryPrimitives.ReadUInt32BigEndian(head.AsSpan(4));
            Assert.False(IsStructured && readLength > 0, "a read was answered with a simple reply");
            return new Reply(cookie, false, error, "", 0, error == 0 ? Take(readLength) : []);
        }

        List<byte> whole = [];
        for (int chunks = 1; ; chunks++)
        {
            Assert.Equal(0x668e33efu, magic);
            Assert.True(IsStructured, "a structured reply was not negotiated");
            Assert.Equal(cookie, BinaryPrimitives.ReadUInt64BigEndian(head.AsSpan(8)));   // one request in parts at a time
            bool isLast = BinaryPrimitives.ReadUInt16BigEndian(head.AsSpan(4)) == 1;
            uint type = BinaryPrimitives.ReadUInt16BigEndian(head.AsSpan(6));
            byte[] data = Take((int)BinaryPrimitives.ReadUInt32BigEndian(Take(4)));
            Assert.True(isLast || type == 1);   // only data comes in parts
            if (type == 0x8001)
            {
                return ErrorReply(cookie, data);
            }

            bool isMore = whole.Count > 0;   // an offset in front of each part, and the parts follow each other
            Assert.True(!isMore || BinaryPrimitives.ReadInt64BigEndian(data) == BinaryPrimitives.ReadInt64BigEndian([.. whole[..8]]) + whole.Count - 8);
            whole.AddRange(data.AsSpan(isMore ? 8 : 0));
            if (isLast)
            {
                return new Reply(cookie, true, 0, "", type, [.. whole]) { Chunks = chunks };
            }

            head = Take(16);
            magic = BinaryPrimitives.ReadUInt32BigEndian(head);
        }
    }

    /// <summary>Runs the lane until the server has closed the connection.</summary>
    public void AwaitClose() => _lane.PumpWhile(() => !Socket.ClosedByServer, 300_000_000_000);

    public byte[] Take(int length)
    {
        _lane.PumpWhile(() => Socket.ReceivedByClient < length, 300_000_000_000);
        return Socket.TakeReceived(length);
    }

    public static byte[] UInt16(ushort value) => [(byte)(value >> 8), (byte)value];

    public static byte[] UInt32(uint value) => [.. UInt16((ushort)(value >> 16)), .. UInt16((ushort)value)];

    public static byte[] UInt64(ulong value) => [.. UInt32((uint)(value >> 32)), .. UInt32((uint)value)];

    public static byte[] Counted(string text) => [.. UInt32((uint)Encoding.UTF8.GetByteCount(text)), .. Encoding.UTF8.GetBytes(text)];

    private static Reply ErrorReply(ulong cookie, byte[] data)
    {
        int length = BinaryPrimitives.ReadUInt16BigEndian(data.AsSpan(4));
        Assert.Equal(data.Length, 6 + length);
        return new Reply(cookie, true, BinaryPrimitives.ReadUInt32BigEndian(data), Encoding.UTF8.GetString(data, 6, length), 0x8001, []);
    }
}
