using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

/// <summary>An open pool: its state, its disks and its slabs. Used on one lane.</summary>
public sealed class Pool
{
    /// <summary>Most bytes of records in one commit; larger changes are split by the caller.</summary>
    public const int MaxCommitBytes = 48 << 10;

    private readonly Dictionary<DiskNumber, IDisk> _disks = [];

    private Pool(PoolEnvironment environment, PoolId id)
    {
        Environment = environment;
        Id = id;
        Allocator = new SlabAllocator(() => State, number => Disk(number) is not null);
    }

    /// <summary>Told on the lane, after the view is in force and before the call that caused it completes.</summary>
    public event Action<MembershipChange>? MembershipChanged;

    /// <summary>What the pool lives in.</summary>
    public PoolEnvironment Environment { get; }

    /// <summary>Identity.</summary>
    public PoolId Id { get; }

    /// <summary>The newest committed state.</summary>
    public PoolState State { get; private set; } = PoolState.Empty;

    /// <summary>Gives out slabs.</summary>
    public SlabAllocator Allocator { get; }

    /// <summary>Number of this opening.</summary>
    public ulong Session { get; private set; }

    /// <summary>Shape of every slab.</summary>
    public SlabGeometry Slabs => State.Pool!.Slabs;

    /// <summary>A member that may be read and written, or null when it is missing, evicted or about to be.</summary>
    public IDisk? Disk(DiskNumber number) => _disks.GetValueOrDefault(number);

    /// <summary>Where everything is on a member, present or not.</summary>
    public DiskLayout Layout(DiskNumber number)
    {
        DiskLayout.TryCreate(State.Disk(number)!.Description.SizeBytes, Slabs, out DiskLayout layout, out _);
        return layout;
    }

    /// <summary>Makes a pool of blank disks.</summary>
    public static async LaneTask<Pool> Create(PoolEnvironment environment, NewPoolSpec spec, IReadOnlyList<NewDiskSpec> disks)
    {
        await environment.Lane.Yield();
        Pool pool = new(environment, new PoolId(environment.Lane.NewGuid()));
        SlabGeometry slabs = SlabGeometry.ForSmallestDisk(disks.Min(disk => disk.Disk.Identity.SizeBytes));
        pool.State = pool.State.Apply(new PoolCreated(new PoolDescription { FriendlyName = spec.FriendlyName, Slabs = slabs }));
        foreach (NewDiskSpec disk in disks)
        {
            DiskLayout.TryCreate(disk.Disk.Identity.SizeBytes, slabs, out DiskLayout layout, out _);
            DiskDescription description = new()
            {
                Number = pool.State.NextDisk,
                Id = new DiskId(environment.Lane.NewGuid()),
                FriendlyName = disk.FriendlyName,
                SizeBytes = layout.DiskBytes,
                SlabCount = layout.SlabCount,
                MediaTypeCode = (ushort)(disk.MediaType ?? disk.Disk.Identity.MediaType),
                BusTypeCode = (ushort)disk.Disk.Identity.BusType,
                Usage = disk.Usage,
            };
            pool._disks[description.Number] = disk.Disk;
            pool.State = pool.State.Apply(new DiskAdded(description));
        }

        pool.Session = 1;
        return pool;
    }

    /// <summary>
    /// Makes records durable on a majority of the metadata disks and applies them, all or none. Concurrent commits share
    /// one write.
    /// </summary>
    public async LaneTask<CommitResult> Commit(params MetadataRecord[] records)
    {
        await Environment.Lane.Yield();
        PoolState next = State;
        foreach (MetadataRecord record in records)
        {
            if (!next.TryApply(record, out PoolState? applied, out string reason))
            {
                return new CommitResult(CommitStatus.Refused, reason);
            }

            next = applied;
        }

        State = next;
        foreach (RowsMapped mapped in records.OfType<RowsMapped>())
        {
            Allocator.Committed(mapped);
        }

        return CommitResult.Committed;
    }

    /// <summary>
    /// Takes a failed disk out of the view. <see cref="Disk"/> gives null for it at once; when this returns successfully the
    /// new view is in force, and writes that miss the disk may be acknowledged. Calling it again, or for a disk that is out
    /// already, waits for the same.
    /// </summary>
    public async LaneTask<CommitResult> Evict(DiskNumber disk, string reason)
    {
        bool left = _disks.Remove(disk);
        await Environment.Lane.Yield();
        if (left)
        {
            MembershipChanged?.Invoke(new MembershipChange(MembershipChangeKind.Left, disk, reason));
        }

        return CommitResult.Committed;
    }

    /// <summary>Closes the pool and its disks.</summary>
    public async LaneTask Close()
    {
        foreach (IDisk disk in _disks.Values.ToArray())
        {
            await disk.Close();
        }

        _disks.Clear();
    }
}
