namespace TierSpaces.Bench.Experiments;

/// <summary>Sizes of the tiers, and places of the load and of the data beside it on the disk. The load has the first slices.</summary>
internal sealed record TierShape
{
    /// <summary>Bytes of a slice.</summary>
    internal const int Slice = 1 << 20;

    private const long SmallestDisk = 64 << 20;

    /// <summary>For a virtual disk of about so many bytes.</summary>
    internal TierShape(long size)
    {
        RangeSlices = (int)(size / 8 / Slice);
        DiskBytes = Math.Max(SmallestDisk, size / 4);
    }

    /// <summary>Slices that the load writes to.</summary>
    internal int RangeSlices { get; }

    /// <summary>Slices of the SSD tier: what the load writes to, twice.</summary>
    internal int FastSlices => 2 * RangeSlices;

    /// <summary>Slices of the HDD tier.</summary>
    internal int SlowSlices => 6 * RangeSlices;

    /// <summary>Bytes of each member disk: the HDD tier takes three quarters of its disks.</summary>
    internal long DiskBytes { get; }

    /// <summary>The load's slices, one after the other.</summary>
    internal IEnumerable<int> Range => Enumerable.Range(0, RangeSlices);

    /// <summary>
    /// Cold data first, as much as the SSD tier holds; then the load's slices with cold ones between them, so that they lie all over the HDD
    /// tier, which this fills but for a few slices.
    /// </summary>
    internal IEnumerable<int> Spilled
    {
        get
        {
            int cold = RangeSlices;
            foreach (int first in Enumerable.Range(cold, FastSlices))
            {
                yield return first;
            }

            cold += FastSlices;
            foreach (int hot in Range)
            {
                yield return hot;
                for (int beside = 0; beside < ColdBesideEach; beside++)
                {
                    yield return cold++;
                }
            }
        }
    }

    private static int ColdBesideEach => 4;
}
