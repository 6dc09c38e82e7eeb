using TierSpaces.Engine.Exports.Nbd;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tests.Exports.Nbd;

/// <summary>Requests that are served in parts because other clients hold the memory that they need.</summary>
public class NbdPartsTests
{
    private const ushort Read = 0, Write = 1, Flush = 3;
    private const ushort Fua = 1, DontFragment = 4;
    private const long Second = 1_000_000_000;
    private const int Large = (1 << 20) + 4096;   // eight parts and a piece

    private readonly NbdFixture _nbd = new(length: 64 << 20);

    public NbdPartsTests() => new Random(1).NextBytes(_nbd.Store.Bytes);

    /// <summary>Forty clients send reads of mixed sizes and take no reply. Another one sends three requests, one after the other.</summary>
    [Theory]
    [InlineData(true, true)]
    [InlineData(true, false)]
    [InlineData(false, true)]
    [InlineData(false, false)]
    public void Clients_that_take_no_replies_delay_another_by_a_second_for_each_request(bool areStructured, bool isStructured)
    {
        uint[] sizes = [4096, 1 << 20, 32 << 20];
        for (int i = 0; i < 40; i++)
        {
            TestClient greedy = _nbd.Connect().Enter(areStructured);
            greedy.Socket.IsStuffed = true;
            greedy.Socket.ClientSends([.. Enumerable.Range(i, 30).SelectMany(n => TestClient.RequestBytes(Read, 0, sizes[n % 3], 0, (ulong)n))]);
        }

        _nbd.Lane.Advance(Second / 10);
        TestClient other = _nbd.Connect().Enter(isStructured);
        long beganNs = _nbd.Lane.NowNs;
        while (_nbd.Lane.NowNs - beganNs < 8 * Second)
        {
            foreach (uint size in _nbd.Lane.NowNs == beganNs ? sizes : [32 << 20])
            {
                long askedNs = _nbd.Lane.NowNs;
                Assert.True(_nbd.Store.Bytes.AsSpan(0, (int)size).SequenceEqual(DataOf(other.Ask(Read, 0, size))));
                Assert.InRange(_nbd.Lane.NowNs - askedNs, 0, Second);
            }

            _nbd.Lane.Advance(Second / 10);
        }

        Assert.InRange(_nbd.Budget.Used, 0, 33 << 20);   // those that held memory have been ended
        Assert.False(other.Socket.ClosedByServer);
        _nbd.AssertNothingHeld();
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_write_in_parts_is_answered_once_and_counted_once(bool isStructured)
    {
        TakeAllMemory();
        TestClient client = _nbd.Connect().Enter(isStructured);
        byte[] data = new byte[Large];
        new Random(2).NextBytes(data);
        Assert.Equal(0u, client.Ask(Write, 8192, Large, Fua, data).Error);
        Assert.Equal(data, _nbd.Store.Bytes[8192..(8192 + Large)]);
        string[] writes = [.. _nbd.Store.Calls.Where(static call => call.StartsWith("write", StringComparison.Ordinal))];
        Assert.Equal(9, writes.Length);
        Assert.All(writes, static write => Assert.EndsWith("ForceUnitAccess", write, StringComparison.Ordinal));
        Assert.Equal((1L, (long)Large), (_nbd.Export.Counters.Writes, _nbd.Export.Counters.BytesWritten));
        Assert.Equal(0u, client.Ask(Flush).Error);
        _nbd.AssertNothingHeld();
    }

    [Fact]
    public void A_read_in_parts_comes_in_chunks_of_one_reply()
    {
        TakeAllMemory();
        (long reads, long bytesRead) = (_nbd.Export.Counters.Reads, _nbd.Export.Counters.BytesRead);
        TestClient client = _nbd.Connect().Enter();
        Reply reply = client.Ask(Read, 4096, Large);
        Assert.Equal((9, 0u), (reply.Chunks, reply.Error));
        Assert.Equal(_nbd.Store.Bytes[4096..(4096 + Large)], DataOf(reply));
        Assert.Equal((reads + 1, bytesRead + Large), (_nbd.Export.Counters.Reads, _nbd.Export.Counters.BytesRead));
        _nbd.AssertNothingHeld();
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void An_error_in_a_later_part_of_a_read_is_told_or_ends_the_connection(bool isStructured)
    {
        TakeAllMemory();
        TestClient client = _nbd.Connect().Enter(isStructured);
        _nbd.Store.Fails = $"read {3 << 17}+";
        if (isStructured)
        {
            Assert.Equal(5u, client.Ask(Read, 0, Large).Error);
            Assert.Equal(0u, client.Ask(Read, 0, 4096).Error);
        }
        else
        {
            client.Request(Read, 0, Large);
            client.AwaitClose();
            Assert.Contains("behind the header", _nbd.Notices.Last(), StringComparison.Ordinal);
        }

        Assert.Equal(1, _nbd.Export.Counters.Errors);
        _nbd.AssertNothingHeld();
    }

    [Theory]
    [InlineData(0, true)]
    [InlineData(0, false)]
    [InlineData(3, true)]
    [InlineData(8, false)]
    public void An_error_in_any_part_of_a_write_is_told_once_and_the_stream_goes_on(int part, bool isStructured)
    {
        TakeAllMemory();
        TestClient client = _nbd.Connect().Enter(isStructured);
        _nbd.Store.Fails = $"write {part << 17}+";
        Assert.Equal(5u, client.Ask(Write, 0, Large, 0, new byte[Large]).Error);
        Assert.Equal(0u, client.Ask(Read, 0, 4096).Error);
        Assert.Equal(1, _nbd.Export.Counters.Errors);
        _nbd.AssertNothingHeld();
    }

    [Fact]
    public void A_read_that_may_not_be_fragmented_waits_until_those_that_hold_memory_are_ended()
    {
        TakeAllMemory();
        TestClient client = _nbd.Connect().Enter();
        long askedNs = _nbd.Lane.NowNs;
        Reply reply = client.Ask(Read, 0, Large, DontFragment);
        Assert.Equal((1, 0u), (reply.Chunks, reply.Error));
        Assert.InRange(_nbd.Lane.NowNs - askedNs, 5 * Second, 7 * Second);
        _nbd.AssertNothingHeld();
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_read_in_parts_ends_before_its_export_does(bool isStructured)
    {
        TakeAllMemory();
        TestClient client = _nbd.Connect().Enter(isStructured);
        _nbd.Store.IsHeld = true;
        client.Request(Read, 0, Large);
        _nbd.Lane.Advance(2 * Second);   // its first part is inside the store
        LaneTask removed = _nbd.Server.Remove(_nbd.Export);
        _nbd.Store.ReleaseAll();
        Assert.Equal(_nbd.Store.Bytes[..Large], DataOf(client.TakeReply()));
        _nbd.Lane.Run(removed, withinNs: 20 * Second);
        _nbd.AssertNothingHeld();
    }

    [Fact]
    public void A_request_in_parts_stops_while_its_export_is_suspended()
    {
        TakeAllMemory();
        TestClient client = _nbd.Connect().Enter();
        _nbd.Store.IsHeld = true;
        client.Request(Read, 0, Large);
        _nbd.Lane.Advance(2 * Second);
        LaneTask suspended = _nbd.Export.Suspend();
        _nbd.Store.ReleaseAll();
        _nbd.Lane.Run(suspended);
        int calls = _nbd.Store.Calls.Count;
        _nbd.Lane.Advance(2 * Second);
        Assert.Equal(calls, _nbd.Store.Calls.Count);
        _nbd.Export.Resume();
        Assert.Equal(_nbd.Store.Bytes[..Large], DataOf(client.TakeReply()));
        _nbd.AssertNothingHeld();
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_client_that_leaves_within_a_request_in_parts_leaves_nothing(bool isWrite)
    {
        TakeAllMemory();
        TestClient client = _nbd.Connect().Enter();
        if (isWrite)
        {
            client.Request(Write, 0, Large, 0, new byte[300_000]);
        }
        else
        {
            client.Socket.IsStuffed = true;
            client.Request(Read, 0, Large);
        }

        _nbd.Lane.Advance(2 * Second);
        client.Socket.ClientCloses();
        _nbd.Lane.Advance(Second);
        _nbd.AssertNothingHeld();
    }

    /// <summary>Four clients hold all memory in replies that they do not take.</summary>
    private void TakeAllMemory()
    {
        for (int i = 0; i < 4; i++)
        {
            TestClient holder = _nbd.Connect().Enter();
            holder.Socket.IsStuffed = true;
            holder.Request(Read, 0, 32 << 20);
        }

        _nbd.Lane.Advance(Second);
        _nbd.Store.Calls.Clear();
    }

    private static byte[] DataOf(Reply reply)
    {
        Assert.Equal(0u, reply.Error);
        return reply.IsStructured ? reply.Data[8..] : reply.Data;
    }
}
