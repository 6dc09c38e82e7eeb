namespace TierSpaces.Engine.Resiliency;

/// <summary>The lowest rank among the disks of each row, looked up once while the members stay the same.</summary>
internal sealed class RowRanks(RowTable rows, SpaceMembers members)
{
    private byte[] _ranks = [];   // 1 + rank of the slowest disk of a row; 0: not known
    private int _version = -1;    // members as they were when these were looked up

    internal int Lowest(int row, Func<int, int> rankOf)
    {
        if (_version != members.Version || _ranks.Length != rows.Count)
        {
            _version = members.Version;
            _ranks = new byte[rows.Count];
        }

        if (_ranks[row] == 0)
        {
            _ranks[row] = (byte)(1 + Math.Min(RankOf(rows[row], rankOf), byte.MaxValue - 1));
        }

        return _ranks[row] - 1;
    }

    private static int RankOf(SpaceRow? row, Func<int, int> rankOf)
    {
        int lowest = int.MaxValue;
        foreach (SlabPlace place in row?.Places ?? [])
        {
            lowest = Math.Min(lowest, rankOf(place.Disk));
        }

        return lowest;
    }
}
