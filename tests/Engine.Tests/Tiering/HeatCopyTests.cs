using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Tiering;
using TierSpaces.Engine.Verification;

namespace TierSpaces.Engine.Tests.Tiering;

/// <summary>The copy of a heat map that planners look at.</summary>
public class HeatCopyTests
{
    private const long Mi = 1 << 20;
    private const long Slices = 600 * HeatMap.PageSlices;

    [Fact]
    public void A_copy_holds_what_was_hot_and_what_comes_later_does_not_change_it()
    {
        SimLane lane = new(1);
        HeatMap map = new(HeatSettings.Default, Slices);
        Random random = new(1);
        long[] touched = [.. Enumerable.Range(0, 3000).Select(_ => random.NextInt64(Slices))];
        Array.ForEach(touched, slice => map.Record(slice * Mi, 4096, isWrite: false, 0));
        double[] before = [.. touched.Select(slice => map.Heat(slice, 0))];

        int pieces = 0;
        HeatCopy copy = lane.Run(HeatCopy.Make(map, 0, () =>
        {
            pieces++;
            map.Record(0, 4096, isWrite: false, 0);   // on a page that was copied by then
            return lane.Yield();
        }));
        Array.ForEach(touched, slice => map.Record(slice * Mi, 4096, isWrite: false, 0));

        Assert.Equal(2, pieces);   // 600 pages by 256
        Assert.Equal(before, touched.Select(slice => copy[slice]));
        Assert.Equal(0, copy[Enumerable.Range(0, (int)Slices).First(slice => !touched.Contains(slice))]);
    }

    [Fact]
    public void A_map_that_takes_its_place_meanwhile_is_copied_from_its_beginning()
    {
        SimLane lane = new(3);
        HeatMap map = NewMap(1), other = NewMap(3);
        bool isTaken = false;
        HeatCopy copy = lane.Run(HeatCopy.Make(map, 0, () =>
        {
            if (!isTaken)
            {
                map.Take(other);
                isTaken = true;
            }

            return lane.Yield();
        }));

        Assert.Equal([3, 3], new[] { copy[0], copy[Slices - HeatMap.PageSlices] });

        static HeatMap NewMap(int times)
        {
            HeatMap map = new(HeatSettings.Default, Slices);
            for (long hit = 0; hit < Slices * times; hit += HeatMap.PageSlices)
            {
                map.Record(hit % Slices * Mi, 4096, isWrite: false, 0);
            }

            return map;
        }
    }

    [Fact]
    public void What_grows_or_cools_down_while_it_is_copied_does_no_harm()
    {
        SimLane lane = new(2);
        HeatMap map = new(HeatSettings.Default with { HalfLifeNs = 1_000_000_000 }, Slices);
        for (long slice = 0; slice < Slices; slice += HeatMap.PageSlices)
        {
            map.Record(slice * Mi, 4096, isWrite: false, 0);
        }

        HeatCopy copy = lane.Run(HeatCopy.Make(map, 0, () =>
        {
            map.Record(Mi, 4096, isWrite: false, 200_000_000_000);   // everything else is cold by then, its pages are given back
            map.Grow(2 * Slices);
            return lane.Yield();
        }));

        Assert.Equal(1, copy[0]);
        Assert.Equal(0, copy[Slices - HeatMap.PageSlices]);
    }
}
