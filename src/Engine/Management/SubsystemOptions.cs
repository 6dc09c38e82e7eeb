using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Jobs;
using TierSpaces.Engine.Lanes;

namespace TierSpaces.Engine.Management;

/// <summary>Components and settings of a subsystem.</summary>
/// <param name="Lane">Lane of pools and verbs, the control lane.</param>
/// <param name="Network">Sockets of that lane, for virtual disks on it; null: none is exported there.</param>
/// <param name="Factory">Opens disks.</param>
/// <param name="State">The host's state folder.</param>
/// <param name="ExportFolder">Folder of the export sockets.</param>
/// <param name="NodeId">Identity of this host.</param>
/// <param name="Notice">Takes events in words, on the lane.</param>
public sealed record SubsystemOptions(
    ILane Lane, ILaneNetwork? Network, IDiskFactory Factory, IHostState State, string ExportFolder, Guid NodeId, Action<string> Notice)
{
    /// <summary>Identity of the running kernel.</summary>
    public Guid BootId { get; init; }

    /// <summary>Name of the machine, at most 64 characters.</summary>
    public string HostName { get; init; } = "";

    /// <summary>Lanes of virtual disks and their exports; empty: they are on the control lane.</summary>
    public IReadOnlyList<DataLane> DataLanes { get; init; } = [];

    /// <summary>Share of the machine that jobs may use.</summary>
    public JobPacing JobPacing { get; init; } = new();

    /// <summary>Deadlines of requests to member disks.</summary>
    public IoDeadlines Deadlines { get; init; } = IoDeadlines.Default;

    /// <summary>Knows the signatures of other software on disks; null: the engine's own table alone decides.</summary>
    public ISignatureTool? Signatures { get; init; }

    /// <summary>Times after which pools repair, retire or search for disks without a command.</summary>
    public HealingTimes Healing { get; init; } = HealingTimes.Default;
}
