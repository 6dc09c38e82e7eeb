using TierSpaces.Contracts;
using TierSpaces.Engine.Tiering;

namespace TierSpaces.Host.Verbs.StorageTiers;

/// <summary>-MaximumBytes and -LatencyTarget: limits of a run over the tiers of a virtual disk. The engine refuses values out of range.</summary>
internal static class TierLimitParameters
{
    private const long NsPerMs = 1_000_000;

    /// <summary>The limits of a run on command.</summary>
    public static TierLimits Read(OptimizeStorageTierRequest request) => new(
        request.MaximumBytes is { } bytes ? Bytes(bytes) : long.MaxValue, request.LatencyTarget is { } latency ? Ns(latency) : 0);

    /// <summary>The limits of a schedule after the request; what is not given stays.</summary>
    public static TierLimits Apply(TierLimits before, SetStorageTierScheduleRequest request) => new(
        request.MaximumBytes switch { null => before.MaxBytes, 0 => long.MaxValue, { } bytes => Bytes(bytes) },
        request.LatencyTarget is not { } latency ? before.LatencyTargetNs : latency == 0 ? 0 : Ns(latency));

    /// <summary>Most bytes as users see them: 0 for no limit.</summary>
    public static ulong ShownBytes(TierLimits limits) => limits.MaxBytes == long.MaxValue ? 0 : (ulong)limits.MaxBytes;

    /// <summary>The latency target in milliseconds.</summary>
    public static uint ShownLatency(TierLimits limits) => (uint)(limits.LatencyTargetNs / NsPerMs);

    private static long Bytes(ulong bytes) => Amount.Bytes(bytes, nameof(OptimizeStorageTierRequest.MaximumBytes), StorageErrors.InvalidParameter);

    private static long Ns(uint milliseconds) => milliseconds == 0 ? -1 : milliseconds * NsPerMs;
}
