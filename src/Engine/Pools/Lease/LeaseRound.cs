using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

/// <summary>One request of the lease to each of several disks.</summary>
internal static class LeaseRound
{
    private const long PollNs = 1_000_000;

    /// <summary>Makes a request to every disk at which none is under way. Returns those that have done it in time; one that hangs is not waited for.</summary>
    /// <param name="lane">The pool's lane.</param>
    /// <param name="disks">The disks.</param>
    /// <param name="request">The request.</param>
    /// <param name="patienceNs">Longest time.</param>
    internal static async LaneTask<List<LeaseDisk>> Run(
        ILane lane, IEnumerable<LeaseDisk> disks, Func<LeaseDisk, LaneTask<IoError>> request, long patienceNs)
    {
        List<LeaseDisk> done = [];
        int underWay = 0;
        bool isOver = false;
        foreach (LeaseDisk disk in disks.Where(static disk => !disk.IsBusy).ToArray())
        {
            underWay++;
            Ask(disk).Forget();
        }

        for (long endNs = lane.NowNs + patienceNs; underWay > 0 && lane.NowNs < endNs;)
        {
            await lane.Delay(PollNs);
        }

        isOver = true;
        return done;

        async LaneTask Ask(LeaseDisk disk)
        {
            IoError error = await request(disk);
            underWay--;
            if (error == IoError.None && !isOver)
            {
                done.Add(disk);
            }
        }
    }
}
