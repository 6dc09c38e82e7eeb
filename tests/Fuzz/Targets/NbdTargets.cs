using System.Buffers.Binary;
using System.Text;
using TierSpaces.Engine.Exports.Nbd;
using TierSpaces.Simulation;

namespace TierSpaces.Fuzz.Targets;

/// <summary>
/// A conversation with the NBD server, from the client's first byte on. The first byte of the input says how it arrives. Afterwards the
/// connection has ended and nothing is held.
/// </summary>
internal static class NbdTargets
{
    private const int Length = 1 << 16;
    private const uint RequestMagic = 0x25609513;

    private static readonly ulong s_optionMagic = BinaryPrimitives.ReadUInt64BigEndian("IHAVEOPT"u8);

    internal static IReadOnlyList<FuzzTarget> All { get; } =
    [
        new("nbd", [Conversation(0, structured: true), Conversation(1, structured: false), Conversation(7, structured: true)], Run)
        {
            Reseal = Reseal, Weight = 10, AllocationBase = 4 << 20, AllocationPerByte = 4096, MaxLength = 16 << 10,
        },
    ];

    private static string Run(byte[] bytes)
    {
        SimLane lane = new(1);
        MemoryStore store = new(Length);
        NbdBudget budget = new(64 << 20);
        NbdServer server = new(lane, new NbdLimits { MaxRequests = 8 }, budget);
        server.Add(new NbdExport(Samples.Id, "disk", "a disk", store, isReadOnly: bytes.Length > 0 && (bytes[0] & 4) != 0));
        ScriptedSocket socket = new(bytes.Length > 0 ? bytes[1..] : [], bytes.Length > 0 ? bytes[0] : (byte)0);
        server.Accept(socket);
        lane.PumpWhile(() => server.Connections > 0, 120_000_000_000);
        if (!socket.IsClosed || lane.Buffers.Outstanding != 0 || budget.Used != 0)
        {
            throw new WrongAnswerException($"closed: {socket.IsClosed}, buffers: {lane.Buffers.Outstanding}, budget: {budget.Used}");
        }

        lane.Buffers.Dispose();
        return $"{server.ConnectionsDropped > 0} {socket.Answers} {Letters.Of((uint)store.Calls)}";
    }

    private static byte[] Conversation(byte mode, bool structured)
    {
        byte[] name = [0, 0, 0, 4, .. "disk"u8];
        List<byte> all = [mode, 0, 0, 0, 3];
        void Option(uint option, params byte[] data) => all.AddRange([.. "IHAVEOPT"u8, .. Big(option), .. Big((uint)data.Length), .. data]);
        void Request(ushort command, ulong offset, uint length, ushort flags, int payload = 0) =>
            all.AddRange([.. Big(RequestMagic), (byte)(flags >> 8), (byte)flags, 0, (byte)command, .. Big(0), .. Big((uint)all.Count),
                .. Big((uint)(offset >> 32)), .. Big((uint)offset), .. Big(length), .. new byte[payload]]);

        Option(3);
        if (structured)
        {
            Option(8);
            Option(9, name.Concat(Big(0)).ToArray());
            Option(10, [.. name, .. Big(1), .. Big(15), .. Encoding.ASCII.GetBytes("base:allocation")]);
        }

        Option(6, [.. name, 0, 3, 0, 1, 0, 2, 0, 3]);
        Option(structured ? 7u : 1u, structured ? [.. name, 0, 1, 0, 3] : "disk"u8.ToArray());
        Request(0, 0, 1024, 4);
        Request(1, 512, 1024, 1, 1024);
        Request(3, 0, 0, 0);
        Request(4, 0, 4096, 0);
        Request(6, 0, 4096, 2);
        Request(7, 0, Length, 0);
        Request(0, Length - 512, 512, 0);
        Request(2, 0, 0, 0);
        return [.. all];
    }

    private static byte[] Big(uint value) => [(byte)(value >> 24), (byte)(value >> 16), (byte)(value >> 8), (byte)value];

    /// <summary>Puts the magic numbers where the lengths in front of them say that they belong.</summary>
    private static void Reseal(byte[] input)
    {
        int at = 5;
        bool isTransmitting = false;
        while (at + 28 <= input.Length)
        {
            Span<byte> next = input.AsSpan(at);
            if (isTransmitting)
            {
                BinaryPrimitives.WriteUInt32BigEndian(next, RequestMagic);
                uint payload = next[7] == 1 ? BinaryPrimitives.ReadUInt32BigEndian(next[24..]) : 0;
                at += 28 + (int)Math.Min(payload, (uint)input.Length);
            }
            else
            {
                BinaryPrimitives.WriteUInt64BigEndian(next, s_optionMagic);
                isTransmitting = next[11] is 1 or 7;
                at += 16 + (int)Math.Min(BinaryPrimitives.ReadUInt32BigEndian(next[12..]), (uint)input.Length);
            }
        }
    }
}
