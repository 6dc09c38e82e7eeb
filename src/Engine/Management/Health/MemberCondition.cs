using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

// Why a physical disk is not OK: what is wrong, what the host does about it by itself and when, what else helps.

/// <summary>Condition of a member of a pool at one moment. The status of the member follows from it alone.</summary>
internal sealed record MemberCondition
{
    /// <summary>Reason why its pool is not open; null while it is. A disk of such a pool that is there is sound.</summary>
    internal string? PoolClosedReason { get; init; }

    /// <summary>Reason why it could not be opened; empty when it could, or is not known.</summary>
    internal string Problem { get; init; } = "";

    /// <summary>Names the devices that carry its disk identity, of which none is used for that reason; empty when there are none.</summary>
    internal string Copies { get; init; } = "";

    /// <summary>Whether it is being opened, with its pool.</summary>
    internal bool IsBeingOpened { get; init; }

    /// <summary>Whether it is there and does not take part in its pool.</summary>
    internal bool IsOutside { get; init; }

    /// <summary>Whether its pool has no use of it now; of a pool that is not open: whether it is not there.</summary>
    internal bool IsMissing { get; init; }

    /// <summary>Whether requests to it have passed their deadline.</summary>
    internal bool IsHung { get; init; }

    /// <summary>Whether it has had too many errors.</summary>
    internal bool IsFailing { get; init; }

    /// <summary>Whether it is retired.</summary>
    internal bool IsRetired { get; init; }

    /// <summary>Time of the next search for the member, on the lane's clock.</summary>
    internal long NextLookNs { get; init; }

    /// <summary>Bytes of slabs in use on it.</summary>
    internal long HeldBytes { get; init; }

    /// <summary>Time at which it is given up if it is still missing, on the lane's clock; null: it is not given up without a command.</summary>
    internal long? GivenUpNs { get; init; }

    /// <summary>Policy of its pool on missing disks.</summary>
    internal RetireMissingPhysicalDisks Policy { get; init; }

    /// <summary>The moment, on the lane's clock.</summary>
    internal required long NowNs { get; init; }

    /// <summary>Health.</summary>
    internal HealthStatus Health => IsBeingOpened || (IsPresent && !IsFailing) ? HealthStatus.Healthy : HealthStatus.Warning;

    /// <summary>OK, Starting, Lost Communication or Predictive Failure.</summary>
    internal string OperationalStatus => IsBeingOpened ? "Starting" : !IsPresent ? "Lost Communication" : IsFailing ? "Predictive Failure" : "OK";

    /// <summary>Reason why the member is not OK; empty when it is.</summary>
    internal string Reason =>
        PoolClosedReason is { } closed && (IsBeingOpened || !IsMissing) ? $"Its storage pool is not open: {closed}"
        : IsMissing && Copies.Length > 0 ? Copies
        : PoolClosedReason is not null ? $"{(Problem.Length > 0 ? Problem : "It is missing.")} {Upcoming.Look(NextLookNs, NowNs)}"
        : IsOutside ? $"It is there and does not take part in its storage pool. {Upcoming.Look(NextLookNs, NowNs)} {DescribeGivingUp()}"
        : IsMissing ? $"It is missing. {Upcoming.Look(NextLookNs, NowNs)} {DescribeGivingUp()}"
        : IsHung ? "It does not answer: requests have passed their deadline. It leaves its storage pool as soon as that can do without it."
        : !IsFailing ? ""
        : IsRetired ? "It has had too many errors (see Get-StorageReliabilityCounter) and is retired: what it holds is moved to other disks. Remove it then."
        : "It has had too many errors (see Get-StorageReliabilityCounter). It is retired as soon as its storage pool has room for what it holds: add a disk.";

    private bool IsPresent => !IsMissing && !IsHung;

    /// <summary>Says when a missing member is given up, or why it is not.</summary>
    private string DescribeGivingUp() =>
        HeldBytes == 0 ? "It holds nothing of a virtual disk: Remove-PhysicalDisk removes it."
        : IsRetired ? "It is retired: what it held is rebuilt on other disks as far as they have room. Remove it then."
        : GivenUpNs is { } at ? $"It is given up {Upcoming.In(at, NowNs)}: it is retired then, and what it held is rebuilt on other disks as far as they have room."
        : "It is not given up without a command "
            + $"({(Policy == RetireMissingPhysicalDisks.Auto ? "RetireMissingPhysicalDisks is Auto, and no hot spare is there" : $"RetireMissingPhysicalDisks is {Policy}")}): "
            + "if it is lost for good, set it to -Usage Retired.";

    /// <summary>Returns the condition of a member.</summary>
    internal static MemberCondition Of(SubsystemSnapshot now, ManagedPoolSnapshot managed, DiskDescription member) => new()
    {
        PoolClosedReason = managed.Pool is null ? managed.Reason : null,
        IsBeingOpened = managed is { Pool: null, IsBeingOpened: true }
            && now.Disks.DiskOf(managed, member.Number) is { IsOpen: false, Condition.Problem.Length: 0 },
        IsOutside = managed.Pool?.Outside.Contains(member.Number) == true,
        IsMissing = managed.Pool is { } open ? !open.IsUsable(member.Number) : now.Disks.DiskOf(managed, member.Number) is not { IsOpen: true },
        Problem = managed.Pool is null ? now.Disks.DiskOf(managed, member.Number)?.Condition.Problem ?? "" : "",
        Copies = now.Disks.CopiesOf(member),
        IsHung = managed.Activity(member.Number).IsHung,
        IsFailing = now.PastThreshold.Contains(member.Id.Value),
        IsRetired = member.Usage == DiskUsage.Retired,
        NextLookNs = now.Disks.NextLookNs(managed, member.Number),
        HeldBytes = managed.State!.Disk(member.Number)!.UsedSlabs * managed.State.Pool!.Slabs.DataBytes,
        GivenUpNs = managed.Pool is { } pool && !pool.State.Pool!.IsReadOnly && SlabMovePlan.GivesUpMissing(pool) ? managed.GraceEndNs(member.Number) : null,
        Policy = managed.State.Pool!.RetireMissingPhysicalDisks,
        NowNs = now.NowNs,
    };
}
