using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Resiliency;

/// <summary>Waits for the latency of clients, in simulated time; a client has one request after the other.</summary>
public sealed class LatencyHoldTests
{
    private const long Ms = 1_000_000;
    private const long Target = 10 * Ms;

    private readonly SimLane _lane = new(1);
    private long _completed;
    private long _latencyNs;

    [Fact]
    public void Without_requests_or_with_quick_ones_the_next_piece_begins_at_once()
    {
        LatencyHold hold = new(() => (_completed, _latencyNs), Target);
        Assert.Equal(0, _lane.Run(hold.Wait(_lane)));
        Complete(10 * Ms, 5 * Ms);
        Assert.Equal(0, _lane.Run(hold.Wait(_lane)));
    }

    [Fact]
    public void Slow_requests_are_made_up_for_by_quick_ones()
    {
        LatencyHold hold = new(() => (_completed, _latencyNs), Target);
        Complete(40 * Ms);
        Clients(4 * Ms).Forget();   // five of them bring the mean to 10 ms
        Assert.InRange(_lane.Run(hold.Wait(_lane)), 20 * Ms, 25 * Ms);
        Assert.InRange(_latencyNs / (double)_completed, 0, Target);
        Assert.Equal(0, _lane.Run(hold.Wait(_lane)));   // what came before is made up for, and no credit is kept
        Complete(12 * Ms);
        Assert.InRange(_lane.Run(hold.Wait(_lane)), 1, 10 * Ms);
    }

    [Fact]
    public void Clients_that_are_slower_by_themselves_hold_a_piece_back_for_ten_seconds()
    {
        LatencyHold hold = new(() => (_completed, _latencyNs), Target);
        Complete(20 * Ms);
        Clients(20 * Ms).Forget();
        Assert.InRange(_lane.Run(hold.Wait(_lane)), LatencyHold.WaitNsMax, LatencyHold.WaitNsMax + (20 * Ms));
    }

    [Fact]
    public void Clients_that_have_gone_hold_nothing_back_after_a_second()
    {
        LatencyHold hold = new(() => (_completed, _latencyNs), Target);
        Complete(500 * Ms);
        Assert.InRange(_lane.Run(hold.Wait(_lane)), LatencyHold.StillNs, LatencyHold.StillNs + (20 * Ms));
        Assert.Equal(0, _lane.Run(hold.Wait(_lane)));
    }

    private void Complete(params long[] latencies)
    {
        _completed += latencies.Length;
        _latencyNs += latencies.Sum();
    }

    private async LaneTask<Nothing> Clients(long latencyNs)
    {
        for (int i = 0; i < 5000; i++)
        {
            await _lane.Delay(latencyNs);
            Complete(latencyNs);
        }

        return default;
    }
}
