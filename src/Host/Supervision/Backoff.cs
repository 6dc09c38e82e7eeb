namespace TierSpaces.Host.Supervision;

/// <summary>
/// Delay before the next start. There is none after a host that has served for 2 s: it did not die of its own start, and a mounted file system waits
/// for it. There is none either the first four times in a row that a host dies sooner after it was ready: it may have been killed from outside.
/// Otherwise 0.5 s, doubling to 30 s.
/// </summary>
internal sealed class Backoff
{
    private const int SoonMax = 4;
    private static readonly TimeSpan s_first = TimeSpan.FromSeconds(0.5);
    private static readonly TimeSpan s_last = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan s_healthy = TimeSpan.FromSeconds(2);
    private TimeSpan _next = s_first;
    private int _soon;   // starts in a row that were ready and died too early

    /// <summary>Returns the delay before the next start.</summary>
    /// <param name="served">Time for which the last start served, from when it was ready; zero when it never was; null for the first.</param>
    public TimeSpan Next(TimeSpan? served)
    {
        if (served is null || served > s_healthy)
        {
            (_next, _soon) = (s_first, 0);
            return TimeSpan.Zero;
        }

        if (served > TimeSpan.Zero && _soon++ < SoonMax)
        {
            return TimeSpan.Zero;
        }

        TimeSpan wait = _next;
        _next = _next * 2 < s_last ? _next * 2 : s_last;
        return wait;
    }
}
