using TierSpaces.Engine.Exports.Nbd;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tests.Exports.Nbd;

/// <summary>Requests of a client that is gone: those that wait for a slot, for memory or for the export are not given to the store.</summary>
public sealed class NbdGoneClientTests
{
    private const ushort Write = 1, Disconnect = 2;
    private const long Second = 1_000_000_000;

    [Fact]
    public void Requests_that_wait_for_a_slot_are_not_carried_out_behind_those_of_others()
    {
        NbdFixture nbd = new(limits: new NbdLimits { MaxRequests = 4 });
        (TestClient older, TestClient newer) = (nbd.Connect().Enter(), nbd.Connect().Enter());
        nbd.Store.IsHeld = true;
        for (uint i = 0; i < 700; i++)
        {
            older.Request(Write, i * 512, 512, 0, Full(0xA1, 512));
        }

        older.Socket.ClientCloses();
        nbd.Lane.Advance(Second);
        newer.Request(Write, 0, 700 * 512, 0, Full(0xB2, 700 * 512));
        nbd.Lane.Advance(Second);
        nbd.Store.ReleaseAll();
        Assert.Equal(0u, newer.TakeReply().Error);
        nbd.Lane.Advance(Second);
        Assert.Equal(5, nbd.Store.Calls.Count);
        Assert.Equal(Full(0xB2, 700 * 512), nbd.Store.Bytes[..(700 * 512)]);
        nbd.AssertNothingHeld();
    }

    [Fact]
    public void Requests_that_wait_for_memory_are_not_carried_out_behind_those_of_others()
    {
        const int large = 16 << 20;
        NbdFixture nbd = new(length: large, budget: 32 << 20);
        (TestClient older, TestClient newer) = (nbd.Connect().Enter(), nbd.Connect().Enter());
        nbd.Store.IsHeld = true;
        for (int i = 0; i < 8; i++)
        {
            older.Request(Write, 0, large, 0, Full(0xA1, large));
        }

        older.Socket.ClientCloses();
        nbd.Lane.Advance(Second / 4);
        int taken = nbd.Store.Calls.Count;
        Assert.InRange(taken, 1, 4);
        newer.Request(Write, 0, 64 << 10, 0, Full(0xB2, 64 << 10));
        nbd.Lane.Advance(Second / 4);
        nbd.Store.ReleaseAll();
        Assert.Equal(0u, newer.TakeReply().Error);
        nbd.Lane.Advance(20 * Second);
        Assert.Equal(taken + 1, nbd.Store.Calls.Count);
        Assert.Equal(Full(0xB2, 64 << 10), nbd.Store.Bytes[..(64 << 10)]);
        nbd.AssertNothingHeld();
    }

    [Theory]
    [InlineData(512)]
    [InlineData(256 << 10)]
    public void Requests_that_wait_for_the_export_are_not_carried_out(int length)
    {
        NbdFixture nbd = new();
        TestClient client = nbd.Connect().Enter();
        nbd.Store.IsHeld = true;
        byte[] request = TestClient.RequestBytes(Write, 0, (uint)length, 0, 1, Full(0xA1, length));
        client.Socket.ClientSends(request.AsSpan(0, request.Length - 1));
        nbd.Lane.Advance(Second);
        nbd.Lane.Run(Suspend(nbd.Export));
        client.Socket.ClientSends(request.AsSpan(request.Length - 1));
        nbd.Lane.Advance(Second);
        client.Socket.ClientCloses();
        nbd.Lane.Advance(Second);
        nbd.Export.Resume();
        nbd.Lane.Advance(Second);
        Assert.Empty(nbd.Store.Calls);
        nbd.Store.ReleaseAll();
        nbd.AssertNothingHeld();
    }

    [Fact]
    public void Requests_before_a_disconnect_request_are_carried_out()
    {
        NbdFixture nbd = new(limits: new NbdLimits { MaxRequests = 4 });
        TestClient client = nbd.Connect().Enter();
        nbd.Store.MaxDelayNs = 1_000_000;
        WriteFlags seen = default;
        nbd.Store.Writing = flags => seen = flags;
        client.Request(Write, 0, 512, 0, Full(0xA1, 512));
        client.Request(Disconnect);
        client.Socket.ClientCloses();
        Assert.False(StoreClients.HasEnded(seen));
        nbd.Lane.Advance(Second);
        Assert.Equal(Full(0xA1, 512), nbd.Store.Bytes[..512]);
        nbd.AssertNothingHeld();
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_store_can_see_that_a_client_is_gone(bool isDropped)
    {
        NbdFixture nbd = new();
        TestClient client = nbd.Connect().Enter();
        nbd.Store.IsHeld = true;
        WriteFlags seen = default;
        nbd.Store.Writing = flags => seen = flags;
        client.Request(Write, 0, 512, 0, Full(0xA1, 512));
        nbd.Lane.Advance(Second);
        Assert.False(StoreClients.HasEnded(seen));
        if (isDropped)
        {
            client.Socket.ClientSends(new byte[64]);   // not the protocol
        }
        else
        {
            client.Socket.ClientCloses();
        }

        Assert.True(StoreClients.HasEnded(seen));
        Assert.False(StoreClients.HasEnded(seen.WithoutClient()));
        nbd.Store.ReleaseAll();
        nbd.AssertNothingHeld();
    }

    private static async LaneTask<Nothing> Suspend(NbdExport export)
    {
        await export.Suspend();
        return default;
    }

    private static byte[] Full(byte content, int length)
    {
        byte[] data = new byte[length];
        Array.Fill(data, content);
        return data;
    }
}
