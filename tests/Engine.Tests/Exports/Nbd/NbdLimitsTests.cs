using TierSpaces.Engine.Exports.Nbd;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tests.Exports.Nbd;

public class NbdLimitsTests
{
    private const ushort Read = 0, Write = 1;
    private const long Second = 1_000_000_000;

    [Fact]
    public void A_half_open_handshake_times_out_and_a_silent_client_in_transmission_does_not()
    {
        NbdFixture nbd = new();
        TestClient silent = nbd.Connect();
        TestClient halfOption = nbd.Connect().Greet();
        halfOption.Socket.ClientSends("IHAVE"u8);
        TestClient good = nbd.Connect().Enter();
        nbd.Lane.Advance(20 * Second);
        Assert.False(silent.Socket.ClosedByServer);
        nbd.Lane.Advance(12 * Second);
        Assert.True(silent.Socket.ClosedByServer);
        Assert.True(halfOption.Socket.ClosedByServer);
        nbd.Lane.Advance(100_000 * Second);
        Assert.Equal(0u, good.Ask(Read, 0, 512).Error);
        Assert.Equal(1, nbd.Server.Connections);
        Assert.Equal(2, nbd.Server.ConnectionsDropped);
        nbd.AssertNothingHeld();
    }

    [Fact]
    public void A_full_connection_stops_reading_and_goes_on_when_replies_leave()
    {
        NbdFixture nbd = new(limits: new NbdLimits { MaxRequests = 4 });
        TestClient client = nbd.Connect().Enter();
        client.Socket.IsStuffed = true;
        byte[] requests = [.. Enumerable.Range(0, 20_000).SelectMany(i => TestClient.RequestBytes(Read, 0, 512, 0, (ulong)i))];
        client.Socket.ClientSends(requests);
        nbd.Lane.Advance(Second);
        Assert.Equal(4, nbd.Store.Calls.Count);
        Assert.InRange(client.Socket.Unread, requests.Length - (256 << 10), requests.Length);
        client.Socket.ClientReadsAgain();
        for (int i = 0; i < 20_000; i++)
        {
            Assert.Equal((ulong)i, client.TakeReply().Cookie);
        }

        Assert.Equal(20_000, nbd.Export.Counters.Reads);
        nbd.AssertNothingHeld();
    }

    [Fact]
    public void Slots_bound_what_is_inside_the_store()
    {
        NbdFixture nbd = new(limits: new NbdLimits { MaxRequests = 7 });
        TestClient client = nbd.Connect().Enter();
        nbd.Store.MaxDelayNs = 10_000;
        for (int i = 0; i < 500; i++)
        {
            client.Request(Write, (ulong)i * 512, 512, 0, new byte[512]);
        }

        for (int i = 0; i < 500; i++)
        {
            Assert.Equal(0u, client.TakeReply().Error);
        }

        Assert.Equal(7, nbd.Store.MostRunning);
        nbd.AssertNothingHeld();
    }

    [Fact]
    public void Payload_memory_is_bounded_over_all_connections_and_everyone_gets_a_turn()
    {
        NbdFixture nbd = new(length: 64 << 20, budget: 32 << 20);
        TestClient[] clients = [.. Enumerable.Range(0, 5).Select(_ => nbd.Connect().Enter())];
        nbd.Store.MaxDelayNs = 1000;
        long most = 0;
        for (int round = 0; round < 4; round++)
        {
            foreach (TestClient client in clients)
            {
                client.Request(Read, 0, 12 << 20);
                most = Math.Max(most, nbd.Budget.Used);
            }
        }

        foreach (TestClient client in clients)
        {
            for (int round = 0; round < 4; round++)
            {
                Assert.Equal(0u, client.TakeReply().Error);
                most = Math.Max(most, nbd.Budget.Used);
            }
        }

        Assert.InRange(most, 24 << 20, 32 << 20);
        Assert.Equal(2, nbd.Store.MostRunning);
        nbd.AssertNothingHeld();
    }

    [Fact]
    public void One_connection_holds_no_more_than_its_share()
    {
        NbdFixture nbd = new(length: 64 << 20, limits: new NbdLimits { MaxConnectionBytes = 32 << 20 });
        TestClient client = nbd.Connect().Enter();
        nbd.Store.IsHeld = true;
        for (int i = 0; i < 4; i++)
        {
            client.Request(Read, 0, 16 << 20);
        }

        nbd.Lane.Advance(Second);
        Assert.Equal(32 << 20, nbd.Budget.Used);
        nbd.Store.ReleaseAll();
        for (int i = 0; i < 4; i++)
        {
            client.TakeReply();
        }

        nbd.AssertNothingHeld();
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Who_holds_buffers_without_moving_is_dropped_once_others_wait(bool inPayload)
    {
        NbdFixture nbd = new(length: 64 << 20, budget: 32 << 20);
        TestClient holder = nbd.Connect().Enter();
        if (inPayload)
        {
            holder.Request(Write, 0, 32 << 20, 0, new byte[1000]);
        }
        else
        {
            holder.Socket.IsStuffed = true;
            holder.Request(Read, 0, 32 << 20);
        }

        nbd.Lane.Advance(1000 * Second);
        Assert.False(holder.Socket.ClosedByServer);   // it blocks no other client
        TestClient waiting = nbd.Connect().Enter();
        Assert.Equal(0u, waiting.Ask(Read, 0, 512).Error);   // small ones have their reserve
        Assert.False(holder.Socket.ClosedByServer);
        long askedNs = nbd.Lane.NowNs;
        while (!holder.Socket.ClosedByServer)
        {
            long beganNs = nbd.Lane.NowNs;
            Assert.Equal(0u, waiting.Ask(Read, 0, 1 << 20).Error);
            Assert.InRange(nbd.Lane.NowNs - beganNs, 0, Second);
        }

        Assert.InRange(nbd.Lane.NowNs - askedNs, 5 * Second, 8 * Second);
        Assert.Contains("others wait", nbd.Notices.Single());
        nbd.AssertNothingHeld();
    }

    /// <summary>Two clients ask for 1 MiB reads without end and take no answer.</summary>
    [Theory]
    [InlineData(4096)]
    [InlineData(1 << 20)]
    [InlineData(32 << 20)]
    public void Clients_that_take_no_replies_do_not_keep_others_waiting(int length)
    {
        NbdFixture nbd = new(length: 64 << 20);
        TestClient[] greedy = [.. Enumerable.Range(0, 2).Select(_ => nbd.Connect().Enter())];
        foreach (TestClient client in greedy)
        {
            client.Socket.IsStuffed = true;
            client.Socket.ClientSends([.. Enumerable.Range(0, 500).SelectMany(i => TestClient.RequestBytes(Read, 0, 1 << 20, 0, (ulong)i))]);
        }

        nbd.Lane.Advance(100 * Second);
        Assert.All(greedy, static client => Assert.False(client.Socket.ClosedByServer));   // no other client waits
        Assert.InRange(nbd.Budget.Used, 64 << 20, 90 << 20);
        TestClient other = nbd.Connect().Enter();
        long askedNs = nbd.Lane.NowNs;
        Assert.Equal(0u, other.Ask(Read, 0, (uint)length).Error);
        Assert.InRange(nbd.Lane.NowNs - askedNs, 0, Second / 10);
        Assert.Equal(3, nbd.Server.Connections);
        nbd.AssertNothingHeld();
    }

    [Fact]
    public void Who_takes_no_replies_for_five_seconds_is_ended_while_others_wait()
    {
        NbdFixture nbd = new(length: 64 << 20);
        TestClient[] stuck = [.. Enumerable.Range(0, 4).Select(_ => nbd.Connect().Enter())];
        foreach (TestClient client in stuck)
        {
            client.Socket.IsStuffed = true;
            client.Request(Read, 0, 32 << 20);   // together all there is
        }

        nbd.Lane.Advance(Second);
        TestClient[] others = [.. Enumerable.Range(0, 2).Select(_ => nbd.Connect().Enter())];
        long askedNs = nbd.Lane.NowNs;
        while (stuck.Any(static client => !client.Socket.ClosedByServer))
        {
            foreach (TestClient other in others)
            {
                other.Request(Read, 0, 32 << 20);
            }

            Assert.All(others, static other => Assert.Equal(0u, other.TakeReply().Error));
        }

        Assert.InRange(nbd.Lane.NowNs - askedNs, 5 * Second, 8 * Second);
        Assert.Contains("others wait", nbd.Notices[0]);
        Assert.All(others, static other => Assert.False(other.Socket.ClosedByServer));
        nbd.AssertNothingHeld();
    }

    /// <summary>Clients that all move share what there is: the one with the most requests has no more than the others.</summary>
    [Fact]
    public void Memory_is_shared_fairly_between_clients_that_move()
    {
        NbdFixture nbd = new(length: 64 << 20, budget: 32 << 20);
        nbd.Store.MaxDelayNs = 1_000_000;
        TestClient[] clients = [.. Enumerable.Range(0, 3).Select(_ => nbd.Connect().Enter())];
        for (int i = 0; i < clients.Length; i++)
        {
            clients[i].Socket.ClientSends([.. Enumerable.Range(0, 300).SelectMany(n => TestClient.RequestBytes(Read, 0, 1 << 20, 0, (ulong)n))]);
        }

        nbd.Lane.PumpWhile(() => clients.All(static client => client.Socket.ReceivedByClient < 200 << 20), 600 * Second);
        Assert.All(clients, static client => Assert.InRange(client.Socket.ReceivedByClient, 120 << 20, 202 << 20));
        Assert.InRange(nbd.Budget.Used, 0, 32 << 20);
        nbd.Lane.Run(nbd.Server.Close());
        nbd.AssertNothingHeld();
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_waiting_connection_that_ends_or_pauses_leaves_the_queue(bool ends)
    {
        NbdFixture nbd = new(length: 64 << 20, budget: 32 << 20);
        NbdExport other = new(Guid.Empty, "other", "", nbd.Store, false);
        nbd.Server.Add(other);
        TestClient holder = nbd.Connect().Enter(name: "disk");
        nbd.Store.IsHeld = true;
        holder.Request(Read, 0, 32 << 20);
        TestClient first = nbd.Connect().Enter(name: "other");
        TestClient second = nbd.Connect().Enter(name: "disk");
        first.Request(Read, 0, 32 << 20);
        second.Request(Read, 0, 128 << 10);
        nbd.Lane.Advance(Second / 4);   // later they would be served in parts
        Assert.Single(nbd.Store.Calls);
        nbd.Lane.Run(ends ? nbd.Server.Remove(other) : other.Suspend());
        nbd.Store.ReleaseAll();
        Assert.Equal(0u, holder.TakeReply().Error);
        Assert.Equal(0u, second.TakeReply().Error);
        Assert.Equal(2, nbd.Store.Calls.Count);
        nbd.AssertNothingHeld();
    }

    [Fact]
    public void One_connection_does_not_keep_the_lane_to_itself()
    {
        NbdFixture nbd = new();
        TestClient greedy = nbd.Connect().Enter();
        greedy.Socket.ClientSends([.. Enumerable.Range(0, 5000).SelectMany(i => TestClient.RequestBytes(Read, 0, 512, 0, (ulong)i))]);
        Assert.InRange(nbd.Store.Calls.Count, 1, 128);   // all in memory, so nothing but a turn ends it
        Assert.Equal(0u, nbd.Connect().Enter().Ask(Read, 0, 512).Error);
        Assert.InRange(nbd.Store.Calls.Count, 1, 4000);
    }

    [Fact]
    public void Too_many_connections_are_refused_unless_one_is_still_shaking_hands()
    {
        NbdFixture nbd = new(limits: new NbdLimits { MaxConnections = 3 });
        TestClient[] clients = [.. Enumerable.Range(0, 3).Select(_ => nbd.Connect())];
        clients[0].Enter();
        TestClient fourth = nbd.Connect().Enter();
        Assert.True(clients[1].Socket.ClosedByServer);
        clients[2].Enter();
        TestClient fifth = nbd.Connect();
        Assert.True(fifth.Socket.ClosedByServer);
        Assert.Equal(1, nbd.Server.ConnectionsRefused);
        Assert.Contains("at most 3", nbd.Notices.Single());
        Assert.All([clients[0], clients[2], fourth], c => Assert.Equal(0u, c.Ask(Read, 0, 512).Error));
        nbd.AssertNothingHeld();
    }

    [Fact]
    public void Removing_an_export_drains_its_connections_and_refuses_new_ones()
    {
        NbdFixture nbd = new();
        nbd.Server.Add(new NbdExport(Guid.Empty, "other", "", nbd.Store, false));
        TestClient busy = nbd.Connect().Enter(name: "disk");
        TestClient idle = nbd.Connect().Enter(name: "disk");
        TestClient halfway = nbd.Connect().Enter(name: "disk");
        TestClient other = nbd.Connect().Enter(name: "other");
        TestClient handshaking = nbd.Connect().Greet();
        nbd.Store.IsHeld = true;
        busy.Request(Write, 0, 4096, 0, new byte[4096]);
        halfway.Request(Write, 0, 1 << 20, 0, new byte[1000]);
        nbd.Lane.Advance(Second);
        LaneTask removed = nbd.Server.Remove(nbd.Export);
        nbd.Lane.Advance(Second);
        Assert.True(idle.Socket.ClosedByServer);
        Assert.True(halfway.Socket.ClosedByServer);
        Assert.False(busy.Socket.ClosedByServer);
        Assert.False(removed.IsCompleted);
        nbd.Store.ReleaseAll();
        Assert.Equal(0u, busy.TakeReply().Error);
        nbd.Lane.Run(removed, withinNs: Second);
        Assert.True(busy.Socket.ClosedByServer);
        Assert.Equal(0x80000006, handshaking.Option(7, TestClient.InfoQuery("disk")).Single().Type);
        Assert.Equal(0u, other.Ask(Read, 0, 512).Error);
        nbd.AssertNothingHeld();
    }

    [Fact]
    public void A_client_that_takes_no_replies_does_not_hold_up_the_end_for_ever()
    {
        NbdFixture nbd = new();
        TestClient client = nbd.Connect().Enter();
        client.Socket.IsStuffed = true;
        client.Request(Read, 0, 4096);
        long before = nbd.Lane.NowNs;
        nbd.Lane.Run(nbd.Server.Close());
        Assert.InRange(nbd.Lane.NowNs - before, 10 * Second, 13 * Second);
        nbd.AssertNothingHeld();
    }

    [Fact]
    public void A_suspended_export_takes_no_request_until_it_is_resumed()
    {
        NbdFixture nbd = new();
        TestClient busy = nbd.Connect().Enter();
        TestClient halfway = nbd.Connect().Enter();
        nbd.Store.IsHeld = true;
        busy.Request(Write, 0, 512, 0, new byte[512]);
        byte[] large = TestClient.RequestBytes(Write, 0, 1 << 20, 0, 77, new byte[1 << 20]);
        halfway.Socket.ClientSends(large.AsSpan(0, 5000));
        LaneTask suspended = nbd.Export.Suspend();
        nbd.Lane.Advance(Second);
        Assert.False(suspended.IsCompleted);
        nbd.Store.ReleaseAll();
        nbd.Lane.Run(suspended);
        Assert.Equal(0u, busy.TakeReply().Error);
        nbd.Store.Calls.Clear();

        TestClient late = nbd.Connect().Enter();
        late.Request(Read, 0, 512);
        busy.Request(Read, 0, 512);
        halfway.Socket.ClientSends(large.AsSpan(5000));
        nbd.Lane.Advance(100 * Second);
        Assert.Empty(nbd.Store.Calls);
        nbd.Export.Resume();
        Assert.Equal(0u, late.TakeReply().Error);
        Assert.Equal(0u, busy.TakeReply().Error);
        Assert.Equal(77u, halfway.TakeReply().Cookie);
        Assert.Throws<InvalidOperationException>(nbd.Export.Resume);
        nbd.AssertNothingHeld();
    }

    [Fact]
    public void A_suspended_export_can_be_removed()
    {
        NbdFixture nbd = new();
        TestClient waiting = nbd.Connect().Enter();
        nbd.Lane.Run(nbd.Export.Suspend());
        waiting.Request(Read, 0, 512);
        byte[] large = TestClient.RequestBytes(Write, 0, 1 << 20, 0, 77, new byte[1 << 20]);
        nbd.Connect().Enter().Socket.ClientSends(large);
        nbd.Lane.Advance(Second);
        nbd.Lane.Run(nbd.Server.Remove(nbd.Export));
        nbd.AssertNothingHeld();
        Assert.Empty(nbd.Store.Calls);
    }

    [Fact]
    public void Limits_outside_their_range_are_refused()
    {
        NbdFixture nbd = new();
        NbdLimits[] bad =
        [
            new() { MaxConnections = 0 }, new() { MaxRequests = 0 }, new() { MaxRequests = 501 },
            new() { MaxConnectionBytes = 1 << 20 }, new() { HandshakeTimeoutNs = 0 },
        ];
        Assert.All(bad, limits => Assert.Throws<ArgumentOutOfRangeException>(() => new NbdServer(nbd.Lane, limits)));
        Assert.Throws<ArgumentOutOfRangeException>(() => new NbdBudget(1000));
    }
}
