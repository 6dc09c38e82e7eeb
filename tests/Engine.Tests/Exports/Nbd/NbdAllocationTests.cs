using System.Diagnostics;
using System.Reflection;
using TierSpaces.Engine.Exports.Nbd;
using TierSpaces.Engine.Tests.Lanes;

namespace TierSpaces.Engine.Tests.Exports.Nbd;

public class NbdAllocationTests
{
    private const int Depth = 32;

    [Theory]
    [InlineData(0, 4096, false)]
    [InlineData(0, 4096, true)]
    [InlineData(1, 4096, false)]
    [InlineData(1, 4096, true)]
    [InlineData(1, 1 << 20, true)]
    [InlineData(7, 1 << 20, true)]
    public void Steady_state_allocates_nothing(int command, int size, bool completesLater)
    {
        Assert.SkipWhen(
            typeof(NbdServer).Assembly.GetCustomAttribute<DebuggableAttribute>() is { IsJITOptimizerDisabled: true },
            "Debug builds allocate every async frame; build with --configuration Release.");
        QuietLane lane = new();
        QuietStore store = new(completesLater);
        QuietSocket socket = new();
        NbdServer server = new(lane);
        server.Add(new NbdExport(Guid.Empty, "disk", "", store, false));
        server.Accept(socket);
        socket.Play([
            .. TestClient.UInt32(3),
            .. TestClient.OptionBytes(8),
            .. TestClient.OptionBytes(10, TestClient.ContextQuery("", "base:allocation")),
            .. TestClient.OptionBytes(7, TestClient.InfoQuery(""))]);
        byte[] payload = command == 1 ? new byte[size] : [];
        byte[] batch = [.. Enumerable.Range(0, Depth).SelectMany(
            i => TestClient.RequestBytes((ushort)command, (ulong)(i * size), (uint)size, 0, (ulong)i, payload))];

        Play(5 * Rounds(size), lane, store, socket, batch);
        long sent = socket.BytesSent;
        Assert.Equal(0, AllocationMeter.LeastOf(() => Play(Rounds(size), lane, store, socket, batch)));

        int replyBytes = command switch { 0 => 28 + size, 1 => 16, _ => 32 };
        Assert.Equal(5L * Rounds(size) * Depth * replyBytes, socket.BytesSent - sent);
    }

    private static int Rounds(int size) => size > 4096 ? 20 : 200;

    private static void Play(int times, QuietLane lane, QuietStore store, QuietSocket socket, byte[] batch)
    {
        for (int i = 0; i < times; i++)
        {
            socket.Play(batch);
            lane.Run();
            store.CompleteAll();
            lane.Run();
        }
    }
}
