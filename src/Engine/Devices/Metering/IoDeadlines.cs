using System.Globalization;

namespace TierSpaces.Engine.Devices;

/// <summary>Time limits of requests to member disks, in nanoseconds.</summary>
/// <param name="HedgeNs">After this a read is sent to another copy too; the first good answer wins.</param>
/// <param name="PatienceNs">After this a request fails, provided another disk of the lane answers meanwhile.</param>
/// <param name="StallNs">After this it fails in any case. It is longer, because a disk is not to blame while no other disk answers either.</param>
public sealed record IoDeadlines(long HedgeNs = 250_000_000, long PatienceNs = 10_000_000_000, long StallNs = 60_000_000_000)
{
    private const long Millisecond = 1_000_000;
    private const long LongestMs = 3_600_000;

    /// <summary>The default deadlines.</summary>
    public static IoDeadlines Default { get; } = new();

    /// <summary>
    /// Three numbers of milliseconds, hedge, patience and stall, separated by commas: <c>250,10000,60000</c>. Each is 1 to 3600000 and
    /// at least the one before it.
    /// </summary>
    /// <exception cref="FormatException">It is not that; the message says what is expected.</exception>
    public static IoDeadlines Parse(string text)
    {
        long[] values = Array.ConvertAll(
            text.Split(','), part => long.TryParse(part, NumberStyles.None, CultureInfo.InvariantCulture, out long value) && value <= LongestMs ? value : 0);
        return values is [> 0, > 0, > 0] && values[0] <= values[1] && values[1] <= values[2]
            ? new IoDeadlines(values[0] * Millisecond, values[1] * Millisecond, values[2] * Millisecond)
            : throw new FormatException(
                $"'{text}' is not three numbers of milliseconds (1 to {LongestMs}, each at least the one before it) for hedge, patience and stall. An example is 250,10000,60000.");
    }
}
