using TierSpaces.Engine.Exports.Nbd;
using TierSpaces.Engine.Lanes;

namespace TierSpaces.Engine.Management;

/// <summary>A lane that virtual disks live on.</summary>
/// <param name="Lane">The lane.</param>
/// <param name="Network">Its sockets; null: nothing is exported.</param>
public sealed record DataLane(ILane Lane, ILaneNetwork? Network);

/// <summary>The lanes of virtual disks and their exports, numbered from 1. Used on the control lane.</summary>
internal sealed class DataLanes
{
    private readonly DataLane[] _lanes;
    private readonly NbdBudget[] _payload;   // of all exports of a lane

    /// <param name="options">Names the lanes; without any the control lane is the only one.</param>
    internal DataLanes(SubsystemOptions options)
    {
        _lanes = options.DataLanes.Count > 0 ? [.. options.DataLanes] : [new DataLane(options.Lane, options.Network)];
        _payload = Array.ConvertAll(_lanes, static _ => new NbdBudget());
    }

    /// <summary>Number of lanes.</summary>
    internal int Count => _lanes.Length;

    /// <summary>Whether virtual disks can be exported.</summary>
    internal bool CanExport => _lanes[0].Network is not null;

    /// <summary>Returns the lane with a number from 1 to <see cref="Count"/>.</summary>
    internal ILane this[int number] => _lanes[number - 1].Lane;

    /// <summary>Returns the lane that <c>-Lane</c> names.</summary>
    /// <exception cref="ManagementException">No lane has that number.</exception>
    internal ILane Take(int number) => number >= 1 && number <= Count ? this[number] : throw new ManagementException(
        ManagementError.InvalidParameter, $"-Lane {number}: out of range. Valid: 1 to {Count}, the lanes of this host.",
        $"Give a number in this range, or start the host again with more lanes ({LaneFactory.CountVariable}).");

    /// <summary>Returns the number of a lane; 0: it is none of these.</summary>
    internal int NumberOf(ILane lane) => IndexOf(lane) + 1;

    /// <summary>Returns the sockets of a lane; null: nothing is exported.</summary>
    internal ILaneNetwork? NetworkOf(ILane lane) => _lanes[IndexOf(lane)].Network;

    /// <summary>Returns the payload memory that all exports of a lane share. It is used on that lane.</summary>
    internal NbdBudget PayloadOf(ILane lane) => _payload[IndexOf(lane)];

    /// <summary>Returns the lane with the least load: the fewest exported virtual disks, then the fewest open ones, then the first.</summary>
    internal ILane LeastLoaded(PoolTable pools)
    {
        ManagedVirtualDisk[] open = [.. pools.All.SelectMany(static pool => pool.VirtualDisks.Values)];
        return _lanes.MinBy(lane => (open.Count(disk => disk.Lane == lane.Lane && disk.IsExported), open.Count(disk => disk.Lane == lane.Lane)))!.Lane;
    }

    private int IndexOf(ILane lane) => Array.FindIndex(_lanes, one => one.Lane == lane);
}
