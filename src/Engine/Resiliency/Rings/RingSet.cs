using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Resiliency;

/// <summary>Rings over the members of one pool: what becomes of their copies when disks leave, come back, or are to be left.</summary>
/// <param name="host">The pool.</param>
/// <param name="members">Its disks.</param>
/// <param name="slabSize">Bytes of data in a slab.</param>
/// <param name="fail">Lets nothing be promised any more, for a reason in words; gives the error.</param>
internal sealed class RingSet(IMemberHost host, SpaceMembers members, int slabSize, Func<IoError, string, IoError> fail)
{
    // A step is one request to each disk, and the pause after it is as long whatever its size: a repair, whose share of the disks is set, takes large ones,
    // of a ring a thirty-second at most: its owner waits for a step.
    private const int RepairStepMax = 512 << 10;
    private const int StepMin = 64 << 10;

    private readonly List<RingMedium> _rings = [];

    /// <summary>Copies made whole.</summary>
    internal long CopiesRepaired { get; private set; }

    /// <summary>Bytes of the copies that could be made whole now.</summary>
    internal long BytesToResync
    {
        get
        {
            long bytes = 0;
            foreach (RingMedium ring in _rings)
            {
                for (int copy = 0; copy < ring.Copies; copy++)
                {
                    bytes += IsRepairable(ring, copy) ? (long)ring.Blocks * JournalBlock.Size : 0;
                }
            }

            return bytes;
        }
    }

    /// <summary>Makes a ring over slabs of its own.</summary>
    internal RingMedium Add(RingOptions options)
    {
        RingMedium ring = new(host, members, slabSize, options);
        _rings.Add(ring);
        return ring;
    }

    /// <summary>Takes a ring away that holds nothing any more that anyone relies on.</summary>
    internal async LaneTask<Nothing> Remove(RingMedium ring)
    {
        await ring.Suspend();
        _rings.Remove(ring);
        return default;
    }

    internal void OnDiskLost(int disk) => _rings.ForEach(ring => ring.OnDiskLost(disk));

    /// <summary>Whether every ring has a good copy on another disk.</summary>
    internal bool SurvivesWithout(int disk) => _rings.TrueForAll(ring => ring.SurvivesWithout(disk));

    /// <summary>Makes every stale copy whole whose disk is there.</summary>
    internal async LaneTask<RepairEnd> Resync(Func<int, LaneTask<bool>> pace)
    {
        RepairEnd end = RepairEnd.Done;
        for (int i = 0; i < _rings.Count; i++)
        {
            for (int copy = 0; i < _rings.Count && copy < _rings[i].Copies; copy++)
            {
                end = IsRepairable(_rings[i], copy) ? Worse(end, await Resync(_rings[i], copy, pace)) : end;
            }
        }

        return end;
    }

    /// <summary>Moves a copy to other places, one disk's; the former ones are free when it is done.</summary>
    internal async LaneTask<RepairEnd> Move(RingMedium ring, int copy, SlabPlace[] places, Func<LaneTask<IoError>> commit, Func<int, LaneTask<bool>> pace) =>
        EndOf(await Rebuild(ring, copy, places, () => Decide(commit), pace, StepMin));

    /// <summary>Fails if a commit returned NoSpace: it may still be applied later, so the current slab is unknown and nothing more is written.</summary>
    internal async LaneTask<IoError> Decide(Func<LaneTask<IoError>> commit)
    {
        IoError error = await commit();
        return error == IoError.NoSpace ? fail(error, "it is not known whether a slab has moved") : error;
    }

    /// <summary>Of two outcomes the one that leaves more to be done.</summary>
    internal static RepairEnd Worse(RepairEnd a, RepairEnd b) =>
        a == RepairEnd.Stopped || b == RepairEnd.Stopped ? RepairEnd.Stopped : a == RepairEnd.Incomplete ? a : b;

    private async LaneTask<IoError> Rebuild(
        RingMedium ring, int copy, SlabPlace[] places, Func<LaneTask<IoError>> commit, Func<int, LaneTask<bool>> pace, int step)
    {
        IoBuffer buffer = host.Lane.Buffers.Rent(step);
        IoError error = await ring.Rebuild(copy, places, commit, pace, buffer);
        host.Lane.Buffers.Return(buffer);
        return error;
    }

    private static int RepairStepOf(RingMedium ring) =>
        (int)Math.Clamp((long)ring.Blocks * JournalBlock.Size / 32 / StepMin * StepMin, StepMin, RepairStepMax);

    private bool IsRepairable(RingMedium ring, int copy) => ring.HasSource && ring.IsStale(copy) && members.IsLive(ring.PlacesOf(copy)[0].Disk);

    private async LaneTask<RepairEnd> Resync(RingMedium ring, int copy, Func<int, LaneTask<bool>> pace)
    {
        IoError error = await ring.MarkDropped();   // what is not marked yet could not be taken off
        error = error == IoError.None
            ? await Rebuild(ring, copy, [.. ring.PlacesOf(copy)], () => ring.ClearStale(copy), pace, RepairStepOf(ring))
            : error;
        if (error == IoError.NoSpace && await ring.MarkStale(copy) != IoError.None)
        {
            fail(error, $"it is not known whether a copy of {ring.Name} counts as stale");
        }

        CopiesRepaired += error == IoError.None ? 1 : 0;
        return EndOf(error);
    }

    private static RepairEnd EndOf(IoError error) =>
        error == IoError.None ? RepairEnd.Done : error == IoError.Cancelled ? RepairEnd.Stopped : RepairEnd.Incomplete;
}
