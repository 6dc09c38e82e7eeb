using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Jobs;
using TierSpaces.Engine.Lanes;

namespace TierSpaces.Engine.Management;

/// <summary>What a subsystem is made of.</summary>
/// <param name="Lane">Lane of pools, virtual disks and exports.</param>
/// <param name="Network">Sockets of that lane; null: nothing is exported.</param>
/// <param name="Factory">Opens disks.</param>
/// <param name="State">The host's state folder.</param>
/// <param name="ExportFolder">Folder of the export sockets.</param>
/// <param name="NodeId">Identity of this host.</param>
/// <param name="Notice">Takes events in words, on the lane.</param>
public sealed record SubsystemOptions(
    ILane Lane, ILaneNetwork? Network, IDiskFactory Factory, IHostState State, string ExportFolder, Guid NodeId, Action<string> Notice)
{
    /// <summary>How much of the machine jobs may have.</summary>
    public JobPacing JobPacing { get; init; } = new();

    /// <summary>How long member disks may take.</summary>
    public IoDeadlines Deadlines { get; init; } = IoDeadlines.Default;

    /// <summary>When pools do something about their disks by themselves.</summary>
    public HealingTimes Healing { get; init; } = HealingTimes.Default;
}
