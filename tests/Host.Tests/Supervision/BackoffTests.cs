using TierSpaces.Host.Supervision;

namespace TierSpaces.Host.Tests.Supervision;

public class BackoffTests
{
    [Fact]
    public void Waits_longer_and_longer_up_to_30_seconds_for_one_that_never_serves()
    {
        Backoff backoff = new Backoff();
        IEnumerable<double> waits = Enumerable.Range(0, 9).Select(i => backoff.Next(i == 0 ? null : TimeSpan.Zero).TotalSeconds);
        Assert.Equal([0, 0.5, 1, 2, 4, 8, 16, 30, 30], waits);
    }

    [Fact]
    public void One_that_was_ready_and_is_killed_soon_is_started_at_once_four_times_in_a_row()
    {
        Backoff backoff = new Backoff();
        IEnumerable<double> waits = Enumerable.Range(0, 8).Select(i => backoff.Next(i == 0 ? null : TimeSpan.FromSeconds(1)).TotalSeconds);
        Assert.Equal([0, 0, 0, 0, 0, 0.5, 1, 2], waits);
    }

    [Fact]
    public void Forgets_once_a_start_has_served_for_two_seconds()
    {
        Backoff backoff = new Backoff();
        backoff.Next(null);
        for (int i = 0; i < 6; i++)
        {
            backoff.Next(TimeSpan.FromSeconds(1));
        }

        Assert.Equal(TimeSpan.Zero, backoff.Next(TimeSpan.FromSeconds(2.1)));
        Assert.Equal(TimeSpan.Zero, backoff.Next(TimeSpan.FromSeconds(1)));
        Assert.Equal(0.5, backoff.Next(TimeSpan.Zero).TotalSeconds);
    }
}
