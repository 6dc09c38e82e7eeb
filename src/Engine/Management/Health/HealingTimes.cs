using System.Globalization;

namespace TierSpaces.Engine.Management;

/// <summary>How long a pool waits before it does something about a disk by itself.</summary>
/// <param name="MissingGraceNs">
/// How long a member may be missing before it is given up, if the pool gives up missing disks at all. One that returns earlier copies only
/// what it missed; one that is given up is rebuilt elsewhere as a whole.
/// </param>
/// <param name="ReturnPollNs">How often a missing member is looked for. One that has come and gone within the hour is looked for later each time.</param>
/// <param name="RetryNs">How long after a repair that left something on a retired disk it is tried again.</param>
public sealed record HealingTimes(long MissingGraceNs = 300_000_000_000, long ReturnPollNs = 5_000_000_000, long RetryNs = 60_000_000_000)
{
    private const long Second = 1_000_000_000;
    private const long LongestGraceS = 604_800;

    /// <summary>The default times; five minutes of grace, as in Windows.</summary>
    public static HealingTimes Default { get; } = new();

    /// <summary>The grace time as a number of seconds, 0 to 604800 (a week); the other times stay as they are.</summary>
    /// <exception cref="FormatException">It is not that; the message says what is expected.</exception>
    public static HealingTimes ParseGrace(string text) =>
        long.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out long seconds) && seconds <= LongestGraceS
            ? Default with { MissingGraceNs = seconds * Second }
            : throw new FormatException($"'{text}' is not a number of seconds from 0 to {LongestGraceS}. An example is 300.");
}
