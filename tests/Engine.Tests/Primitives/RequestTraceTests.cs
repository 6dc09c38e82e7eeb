using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Primitives;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Primitives;

/// <summary>A request stays current in whatever is awaited for it, and its time is divided among the layers.</summary>
public sealed class RequestTraceTests : IDisposable
{
    private readonly TraceRing _ring = RequestTrace.Begin();

    public void Dispose()
    {
        RequestTrace.Enter(0);
        RequestTrace.End();
    }

    [Fact]
    public void The_number_of_a_request_follows_its_awaits_and_those_of_others_do_not_mix_in()
    {
        SimLane lane = new(3);
        List<LaneTask<Nothing>> requests = [];
        for (ulong number = 1; number <= 20; number++)
        {
            ulong before = RequestTrace.Enter(number);
            requests.Add(Serve(lane, number));
            RequestTrace.Enter(before);
        }

        lane.Run(All());
        Assert.Equal(0UL, RequestTrace.Current);
        TraceSpan[] spans = _ring.Copy();
        Assert.Equal(20 * 3, spans.Length);
        Assert.All(spans, static span => Assert.True(span.EndNs > span.StartNs));
        Assert.All(spans.GroupBy(static span => span.Request), static request => Assert.Equal(3, request.Count()));

        async LaneTask<Nothing> All()
        {
            foreach (LaneTask<Nothing> request in requests)
            {
                await request;
            }

            return default;
        }
    }

    [Fact]
    public void A_follower_goes_on_for_its_own_request()
    {
        SimLane lane = new(4);
        ulong before = RequestTrace.Enter(7);
        Slot slot = new();
        LaneTask<IoError> followed = slot.Begin(After(lane));
        RequestTrace.Enter(before);
        lane.Run(followed);
        Assert.Equal((7UL, 0UL), (slot.Seen, RequestTrace.Current));
    }

    [Fact]
    public void The_ring_holds_the_newest_spans()
    {
        for (int i = 0; i < TraceRing.Capacity + 5; i++)
        {
            RequestTrace.Add(1, TraceLayer.Queue, i, i + 1);
        }

        TraceSpan[] spans = _ring.Copy();
        Assert.Equal(TraceRing.Capacity, spans.Length);
        Assert.Equal((5L, TraceRing.Capacity + 4L), (spans[0].StartNs, spans[^1].StartNs));
    }

    [Fact]
    public void What_is_not_of_a_request_leaves_no_span()
    {
        RequestTrace.Add(0, TraceLayer.MemberDisk, 1, 2);
        Assert.Empty(_ring.Copy());
    }

    // 0 to 100: queued to 10, a region to 30, two disks at once 35 to 60 and 50 to 80 (a page of checksums around the first), a flush from 90 on.
    [Fact]
    public void Time_belongs_to_one_layer_and_all_of_it_to_some_layer()
    {
        TraceSpan whole = Span(TraceLayer.Engine, 0, 100);
        TraceTimes times = TraceReport.TimesOf(whole,
        [
            Span(TraceLayer.Queue, 0, 10), Span(TraceLayer.Region, 10, 30), Span(TraceLayer.ChecksumPage, 32, 62), Span(TraceLayer.MemberDisk, 35, 60),
            Span(TraceLayer.MemberDisk, 50, 80), Span(TraceLayer.Flush, 90, 120), whole,
        ]);
        Assert.Equal(new TraceTimes(10, 2 + 10, 20, 3, 45, 10), times);
        Assert.Equal(100, times.TotalNs);
    }

    private static TraceSpan Span(TraceLayer layer, long startNs, long endNs) => new(1, layer, 0, startNs, endNs, -1, 0, null);

    private static async LaneTask<Nothing> Serve(SimLane lane, ulong number)
    {
        for (int step = 0; step < 3; step++)
        {
            Assert.Equal(number, RequestTrace.Current);
            await LaneTraces.Trace(lane, TraceLayer.Region, lane.NowNs, Wait(lane, number));
        }

        Assert.Equal(number, RequestTrace.Current);
        return default;
    }

    private static async LaneTask<Nothing> Wait(SimLane lane, ulong number)
    {
        await lane.Delay(1 + lane.Next(1000));
        Assert.Equal(number, RequestTrace.Current);
        await lane.Yield();
        Assert.Equal(number, RequestTrace.Current);
        return default;
    }

    private static async LaneTask<IoError> After(SimLane lane)
    {
        await lane.Delay(1000);
        return IoError.None;
    }

    private sealed class Slot : Follower
    {
        internal ulong Seen { get; private set; }

        internal LaneTask<IoError> Begin(LaneTask<IoError> operation) => Follow(operation);

        protected override IoError OnEnded(IoError error)
        {
            Seen = RequestTrace.Current;
            return error;
        }

        protected override void Free()
        {
        }
    }
}
