namespace TierSpaces.Host.Supervision;

/// <summary>
/// How long to wait before the next start: nothing the first time, then 0.5 s doubling to 30 s; forgotten once a start has
/// served for 2 s: whoever dies later than that is not dying of its own start, and a mounted file system waits for it.
/// </summary>
internal sealed class Backoff
{
    private static readonly TimeSpan first = TimeSpan.FromSeconds(0.5);
    private static readonly TimeSpan last = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan healthy = TimeSpan.FromSeconds(2);
    private TimeSpan next = TimeSpan.Zero;

    /// <summary>The wait before the next start.</summary>
    /// <param name="lived">How long the last start served, from when it was ready; null for the first.</param>
    public TimeSpan Next(TimeSpan? lived)
    {
        if (lived is null || lived > healthy)
        {
            next = TimeSpan.Zero;
        }

        var wait = next;
        next = next == TimeSpan.Zero ? first : next * 2 < last ? next * 2 : last;
        return wait;
    }
}
