namespace TierSpaces.Engine.Management;

/// <summary>Words for what the host does by itself at a time of the lane's clock.</summary>
internal static class Upcoming
{
    private const long Second = 1_000_000_000;

    /// <summary>Returns how long it is until a time, in whole seconds.</summary>
    internal static string In(long atNs, long nowNs) => atNs <= nowNs + Second ? "within a second" : $"in {(atNs - nowNs + Second - 1) / Second} s";

    /// <summary>Says when a missing member is looked for next.</summary>
    internal static string Look(long atNs, long nowNs) => $"It is looked for again {In(atNs, nowNs)}; what it missed is copied when it is back.";
}
