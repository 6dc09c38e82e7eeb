using System.Text;
using TierSpaces.Engine.Exports.Nbd;

namespace TierSpaces.Engine.Tests.Exports.Nbd;

/// <summary>
/// Conversations cut at every byte, with bytes flipped, lengths made extreme, parts repeated, dropped and shuffled, and
/// plain noise. After each: the connection has ended, every slot and buffer has come back, and a well-behaved client
/// beside it is served.
/// </summary>
public class NbdFuzzTests
{
    private const int Length = 1 << 16;

    private static readonly byte[][] s_parts = Parts();

    [Fact]
    public void A_conversation_cut_at_every_byte_leaves_nothing_behind()
    {
        byte[] whole = Conversation();
        NbdFixture nbd = Fixture(1);
        for (int length = 0; length <= whole.Length; length++)
        {
            Play(nbd, whole.AsSpan(0, length), new TestSocket(nbd.Lane));
        }
    }

    [Fact]
    public void A_hundred_thousand_broken_conversations_leave_nothing_behind()
    {
        int cases = 0, dropped = 0;
        for (ulong seed = 1; seed <= 100; seed++)
        {
            NbdFixture nbd = Fixture(seed);
            TestClient good = nbd.Connect().Enter();
            for (int i = 0; i < 1000; i++)
            {
                nbd.Store.MaxDelayNs = nbd.Lane.Next(2) * 1000;
                TestSocket socket = new(nbd.Lane) { IsSlow = i % 4 == 0, MaxSegment = i % 8 == 0 ? 50 : int.MaxValue };
                Play(nbd, Broken(nbd), socket, others: 1);
                cases++;
            }

            nbd.Store.MaxDelayNs = 0;
            Assert.Equal(0u, good.Ask(0, 0, 4096).Error);
            dropped += (int)nbd.Server.ConnectionsDropped;
            nbd.AssertNothingHeld();
        }

        Assert.Equal(100_000, cases);
        Assert.InRange(dropped, 20_000, 95_000);   // broken enough, and not only broken at the first byte
    }

    private static NbdFixture Fixture(ulong seed) =>
        new(seed, new NbdLimits { MaxRequests = 8 }, length: Length);

    private static void Play(NbdFixture nbd, ReadOnlySpan<byte> bytes, TestSocket socket, int others = 0)
    {
        nbd.Connect(socket);
        socket.ClientSends(bytes);
        if (nbd.Lane.Next(2) == 0)
        {
            nbd.Lane.Advance(nbd.Lane.Next(5000));
        }

        socket.ClientCloses();
        nbd.Lane.PumpWhile(() => nbd.Server.Connections > others, 60_000_000_000);
        Assert.True(socket.ClosedByServer);
        Assert.Equal(0, nbd.Budget.Used);
        Assert.Equal(0, nbd.Store.Running);
        if (others == 0)
        {
            Assert.Equal(0, nbd.Lane.Buffers.Outstanding);
        }
    }

    /// <summary>A proper conversation in its parts: flags, options, GO, requests.</summary>
    private static byte[][] Parts()
    {
        List<byte[]> parts =
        [
            TestClient.UInt32(3),
            TestClient.OptionBytes(3),
            TestClient.OptionBytes(5),
            TestClient.OptionBytes(8),
            TestClient.OptionBytes(9, TestClient.ContextQuery("disk")),
            TestClient.OptionBytes(10, TestClient.ContextQuery("", "base:allocation")),
            TestClient.OptionBytes(6, TestClient.InfoQuery("disk", 1, 2, 3)),
            TestClient.OptionBytes(7, TestClient.InfoQuery("disk", 3)),
            TestClient.RequestBytes(0, 0, 1024, 4, 1),
            TestClient.RequestBytes(1, 512, 1024, 1, 2, new byte[1024]),
            TestClient.RequestBytes(3, 0, 0, 0, 3),
            TestClient.RequestBytes(4, 0, 4096, 0, 4),
            TestClient.RequestBytes(6, 0, 4096, 2, 5),
            TestClient.RequestBytes(7, 0, Length, 0, 6),
            TestClient.RequestBytes(1, Length, 512, 0, 7, new byte[512]),
            TestClient.RequestBytes(2, 0, 0, 0, 8),
        ];
        return [.. parts];
    }

    private static byte[] Conversation() => [.. s_parts.SelectMany(p => p)];

    private static byte[] Broken(NbdFixture nbd)
    {
        Func<int, int> next = nbd.Lane.Next;
        switch (next(6))
        {
            case 0:   // noise, perhaps behind a proper beginning
                byte[] noise = new byte[next(300)];
                new Random(next(int.MaxValue)).NextBytes(noise);
                return [.. s_parts.Take(next(s_parts.Length)).SelectMany(p => p), .. noise];
            case 1:   // parts in any order, any number of times
                return [.. s_parts[0], .. Enumerable.Range(0, next(20)).SelectMany(_ => s_parts[next(s_parts.Length)])];
            case 2:   // entry by name, then anything
                byte[] byName = TestClient.OptionBytes(1, Encoding.UTF8.GetBytes(next(3) == 0 ? "absent" : "disk"));
                return [.. s_parts[0], .. byName, .. Mutated(next, [.. s_parts.Skip(8).SelectMany(p => p)])];
            case 3:   // random requests with their marks right
                return [.. s_parts.Take(8).SelectMany(p => p), .. Enumerable.Range(0, next(12)).SelectMany(_ => RandomRequest(next))];
            default:
                return Mutated(next, Conversation());
        }
    }

    private static byte[] Mutated(Func<int, int> next, byte[] bytes)
    {
        for (int i = 1 + next(3); i > 0; i--)
        {
            int at = next(bytes.Length);
            switch (next(3))
            {
                case 0:
                    bytes[at] ^= (byte)(1 << next(8));
                    break;
                case 1:
                    bytes[at] = (byte)(next(2) * 255);
                    break;
                default:
                    bytes.AsSpan(at, Math.Min(4, bytes.Length - at)).Fill((byte)(next(2) * 255));
                    break;
            }
        }

        return next(3) == 0 ? bytes[..next(bytes.Length)] : bytes;
    }

    private static byte[] RandomRequest(Func<int, int> next)
    {
        ulong[] offsets = [0, 512, Length - 512, Length, Length + 512, ulong.MaxValue, 1ul << 63, (ulong)next(Length)];
        uint[] lengths = [0, 1, 512, 4096, Length, 100_000, 32 << 20, uint.MaxValue, 0xFFFFFE00];
        ushort command = (ushort)next(10);
        uint length = lengths[next(command == 1 ? 6 : lengths.Length)];
        byte[] payload = command == 1 ? new byte[length] : [];
        return TestClient.RequestBytes(command, offsets[next(offsets.Length)], length, (ushort)next(64), (ulong)next(9), payload);
    }
}
