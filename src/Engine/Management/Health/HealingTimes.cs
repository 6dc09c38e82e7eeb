using System.Globalization;

namespace TierSpaces.Engine.Management;

/// <summary>Times that a pool waits before it repairs, retires or searches for a disk without a command.</summary>
/// <param name="MissingGraceNs">
/// Grace period of a missing member, in nanoseconds. After it the member is given up, if the pool gives up missing disks at all. If a member returns within it,
/// only the missed writes are copied; the data of a member that is given up is rebuilt on other disks as a whole.
/// </param>
/// <param name="ReturnPollNs">
/// Time between two searches for a missing member, in nanoseconds. It doubles, up to a limit, each time that a member returns and leaves again within an hour.
/// </param>
/// <param name="RetryNs">Time from a repair that left data on a retired disk to the next attempt, in nanoseconds.</param>
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
