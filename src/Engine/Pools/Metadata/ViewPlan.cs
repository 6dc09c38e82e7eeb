using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

/// <summary>Changes of the next view against the one in force. Members that have failed are left out in any case.</summary>
internal sealed record ViewPlan
{
    /// <summary>No change but to leave out the members that have failed.</summary>
    internal static ViewPlan None { get; } = new();

    /// <summary>Disks that become members; their metadata areas are ready.</summary>
    internal IReadOnlyList<MemberDisk> Joiners { get; init; } = [];

    /// <summary>Disks in good health that leave.</summary>
    internal IReadOnlyList<DiskNumber> Leavers { get; init; } = [];

    /// <summary>Members or joiners that become metadata disks; they hold checkpoint and journal.</summary>
    internal IReadOnlyList<DiskNumber> Promoted { get; init; } = [];

    /// <summary>Members that stay and hold no metadata any more, because they are slow.</summary>
    internal IReadOnlyList<DiskNumber> Demoted { get; init; } = [];

    /// <summary>A new witness, or null for the old one.</summary>
    internal Guid? Witness { get; init; }
}
