using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Lanes;

namespace TierSpaces.Engine.Management;

/// <summary>State that all services of a subsystem share: its options, its lanes, its verb queue, and the tables of its disks and pools.</summary>
internal sealed class SubsystemCore
{
    internal SubsystemCore(SubsystemOptions options)
    {
        Options = options;
        State = new StateFolder(options.Lane, options.State);
        Patience = new LanePatience(options.Lane);
        DataLanes = new DataLanes(options);
        Pools = new PoolTable();
        Openings = new PoolOpenings(options.Lane, Pools);
        Verbs = new VerbQueue(options.Lane, Openings);
        Repair = new RepairSpeed(options.State, options.JobPacing);
        Disks = new DiskTable(new DiskRegistry(State), Pools, options.Notice);
    }

    internal SubsystemOptions Options { get; }

    internal ILane Lane => Options.Lane;

    internal DataLanes DataLanes { get; }

    internal StateFolder State { get; }

    internal VerbQueue Verbs { get; }

    /// <summary>Share of the disks that repairs have beside clients.</summary>
    internal RepairSpeed Repair { get; }

    internal LanePatience Patience { get; }

    internal PoolTable Pools { get; }

    internal PoolOpenings Openings { get; }

    internal DiskTable Disks { get; }

    /// <summary>Raised on the lane when pools have been opened, with their virtual disks.</summary>
    internal event Action? PoolsOpened;

    internal void RaisePoolsOpened() => PoolsOpened?.Invoke();

    /// <summary>Forgets the pools that are not open and of which no disk is registered any more.</summary>
    internal void ForgetPools()
    {
        foreach (ManagedPool managed in Pools.All.Where(static pool => pool.Pool is null).ToArray())
        {
            if (!Disks.All.Any(disk => disk.Condition.Label?.Pool == managed.Id || managed.MemberFor(disk) is not null))
            {
                Pools.Remove(managed.Id);
            }
        }
    }

    /// <summary>Reports an event in words.</summary>
    internal void Notice(string text) => Options.Notice(text);
}
