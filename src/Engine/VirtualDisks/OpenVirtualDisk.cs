using TierSpaces.Engine.Caching;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.VirtualDisks;

/// <summary>A virtual disk that is open on its pool: description, storeys, and the link that tells it of disks that leave.</summary>
public sealed class OpenVirtualDisk
{
    private readonly Pool _pool;
    private readonly PoolSpaceHost _host;
    private readonly string _notesName;
    private bool _closed;

    internal OpenVirtualDisk(Pool pool, VirtualDiskDescription description, VirtualDisk disk, PoolSpaceHost host, string notesName)
    {
        _pool = pool;
        _host = host;
        _notesName = notesName;
        Description = description;
        Disk = disk;
        pool.MembershipChanged += OnMembershipChanged;
    }

    /// <summary>The disk as its pool remembers it.</summary>
    public VirtualDiskDescription Description { get; set; }

    /// <summary>The top storey.</summary>
    public VirtualDisk Disk { get; }

    /// <summary>What its space sees of the pool.</summary>
    internal PoolSpaceHost Host => _host;

    /// <summary>Its write cache, or null.</summary>
    public WriteCache? Cache => Disk.Cache;

    /// <summary>Whether a copy of anything it holds is missing or stale.</summary>
    public bool IsDegraded
    {
        get
        {
            SpaceState? space = _pool.State.Space(Description.DataSpace);
            return Cache is { IsDegraded: true } || (space is not null && space.EnumerateRows().Any(row =>
                row.Row.HasStale || row.Row.Mapping.Sources.ToArray().Any(slab => _pool.Disk(slab.Disk) is null)));
        }
    }

    /// <summary>Whether every byte can be read: each column of each row has a live copy that is not stale.</summary>
    public bool IsComplete
    {
        get
        {
            SpaceState? space = _pool.State.Space(Description.DataSpace);
            return space is not null && Disk.Space.Fault == IoError.None && space.EnumerateRows().All(row => HasAllColumns(row.Row));
        }
    }

    /// <summary>What the space found out about disks, by number, since this was last asked.</summary>
    internal Dictionary<(int Disk, DiskFinding Finding), long> TakeFindings() => _host.TakeFindings();

    /// <summary>Stops it; a clean stop leaves nothing to do at the next opening.</summary>
    public async LaneTask<IoError> Close()
    {
        if (_closed)
        {
            return IoError.None;
        }

        _closed = true;
        IoError cached = Disk.Cache is { } cache ? await cache.Close() : IoError.None;
        IoError error = await Disk.Space.Close();
        error = error == IoError.None ? cached : error;
        _pool.MembershipChanged -= OnMembershipChanged;
        if (error == IoError.None)
        {
            _pool.Environment.HostState.ReleaseMemory(_notesName);   // everything is logged: there is nothing to note any more
        }

        return error;
    }

    private bool HasAllColumns(RowState row)
    {
        int copies = Description.NumberOfDataCopies;
        for (int column = 0; column < Description.NumberOfColumns; column++)
        {
            bool any = false;
            for (int copy = 0; copy < copies; copy++)
            {
                int position = (column * copies) + copy;
                any |= _pool.Disk(row.Mapping.Sources[position].Disk) is not null && row.Stale(position) != ushort.MaxValue;
            }

            if (!any)
            {
                return false;
            }
        }

        return true;
    }

    private void OnMembershipChanged(MembershipChange change)
    {
        if (change.Kind == MembershipChangeKind.Left)
        {
            Note(Disk.Space.OnDiskLost(change.Disk.Value)).Forget();
        }
        else if (change.Kind == MembershipChangeKind.Joined)
        {
            Disk.Space.OnDiskJoined();
        }

        static async LaneTask Note(LaneTask<IoError> task) => await task;
    }
}
