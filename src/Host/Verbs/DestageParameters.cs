using TierSpaces.Contracts;
using TierSpaces.Engine.Formats;

namespace TierSpaces.Host.Verbs;

/// <summary>The parameters that say when a write cache is destaged, as the engine takes them.</summary>
internal static class DestageParameters
{
    /// <summary>Nanoseconds of the unit of DestageIdle.</summary>
    public const long NsPerSecond = 1_000_000_000;

    private const string NoTime = "None";

    /// <summary>The settings after a request; those that it does not name stay.</summary>
    /// <exception cref="StorageException">A value is outside its range.</exception>
    public static DestageSettings Apply(DestageSettings before, SetVirtualDiskRequest request)
    {
        long start = InRange(request.DestageStart, 1, DestageSettings.StartPercentMax, "DestageStart", "percent") ?? before.StartPercent;
        return before with
        {
            StartPercent = (int)start,
            StopPercent = (int)Stop(request, start, before.StopPercent),
            IdleNs = (InRange(request.DestageIdle, 0, DestageSettings.IdleNsMax / NsPerSecond, "DestageIdle", "seconds")
                ?? (before.IdleNs / NsPerSecond)) * NsPerSecond,
            BytesPerSecond = request.DestageBytesPerSecond is { } bytes
                ? Amount.Bytes(bytes, nameof(request.DestageBytesPerSecond), StorageErrors.InvalidParameter) : before.BytesPerSecond,
            Hold = request.DestageHold ?? before.Hold,
            HoldUntil = request.DestageHoldUntil is { } time ? Minutes(time) : before.HoldUntil,
        };
    }

    /// <summary>A minute of the day as text, or null for none.</summary>
    public static string? TimeText(int minutes) =>
        minutes < 0 ? null : TimeOfDay.Text(minutes);

    /// <summary>Whether a request names any of them.</summary>
    public static bool AreGiven(SetVirtualDiskRequest request) =>
        request is not { DestageStart: null, DestageStop: null, DestageIdle: null, DestageBytesPerSecond: null, DestageHold: null, DestageHoldUntil: null };

    private static long Stop(SetVirtualDiskRequest request, long start, long before)
    {
        long stop = request.DestageStop ?? before;
        return stop < start ? stop : throw new StorageException(
            StorageErrors.InvalidParameter, request.DestageStop is null
                ? $"-DestageStart {start} is not above DestageStop, which is {stop}."
                : $"-DestageStop {stop}: not below DestageStart, which is {start}. Valid: 0 to {start - 1}.",
            "Give both, -DestageStop below -DestageStart.", request.DestageStop is null ? "DestageStart" : "DestageStop");
    }

    private static long? InRange(long? value, long min, long max, string parameter, string unit) =>
        value is null || (value >= min && value <= max) ? value : throw new StorageException(
            StorageErrors.InvalidParameter, $"-{parameter} {value}: out of range. Valid: {min} to {max} {unit}.", "Give a value in the range.", parameter);

    private static int Minutes(string text)
    {
        if (text.Equals(NoTime, StringComparison.OrdinalIgnoreCase))
        {
            return -1;
        }

        return TimeOfDay.Read(text) ?? throw new StorageException(
            StorageErrors.InvalidParameter, $"-DestageHoldUntil '{text}' is no time of day; 00:00 to 23:59 and {NoTime} are possible.",
            $"Give a time as HH:mm, or {NoTime}.", "DestageHoldUntil");
    }
}
