using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Management;

/// <summary>Does once a minute what is done by the time of day: saves counters, verifies virtual disks, optimizes tiers.</summary>
internal sealed class ScheduleLoop(SubsystemCore core, ReliabilityRecords reliability, ScrubService scrubs, TierUpkeep upkeep)
{
    private const long SchedulePollNs = 60_000_000_000;

    /// <summary>Runs until the host stops.</summary>
    internal async LaneTask Run()
    {
        while (!core.Verbs.IsStopped)
        {
            await core.Lane.Delay(SchedulePollNs);
            if (!core.Verbs.IsStopped)
            {
                await reliability.Gather();
                await reliability.Save();
            }

            foreach (ManagedPool managed in core.Pools.All.ToArray())
            {
                foreach (ManagedVirtualDisk disk in managed.VirtualDisks.Values.ToArray())
                {
                    await scrubs.StartWhenDue(managed, disk);
                }

                await upkeep.Tend(managed);
            }
        }
    }
}
