using TierSpaces.Engine.Exports.Nbd;

namespace TierSpaces.Engine.Tests.Exports.Nbd;

/// <summary>
/// Random commands over a few connections with random segments, delays and order of completion, against a plain array.
/// Commands in flight never overlap a change in flight, so every reply has one right content.
/// </summary>
public class NbdPropertyTests
{
    private const ushort Read = 0, Write = 1, Trim = 4, WriteZeroes = 6, BlockStatus = 7;
    private const int Length = 1 << 18, Block = 512;

    private sealed record Pending(ushort Command, int Offset, int Size, byte[]? Payload);

    [Fact]
    public void Replies_agree_with_a_plain_array()
    {
        int commands = 0, together = 0;
        for (ulong seed = 1; seed <= 60; seed++)
        {
            (int done, int most) = Run(seed, 400);
            commands += done;
            together = Math.Max(together, most);
        }

        Assert.Equal(60 * 400, commands);
        Assert.True(together > 8);   // the hard case was reached
    }

    private static (int Done, int MostTogether) Run(ulong seed, int commands)
    {
        NbdFixture nbd = new(seed, new NbdLimits { MaxRequests = 1 + (int)(seed % 20) }, length: Length);
        nbd.Store.MaxDelayNs = 2000;
        byte[] model = new byte[Length];
        TestClient[] clients = [.. Enumerable.Range(0, 3).Select(i => Connect(nbd, seed, i))];
        Dictionary<ulong, Pending>[] pending = [[], [], []];
        int issued = 0, done = 0;
        while (done < commands)
        {
            int who = nbd.Lane.Next(3);
            if (issued < commands && nbd.Lane.Next(3) > 0 && Choose(nbd, pending) is { } next)
            {
                pending[who].Add(clients[who].Request(next.Command, (ulong)next.Offset, (uint)next.Size, 0, next.Payload), next);
                issued++;
            }
            else if (pending[who].Count > 0)
            {
                Reply reply = clients[who].TakeReply();
                Assert.True(pending[who].Remove(reply.Cookie, out Pending? request), "a reply without a request");
                Verify(reply, request!, model, clients[who].IsStructured);
                done++;
            }
        }

        Assert.Equal(model, nbd.Store.Bytes);
        int together = nbd.Store.MostRunning;
        nbd.AssertNothingHeld();
        return (done, together);
    }

    private static TestClient Connect(NbdFixture nbd, ulong seed, int index)
    {
        int[] segments = [int.MaxValue, 100_000, 5000, 700, 31];
        TestSocket socket = new(nbd.Lane) { IsSlow = true, MaxSegment = segments[(int)((seed + (ulong)index) % 5)] };
        return nbd.Connect(socket).Enter(structured: index != 0);
    }

    private static Pending? Choose(NbdFixture nbd, Dictionary<ulong, Pending>[] pending)
    {
        ushort[] kinds = [Read, Read, Write, Write, Write, Trim, WriteZeroes, BlockStatus];
        ushort command = kinds[nbd.Lane.Next(kinds.Length)];
        int largest = nbd.Lane.Next(8) == 0 ? Length / Block : 20;
        int size = Block * (1 + nbd.Lane.Next(largest));
        int offset = Block * nbd.Lane.Next(((Length - size) / Block) + 1);
        bool changes = command is Write or Trim or WriteZeroes;
        bool isFree = pending.All(p => p.Values.All(other =>
            offset + size <= other.Offset || other.Offset + other.Size <= offset
            || (!changes && other.Command is Read or BlockStatus)));
        return isFree ? new Pending(command, offset, size, command == Write ? Payload(nbd, size) : null) : null;
    }

    private static byte[] Payload(NbdFixture nbd, int size)
    {
        byte[] bytes = new byte[size];
        new Random((int)nbd.Lane.NextRandom()).NextBytes(bytes);
        return bytes;
    }

    private static void Verify(Reply reply, Pending request, byte[] model, bool structured)
    {
        Span<byte> range = model.AsSpan(request.Offset, request.Size);
        if (request.Command == BlockStatus)
        {
            Assert.Equal(structured ? 0u : 22u, reply.Error);
            return;
        }

        Assert.Equal(0u, reply.Error);
        if (request.Command == Read)
        {
            Assert.True(reply.Data.AsSpan(structured ? 8 : 0).SequenceEqual(range), "wrong data");
        }
        else if (request.Command == Write)
        {
            request.Payload!.CopyTo(range);
        }
        else
        {
            range.Clear();
        }
    }
}
