using TierSpaces.Contracts;
using TierSpaces.Host.Health;

namespace TierSpaces.Host.Tests.Health;

/// <summary>Reports of the health, and their order.</summary>
public class HealthLedgerTests
{
    private static readonly DateTime s_time = new(2030, 1, 2, 3, 4, 5, DateTimeKind.Utc);

    private readonly HealthLedger _ledger = new([]);

    [Fact]
    public void A_new_object_that_is_healthy_is_no_event_and_one_that_is_not_is_a_fault()
    {
        Assert.Empty(See(Sound("a")));
        HealthChange change = Assert.Single(See(Sound("a"), Bad("b")));
        Assert.Equal(("FaultAppeared", "b", HealthStatus.Unknown, "Warning"), (change.Event, change.After.Name, change.Before.Health, change.Severity));
        Assert.Equal("b", _ledger.Take()?.After.Name);
        Assert.Null(_ledger.Take());
    }

    [Fact]
    public void A_fault_appears_changes_and_is_cleared()
    {
        See(Sound("a"));
        Assert.Equal("FaultAppeared", Assert.Single(See(Bad("a"))).Event);
        Assert.Empty(See(Bad("a") with { Reason = "another number of seconds" }));
        Assert.Equal("FaultChanged", Assert.Single(See(Bad("a", status: "Detached"))).Event);
        HealthChange worse = Assert.Single(See(Bad("a", HealthStatus.Unhealthy)));
        Assert.Equal(("FaultChanged", "Critical"), (worse.Event, worse.Severity));
        HealthChange cleared = Assert.Single(See(Sound("a")));
        Assert.Equal(("FaultCleared", "Information"), (cleared.Event, cleared.Severity));
        Assert.Empty(See(Sound("a") with { Status = "Detached" }));
    }

    [Fact]
    public void Objects_wait_in_the_order_in_which_they_changed_and_one_waits_once()
    {
        See(Sound("a"), Sound("b"), Sound("c"));
        See(Bad("a"), Sound("b"), Sound("c"));
        See(Bad("a"), Bad("b"), Bad("c"));
        See(Bad("a", HealthStatus.Unhealthy), Bad("b"), Sound("c"));
        HealthChange first = _ledger.Take()!;
        Assert.Equal(("a", HealthStatus.Healthy, HealthStatus.Unhealthy), (first.After.Name, first.Before.Health, first.After.Health));
        Assert.Equal("b", _ledger.Take()?.After.Name);
        Assert.Null(_ledger.Take());   // c is as it was
    }

    [Fact]
    public void A_change_that_comes_while_the_one_before_is_reported_begins_at_that()
    {
        See(Sound("a"));
        See(Bad("a"));
        Assert.NotNull(_ledger.Take());
        See(Sound("a"));
        HealthChange second = _ledger.Take()!;
        Assert.Equal(("FaultCleared", HealthStatus.Warning), (second.Event, second.Before.Health));
    }

    [Fact]
    public void What_was_reported_is_not_reported_again_by_the_next_host()
    {
        See(Sound("a"), Bad("b"), Bad("c"));
        Assert.Equal("b", _ledger.Take()?.After.Name);
        ObjectHealth[] saved = _ledger.TakeReported()!;
        Assert.Null(_ledger.TakeReported());

        HealthLedger next = new(saved);
        HealthChange again = Assert.Single(next.Observe(new HealthReport([Sound("a"), Bad("b"), Bad("c")]), s_time));
        Assert.Equal("c", again.After.Name);
        Assert.Equal("c", next.Take()?.After.Name);
        Assert.Null(next.Take());
    }

    [Fact]
    public void While_the_host_starts_only_what_is_better_counts()
    {
        HealthLedger starting = new([Sound("a"), Bad("b"), Bad("gone")]);
        HealthReport report = new([Bad("a"), Sound("b"), Bad("new")]);
        Assert.Equal("b", Assert.Single(starting.Observe(report, s_time, isStarting: true)).After.Name);
        Assert.Equal(["a", "new", "gone"], starting.Observe(report, s_time).Select(static change => change.After.Name));
    }

    [Fact]
    public void A_mount_that_failed_under_the_host_before_is_not_mounted_yet_while_this_one_starts()
    {
        ObjectHealth mount = Sound("/mnt") with { Subject = HealthSubject.Volume };
        HealthLedger starting = new([mount with { Health = HealthStatus.Warning, Status = "Error" }]);
        Assert.Empty(starting.Observe(new HealthReport([mount]), s_time, isStarting: true));
        Assert.Equal("FaultCleared", Assert.Single(starting.Observe(new HealthReport([mount]), s_time)).Event);
    }

    [Fact]
    public void A_fault_of_an_object_that_is_removed_is_cleared_but_not_while_disks_are_away_that_may_hold_it()
    {
        See(Sound("a"), Bad("b"), Bad("c", subject: HealthSubject.PhysicalDisk, pool: ""));
        while (_ledger.Take() is not null)
        {
        }

        Assert.Empty(See(Bad("c", subject: HealthSubject.PhysicalDisk, pool: "")));   // it is not known what is on it
        HealthChange[] removed = [.. See()];
        Assert.Equal(["b", "c"], removed.Select(static change => change.After.Name).Order());
        Assert.All(removed, static change => Assert.Equal(("FaultCleared", true), (change.Event, change.IsRemoved)));
        Assert.Equal(("b", "Removed"), _ledger.Take() is { } change ? (change.After.Name, change.Variables["TIERSPACES_NEW_HEALTH"]) : default);
        Assert.NotNull(_ledger.Take());
        Assert.Null(_ledger.Take());
    }

    [Fact]
    public void The_variables_are_single_lines_of_bounded_length()
    {
        HealthChange change = Assert.Single(See(Bad("a\nb") with { Reason = new string('x', 100_000) }));
        Assert.Equal("a b", change.Variables["TIERSPACES_OBJECT_NAME"]);
        Assert.Equal(4096, change.Variables["TIERSPACES_REASON"].Length);
        Assert.Equal("2030-01-02T03:04:05.000Z", change.Variables["TIERSPACES_TIME"]);
        Assert.DoesNotContain('\n', change.Line);
        Assert.NotEmpty(change.Variables["TIERSPACES_ACTION"]);
    }

    private List<HealthChange> See(params ObjectHealth[] objects) => _ledger.Observe(new HealthReport(objects), s_time);

    private static ObjectHealth Sound(string name) => new(HealthSubject.VirtualDisk, name, name, "p", HealthStatus.Healthy, "OK", "");

    private static ObjectHealth Bad(
        string name, HealthStatus health = HealthStatus.Warning, string status = "Lost Communication", HealthSubject subject = HealthSubject.VirtualDisk,
        string pool = "p") => new(subject, name, name, pool, health, status, "It is missing.");
}
