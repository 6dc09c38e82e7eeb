using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tests.Management.Health;

/// <summary>Health and reasons follow from the condition of an object alone.</summary>
public sealed class VirtualDiskConditionTests
{
    private const long Second = 1_000_000_000;

    private static readonly VirtualDiskCondition s_served = new() { IsComplete = true, IsExported = true };

    [Fact]
    public void A_virtual_disk_that_is_served_and_whole_is_OK_without_a_reason()
    {
        Assert.Equal((HealthStatus.Healthy, "OK", ""), s_served.State);
        Assert.Equal("", s_served.Reason);
    }

    [Fact]
    public void One_that_is_only_not_connected_says_so_in_its_detached_reason()
    {
        VirtualDiskCondition detached = s_served with { IsExported = false };

        Assert.Equal((HealthStatus.Healthy, "Detached", "By Policy"), detached.State);
        Assert.Equal("", detached.Reason);
    }

    [Fact]
    public void Each_condition_that_is_not_OK_has_a_status_and_a_reason()
    {
        (VirtualDiskCondition Condition, HealthStatus Health, string Status, string Reason)[] cases =
        [
            (new VirtualDiskCondition { ClosedReason = "Its storage pool is not open: why" }, HealthStatus.Unhealthy, "Detached",
            "Its storage pool is not open: why"),
            (new VirtualDiskCondition { AwaitsDecision = true }, HealthStatus.Unhealthy, "Detached", "It is detached until a commit is decided"),
            (new VirtualDiskCondition { Fault = IoError.DeviceGone, FaultReason = "why" }, HealthStatus.Unhealthy, "Detached",
            "It takes no more requests: why"),
            (s_served with { IsComplete = false, LacksLog = true }, HealthStatus.Unhealthy, "No Redundancy", "No copy of its integrity log is there"),
            (s_served with { FullDisk = "d1" }, HealthStatus.Warning, "OK", "The file system under physical disk 'd1' is full"),
            (s_served with { LostCacheReason = "why" }, HealthStatus.Warning, "OK", "Its write cache takes no writes: why"),
            (s_served with { HasLost = true, Lost = [(8192, 4096)] }, HealthStatus.Warning, "Error",
                "Data that no copy has: 4 KB at offset 8 KB, in all 4 KB. Reads of it fail until it is written or unmapped"),
            (s_served with { HasLost = true, Lost = [(0, 4096), (8192, 8192)], IsDegraded = true, Missing = [new MissingCopies("d2", 5 * Second)] },
                HealthStatus.Warning, "Error",
                "Data in doubt until physical disk 'd2' is back, since no copy that is there has it: 4 KB at offset 0, 8 KB at offset 8 KB, in all 12 KB."),
            (s_served with { CapacityReason = "why" }, HealthStatus.Warning, "Stressed", "why"),
            (s_served with { IsDegraded = true, Missing = [new MissingCopies("d2", 5 * Second)] }, HealthStatus.Warning, "Degraded",
                "Physical disk 'd2' with copies of it is missing. It is looked for again in 5 s"),
            (s_served with { IsDegraded = true, BytesBehind = 7, RepairPercent = 40 }, HealthStatus.Warning, "Degraded",
            "Copies of up to 7 bytes are out of date. A repair runs (40 % complete"),
            (s_served with { IsDegraded = true, BytesBehind = 7, IsRepairStopped = true }, HealthStatus.Warning, "Degraded",
                "Copies of up to 7 bytes are out of date. Their repair was stopped"),
            (s_served with { IsExported = false, ExportProblem = "why" }, HealthStatus.Warning, "Detached", "It is not served: why"),
        ];

        Assert.All(cases, static expected =>
        {
            Assert.Equal((expected.Health, expected.Status), (expected.Condition.State.Health, expected.Condition.State.Status));
            Assert.StartsWith(expected.Reason, expected.Condition.Reason, StringComparison.Ordinal);
        });
    }

    private const string Look = "It is missing. It is looked for again in 3 s; what it missed is copied when it is back. ";

    private static readonly MemberCondition s_missing = new()
    {
        NowNs = Second, IsMissing = true, NextLookNs = 4 * Second, HeldBytes = 1, Policy = RetireMissingPhysicalDisks.Never,
    };

    [Fact]
    public void A_member_that_is_not_OK_says_why_and_what_is_done()
    {
        MemberCondition there = new() { NowNs = Second };
        (MemberCondition Condition, string Status, string Reason)[] cases =
        [
            (there, "OK", ""),
            (there with { PoolClosedReason = "why" }, "OK", "Its storage pool is not open: why"),
            (there with { PoolClosedReason = "why", IsMissing = true, Problem = "It hangs." }, "Lost Communication", "It hangs. It is looked for again"),
            (there with { IsMissing = true, NextLookNs = 4 * Second }, "Lost Communication", "It is missing. It is looked for again in 3 s"),
            (s_missing with { HeldBytes = 0 }, "Lost Communication", Look + "It holds nothing of a virtual disk: Remove-PhysicalDisk removes it."),
            (s_missing with { IsRetired = true, GivenUpNs = 0 }, "Lost Communication", Look + "It is retired: what it held is rebuilt"),
            (s_missing with { GivenUpNs = 300 * Second }, "Lost Communication", Look + "It is given up in 299 s: it is retired then"),
            (s_missing with { GivenUpNs = 0 }, "Lost Communication", Look + "It is given up within a second"),
            (s_missing, "Lost Communication", Look + "It is not given up without a command (RetireMissingPhysicalDisks is Never): if"),
            (s_missing with { Policy = RetireMissingPhysicalDisks.Auto }, "Lost Communication",
                Look + "It is not given up without a command (RetireMissingPhysicalDisks is Auto, and no hot spare is there)"),
            (there with { IsMissing = true, IsOutside = true }, "Lost Communication", "It is there and does not take part in its storage pool."),
            (there with { IsHung = true }, "Lost Communication", "It does not answer"),
            (there with { IsFailing = true }, "Predictive Failure", "It has had too many errors (see Get-StorageReliabilityCounter). It is retired as soon as"),
            (there with { IsFailing = true, IsRetired = true }, "Predictive Failure",
            "It has had too many errors (see Get-StorageReliabilityCounter) and is retired"),
        ];

        Assert.All(cases, static expected =>
        {
            Assert.Equal(expected.Status, expected.Condition.OperationalStatus);
            Assert.Equal(expected.Status == "OK" ? HealthStatus.Healthy : HealthStatus.Warning, expected.Condition.Health);
            Assert.StartsWith(expected.Reason, expected.Condition.Reason, StringComparison.Ordinal);
            Assert.Equal(expected.Reason.Length == 0, expected.Condition.Reason.Length == 0);
        });
    }
}
