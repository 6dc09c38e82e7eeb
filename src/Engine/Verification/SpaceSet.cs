using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Verification;

/// <summary>The spaces under what a simulated world serves, looked at and repaired as one: one space, or one per tier.</summary>
/// <param name="spaces">The spaces.</param>
/// <param name="ring">A write cache in another pool, which is repaired with them; null: none.</param>
public sealed class SpaceSet(IReadOnlyList<Space> spaces, IRepairable? ring = null)
{
    private readonly IRepairable[] _all = [.. spaces, .. new[] { ring }.OfType<IRepairable>()];

    /// <summary>Number of spaces.</summary>
    public int Count => spaces.Count;

    /// <summary>Bytes that a resync would look at now.</summary>
    public long BytesToResync => _all.Sum(static one => one.BytesToResync);

    /// <summary>Regions, over all copies, that are stale.</summary>
    public int StaleRegions => spaces.Sum(static space => space.StaleRegions);

    /// <summary>Reads answered by another copy than the one asked first.</summary>
    public long HedgesWon => spaces.Sum(static space => space.HedgesWon);

    /// <summary>Counters of the spaces, summed.</summary>
    public SpaceCounters Counters
    {
        get
        {
            SpaceCounters sum = new();
            foreach (Space space in spaces)
            {
                sum.Add(space.Counters);
            }

            return sum;
        }
    }

    /// <summary>One of them.</summary>
    public Space this[int index] => spaces[index];

    /// <summary>Makes what is stale whole, one after another.</summary>
    public async LaneTask<RepairEnd> Resync(IWorkPacer pacer)
    {
        RepairEnd end = RepairEnd.Done;
        for (int i = 0; i < _all.Length && end != RepairEnd.Stopped; i++)
        {
            RepairEnd one = await _all[i].Resync(pacer);
            end = one == RepairEnd.Done ? end : one;
        }

        return end;
    }
}
