using System.Buffers.Binary;
using TierSpaces.Engine.Exports.Nbd;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tests.Exports.Nbd;

public class NbdTransmissionTests
{
    private const ushort Read = 0, Write = 1, Disc = 2, Flush = 3, Trim = 4, Cache = 5, WriteZeroes = 6, BlockStatus = 7;
    private const ushort Fua = 1, NoHole = 2, DontFragment = 4, RequestOne = 8, FastZero = 16;
    private const uint Permission = 1, Io = 5, InvalidArgument = 22, NoSpace = 28;

    private readonly NbdFixture _nbd = new();

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void What_was_written_is_read(bool structured)
    {
        TestClient client = _nbd.Connect().Enter(structured);
        byte[] data = Pattern(8192);
        Assert.Equal(0u, client.Ask(Write, 4096, 8192, Fua, data).Error);
        Reply reply = client.Ask(Read, 4096, 8192);
        Assert.Equal(structured ? [.. TestClient.UInt64(4096), .. data] : data, reply.Data);
        Assert.Equal(structured ? 1u : 0u, reply.ChunkType);
        Assert.Equal(data, _nbd.Store.Bytes[4096..12288]);
        Assert.Contains("write 4096+8192 ForceUnitAccess", _nbd.Store.Calls);
        Assert.Equal((1, 8192, 1, 8192), (Counters.Writes, Counters.BytesWritten, Counters.Reads, Counters.BytesRead));
        _nbd.AssertNothingHeld();
    }

    [Fact]
    public void The_store_is_told_of_the_request_that_has_arrived_behind_the_one_it_does()
    {
        TestClient client = _nbd.Connect().Enter(structured: false, context: false);
        byte[] data = Pattern(512);
        client.Socket.ClientSends(
        [
            .. TestClient.RequestBytes(Read, 512, 1024, 0, cookie: 1),
            .. TestClient.RequestBytes(Write, 4096, 512, 0, cookie: 2, data),
            .. TestClient.RequestBytes(Read, ulong.MaxValue, 512, 0, cookie: 3),   // it may say anything
            .. TestClient.RequestBytes(Read, 8192, 512, 0, cookie: 4),
        ]);
        client.Take(16 + 1024 + 16 + 16 + 16 + 512);

        Assert.Equal(["read 512+1024", "write 4096+512 None", "read 8192+512"], _nbd.Store.Calls);
        Assert.Equal([4096, -1], _nbd.Store.Expected);   // one that is refused does nothing meanwhile, and behind the last there is none
    }

    [Fact]
    public void Every_command_reaches_the_store_with_its_flags()
    {
        TestClient client = _nbd.Connect().Enter();
        (ushort Command, ushort Flags, string[] Calls)[] table =
        [
            (Read, DontFragment, ["read 512+1024"]),
            (Read, Fua, ["read 512+1024"]),
            (Flush, 0, ["flush"]),
            (Trim, 0, ["unmap 512+1024"]),
            (Trim, Fua, ["unmap 512+1024", "flush"]),
            (Cache, 0, []),
            (WriteZeroes, 0, ["zero 512+1024 None"]),
            (WriteZeroes, NoHole, ["zero 512+1024 NoHole"]),
            (WriteZeroes, NoHole | Fua, ["zero 512+1024 ForceUnitAccess, NoHole"]),
            (BlockStatus, 0, ["status 512+1024"]),
        ];
        foreach ((ushort command, ushort flags, string[] calls) in table)
        {
            _nbd.Store.Calls.Clear();
            bool isFlush = command == Flush;
            Assert.Equal(0u, client.Ask(command, isFlush ? 0ul : 512, isFlush ? 0u : 1024, flags).Error);
            Assert.Equal(calls, _nbd.Store.Calls);
        }

        Assert.Equal(0, Counters.Errors);
        Assert.Equal((1, 2, 3, 2), (Counters.Flushes, Counters.Unmaps, Counters.Zeroings, Counters.Queries));
    }

    [Theory]
    [InlineData(Read, 1048576ul, 512u, InvalidArgument)]
    [InlineData(Read, 1048064ul, 1024u, InvalidArgument)]
    [InlineData(Read, ulong.MaxValue - 511, 1024u, InvalidArgument)]
    [InlineData(Write, 1048576ul, 512u, NoSpace)]
    [InlineData(Write, ulong.MaxValue - 511, 512u, NoSpace)]
    [InlineData(WriteZeroes, 1048064ul, 1024u, NoSpace)]
    [InlineData(Trim, 1048064ul, 1024u, InvalidArgument)]
    [InlineData(Cache, 1048064ul, 1024u, InvalidArgument)]
    [InlineData(BlockStatus, 1048064ul, 1024u, InvalidArgument)]
    [InlineData(BlockStatus, 0ul, 0u, InvalidArgument)]
    [InlineData(BlockStatus, 0ul, uint.MaxValue, InvalidArgument)]
    [InlineData(Read, 1ul, 512u, InvalidArgument)]
    [InlineData(Read, 0ul, 511u, InvalidArgument)]
    [InlineData(Write, 256ul, 512u, InvalidArgument)]
    [InlineData(Trim, 0ul, 100u, InvalidArgument)]
    [InlineData(WriteZeroes, 100ul, 512u, InvalidArgument)]
    [InlineData(Flush, 0ul, 512u, InvalidArgument)]
    [InlineData(Flush, 512ul, 0u, InvalidArgument)]
    [InlineData(8, 0ul, 0u, InvalidArgument)]
    [InlineData(0xFFFF, 0ul, 512u, InvalidArgument)]
    public void Bad_ranges_and_commands_are_refused_and_the_connection_goes_on(ushort command, ulong offset, uint length, uint error)
    {
        foreach (bool structured in new[] { true, false })
        {
            TestClient client = _nbd.Connect().Enter(structured);
            byte[]? payload = command == Write ? new byte[length] : null;
            Reply reply = client.Ask(command, offset, length, 0, payload);
            Assert.Equal(error, reply.Error);
            Assert.Equal(structured, reply.Message.Length > 0);
            Assert.Empty(_nbd.Store.Calls);
            Assert.Equal(0u, client.Ask(Flush).Error);
            _nbd.Store.Calls.Clear();
        }

        _nbd.AssertNothingHeld();
    }

    [Fact]
    public void Flags_belong_to_their_commands()
    {
        TestClient client = _nbd.Connect().Enter();
        (ushort Command, ushort[] Allowed)[] table =
        [
            (Read, [Fua, DontFragment]), (Write, [Fua]), (Flush, [Fua]), (Trim, [Fua]), (Cache, [Fua]),
            (WriteZeroes, [Fua, NoHole]), (BlockStatus, [Fua, RequestOne]),
        ];
        foreach ((ushort command, ushort[] allowed) in table)
        {
            for (int bit = 0; bit < 16; bit++)
            {
                ushort flag = (ushort)(1 << bit);
                uint length = command == Flush ? 0u : 512;
                Reply reply = client.Ask(command, 0, length, flag, command == Write ? new byte[512] : null);
                Assert.Equal(allowed.Contains(flag) ? 0u : InvalidArgument, reply.Error);
            }
        }

        TestClient simple = _nbd.Connect().Enter(structured: false);
        Assert.Equal(InvalidArgument, simple.Ask(Read, 0, 512, DontFragment).Error);
        Assert.Equal(InvalidArgument, simple.Ask(BlockStatus, 0, 512).Error);
        Assert.Equal(InvalidArgument, simple.Ask(WriteZeroes, 0, 512, FastZero).Error);
    }

    [Fact]
    public void Blocks_of_4096_are_enforced()
    {
        NbdFixture nbd = new(blockSize: 4096);
        TestClient client = nbd.Connect().Enter();
        Assert.Equal(InvalidArgument, client.Ask(Read, 512, 4096).Error);
        Assert.Equal(InvalidArgument, client.Ask(Write, 0, 512, 0, new byte[512]).Error);
        Assert.Equal(0u, client.Ask(Write, 4096, 4096, 0, new byte[4096]).Error);
    }

    [Fact]
    public void Read_only_refuses_every_change_with_EPERM()
    {
        NbdFixture nbd = new(isReadOnly: true);
        TestClient client = nbd.Connect().Enter();
        Assert.Equal(Permission, client.Ask(Write, 0, 512, 0, new byte[512]).Error);
        Assert.Equal(Permission, client.Ask(Trim, 0, 512).Error);
        Assert.Equal(Permission, client.Ask(WriteZeroes, 0, 512).Error);
        Assert.Equal(0u, client.Ask(Read, 0, 512).Error);
        Assert.Equal(0u, client.Ask(Flush).Error);
        Assert.Equal(3, nbd.Export.Counters.Errors);
    }

    [Theory]
    [InlineData(IoError.Io, Io)]
    [InlineData(IoError.DeviceGone, Io)]
    [InlineData(IoError.TimedOut, Io)]
    [InlineData(IoError.NoSpace, NoSpace)]
    [InlineData(IoError.ReadOnly, Permission)]
    [InlineData(IoError.InvalidArgument, Io)]   // the session has checked the range: it is a member's error
    [InlineData(IoError.TooLarge, Io)]
    [InlineData(IoError.NoMemory, 12u)]
    [InlineData(IoError.NotSupported, 95u)]
    [InlineData(IoError.ShutDown, 108u)]
    public void Errors_of_the_store_cross_in_the_numbers_of_the_protocol(IoError error, uint expected)
    {
        foreach (bool structured in new[] { true, false })
        {
            TestClient client = _nbd.Connect().Enter(structured);
            _nbd.Store.Answer = error;
            Assert.Equal(expected, client.Ask(Read, 0, 512).Error);
            Assert.Equal(expected, client.Ask(Write, 0, 512, 0, new byte[512]).Error);
            Assert.Equal(expected, client.Ask(Flush).Error);
            Assert.Equal(expected, client.Ask(Trim, 0, 512, Fua).Error);
            _nbd.Store.Answer = IoError.None;
        }
    }

    [Fact]
    public void Requests_of_length_0_do_nothing()
    {
        TestClient client = _nbd.Connect().Enter();
        Assert.Equal(0u, client.Ask(Read, 0, 0).ChunkType);
        Assert.Equal(0u, client.Ask(Write, 1 << 20, 0).Error);
        Assert.Equal(0u, client.Ask(Trim, 0, 0, Fua).Error);
        Assert.Equal(0u, client.Ask(WriteZeroes, 0, 0).Error);
        Assert.Empty(_nbd.Store.Calls);
        TestClient simple = _nbd.Connect().Enter(structured: false);
        Assert.Empty(simple.Ask(Read, 0, 0).Data);
    }

    [Fact]
    public void Status_tells_holes_merged_and_one_when_one_is_asked_for()
    {
        TestClient client = _nbd.Connect().Enter();
        client.Ask(Write, 4096, 4096, 0, Pattern(4096));
        byte[] all = client.Ask(BlockStatus, 0, 1 << 20).Data;
        Assert.Equal(Descriptors((4096, 3), (4096, 0), ((1 << 20) - 8192, 3)), all);
        Assert.Equal(Descriptors((4096, 3)), client.Ask(BlockStatus, 0, 1 << 20, RequestOne).Data);
        Assert.Equal(Descriptors((512, 0)), client.Ask(BlockStatus, 4608, 512).Data);
    }

    [Fact]
    public void Status_of_a_fragmented_store_is_cut_and_of_one_that_cannot_tell_is_data()
    {
        TestClient client = _nbd.Connect().Enter();
        for (int i = 0; i < _nbd.Store.Bytes.Length; i += 1024)
        {
            _nbd.Store.Bytes[i] = 1;
        }

        byte[] some = client.Ask(BlockStatus, 0, 1 << 20).Data;
        Assert.Equal(4 + (8 * 1020), some.Length);
        _nbd.Store.Answer = IoError.NotSupported;
        Assert.Equal(Descriptors((1 << 20, 0)), client.Ask(BlockStatus, 0, 1 << 20).Data);
        _nbd.AssertNothingHeld();
    }

    [Fact]
    public void Status_over_several_steps_joins_what_is_equal()
    {
        NbdFixture nbd = new(length: 64 << 20, blockSize: 65536);
        TestClient client = nbd.Connect().Enter();
        nbd.Store.Bytes[40 << 20] = 1;
        byte[] data = client.Ask(BlockStatus, 0, 64 << 20).Data;
        Assert.Equal(Descriptors((40 << 20, 3), (65536, 0), ((24 << 20) - 65536, 3)), data);
        Assert.True(nbd.Store.Calls.Count > 1);
    }

    [Fact]
    public void Transfers_above_what_the_store_takes_are_done_in_parts()
    {
        NbdFixture nbd = new(maxTransfer: 100_000, blockSize: 4096);
        TestClient client = nbd.Connect().Enter();
        byte[] data = Pattern(1 << 20);
        Assert.Equal(0u, client.Ask(Write, 0, 1 << 20, Fua, data).Error);
        Assert.Equal(11, nbd.Store.Calls.FindLastIndex(static call => call == "flush"));   // one, when every part is there
        Assert.All(nbd.Store.Calls.Take(11), static call => Assert.EndsWith(" None", call));
        Assert.Equal(data, client.Ask(Read, 0, 1 << 20).Data[8..]);
        Assert.Equal((2 * 11) + 1, nbd.Store.Calls.Count);
    }

    [Fact]
    public void The_largest_payload_passes_and_one_byte_more_ends_the_connection()
    {
        NbdFixture nbd = new(length: 64 << 20);
        TestClient client = nbd.Connect().Enter();
        TestClient other = nbd.Connect().Enter();
        byte[] data = Pattern(32 << 20);
        Assert.Equal(0u, client.Ask(Write, 512, 32 << 20, 0, data).Error);
        Assert.True(client.Ask(Read, 512, 32 << 20).Data.AsSpan(8).SequenceEqual(data));
        Assert.Equal(InvalidArgument, client.Ask(Read, 0, (32 << 20) + 512).Error);
        Assert.Equal(0u, client.Ask(Trim, 0, 64 << 20).Error);
        client.Request(Write, 0, (32 << 20) + 512);
        client.AwaitClose();
        Assert.Contains("exceeds the maximum", nbd.Notices.Single());
        Assert.Equal(0u, other.Ask(Read, 0, 512).Error);
        nbd.AssertNothingHeld();
    }

    [Fact]
    public void A_request_without_the_mark_ends_the_connection()
    {
        TestClient client = _nbd.Connect().Enter();
        client.Socket.ClientSends(new byte[28]);
        client.AwaitClose();
        Assert.Contains("0x00000000", _nbd.Notices.Single());
        _nbd.AssertNothingHeld(endClients: false);
    }

    [Fact]
    public void Requests_complete_out_of_order()
    {
        TestClient client = _nbd.Connect().Enter();
        _nbd.Store.IsHeld = true;
        ulong slow = client.Request(Read, 0, 512);
        ulong slowWrite = client.Request(Write, 512, 512, 0, Pattern(512));
        _nbd.Store.IsHeld = false;
        Assert.Equal(0u, client.Ask(Read, 0, 4096).Error);
        _nbd.Store.ReleaseAll();
        Assert.Equal([slow, slowWrite], new[] { client.TakeReply().Cookie, client.TakeReply().Cookie }.Order());
    }

    [Fact]
    public void Requests_that_came_together_are_answered_together()
    {
        TestClient client = _nbd.Connect().Enter();
        int before = client.Socket.Sends;
        byte[] requests = [.. Enumerable.Range(0, 8).SelectMany(i => TestClient.RequestBytes(Read, 0, 4096, 0, (ulong)i))];
        client.Socket.ClientSends(requests);
        client.Take(8 * (28 + 4096));
        Assert.Equal(1, client.Socket.Sends - before);

        _nbd.Store.IsHeld = true;
        client.Socket.ClientSends(requests);
        _nbd.Lane.Advance(1000);
        _nbd.Store.ReleaseAll();
        client.Take(8 * (28 + 4096));
        Assert.Equal(2, client.Socket.Sends - before);
    }

    [Fact]
    public void Behind_a_large_write_little_is_received_at_once()
    {
        TestClient client = _nbd.Connect().Enter();
        client.Ask(Write, 0, 1 << 20, 0, Pattern(1 << 20));
        Assert.Equal(16 << 10, client.Socket.Asked);   // the next payload is not to be copied
        client.Ask(Read, 0, 512);
        Assert.Equal(256 << 10, client.Socket.Asked);
    }

    [Fact]
    public void Disconnect_answers_what_was_taken_and_then_closes()
    {
        TestClient client = _nbd.Connect().Enter();
        _nbd.Store.IsHeld = true;
        client.Request(Write, 0, 4096, 0, Pattern(4096));
        client.Request(Disc);
        _nbd.Lane.Advance(1_000_000);
        Assert.False(client.Socket.ClosedByServer);
        _nbd.Store.ReleaseAll();
        Assert.Equal(0u, client.TakeReply().Error);
        client.AwaitClose();
        Assert.Equal(Pattern(4096), _nbd.Store.Bytes[..4096]);
        _nbd.AssertNothingHeld(endClients: false);
    }

    [Fact]
    public void A_client_that_vanishes_leaves_its_writes_to_complete()
    {
        TestClient client = _nbd.Connect().Enter();
        _nbd.Store.IsHeld = true;
        client.Request(Write, 0, 4096, 0, Pattern(4096));
        client.Request(Read, 0, 4096);
        client.Socket.ClientCloses();
        _nbd.Lane.Advance(1_000_000);
        Assert.Equal(2, _nbd.Store.Running);
        _nbd.Store.ReleaseAll();
        _nbd.AssertNothingHeld(endClients: false);
        Assert.Equal(Pattern(4096), _nbd.Store.Bytes[..4096]);
    }

    [Fact]
    public void A_write_that_never_arrives_whole_is_not_done()
    {
        foreach (int length in new[] { 4096, 1 << 20 })
        {
            TestClient client = _nbd.Connect().Enter();
            byte[] request = TestClient.RequestBytes(Write, 0, (uint)length, 0, 1, Pattern(length));
            client.Socket.ClientSends(request.AsSpan(0, request.Length - 1));
            client.Socket.ClientCloses();
            client.AwaitClose();
        }

        _nbd.AssertNothingHeld(endClients: false);
        Assert.Empty(_nbd.Store.Calls);
    }

    private NbdCounters Counters => _nbd.Export.Counters;

    internal static byte[] Pattern(int length)
    {
        byte[] bytes = new byte[length];
        new Random(length).NextBytes(bytes);
        return bytes;
    }

    private static byte[] Descriptors(params (int Length, int State)[] extents)
    {
        byte[] bytes = new byte[4 + (8 * extents.Length)];
        BinaryPrimitives.WriteInt32BigEndian(bytes, 1);
        for (int i = 0; i < extents.Length; i++)
        {
            BinaryPrimitives.WriteInt32BigEndian(bytes.AsSpan(4 + (8 * i)), extents[i].Length);
            BinaryPrimitives.WriteInt32BigEndian(bytes.AsSpan(8 + (8 * i)), extents[i].State);
        }

        return bytes;
    }
}
