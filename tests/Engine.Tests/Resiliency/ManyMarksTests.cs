using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.Resiliency.Layouts;
using TierSpaces.Engine.Tests.Devices;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Resiliency;

/// <summary>More dirty regions than the log has room for the marks of.</summary>
public sealed class ManyMarksTests
{
    private const int Rows = 1000;

    private readonly SimLane _lane = new(1);
    private readonly SimSpaceMap _map = new();

    // A block of the log has about 500 marks: the 16 blocks have room for half of the 16,000 regions.
    [Theory]
    [InlineData(1, 1)]
    [InlineData(1, 32)]
    [InlineData(4, 32)]
    public void A_load_over_more_regions_than_the_log_can_name_goes_on(int regionsPerMark, int depth)
    {
        Space space = Open(regionsPerMark);
        int next = 0;
        LaneTask<IoError>[] clients = [.. Enumerable.Range(0, depth).Select(_ => Client())];
        Assert.All(Array.ConvertAll(clients, client => _lane.Run(client)), error => Assert.Equal(IoError.None, error));
        Assert.Equal("", space.FaultReason);
        Assert.InRange(space.DirtyRegions, 1, 1100);

        async LaneTask<IoError> Client()
        {
            IoBuffer buffer = _lane.Buffers.Rent(4096);
            IoError error = IoError.None;
            while (next < Rows * SpaceShape.RegionsPerSlab && error == IoError.None)
            {
                error = await space.Write(next++ * (long)space.Shape.RegionSize, buffer, WriteFlags.None);
            }

            _lane.Buffers.Return(buffer);
            return error;
        }
    }

    private Space Open(int regionsPerMark)
    {
        SpaceShape shape = new(1, 2, 64 << 10, 1 << 20, Checksums: false);
        DiskWatch watch = new(_lane);
        IDisk[] disks = [.. Enumerable.Range(0, 2).Select(_ => new MeteredDisk(_lane, new NullDisk(40L << 30), watch))];
        SimSpaceHost host = new(_lane, shape, disks, _map);
        _map.Used.UnionWith([(0, 0), (1, 0)]);
        Space space = _lane.Run(Space.Create(host, new SpaceOptions
        {
            Space = 7,
            PoolTag = 1,
            Shape = shape,
            Length = Rows * shape.RowSize,
            IsThin = true,
            Rows = [],
            LogCopies = [[SimSpaceHost.Place(shape, 0, 0)], [SimSpaceHost.Place(shape, 1, 0)]],
            LogOwner = new Guid(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11),
            LogBlocksMax = 16,
            RegionsPerMark = regionsPerMark,
        }));
        host.Space = space;
        return space;
    }
}
