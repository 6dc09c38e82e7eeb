using TierSpaces.Engine.Exports.Nbd;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Bench.Tests;

/// <summary>A store that remembers the writes it was asked for, served over NBD on a Unix socket.</summary>
internal sealed class LoadedStore : IBlockStore, IDisposable
{
    internal const long Length = 16 << 20;

    private readonly Lane _lane = LaneFactory.Create("loaded");
    private readonly NbdServer _server;
    private readonly string _folder = Directory.CreateTempSubdirectory("ts-load-").FullName;

    internal LoadedStore()
    {
        _server = new NbdServer(_lane);
        NbdExport export = new(Guid.Empty, "loaded", "", this, isReadOnly: false);
        OnLane(() =>
        {
            _server.Add(export);
            _server.ListenUnix(_lane.Network, Socket);
            return default;
        });
    }

    internal string Socket => Path.Combine(_folder, "s");

    /// <summary>Places and flags of the writes, in the order in which they came.</summary>
    internal List<(long Offset, int Length, WriteFlags Flags)> Writes { get; } = [];

    /// <summary>For each flush, the number of writes that had come before it.</summary>
    internal List<int> Flushes { get; } = [];

    public StoreGeometry Geometry => new(Length, 4096, 4096, 1 << 20);

    public LaneTask<IoError> Read(long offset, IoBuffer target) => default;

    public LaneTask<IoError> Write(long offset, IoBuffer source, WriteFlags flags)
    {
        Writes.Add((offset, source.Length, flags & WriteFlags.ForceUnitAccess));
        return default;
    }

    public LaneTask<IoError> Flush()
    {
        Flushes.Add(Writes.Count);
        return default;
    }

    public LaneTask<IoError> Unmap(long offset, long length) => default;

    public LaneTask<IoError> WriteZeroes(long offset, long length, WriteFlags flags) => default;

    public LaneTask<IoError> Status(long offset, long length, List<StoreExtent> extents) => new(IoError.NotSupported);

    public void Dispose()
    {
        OnLane(() => _server.Close());
        _lane.Dispose();
        Directory.Delete(_folder, recursive: true);
    }

    private void OnLane(Func<LaneTask> work) => _lane.InvokeAsync(async () =>
    {
        await work();
        return 0;
    }).GetAwaiter().GetResult();
}
