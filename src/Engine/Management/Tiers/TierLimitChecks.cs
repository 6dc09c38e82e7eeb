using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Tiering;

namespace TierSpaces.Engine.Management;

/// <summary>Limits of optimizations: their ranges, and how records hold them.</summary>
internal static class TierLimitChecks
{
    private const long LargestSlice = 16 << 20;   // of all virtual disks that a schedule is for

    /// <summary>Refuses limits that are out of their range, for one virtual disk.</summary>
    internal static void Require(TierLimits limits, VirtualDiskDescription disk) =>
        Require(limits, disk.SliceSize, $"less than one slice of virtual disk '{disk.FriendlyName}'", "", "leave it out");

    /// <summary>Refuses limits that are out of their range, for every virtual disk of a pool.</summary>
    internal static void RequireForPool(TierLimits limits) =>
        Require(limits, LargestSlice, "a virtual disk may have larger slices", "0 for no limit, or ", "set it to 0");

    /// <summary>Returns the progress of a job with the limits that it keeps after a restart.</summary>
    internal static JobProgress? With(JobProgress? progress, TierLimits limits) => progress is null ? null : progress with
    {
        BytesMax = limits.MaxBytes == long.MaxValue ? 0 : limits.MaxBytes, LatencyTargetNs = limits.LatencyTargetNs,
    };

    /// <summary>Returns the limits in a record.</summary>
    internal static TierLimits Of(JobProgress progress) => new(progress.BytesMax > 0 ? progress.BytesMax : long.MaxValue, progress.LatencyTargetNs);

    private static void Require(TierLimits limits, long bytesMin, string why, string none, string otherwise)
    {
        const long millisecond = 1_000_000;
        if (limits.MaxBytes < bytesMin)
        {
            throw new ManagementException(
                ManagementError.InvalidParameter, $"-MaximumBytes {ByteText.Exact(limits.MaxBytes)}: {why}. Valid: {none}{ByteText.Exact(bytesMin)} or more.",
                $"Give more, or {otherwise}.");
        }

        if (limits.LatencyTargetNs != 0 && limits.LatencyTargetNs is < TierLimits.LatencyTargetNsMin or > TierLimits.LatencyTargetNsMax)
        {
            throw new ManagementException(
                ManagementError.InvalidParameter,
                $"-LatencyTarget {limits.LatencyTargetNs / millisecond}: out of range. Valid: {none}{TierLimits.LatencyTargetNsMin / millisecond} to"
                + $" {TierLimits.LatencyTargetNsMax / millisecond} milliseconds.",
                $"Give another one, or {otherwise}.");
        }
    }
}
