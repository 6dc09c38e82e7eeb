using System.Net;
using TierSpaces.Engine.Exports.Nbd;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Interop.Tests;

/// <summary>A disk in memory, served on a real lane over a Unix socket in a folder of its own.</summary>
internal sealed class ServedDisk : IDisposable
{
    private readonly Lane _lane;
    private readonly NbdServer _server;
    private readonly MemoryStore _store;
    private readonly List<string> _notices = [];

    internal ServedDisk(long length = 64 << 20, int blockSize = 512, bool isReadOnly = false)
    {
        Folder = Directory.CreateTempSubdirectory("ts-nbd-").FullName;
        _lane = LaneFactory.Create("interop");
        _store = new MemoryStore(length, blockSize);
        _server = new NbdServer(_lane, notice: _notices.Add);
        Export = new NbdExport(Guid.Empty, "My disk", "interop", _store, isReadOnly);
        OnLane(() =>
        {
            _server.Add(Export);
            _server.ListenUnix(_lane.Network, Socket);
        });
    }

    internal NbdExport Export { get; }

    /// <summary>A folder that vanishes with the disk.</summary>
    internal string Folder { get; }

    internal string Socket => Path.Combine(Folder, "nbd.sock");

    internal string Uri => $"nbd+unix:///My%20disk?socket={Socket}";

    internal string ListenTcp()
    {
        string address = "";
        OnLane(() => address = _server.ListenTcp(_lane.Network, new IPEndPoint(IPAddress.Loopback, 0)).Address);
        return address["tcp:".Length..];
    }

    /// <summary>A file of the disk's length: some data, some zeros, some holes.</summary>
    internal string NewImage(string name, int seed = 1)
    {
        string path = Path.Combine(Folder, name);
        Random random = new(seed);
        using FileStream file = File.Create(path);
        file.SetLength(_store.Length);
        byte[] data = new byte[1 << 20];
        for (int i = 0; i < 12; i++)
        {
            random.NextBytes(data);
            file.Position = random.NextInt64((_store.Length - data.Length) / 4096) * 4096;
            file.Write(data);
        }

        return path;
    }

    internal byte[] Bytes(long offset, int length)
    {
        byte[] bytes = new byte[length];
        OnLane(() =>
        {
            IoBuffer buffer = _lane.Buffers.Rent(length);
            _store.Read(offset, buffer).Forget();
            buffer.Span.CopyTo(bytes);
            _lane.Buffers.Return(buffer);
        });
        return bytes;
    }

    public void Dispose()
    {
        _lane.InvokeAsync(End).GetAwaiter().GetResult();
        Assert.Equal(0, _lane.Buffers.Outstanding);
        _lane.Dispose();
        _store.Dispose();
        Directory.Delete(Folder, recursive: true);
        Assert.Empty(_notices);   // real clients keep to the protocol
        Assert.Equal(0, Export.Counters.Connections);
    }

    private async LaneTask<Nothing> End()
    {
        await _server.Close();
        return default;
    }

    private void OnLane(Action work) => _lane.InvokeAsync(() =>
    {
        work();
        return LaneTask.FromResult(default(Nothing));
    }).GetAwaiter().GetResult();
}
