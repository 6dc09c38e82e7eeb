using TierSpaces.Engine.Lanes;

namespace TierSpaces.Engine.Devices;

// The metered disks of all lanes that judge each other. No lane touches the list of another: this one is replaced as a whole when a disk is opened or closed.
// Of a disk of another lane a watch reads only what is published there: the device, and the count of its answers.

/// <summary>The disks of several lanes, each with the watch of its lane. Each member may be used on any lane.</summary>
internal sealed class DiskWatches(IoDeadlines deadlines)
{
    private MeteredDisk[] _disks = [];

    internal IoDeadlines Deadlines => deadlines;

    /// <summary>The disks that are open now, owners and handles. The array never changes.</summary>
    internal MeteredDisk[] Disks => Volatile.Read(ref _disks);

    /// <summary>The watch of a lane; called on that lane.</summary>
    internal DiskWatch Of(ILane lane) => Array.Find(Disks, disk => disk.Lane == lane)?.Watch ?? new DiskWatch(lane, this);

    internal void Add(MeteredDisk disk) => Replace(disks => [.. disks, disk]);

    internal void Remove(MeteredDisk disk) => Replace(disks => Array.FindAll(disks, one => one != disk));

    private void Replace(Func<MeteredDisk[], MeteredDisk[]> change)
    {
        for (MeteredDisk[] before = Disks, seen; ; before = seen)
        {
            seen = Interlocked.CompareExchange(ref _disks, change(before), before);
            if (seen == before)
            {
                return;
            }
        }
    }
}
