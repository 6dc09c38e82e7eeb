using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

// Positions of a row that hold good data now, and whether one of them can be spared.
//
// A position is out in a region if its disk is not in the view or the position is stale there. At most LossesMax positions of a group may be out.

/// <summary>Questions about the redundancy of a space.</summary>
internal sealed class Redundancy(ILayout layout, RowTable rows, SpaceMembers members, RingSet rings)
{
    /// <summary>Whether a position is in the view and holds a region; the region may be numbered in the row or in its group.</summary>
    internal bool IsGood(SpaceRow row, int position, int region) => members.IsLive(row.Places[position].Disk) && !row.IsStale(position, region);

    /// <summary>Whether a region can be read: not more positions are out than the layout allows.</summary>
    internal bool IsReadable(SpaceRow row, int group, int region)
    {
        int outs = 0;
        int first = group * layout.GroupSize;
        for (int position = first; position < first + layout.GroupSize; position++)
        {
            outs += IsGood(row, position, region) ? 0 : 1;
        }

        return outs <= layout.LossesMax;
    }

    /// <summary>
    /// Regions of a position that its group can give without it. A position is marked stale only in these: the last good copy never is,
    /// whatever happens to its disk.
    /// </summary>
    internal ushort GoodElsewhere(SpaceRow row, int position) => Good(row, position, ushort.MaxValue);

    /// <summary>Regions of a group that can be given.</summary>
    internal ushort GoodRegions(SpaceRow row, int group) => GoodWith(row, group * layout.GroupSize);

    /// <summary>Whether every byte of a position can be copied to another place now.</summary>
    internal bool HasSources(SpaceRow row, int position) => GoodWith(row, position) == ushort.MaxValue;

    /// <summary>Whether the group of a position can give all of its regions without it.</summary>
    internal bool HasOther(SpaceRow row, int position)
    {
        int first = position / layout.GroupSize * layout.GroupSize;
        int outs = 1;
        for (int other = first; other < first + layout.GroupSize; other++)
        {
            outs += other != position && (row.Stale[other] != 0 || !members.IsLive(row.Places[other].Disk)) ? 1 : 0;
        }

        return outs <= layout.LossesMax;
    }

    /// <summary>Whether enough other disks of the group of a position are in the view, whatever they hold.</summary>
    internal bool HasLiveOther(SpaceRow row, int position)
    {
        int first = position / layout.GroupSize * layout.GroupSize;
        int outs = 1;
        for (int other = first; other < first + layout.GroupSize; other++)
        {
            outs += other != position && !members.IsLive(row.Places[other].Disk) ? 1 : 0;
        }

        return outs <= layout.LossesMax;
    }

    /// <summary>Whether the space keeps all of its data, its rings included, if a disk leaves.</summary>
    internal bool HasOtherCopies(int disk)
    {
        foreach (SpaceRow? row in rows)
        {
            for (int position = 0; row is not null && position < row.Places.Length; position++)
            {
                if (row.Places[position].Disk == disk && row.IsInitialized && !HasOther(row, position))
                {
                    return false;
                }
            }
        }

        return rings.SurvivesWithout(disk);
    }

    private ushort GoodWith(SpaceRow row, int position) =>
        Good(row, position, members.IsLive(row.Places[position].Disk) ? row.Stale[position] : ushort.MaxValue);

    /// <summary>
    /// Regions of a group that can be given, if these regions of one of its positions are out. Marks of the others count from when they are sent.
    /// </summary>
    private ushort Good(SpaceRow row, int position, ushort own)
    {
        int first = position / layout.GroupSize * layout.GroupSize;
        RegionCount outs = new(layout.LossesMax);
        outs.Add(own);
        for (int other = first; other < first + layout.GroupSize; other++)
        {
            if (other != position)
            {
                outs.Add(members.IsLive(row.Places[other].Disk) ? (ushort)(row.Stale[other] | row.StalePending[other]) : ushort.MaxValue);
            }
        }

        return (ushort)~outs.Exceeded;
    }

    /// <summary>Counts, for each of sixteen regions, up to a limit.</summary>
    private struct RegionCount(int limit)
    {
        private ulong _counts;   // four bits a region

        /// <summary>Regions that were added more often than the limit.</summary>
        internal readonly ushort Exceeded
        {
            get
            {
                int mask = 0;
                for (int region = 0; region < SpaceShape.RegionsPerSlab; region++)
                {
                    mask |= (int)((_counts >> (4 * region)) & 15) > limit ? 1 << region : 0;
                }

                return (ushort)mask;
            }
        }

        internal void Add(ushort regions)
        {
            for (int rest = regions; rest != 0; rest &= rest - 1)
            {
                int shift = 4 * System.Numerics.BitOperations.TrailingZeroCount(rest);
                _counts += ((_counts >> shift) & 15) < 15 ? 1UL << shift : 0;
            }
        }
    }
}
