using System.Collections.Immutable;

namespace TierSpaces.Engine.Tiering;

/// <summary>Size that the performance tier needs for a part of the I/O.</summary>
/// <param name="Percent">Part of the I/O that it would serve: 100, 95, … 5.</param>
/// <param name="Bytes">Its size: that of the hottest slices that have so much of the heat.</param>
public readonly record struct TierReportRow(int Percent, long Bytes);

/// <summary>Row of the report for a tier.</summary>
/// <param name="Name">Performance, Capacity, or the name of a tier between them; the name of the only tier.</param>
/// <param name="SizeBytes">Its size.</param>
/// <param name="MappedBytes">Bytes of the slices on it.</param>
/// <param name="PercentOfIo">Part of the heat on it, 0 to 100.</param>
/// <param name="PinnedBytes">Bytes of the slices that are pinned to it, on any tier.</param>
/// <param name="PinnedPercentOfIo">Part of the heat that these have.</param>
public sealed record TierReportTier(string Name, long SizeBytes, long MappedBytes, double PercentOfIo, long PinnedBytes, double PinnedPercentOfIo);

/// <summary>
/// Report on the fit of the tier sizes to the load, as Windows makes it after an optimization. I/O is heat: requests of the last days, recent ones
/// counting more (<see cref="HeatMap"/>). The performance tier is the fastest, the capacity tier the slowest; of a disk with one tier
/// the sizes say how large a faster one would have to be.
/// </summary>
public sealed record TierReport
{
    /// <summary>Sizes needed for 100, 95, … 5 % of the I/O; a load without heat needs none.</summary>
    public required ImmutableArray<TierReportRow> Rows { get; init; }

    /// <summary>The tiers, fastest first.</summary>
    public required ImmutableArray<TierReportTier> Tiers { get; init; }

    /// <summary>Heat that a slice must have to be brought to a faster tier; 0: what is hottest comes.</summary>
    public required double MinimumHeat { get; init; }

    /// <summary>Bytes of the slices that have heat, and less than that.</summary>
    public required long BelowMinimumBytes { get; init; }

    /// <summary>Makes the report.</summary>
    /// <param name="slices">Slices of the virtual disk.</param>
    /// <param name="sliceBytes">Bytes of a slice.</param>
    /// <param name="tiers">Name and size of each tier, fastest first, at least one; a name of null is Performance or Capacity.</param>
    /// <param name="tierOf">Tier of a slice, negative when it is not mapped: such a slice has no part in it.</param>
    /// <param name="heatOf">Heat of a slice.</param>
    /// <param name="pinOf">Tier that a slice is pinned to, negative for none; null: nothing is pinned.</param>
    /// <param name="minimumHeat">Heat that a slice must have to be brought to a faster tier.</param>
    public static TierReport Make(
        long slices, int sliceBytes, IReadOnlyList<(string? Name, long SizeBytes)> tiers, Func<long, int> tierOf, Func<long, double> heatOf,
        Func<long, int>? pinOf, double minimumHeat = 0)
    {
        Sum[] on = new Sum[tiers.Count];
        Sum[] pinned = new Sum[tiers.Count];
        List<float> heats = [];
        for (long slice = 0; slice < slices; slice++)
        {
            if (tierOf(slice) is var tier && tier >= 0)
            {
                float heat = (float)heatOf(slice);
                on[tier].Add(heat);
                int pin = pinOf?.Invoke(slice) ?? -1;
                if (pin >= 0 && pin < pinned.Length)
                {
                    pinned[pin].Add(heat);
                }

                heats.AddRange(heat > 0 ? [heat] : []);
            }
        }

        double total = on.Sum(static sum => sum.Heat);
        return new TierReport
        {
            MinimumHeat = minimumHeat,
            BelowMinimumBytes = heats.Count(heat => heat < minimumHeat) * (long)sliceBytes,
            Rows = RowsOf(heats, total, sliceBytes),
            Tiers =
            [
                .. tiers.Select((tier, i) => new TierReportTier(
                    tier.Name ?? (i == 0 ? "Performance" : "Capacity"), tier.SizeBytes,
                    on[i].Slices * sliceBytes, on[i].PercentOf(total), pinned[i].Slices * sliceBytes, pinned[i].PercentOf(total))),
            ],
        };
    }

    private static ImmutableArray<TierReportRow> RowsOf(List<float> heats, double total, int sliceBytes)
    {
        heats.Sort();
        ImmutableArray<TierReportRow>.Builder rows = ImmutableArray.CreateBuilder<TierReportRow>(20);
        double served = 0;
        int taken = 0;
        for (int percent = 5; percent <= 100; percent += 5)
        {
            double wanted = percent == 100 ? double.MaxValue : total * percent / 100;
            for (; taken < heats.Count && served < wanted; taken++)
            {
                served += heats[^(taken + 1)];
            }

            rows.Add(new TierReportRow(percent, (long)taken * sliceBytes));
        }

        rows.Reverse();
        return rows.ToImmutable();
    }

    private struct Sum
    {
        internal long Slices;
        internal double Heat;

        internal void Add(float heat)
        {
            Slices++;
            Heat += heat;
        }

        internal readonly double PercentOf(double total) => total > 0 ? Math.Clamp(Heat / total * 100, 0, 100) : 0;
    }
}
