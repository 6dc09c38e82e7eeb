using TierSpaces.Engine.Journals;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

/// <summary>Context that the parts of one space share: its pool, its layout, its members, its rows, its locks, its lost blocks and its state.</summary>
internal sealed class SpaceContext
{
    internal SpaceContext(ISpaceHost host, SpaceOptions options, Func<int, LaneTask<IoError>> afterEviction)
    {
        Host = host;
        Options = options;
        Layout = options.Resiliency.Layout(options.Shape);
        Rows = new RowTable(Layout, options.Shape, options.Length, options.Rows);
        Members = new SpaceMembers(host) { Fail = Status.Fail, AfterEviction = afterEviction };
        Rings = new RingSet(host, Members, options.Shape.SlabSize, Status.Fail);
        Redundancy = new Redundancy(Layout, Rows, Members, Rings);
        Lost = new LostBlocks(Layout);
    }

    internal ISpaceHost Host { get; }

    internal ILane Lane => Host.Lane;

    internal SpaceOptions Options { get; }

    internal SpaceShape Shape => Options.Shape;

    internal ILayout Layout { get; }

    internal SpaceStatus Status { get; } = new();

    internal SpaceCounters Counters { get; } = new();

    /// <summary>Range locks over the keys of <see cref="ILayout.LockKey"/>.</summary>
    internal RangeLock Locks { get; } = new();

    internal RowTable Rows { get; }

    internal SpaceMembers Members { get; }

    /// <summary>Rings on the members: the integrity log and the write cache.</summary>
    internal RingSet Rings { get; }

    internal Redundancy Redundancy { get; }

    /// <summary>Blocks that no position could return.</summary>
    internal LostBlocks Lost { get; }

    /// <summary>Makes what states the end of a journal of the space.</summary>
    internal EndStating StateEndOf(Journal journal, Func<bool> hasRoom) => new(
        Lane, journal, hasRoom, () => Locks.Held > 0, () => Counters.Io.DataBytesRead + Counters.Io.DataBytesWritten, () => Status.IsStopping);
}
