using System.Net.Sockets;
using System.Runtime.InteropServices;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Lanes.Sockets;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tests.Lanes;

/// <summary>Connections leave the engine the descriptors that it needs itself.</summary>
public sealed partial class DescriptorReserveTests
{
    private const int Limit = 256;

    [Theory]
    [InlineData(1 << 20, (1 << 20) - 1024)]
    [InlineData(4096, 4096 - 256)]
    [InlineData(1024, 1024 - 64)]
    [InlineData(256, 192)]
    [InlineData(100, 50)]
    [InlineData(0, 0)]
    public void The_reserve_follows_the_limit(long limit, long first) => Assert.Equal(first, DescriptorReserve.FirstReserved(limit));

    [Theory]
    [InlineData(nameof(Connections_use_up_the_descriptors_on_threads))]
    [InlineData(nameof(Connections_use_up_the_descriptors_on_a_ring))]
    public void A_connection_that_would_eat_the_reserve_is_refused_at_once(string inProcess)
    {
        (int exitCode, string output) = ChildProcess.Run($"{typeof(DescriptorReserveTests).FullName}.{inProcess}");
        Assert.True(exitCode == 0 && output.Contains("Failed: 0", StringComparison.Ordinal), output);
    }

    [Fact(Explicit = true)]
    public void Connections_use_up_the_descriptors_on_threads() => UseUp(LaneBackend.Threads);

    [Fact(Explicit = true)]
    public void Connections_use_up_the_descriptors_on_a_ring() => UseUp(LaneBackend.Uring);

    private static void UseUp(LaneBackend backend)
    {
        string folder = Directory.CreateTempSubdirectory("lane-fds-").FullName;
        string path = Path.Combine(folder, "s.sock");
        using TestLane test = TestLane.Create(backend);
        List<ILaneSocket> accepted = [];
        List<string> rejected = [];
        ILaneListener listener = test.Run(async () =>
        {
            await test.Lane.Yield();
            return test.Lane.Network.ListenUnix(path, accepted.Add, rejected.Add);
        });
        Assert.Equal(0, SetLimit(7, [Limit, Limit]));

        // Clients connect until one is refused: it sees the end of the stream at once, and half of the reserve and more is left.
        List<Socket> clients = [];
        while (rejected.Count == 0)
        {
            Assert.InRange(clients.Count, 0, Limit / 2);
            clients.Add(Connect(path));
            Settle(() => accepted.Count + rejected.Count == clients.Count);
        }

        Assert.Equal(0, Receive(clients[^1]));
        Assert.StartsWith("unix:", rejected[0]);
        Assert.InRange(FreeDescriptors(), 50, 64);

        // Others use up the rest: a client that was there before is refused at once all the same.
        Socket late = new(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
        List<FileStream> others = [];
        try
        {
            for (; ; )
            {
                others.Add(File.OpenRead("/dev/null"));
            }
        }
        catch (IOException)
        {
            // none is left
        }

        late.Connect(new UnixDomainSocketEndPoint(path));
        Assert.Equal(0, Receive(late));
        Settle(() => rejected.Count == 2);
        others.ForEach(static file => file.Dispose());

        // Descriptors that are closed make room for others.
        clients.ForEach(static client => client.Dispose());
        test.Run(async () =>
        {
            accepted.ForEach(static socket => socket.Close());
            await test.Lane.Delay(50_000_000);
        });
        int before = accepted.Count;
        using Socket next = Connect(path);
        Settle(() => accepted.Count == before + 1);
        test.Run(async () =>
        {
            accepted[^1].Close();
            listener.Close();
            await test.Lane.Delay(10_000_000);
        });
        Directory.Delete(folder, recursive: true);
    }

    private static Socket Connect(string path)
    {
        Socket socket = new(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
        socket.Connect(new UnixDomainSocketEndPoint(path));
        return socket;
    }

    private static int Receive(Socket socket)
    {
        socket.ReceiveTimeout = 5000;
        try
        {
            return socket.Receive(new byte[1]);
        }
        catch (SocketException reset) when (reset.SocketErrorCode == SocketError.ConnectionReset)
        {
            return 0;
        }
    }

    private static void Settle(Func<bool> holds) => Assert.True(SpinWait.SpinUntil(holds, 10_000));

    private static int FreeDescriptors() => Limit - Directory.GetFiles("/proc/self/fd").Length;

    [DllImport("libc", EntryPoint = "setrlimit")]
    private static extern int SetLimit(int resource, ulong[] limits);
}
