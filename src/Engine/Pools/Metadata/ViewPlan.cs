using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

/// <summary>How the next view differs from the one in force, beside leaving out what has failed.</summary>
internal sealed record ViewPlan
{
    /// <summary>Nothing but what has failed.</summary>
    internal static ViewPlan None { get; } = new();

    /// <summary>Disks that become members; their metadata areas are ready.</summary>
    internal IReadOnlyList<MemberDisk> Joiners { get; init; } = [];

    /// <summary>Disks in good health that leave.</summary>
    internal IReadOnlyList<DiskNumber> Leavers { get; init; } = [];

    /// <summary>Members or joiners that become metadata disks; they hold checkpoint and journal.</summary>
    internal IReadOnlyList<DiskNumber> Promoted { get; init; } = [];

    /// <summary>A new witness, or null for the old one.</summary>
    internal Guid? Witness { get; init; }
}
