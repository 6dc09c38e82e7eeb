using TierSpaces.Engine.Formats;

namespace TierSpaces.Host.Volumes;

/// <summary>The stripe of data that a file system aligns to.</summary>
/// <param name="Interleave">Bytes of a strip.</param>
/// <param name="DataColumns">Columns that hold data.</param>
internal readonly record struct StripeGeometry(long Interleave, int DataColumns)
{
    private const long MiB = 1 << 20;
    private const int AlignmentsMin = 64;   // a greater alignment would cost a good part of a small disk

    /// <summary>Bytes of data of a stripe.</summary>
    public long StripeBytes => Interleave * DataColumns;

    /// <summary>Returns the geometry of a virtual disk: of its slowest part, where a partial stripe costs most.</summary>
    public static StripeGeometry Of(VirtualDiskDescription disk)
    {
        TierDescription part = disk.Parts.Last();
        return new StripeGeometry(part.Interleave, Math.Max(1, part.NumberOfColumns - part.Parities));
    }

    /// <summary>Bytes whose multiples partitions start at: 1 MiB or, where the disk is large enough for it, a common multiple with the stripe.</summary>
    public long AlignmentFor(long diskBytes)
    {
        if (StripeBytes <= 0)
        {
            return MiB;
        }

        (long a, long b) = (MiB, StripeBytes);
        while (b != 0)
        {
            (a, b) = (b, a % b);
        }

        long common = MiB / a * StripeBytes;
        return common <= diskBytes / AlignmentsMin ? common : MiB;
    }
}
