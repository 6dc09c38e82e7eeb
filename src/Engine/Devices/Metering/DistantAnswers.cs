namespace TierSpaces.Engine.Devices;

/// <summary>Answers of disks of other lanes, as the watch of one lane sees them at its own ticks.</summary>
internal sealed class DistantAnswers(DiskWatches all, DiskWatch own)
{
    private readonly record struct Seen(MeteredDisk Disk, long Answers, int Tick);

    private MeteredDisk[] _disks = [];
    private Seen[] _seen = [];

    /// <summary>A tick has begun: a disk whose count has moved answered in the one before.</summary>
    internal void Look(int tick)
    {
        MeteredDisk[] disks = all.Disks;
        if (disks != _disks)
        {
            Adopt(disks);
        }

        for (int number = 0; number < _seen.Length; number++)
        {
            ref Seen seen = ref _seen[number];
            long answers = seen.Disk.Answers;
            if (answers != seen.Answers)
            {
                seen = seen with { Answers = answers, Tick = tick - 1 };
            }
        }
    }

    /// <summary>Whether another device has answered another lane after the tick <paramref name="begun"/>.</summary>
    internal bool HasAnswered(MeteredDisk waiting, int begun)
    {
        foreach (Seen seen in _seen)
        {
            if (seen.Tick > begun && !seen.Disk.IsSameDevice(waiting))
            {
                return true;
            }
        }

        return false;
    }

    private void Adopt(MeteredDisk[] disks)
    {
        Seen[] before = _seen;
        _seen = [.. from disk in disks where disk.Watch != own select Find(disk)];
        _disks = disks;

        Seen Find(MeteredDisk disk)
        {
            int number = Array.FindIndex(before, seen => seen.Disk == disk);
            return number < 0 ? new Seen(disk, disk.Answers, -1) : before[number];
        }
    }
}
