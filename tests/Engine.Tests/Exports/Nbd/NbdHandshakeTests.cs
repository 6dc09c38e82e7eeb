using System.Buffers.Binary;
using System.Text;
using TierSpaces.Engine.Exports.Nbd;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tests.Exports.Nbd;

public class NbdHandshakeTests
{
    private const uint Unsupported = 0x80000001, Invalid = 0x80000003, Unknown = 0x80000006;

    private readonly NbdFixture _nbd = new();

    [Fact]
    public void Go_tells_size_flags_and_block_sizes()
    {
        TestClient client = _nbd.Connect().Greet();
        client.Option(8);
        List<OptionReply> replies = client.Option(7, TestClient.InfoQuery("disk", 1, 2, 3));
        Assert.Equal([3u, 3u, 3u, 3u, 1u], replies.Select(r => r.Type));
        Assert.Equal([.. TestClient.UInt16(0), .. TestClient.UInt64(1 << 20), .. TestClient.UInt16(0x5ED)], replies[0].Data);
        Assert.Equal(
            [.. TestClient.UInt16(3), .. TestClient.UInt32(512), .. TestClient.UInt32(4096), .. TestClient.UInt32(32 << 20)],
            replies[1].Data);
        Assert.Equal("\0\u0001disk", replies[2].Text);
        Assert.Equal("\0\u0002a disk for tests", replies[3].Text);
        Assert.Equal(0u, client.Ask(0, 0, 512).Error);
        _nbd.AssertNothingHeld();
    }

    [Fact]
    public void Info_answers_as_go_does_but_stays_in_the_handshake()
    {
        TestClient client = _nbd.Connect().Greet();
        Assert.Equal([3u, 3u, 1u], client.Option(6, TestClient.InfoQuery("")).Select(r => r.Type));
        Assert.Equal([3u, 3u, 1u], client.Option(6, TestClient.InfoQuery("disk", 0, 99)).Select(r => r.Type));
        Assert.Equal(1u, client.Option(3).Last().Type);
        Assert.Equal(0, _nbd.Export.Counters.ConnectionsMade);
    }

    [Theory]
    [InlineData(3u, 10)]
    [InlineData(1u, 134)]
    [InlineData(0u, 134)]
    public void Export_name_enters_with_and_without_zeroes(uint clientFlags, int answerBytes)
    {
        TestClient client = _nbd.Connect().Greet(clientFlags);
        client.Socket.ClientSends(TestClient.OptionBytes(1, Encoding.UTF8.GetBytes("disk")));
        byte[] answer = client.Take(answerBytes);
        Assert.Equal(1 << 20, BinaryPrimitives.ReadInt64BigEndian(answer));
        Assert.Equal(0x56D, BinaryPrimitives.ReadUInt16BigEndian(answer.AsSpan(8)));
        Assert.All(answer[10..], b => Assert.Equal(0, b));
        Assert.Equal(512, client.Ask(0, 0, 512).Data.Length);
    }

    [Fact]
    public void Unknown_names_are_refused_each_in_the_way_of_its_option()
    {
        TestClient client = _nbd.Connect().Greet();
        Assert.Equal(Unknown, client.Option(7, TestClient.InfoQuery("other")).Single().Type);
        Assert.Equal(Unknown, client.Option(6, TestClient.InfoQuery("dis")).Single().Type);
        client.Option(8);
        Assert.Equal(Unknown, client.Option(10, TestClient.ContextQuery("other", "base:allocation")).Single().Type);
        client.Socket.ClientSends(TestClient.OptionBytes(1, Encoding.UTF8.GetBytes("other")));
        client.AwaitClose();
        Assert.Contains("export that is not here", _nbd.Notices.Single());
    }

    [Fact]
    public void An_export_that_is_renamed_keeps_its_connections_and_answers_to_its_new_name_and_its_identity()
    {
        TestClient before = _nbd.Connect().Greet();
        Assert.Equal(1u, before.Option(7, TestClient.InfoQuery("disk")).Last().Type);
        _nbd.Export.Rename("new name");
        Assert.Equal(0u, before.Ask(0, 0, 512).Error);

        TestClient after = _nbd.Connect().Greet();
        Assert.Equal(Unknown, after.Option(6, TestClient.InfoQuery("disk")).Single().Type);
        Assert.Equal(1u, after.Option(6, TestClient.InfoQuery("new name")).Last().Type);
        Assert.Equal("\0\u0001new name", after.Option(7, TestClient.InfoQuery(NbdExport.IdentityOf(_nbd.Export.UniqueId), 1))[2].Text);
        Assert.Equal(0u, after.Ask(0, 0, 512).Error);
        Assert.Throws<ArgumentException>(() => _nbd.Export.Rename(""));
        Assert.Equal("new name", _nbd.Export.Name);
    }

    [Fact]
    public void Empty_name_means_the_only_export_and_nothing_among_several()
    {
        TestClient client = _nbd.Connect().Greet();
        _nbd.Server.Add(new NbdExport(Guid.Empty, "second", "", _nbd.Store, false));
        Assert.Equal(Unknown, client.Option(6, TestClient.InfoQuery("")).Single().Type);
        Assert.Equal([3u, 3u, 1u], client.Option(6, TestClient.InfoQuery("second")).Select(r => r.Type));
    }

    [Fact]
    public void List_names_every_export_however_many_there_are()
    {
        for (int i = 0; i < 300; i++)
        {
            _nbd.Server.Add(new NbdExport(Guid.Empty, $"{new string('n', 250)}{i}", new string('d', 1000), _nbd.Store, false));
        }

        TestClient client = _nbd.Connect().Greet();
        List<OptionReply> replies = client.Option(3);
        Assert.Equal(302, replies.Count);
        Assert.Equal("\0\0\0\u0004diska disk for tests", replies[0].Text);
        Assert.Equal(Invalid, client.Option(3, 1, 2, 3).Single().Type);
    }

    [Fact]
    public void Options_that_are_not_here_are_refused_and_the_handshake_goes_on()
    {
        TestClient client = _nbd.Connect().Greet();
        Assert.Equal(Unsupported, client.Option(5).Single().Type);       // STARTTLS
        Assert.Equal(Unsupported, client.Option(4).Single().Type);       // PEEK_EXPORT
        Assert.Equal(Unsupported, client.Option(11).Single().Type);      // EXTENDED_HEADERS
        Assert.Equal(Unsupported, client.Option(0xFFFFFFFF, new byte[8000]).Single().Type);
        Assert.Equal(1u, client.Option(7, TestClient.InfoQuery("")).Last().Type);
    }

    [Fact]
    public void Malformed_option_data_is_refused_and_the_handshake_goes_on()
    {
        TestClient client = _nbd.Connect().Greet();
        Assert.Equal(Invalid, client.Option(8, 0).Single().Type);
        Assert.Equal(1u, client.Option(8).Single().Type);
        byte[] go = TestClient.InfoQuery("disk", 1, 3);
        byte[] set = TestClient.ContextQuery("disk", "base:allocation", "x:y");
        for (int length = 0; length < go.Length; length++)
        {
            Assert.Equal(Invalid, client.Option(7, go[..length]).Single().Type);
        }

        for (int length = 0; length < set.Length; length++)
        {
            Assert.Equal(Invalid, client.Option(10, set[..length]).Single().Type);
        }

        Assert.Equal(Invalid, client.Option(7, [.. go, 0]).Single().Type);
        Assert.Equal(Invalid, client.Option(10, [.. set, 0]).Single().Type);
        Assert.Equal(Invalid, client.Option(7, [0xFF, 0xFF, 0xFF, 0xFF, 0, 0]).Single().Type);
    }

    [Fact]
    public void Meta_contexts_need_structured_replies()
    {
        TestClient client = _nbd.Connect().Greet();
        Assert.Equal(Invalid, client.Option(9, TestClient.ContextQuery("disk")).Single().Type);
        Assert.Equal(Invalid, client.Option(10, TestClient.ContextQuery("disk", "base:allocation")).Single().Type);
    }

    [Theory]
    [InlineData(9, true)]
    [InlineData(9, true, "base:")]
    [InlineData(9, true, "base:allocation")]
    [InlineData(9, false, "base:other")]
    [InlineData(9, false, "qemu:dirty-bitmap")]
    [InlineData(10, false)]
    [InlineData(10, false, "base:")]
    [InlineData(10, true, "base:allocation")]
    [InlineData(10, true, "qemu:dirty-bitmap", "base:allocation")]
    public void Meta_context_queries_match_base_allocation(uint option, bool matches, params string[] queries)
    {
        TestClient client = _nbd.Connect().Greet();
        client.Option(8);
        List<OptionReply> replies = client.Option(option, TestClient.ContextQuery("disk", queries));
        Assert.Equal(matches ? [4u, 1u] : [1u], replies.Select(r => r.Type));
        if (matches)
        {
            Assert.EndsWith("base:allocation", replies[0].Text);
            Assert.Equal(option == 10 ? 1u : 0u, BinaryPrimitives.ReadUInt32BigEndian(replies[0].Data));
        }
    }

    [Fact]
    public void A_failed_or_empty_selection_undoes_the_one_before()
    {
        TestClient client = _nbd.Connect().Greet();
        client.Option(8);
        client.Option(10, TestClient.ContextQuery("disk", "base:allocation"));
        client.Option(10, TestClient.ContextQuery("disk", "base:none"));
        client.Option(7, TestClient.InfoQuery("disk"));
        client.Socket.ClientSends(TestClient.RequestBytes(7, 0, 512, 0, 9));
        byte[] reply = client.Take(20);
        Assert.Equal(0x8001, BinaryPrimitives.ReadUInt16BigEndian(reply.AsSpan(6)));
    }

    [Fact]
    public void Abort_is_acknowledged_and_ends()
    {
        TestClient client = _nbd.Connect().Greet();
        Assert.Equal(1u, client.Option(2).Single().Type);
        client.AwaitClose();
        Assert.Empty(_nbd.Notices);
        _nbd.AssertNothingHeld(endClients: false);
    }

    [Fact]
    public void A_client_without_fixed_newstyle_may_only_name_an_export()
    {
        TestClient client = _nbd.Connect().Greet(0);
        client.Socket.ClientSends(TestClient.OptionBytes(3));
        client.AwaitClose();
    }

    [Theory]
    [InlineData(4u)]
    [InlineData(0x80000003u)]
    public void Flags_that_were_not_offered_end_the_connection(uint flags)
    {
        _nbd.Connect().Greet(flags).AwaitClose();
        _nbd.AssertNothingHeld(endClients: false);
    }

    [Fact]
    public void Garbage_and_oversized_options_end_the_connection_only()
    {
        TestClient good = _nbd.Connect().Enter();
        TestClient garbage = _nbd.Connect().Greet();
        garbage.Socket.ClientSends(new byte[16]);
        garbage.AwaitClose();
        TestClient huge = _nbd.Connect().Greet();
        huge.Socket.ClientSends([.. "IHAVEOPT"u8, .. TestClient.UInt32(7), .. TestClient.UInt32(uint.MaxValue)]);
        huge.AwaitClose();
        TestClient endless = _nbd.Connect().Greet();
        for (int i = 0; i < NbdLimits.MaxOptions; i++)
        {
            endless.Option(3);
        }

        endless.AwaitClose();
        Assert.Equal(3, _nbd.Server.ConnectionsDropped);
        Assert.Equal(0u, good.Ask(0, 0, 512).Error);
        _nbd.AssertNothingHeld();
    }

    [Fact]
    public void Geometry_is_asked_at_each_negotiation()
    {
        TestClient before = _nbd.Connect().Enter();
        _nbd.Store.ExtraLength = 512;
        TestClient after = _nbd.Connect().Greet();
        byte[] info = after.Option(6, TestClient.InfoQuery(""))[0].Data;
        Assert.Equal((1 << 20) + 512, BinaryPrimitives.ReadInt64BigEndian(info.AsSpan(2)));
        Assert.Equal(22u, before.Ask(0, 1 << 20, 512).Error);
    }

    [Fact]
    public void Read_only_is_announced_without_the_commands_that_change()
    {
        NbdFixture nbd = new(isReadOnly: true, blockSize: 4096);
        byte[][] infos = [.. nbd.Connect().Greet().Option(6, TestClient.InfoQuery("")).Select(r => r.Data)];
        Assert.Equal(0x50F, BinaryPrimitives.ReadUInt16BigEndian(infos[0].AsSpan(10)));
        Assert.Equal(4096, BinaryPrimitives.ReadInt32BigEndian(infos[1].AsSpan(2)));
    }

    [Fact]
    public void Names_are_checked_when_an_export_is_made_and_unique_when_it_is_added()
    {
        Assert.Throws<ArgumentException>(() => new NbdExport(Guid.Empty, "", "", _nbd.Store, false));
        Assert.Throws<ArgumentException>(() => new NbdExport(Guid.Empty, new string('x', 4097), "", _nbd.Store, false));
        Assert.Throws<ArgumentException>(() => new NbdExport(Guid.Empty, "a\0b", "", _nbd.Store, false));
        NbdExport twin = new(Guid.Empty, "disk", "", _nbd.Store, false);
        Assert.Contains("'disk'", Assert.Throws<ArgumentException>(() => _nbd.Server.Add(twin)).Message);
        Assert.Equal(IoError.None, _nbd.Store.Answer);
    }
}
