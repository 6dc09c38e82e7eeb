namespace TierSpaces.Engine.Resiliency;

/// <summary>
/// Computes the pauses of background work. While clients are at work, work that took t is followed by a pause of t × (100 − share) / share, so that the
/// disks are theirs for the rest of the time; while they are not, there is none. Jobs and destaging pause by it.
/// </summary>
/// <param name="foreground">Requests of clients completed so far and under way now; called on any lane.</param>
/// <param name="running">Background work that shares the limits now, this one included; called on any lane.</param>
public sealed class WorkPauses(Func<(long Completed, int UnderWay)> foreground, Func<int> running)
{
    private const long PauseNsMax = 10_000_000_000;   // work that a hung disk held up does not stop for hours

    private long _completed = -1;
    private bool _wasBusy;   // at the last look

    /// <summary>Whether clients were at work at the last look, or are now.</summary>
    public bool IsYielding => _wasBusy || foreground().UnderWay > 0;

    /// <summary>Looks whether clients are at work: requests are under way, or have completed since the last look.</summary>
    public void Look()
    {
        (long completed, int underWay) = foreground();
        _wasBusy = underWay > 0 || (_completed >= 0 && completed != _completed);
        _completed = completed;
    }

    /// <summary>Returns the pause for clients after work, in nanoseconds, as of the last look.</summary>
    /// <param name="elapsedNs">Duration of the work.</param>
    /// <param name="sharePercent">Percent of the time that all the work together has while clients are at work, 1 to 100.</param>
    public long YieldNs(long elapsedNs, int sharePercent)
    {
        long share = Math.Clamp(sharePercent / Math.Max(1, running()), 1, 100);
        return _wasBusy ? Math.Min(PauseNsMax, elapsedNs * (100 - share) / share) : 0;
    }

    /// <summary>Returns the pause that keeps work to a rate, in nanoseconds; negative when it was slower.</summary>
    /// <param name="bytes">Bytes of the work.</param>
    /// <param name="elapsedNs">Duration of the work.</param>
    /// <param name="bytesPerSecondMax">The rate; 0: no limit.</param>
    public static long RateNs(long bytes, long elapsedNs, long bytesPerSecondMax) =>
        bytesPerSecondMax > 0 ? (long)(bytes * 1e9 / bytesPerSecondMax) - elapsedNs : 0;
}
