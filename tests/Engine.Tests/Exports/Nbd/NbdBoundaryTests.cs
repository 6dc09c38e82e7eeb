using TierSpaces.Engine.Exports.Nbd;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Tests.Lanes;

namespace TierSpaces.Engine.Tests.Exports.Nbd;

/// <summary>Scope that an exception inside a request ends: that request and its connection, or the process.</summary>
public sealed class NbdBoundaryTests
{
    private const ushort Read = 0, Write = 1, Flush = 3, Trim = 4;
    private const uint InputOutput = 5;

    private readonly NbdFixture _nbd = new();

    [Theory]
    [InlineData(Read, 4096)]
    [InlineData(Write, 4096)]
    [InlineData(Write, 128 << 10)]
    [InlineData(Flush, 0)]
    [InlineData(Trim, 4096)]
    public void What_a_store_throws_before_it_begins_ends_the_request_and_its_connection(ushort command, int length)
    {
        TestClient client = _nbd.Connect().Enter();
        TestClient other = _nbd.Connect().Enter();
        _nbd.Store.Throws = new ArgumentOutOfRangeException("length", "no such buffer");
        Assert.Equal(InputOutput, client.Ask(command, 0, (uint)length, 0, command == Write ? new byte[length] : null).Error);
        client.AwaitClose();
        Assert.Contains("ended with an exception", _nbd.Notices.Single());
        Assert.Contains(nameof(TestStore), _nbd.Notices.Single());   // its stack
        _nbd.Store.Throws = null;
        Assert.Equal(0u, other.Ask(Read, 0, 4096).Error);
        Assert.Equal(1, _nbd.Server.ConnectionsDropped);
        _nbd.AssertNothingHeld();
    }

    [Fact]
    public void Requests_under_way_are_answered_before_the_connection_ends()
    {
        TestClient client = _nbd.Connect().Enter();
        _nbd.Store.IsHeld = true;
        ulong first = client.Request(Write, 0, 512, 0, new byte[512]);
        _nbd.Lane.Advance(1000);
        _nbd.Store.Throws = new InvalidOperationException("not now");
        client.Request(Read, 0, 512);
        _nbd.Lane.Advance(1000);
        _nbd.Store.ReleaseAll();
        Reply[] replies = [client.TakeReply(), client.TakeReply()];
        Assert.Equal(0u, replies.Single(reply => reply.Cookie == first).Error);
        Assert.Equal(InputOutput, replies.Single(reply => reply.Cookie != first).Error);
        client.AwaitClose();
        _nbd.AssertNothingHeld();
    }

    [Fact]
    public void A_request_that_a_layer_gave_up_ends_its_connection_alone()
    {
        TestClient client = _nbd.Connect().Enter();
        _nbd.Store.EndsWith = new RequestException(new InvalidOperationException("too long"));
        Assert.Equal(InputOutput, client.Ask(Read, 0, 4096).Error);
        client.AwaitClose();
        _nbd.AssertNothingHeld();
    }

    [Fact]
    public void An_exception_that_a_store_ends_a_request_with_reaches_the_lane()
    {
        TestClient client = _nbd.Connect().Enter();
        _nbd.Store.EndsWith = new InvalidOperationException("half of it is written");
        client.Request(Write, 0, 4096, 0, new byte[4096]);
        Exception reached = Assert.ThrowsAny<Exception>(() => _nbd.Lane.Advance(1_000_000));
        Assert.Contains("half of it is written", reached.Message);
        Assert.Empty(_nbd.Notices);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_broken_invariant_reaches_the_lane(bool atOnce)
    {
        TestClient client = _nbd.Connect().Enter();
        InvariantException broken = new("a test says so");
        _nbd.Store.Throws = atOnce ? broken : null;
        _nbd.Store.EndsWith = atOnce ? null : broken;
        Exception reached = Assert.ThrowsAny<Exception>(() =>
        {
            client.Request(Read, 0, 4096);
            _nbd.Lane.Advance(1_000_000);
        });
        Assert.Same(broken, reached);
        Assert.Empty(_nbd.Notices);
    }

    [Fact]
    public void A_broken_invariant_inside_a_request_ends_the_process()
    {
        (int exitCode, string output) = ChildProcess.Run($"{typeof(NbdBoundaryTests).FullName}.{nameof(Breaks_an_invariant_inside_a_request)}");
        Assert.Equal(134, exitCode);   // SIGABRT
        Assert.Contains("a rule of this test", output);
    }

    /// <summary>Runs in a process of its own, which it ends.</summary>
    [Fact(Explicit = true)]
    public void Breaks_an_invariant_inside_a_request()
    {
        Lane lane = LaneFactory.Create("test", LaneBackend.Threads);
        lane.Post(() =>
        {
            NbdServer server = new(lane);
            server.Add(new NbdExport(Guid.Empty, "disk", "", new BrokenStore(), isReadOnly: false));
            QuietSocket socket = new();
            server.Accept(socket);
            socket.Play([.. TestClient.UInt32(3), .. TestClient.OptionBytes(7, TestClient.InfoQuery(""))]);
            socket.Play(TestClient.RequestBytes(Read, 0, 4096, 0, 1));
        });
        Thread.Sleep(20_000);
    }

    private sealed class BrokenStore : IBlockStore
    {
        public StoreGeometry Geometry => new(1 << 20, 512, 512, 32 << 20);

        public LaneTask<IoError> Read(long offset, IoBuffer target)
        {
            Invariant.That(target.Length == 0, "a rule of this test");
            return default;
        }

        public LaneTask<IoError> Write(long offset, IoBuffer source, WriteFlags flags) => default;

        public LaneTask<IoError> Flush() => default;

        public LaneTask<IoError> Unmap(long offset, long length) => default;

        public LaneTask<IoError> WriteZeroes(long offset, long length, WriteFlags flags) => default;

        public LaneTask<IoError> Status(long offset, long length, List<StoreExtent> extents) => default;
    }
}
