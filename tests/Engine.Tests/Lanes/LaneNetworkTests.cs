using System.Globalization;
using System.Net;
using System.Net.Sockets;
using System.Runtime.InteropServices;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tests.Lanes;

public abstract class LaneNetworkTests(LaneBackend backend) : IDisposable
{
    private readonly string _folder = Directory.CreateTempSubdirectory("lane-net-").FullName;

    private string SocketPath => Path.Combine(_folder, "s.sock");

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    [Fact]
    public void Echo_over_unix_is_whole_and_in_order()
    {
        using TestLane test = TestLane.Create(backend);
        ILaneListener listener = test.Run(() => Listen(test, SocketPath, socket => Echo(test.Lane, socket).Forget()));
        Assert.Equal($"unix:{SocketPath}", listener.Address);
        EchoThrough(ConnectUnix(), megabytes: 16);
    }

    [Fact]
    public void Echo_over_TCP_is_whole_and_in_order()
    {
        using TestLane test = TestLane.Create(backend);
        ILaneListener listener = test.Run(async () =>
        {
            await test.Lane.Yield();
            return test.Lane.Network.ListenTcp(new IPEndPoint(IPAddress.Loopback, 0), socket => Echo(test.Lane, socket).Forget());
        });
        int port = new Uri(listener.Address.Replace("tcp:", "tcp://")).Port;
        Socket client = new(SocketType.Stream, ProtocolType.Tcp);
        client.Connect(IPAddress.Loopback, port);
        EchoThrough(client, megabytes: 16);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_peer_that_has_closed_is_known_to_be_gone_while_its_bytes_are_not_received(bool isTcp)
    {
        using TestLane test = TestLane.Create(backend);
        ILaneSocket? accepted = null;
        ILaneListener listener = test.Run(async () =>
        {
            await test.Lane.Yield();
            return isTcp ? test.Lane.Network.ListenTcp(new IPEndPoint(IPAddress.Loopback, 0), socket => accepted = socket)
                : test.Lane.Network.ListenUnix(SocketPath, socket => accepted = socket);
        });
        Socket client = isTcp ? new Socket(SocketType.Stream, ProtocolType.Tcp) : ConnectUnix();
        if (isTcp)
        {
            client.Connect(IPAddress.Loopback, new Uri(listener.Address.Replace("tcp:", "tcp://")).Port);
        }

        client.Send(new byte[1000]);
        Assert.True(SpinWait.SpinUntil(() => test.Run(() => LaneTask.FromResult(accepted is not null)), 5000));
        Assert.False(test.Run(() => LaneTask.FromResult(accepted!.IsPeerGone)));
        client.Dispose();
        Assert.True(SpinWait.SpinUntil(() => test.Run(() => LaneTask.FromResult(accepted!.IsPeerGone)), 5000));
        test.Run(() =>
        {
            accepted!.Close();
            return LaneTask.FromResult(true);
        });
    }

    [Fact]
    public void Many_connections_are_served_together()
    {
        using TestLane test = TestLane.Create(backend);
        test.Run(() => Listen(test, SocketPath, socket => Echo(test.Lane, socket).Forget()));
        Parallel.For(0, 8, _ => EchoThrough(ConnectUnix(), megabytes: 1));
    }

    [Fact]
    public void The_socket_is_open_to_its_owner_only()
    {
        using TestLane test = TestLane.Create(backend);
        test.Run(() => Listen(test, SocketPath, socket => socket.Close()));
        Assert.Equal(UnixFileMode.UserRead | UnixFileMode.UserWrite, File.GetUnixFileMode(SocketPath));
    }

    /// <summary>Memory from which the kernel copies an answer is never fetched: buffers that are there, and those that come, are locked and present.</summary>
    [Fact]
    public void The_memory_of_a_lane_that_serves_messages_is_locked()
    {
        using TestLane test = TestLane.Create(backend);
        using Socket messages = new(AddressFamily.Unix, SocketType.Dgram, ProtocolType.Unspecified) { Blocking = false };
        IoBuffer before = default, after = default, large = default;
        test.Run(async () =>
        {
            await test.Lane.Yield();
            before = test.Lane.Buffers.Rent(4096);
            Assert.DoesNotContain(" lo", FlagsOf(AddressOf(before)), StringComparison.Ordinal);
            test.Lane.Network.OpenMessages((int)messages.Handle, static () => { });
            after = test.Lane.Buffers.Rent(64 << 10);
            large = test.Lane.Buffers.Rent(1 << 20);
            return true;
        });
        foreach (nint address in (nint[])[AddressOf(before), AddressOf(after), AddressOf(large), AddressOf(large) + large.Length - 1])
        {
            Assert.Contains(" lo", FlagsOf(address), StringComparison.Ordinal);
        }
    }

    /// <summary>The allocator keeps memory that is given back for the next request of its size: there it would lie locked, and count for ever.</summary>
    [Fact]
    public void The_memory_of_a_lane_that_ended_is_not_locked()
    {
        KeepFreeMemory();
        nint address = 0;
        using (TestLane test = TestLane.Create(backend))
        using (Socket messages = new(AddressFamily.Unix, SocketType.Dgram, ProtocolType.Unspecified) { Blocking = false })
        {
            test.Run(async () =>
            {
                await test.Lane.Yield();
                test.Lane.Network.OpenMessages((int)messages.Handle, static () => { });
                address = AddressOf(test.Lane.Buffers.Rent(1 << 20));
                return true;
            });
            Assert.Contains(" lo", FlagsOf(address), StringComparison.Ordinal);
        }

        Assert.DoesNotContain(" lo", FlagsOf(address), StringComparison.Ordinal);
    }

    /// <summary>The allocator maps what is large by itself, until it has seen such a piece come back: from then on it keeps what is smaller.</summary>
    private static unsafe void KeepFreeMemory() => NativeMemory.AlignedFree(NativeMemory.AlignedAlloc(24 << 20, 4096));

    private static unsafe nint AddressOf(IoBuffer buffer) => (nint)buffer.Pointer;

    /// <summary>Flags of the mapping that an address is in, in the kernel's letters.</summary>
    private static string FlagsOf(nint address)
    {
        bool isIn = false;
        foreach (string line in File.ReadLines("/proc/self/smaps"))
        {
            string[] range = line.Split(' ')[0].Split('-');
            if (range.Length == 2 && long.TryParse(range[0], NumberStyles.HexNumber, null, out long from)
                && long.TryParse(range[1], NumberStyles.HexNumber, null, out long to))
            {
                isIn = address >= from && address < to;
            }
            else if (isIn && line.StartsWith("VmFlags:", StringComparison.Ordinal))
            {
                return line;
            }
        }

        return "";
    }

    [Fact]
    public void A_stale_socket_is_replaced_and_a_live_one_refused()
    {
        using TestLane test = TestLane.Create(backend);
        using (Socket dead = new(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified))
        {
            dead.Bind(new UnixDomainSocketEndPoint(SocketPath + "2"));
            File.Move(SocketPath + "2", SocketPath);   // .NET unlinks what it bound: keep the file
        }

        test.Run(() => Listen(test, SocketPath, socket => Echo(test.Lane, socket).Forget()));
        EchoThrough(ConnectUnix(), megabytes: 1);
        IOException rejected = Assert.Throws<IOException>(() => { test.Run(() => Listen(test, SocketPath, socket => socket.Close())); });
        Assert.Contains(SocketPath, rejected.Message);
        Assert.Contains("another process listens", rejected.Message);
        EchoThrough(ConnectUnix(), megabytes: 1);
    }

    [Fact]
    public void A_file_that_is_no_socket_is_left_alone()
    {
        using TestLane test = TestLane.Create(backend);
        File.WriteAllText(SocketPath, "data");
        IOException rejected = Assert.Throws<IOException>(() => { test.Run(() => Listen(test, SocketPath, socket => socket.Close())); });
        Assert.Contains("no socket", rejected.Message);
        Assert.Equal("data", File.ReadAllText(SocketPath));
    }

    [Fact]
    public void A_too_long_path_is_refused_with_the_limit()
    {
        using TestLane test = TestLane.Create(backend);
        string path = Path.Combine(_folder, new string('x', 120));
        IOException rejected = Assert.Throws<IOException>(() => { test.Run(() => Listen(test, path, socket => socket.Close())); });
        Assert.Contains("107", rejected.Message);
    }

    [Fact]
    public void A_taken_port_is_refused_by_name()
    {
        using TestLane test = TestLane.Create(backend);
        using TcpListener taken = new(IPAddress.Loopback, 0);
        taken.Start();
        IPEndPoint endpoint = (IPEndPoint)taken.LocalEndpoint;
        IOException rejected = Assert.Throws<IOException>(() => test.Run(async () =>
        {
            await test.Lane.Yield();
            return test.Lane.Network.ListenTcp(endpoint, socket => socket.Close());
        }));
        Assert.Contains(endpoint.ToString(), rejected.Message);
    }

    [Fact]
    public void Closing_the_listener_removes_the_file_and_keeps_connections()
    {
        using TestLane test = TestLane.Create(backend);
        ILaneListener listener = test.Run(() => Listen(test, SocketPath, socket => Echo(test.Lane, socket).Forget()));
        Socket client = ConnectUnix();
        client.Send([1]);
        Assert.Equal(1, client.Receive(new byte[1]));
        test.Run(async () =>
        {
            await test.Lane.Yield();
            listener.Close();
        });
        Assert.False(File.Exists(SocketPath));
        EchoThrough(client, megabytes: 1);
    }

    [Fact]
    public void The_end_of_the_stream_is_zero()
    {
        using TestLane test = TestLane.Create(backend);
        TaskCompletionSource<int> received = new();
        test.Run(() => Listen(test, SocketPath, socket => ReceiveOnce(test.Lane, socket, received).Forget()));
        ConnectUnix().Dispose();
        Assert.True(received.Task.Wait(5000));
        Assert.Equal(0, received.Task.Result);
    }

    [Fact]
    public void Close_ends_the_pending_receive_and_the_connection()
    {
        using TestLane test = TestLane.Create(backend);
        TaskCompletionSource<int> received = new();
        ILaneSocket? accepted = null;
        test.Run(() => Listen(test, SocketPath, socket =>
        {
            accepted = socket;
            ReceiveOnce(test.Lane, socket, received).Forget();
        }));
        using Socket client = ConnectUnix();
        client.ReceiveTimeout = 5000;
        SpinWait.SpinUntil(() => Volatile.Read(ref accepted) is not null, 5000);
        test.Run(async () =>
        {
            await test.Lane.Yield();
            accepted!.Close();
            accepted.Close();
        });
        Assert.True(received.Task.Wait(5000));
        Assert.Equal(-(int)IoError.ShutDown, received.Task.Result);
        Assert.Equal(0, client.Receive(new byte[1]));
    }

    [Fact]
    public void Sending_to_a_closed_peer_is_an_error_and_no_signal()
    {
        using TestLane test = TestLane.Create(backend);
        TaskCompletionSource<IoError> sent = new();
        test.Run(() => Listen(test, SocketPath, socket => SendUntilError(test.Lane, socket, sent).Forget()));
        using (Socket client = ConnectUnix())
        {
            client.Receive(new byte[1]);
        }

        Assert.True(sent.Task.Wait(5000));
        Assert.Equal(IoError.ShutDown, sent.Task.Result);
    }

    /// <summary>Else the next requests of that client, and of all others, would wait for the end of all replies.</summary>
    [Fact]
    public void Long_sends_leave_the_lane_to_others_between_their_parts()
    {
        const int parts = 16;
        using TestLane test = TestLane.Create(backend);
        TaskCompletionSource<long> turns = new();
        test.Run(() => Listen(test, SocketPath, socket => CountTurns(test.Lane, socket).Forget()));
        using Socket client = ConnectUnix();
        byte[] data = new byte[1 << 20];
        for (int got = 0; got < parts << 18;)
        {
            got += client.Receive(data);
        }

        Assert.True(turns.Task.Wait(5000));
        Assert.InRange(turns.Task.Result, (parts / 2) - 1, long.MaxValue);

        async LaneTask CountTurns(Lane lane, ILaneSocket socket)
        {
            IoBuffer buffer = lane.Buffers.Rent(1 << 18);
            IoBuffer[] pieces = [buffer];
            long first = lane.Turn;
            for (int part = 0; part < parts; part++)
            {
                Assert.Equal(IoError.None, await socket.Send(pieces));
            }

            turns.SetResult(lane.Turn - first);
            lane.Buffers.Return(buffer);
            socket.Close();
        }
    }

    [Fact]
    public void Closed_connections_leave_no_descriptor_behind()
    {
        using TestLane test = TestLane.Create(backend);
        test.Run(() => Listen(test, SocketPath, socket => Echo(test.Lane, socket).Forget()));
        EchoThrough(ConnectUnix(), megabytes: 1);
        for (int i = 0; i < 100; i++)
        {
            using Socket client = ConnectUnix();
            client.Send([1]);
            client.Receive(new byte[1]);
        }

        Assert.True(SpinWait.SpinUntil(() => SocketCount() == 1, 5000), $"{SocketCount() - 1} sockets stay open after their connection.");
    }

    [Fact]
    public void Echoing_allocates_nothing()
    {
        using TestLane test = TestLane.Create(backend);
        AllocationMeter meter = new();
        test.Run(() => Listen(test, SocketPath, socket => Measure(socket).Forget()));
        using Socket client = ConnectUnix();
        byte[] message = new byte[100];
        for (int i = 0; i < 4000; i++)
        {
            client.Send(message);
            for (int got = 0; got < message.Length;)
            {
                got += client.Receive(message.AsSpan(got));
            }
        }

        client.Shutdown(SocketShutdown.Send);
        Assert.Equal(0, client.Receive(message));
        Assert.Equal(0, meter.Least);

        async LaneTask Measure(ILaneSocket socket)
        {
            IoBuffer buffer = test.Lane.Buffers.Rent(4096);
            IoBuffer[] pieces = [default];
            for (int round = 0; ; round++)
            {
                int count = await socket.Receive(buffer);
                if (count <= 0)
                {
                    break;
                }

                pieces[0] = buffer.Slice(0, count);
                await socket.Send(pieces);
                if (round % 500 == 499)
                {
                    meter.End();
                    meter.Begin();
                }
            }

            socket.Close();
        }
    }

    // The listener and what it accepted carry its path.
    private int SocketCount() => File.ReadLines("/proc/net/unix").Count(line => line.EndsWith(SocketPath, StringComparison.Ordinal));

    private Socket ConnectUnix()
    {
        Socket socket = new(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
        socket.Connect(new UnixDomainSocketEndPoint(SocketPath));
        return socket;
    }

    private static async LaneTask<ILaneListener> Listen(TestLane test, string path, Action<ILaneSocket> accepted)
    {
        await test.Lane.Yield();
        return test.Lane.Network.ListenUnix(path, accepted);
    }

    private static async LaneTask Echo(ILane lane, ILaneSocket socket)
    {
        IoBuffer buffer = lane.Buffers.Rent(256 << 10);
        IoBuffer[] pieces = new IoBuffer[3];
        int count;
        while ((count = await socket.Receive(buffer)) > 0)
        {
            pieces[0] = buffer.Slice(0, count / 3);
            pieces[1] = buffer.Slice(count / 3, count / 5);
            pieces[2] = buffer.Slice((count / 3) + (count / 5), count - (count / 3) - (count / 5));
            if (await socket.Send(pieces) != IoError.None)
            {
                break;
            }
        }

        socket.Close();
        lane.Buffers.Return(buffer);
    }

    private static async LaneTask ReceiveOnce(ILane lane, ILaneSocket socket, TaskCompletionSource<int> received)
    {
        IoBuffer buffer = lane.Buffers.Rent(4096);
        int result = await socket.Receive(buffer);
        lane.Buffers.Return(buffer);
        socket.Close();
        received.SetResult(result);
    }

    private static async LaneTask SendUntilError(ILane lane, ILaneSocket socket, TaskCompletionSource<IoError> sent)
    {
        IoBuffer buffer = lane.Buffers.Rent(64 << 10);
        IoBuffer[] pieces = [buffer];
        IoError error;
        while ((error = await socket.Send(pieces)) == IoError.None)
        {
        }

        lane.Buffers.Return(buffer);
        socket.Close();
        sent.SetResult(error);
    }

    private static void EchoThrough(Socket client, int megabytes)
    {
        byte[] data = new byte[megabytes << 20];
        new Random(megabytes).NextBytes(data);
        byte[] back = new byte[data.Length];
        using (client)
        {
            client.ReceiveTimeout = 20_000;
            Task sender = Task.Run(() =>
            {
                for (int sent = 0; sent < data.Length;)
                {
                    sent += client.Send(data.AsSpan(sent, Math.Min(777_777, data.Length - sent)));
                }
            });
            int got = 0;
            for (int count; got < back.Length && (count = client.Receive(back.AsSpan(got))) > 0;)
            {
                got += count;
            }

            Assert.True(sender.Wait(5000));
            Assert.Equal(data.Length, got);
            Assert.True(data.AsSpan().SequenceEqual(back));
        }
    }
}

public class UringNetworkTests() : LaneNetworkTests(LaneBackend.Uring);

public class ThreadPoolNetworkTests() : LaneNetworkTests(LaneBackend.Threads);
