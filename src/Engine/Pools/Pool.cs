using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

// An open pool as the layers above see it: state, disks, slabs, and the calls that change them. Used on one lane.
//
// Invariants
//  1. Disk gives a disk only while it is a member of the view in force and has not failed.
//  2. A disk that has left the view misses writes. It takes part again only through Rejoin, and what it missed is what
//     stale marks say; marks are the layers' above, except for a disk that has lost what it once held, which Rejoin
//     marks whole.

/// <summary>An open pool: its state, its disks and its slabs.</summary>
public sealed class Pool : IPoolReader
{
    /// <summary>Most bytes of records in one commit; larger changes are split by the caller.</summary>
    public const int MaxCommitBytes = 48 << 10;

    private readonly CapacityAlert _capacity = new();
    private readonly Dictionary<ILane, PoolLink> _links = [];
    private readonly MetadataStore _store;

    internal Pool(PoolEnvironment environment, MetadataStore store)
    {
        Environment = environment;
        _store = store;
        Allocator = new SlabAllocator(() => State, number => Disk(number) is not null);
        Membership = new PoolMembership(environment, store)
        {
            MarkedStale = disk => DiskMarkedStale?.Invoke(disk),
            IsOwed = IsOwed,
        };
        store.Applied += OnApplied;
        store.Views.MembershipChanged += change => MembershipChanged?.Invoke(change);
        store.Views.Evicted += static member => member.Disk.Close().Forget();
    }

    /// <summary>Told on the lane, after the view is in force and before the call that caused it completes.</summary>
    public event Action<MembershipChange>? MembershipChanged;

    /// <summary>Told on the lane, before the disk joins, when everything on a disk outside the view has durably been marked stale.</summary>
    public event Action<DiskNumber>? DiskMarkedStale;

    /// <summary>Told on the lane when the pool has become as full as its alert threshold says; in words.</summary>
    public event Action<string>? CapacityAlerted;

    /// <summary>For tests: called on the pool's lane before a message of another lane runs.</summary>
    internal Action<PoolLink>? MessageArrives { get; set; }

    /// <summary>Changes the members.</summary>
    internal PoolMembership Membership { get; }

    /// <summary>Environment of the pool.</summary>
    public PoolEnvironment Environment { get; }

    /// <summary>Identity.</summary>
    public PoolId Id => _store.Id;

    /// <summary>The newest committed state.</summary>
    public PoolState State => _store.State;

    /// <summary>The members as users of their disks see them; replaced with every change.</summary>
    public MemberTable Members => _store.Members.Table;

    /// <summary>The members in force.</summary>
    public PoolView View => _store.Members.View;

    /// <summary>Number of this opening.</summary>
    public ulong Session => _store.Session;

    /// <summary>Clients and background work on its disks; used on any lane.</summary>
    public PoolLoad Load { get; } = new();

    /// <summary>Gives out slabs.</summary>
    public SlabAllocator Allocator { get; }

    /// <summary>Shape of every slab.</summary>
    public SlabGeometry Slabs => State.Pool!.Slabs;

    /// <summary>Disks of the pool that are there but not in the view: they missed writes and wait for <see cref="Rejoin"/>.</summary>
    public IEnumerable<DiskNumber> OutsideDisks => Membership.Outside.Keys;

    /// <summary>The same, the one that left last first.</summary>
    internal DiskNumber[] OutsideByDeparture => [.. Membership.Outside.Keys.OrderByDescending(disk => State.Held.GetValueOrDefault(disk)?.Epoch ?? 0)];

    /// <summary>Whether the majority is gone: nothing can be written any more.</summary>
    public bool HasLostQuorum => _store.End.LostReason.Length > 0;

    /// <inheritdoc/>
    public string LostReason => _store.End.LostReason;

    /// <inheritdoc/>
    public string FullMember => _store.Members.Full.FirstOrDefault()?.Name ?? "";

    /// <inheritdoc/>
    public DateTimeOffset? PausedSince => _store.Lease?.PausedSince;

    /// <summary>Operations that the pool can do.</summary>
    public PoolOperationalStatus OperationalStatus => PoolCondition.StatusOf(this);

    /// <summary>Health that follows from it.</summary>
    public HealthStatus HealthStatus => PoolCondition.HealthOf(OperationalStatus);

    /// <summary>Reason why the pool is not OK, for people; empty when it is.</summary>
    public string StatusReason => PoolCondition.ReasonOf(this);

    /// <summary>Whether a commit that returned NoSpace may still be applied: a virtual disk opened now would not reflect it.</summary>
    public bool HasUndecidedCommit => _store.HasUndecidedCommit;

    /// <summary>Pages of the metadata area that the state takes, and that it may take on the metadata disk with the smallest one; 0: none is present.</summary>
    public (long Used, long Most) MetadataPages => _store.StatePages;

    /// <summary>Room that is left for thin virtual disks.</summary>
    public CapacityLevel Capacity => CapacityAlert.LevelOf(State, Allocator);

    /// <summary>Disks of the pool that are not in the view.</summary>
    public IEnumerable<DiskNumber> MissingDisks => PoolCondition.MissingDisks(this);

    /// <summary>A member that may be read and written, or null when it is missing, evicted or about to be.</summary>
    public IDisk? Disk(DiskNumber number) => Members.Disk(number.Value);

    /// <inheritdoc/>
    public bool IsUsable(DiskNumber number) => Disk(number) is not null;

    /// <inheritdoc/>
    IPoolReader? IPoolReader.FindPool(PoolId id) => Environment.FindPool(id);

    /// <inheritdoc/>
    Guid IPoolReader.NewGuid() => Environment.Lane.NewGuid();

    /// <inheritdoc/>
    DateTimeOffset IPoolReader.UtcNow => Environment.Lane.UtcNow;

    /// <summary>
    /// Takes a snapshot, on the lane. Takes time in proportion to the members and to the reservations of changes under way, never to rows or slabs.
    /// </summary>
    /// <param name="find">Finds the snapshots of the same moment of the other open pools.</param>
    public PoolSnapshot Snapshot(Func<PoolId, PoolSnapshot?> find) => new(this, _store.MostStatePages, find);

    /// <summary>A member in the view as the metadata sees it; null when it is missing.</summary>
    internal MemberDisk? Member(DiskNumber number) => _store.Members.Usable(number);

    /// <summary>Whether the metadata has a quorum without this disk.</summary>
    public bool CanSpare(DiskNumber number) => _store.Members.CanSpare(number);

    /// <summary>Returns the layout of a disk of the pool, present or not.</summary>
    public DiskLayout Layout(DiskNumber number) => Layout(State, number);

    /// <summary>Returns the layout of a disk of a pool in this state.</summary>
    internal static DiskLayout Layout(PoolState state, DiskNumber number)
    {
        DiskLayout.TryCreate(state.Disks[number].Description.SizeBytes, state.Pool!.Slabs, out DiskLayout layout, out _);
        return layout;
    }

    /// <summary>Returns the reason why the metadata of a new pool would have no pages for these disks; empty if it has.</summary>
    public static string WhyNoPages(PoolEnvironment environment, NewPoolSpec spec, IReadOnlyList<NewDiskSpec> disks) =>
        PoolCreator.WhyNoPages(environment, spec, disks);

    /// <summary>Scans a disk: its content, and whether it may join a pool. Writes nothing.</summary>
    public static LaneTask<PoolScan> Scan(PoolEnvironment environment, IDisk disk) => PoolScan.Scan(environment.Lane, disk);

    /// <summary>Makes a pool of blank disks and opens it; it owns the disks from then on.</summary>
    /// <exception cref="PoolException">It could not be made; the disks are the caller's, and blank or as they were.</exception>
    public static async LaneTask<Pool> Create(PoolEnvironment environment, NewPoolSpec spec, IReadOnlyList<NewDiskSpec> disks)
    {
        MetadataStore store = await PoolCreator.Create(environment, spec, disks);
        Pool pool = new(environment, store);
        store.Start();
        return pool;
    }

    /// <summary>
    /// Opens a pool from the scans of disks that may be its members. Without quorum, or where the metadata is ambiguous or
    /// damaged, the result has no pool and says why; then nothing was written and every disk stays the caller's.
    /// </summary>
    public static LaneTask<PoolOpenResult> Open(PoolEnvironment environment, PoolId id, IReadOnlyList<PoolScan> scans) =>
        Open(environment, id, scans, new LeaseTaker());

    /// <summary>The same; <paramref name="lease"/> remembers between two attempts what is waited for.</summary>
    internal static LaneTask<PoolOpenResult> Open(PoolEnvironment environment, PoolId id, IReadOnlyList<PoolScan> scans, LeaseTaker lease) =>
        PoolOpening.Open(environment, id, scans, lease);

    /// <summary>Whether disks that are there may be the majority of the newest view that they hold. Opening decides; nothing is read or written here.</summary>
    public static bool MayHaveQuorum(IReadOnlyList<PoolScan> scans)
    {
        PoolScan[] members = [.. scans.Where(static scan => scan is { Label: not null, Superblock: not null })];
        PoolView? view = members.Select(static scan => scan.Superblock!.View).MaxBy(static view => view.Rank);
        return view?.Votes.IsMajority(disk => Array.Exists(members, scan => scan.Label!.Number == disk), view.Witness != Guid.Empty) == true;
    }

    /// <summary>
    /// Makes records durable on the metadata disks (<see cref="PoolView.CopiesToCommit"/>) and applies them, all or none. Concurrent commits share
    /// one write.
    /// </summary>
    public LaneTask<CommitResult> Commit(params MetadataRecord[] records) => _store.Commit(records);

    /// <summary>
    /// Verifies the pool's own records on a member and heals them; gives the number of blocks that were damaged or unreadable. 0 for a
    /// disk that is not in the view.
    /// </summary>
    public LaneTask<int> ScrubMetadata(DiskNumber disk) => _store.Scrub(disk);

    /// <summary>
    /// Takes a failed disk out of the view. <see cref="Disk"/> gives null for it at once; when this returns successfully the
    /// new view is in force, and writes that miss the disk may be acknowledged. Calling it again, or for a disk that is out
    /// already, waits for the same. The disk is closed.
    /// </summary>
    public LaneTask<CommitResult> Evict(DiskNumber disk, string reason) => _store.Views.Evict(disk, reason);

    /// <summary>Adds blank disks; the pool owns those that are members afterwards. All or none, unless one fails on the way.</summary>
    public LaneTask<CommitResult> AddDisks(IReadOnlyList<NewDiskSpec> disks) => Membership.AddDisks(disks);

    /// <summary>Returns the reason why disks cannot be added, as far as it is known without reading them; empty if they can.</summary>
    public string WhyNotAdd(IReadOnlyList<NewDiskSpec> disks) => Membership.WhyNotAdd(disks);

    /// <summary>Removes a disk without slabs in use, present or not. A present one is blank afterwards, and closed.</summary>
    public LaneTask<CommitResult> RemoveDisk(DiskNumber disk) => Membership.RemoveDisk(disk);

    /// <summary>
    /// Lets a disk of the pool that is outside the view take part again. From now on the disk gets writes; its stale rows stay stale until they are resynced.
    /// Nothing submitted to the disk before may be under way.
    /// </summary>
    public LaneTask<CommitResult> Rejoin(DiskNumber disk) => Membership.Rejoin(disk);

    /// <summary>Hands over a disk that has come back; it can then <see cref="Rejoin"/>. Gives the reason why not, or an empty string.</summary>
    public string Offer(PoolScan scan) => Membership.Offer(scan);

    /// <summary>Whether a disk with the identity of one of the pool took part in a session that this history of the pool does not have.</summary>
    public bool IsOfOtherHistory(PoolScan scan) => Membership.IsOfOtherHistory(scan);

    /// <summary>Whether a lane of virtual disks has not let go yet of a disk that left the view: the disk does not join before.</summary>
    internal bool IsOwed(DiskNumber disk) => _links.Values.Any(link => link is LaneLink other && other.Owes(disk));

    /// <summary>Returns the link of virtual disks on a lane. There is one for each lane.</summary>
    internal PoolLink LinkTo(ILane lane)
    {
        if (!_links.TryGetValue(lane, out PoolLink? link))
        {
            link = lane == Environment.Lane ? new DirectLink(this) : LaneLink.Start(this, lane);
            _links.Add(lane, link);
        }

        return link;
    }

    /// <summary>
    /// Changes the description of the pool. Where it ends the declaration that the disks keep what they have acknowledged, every disk is flushed before that is
    /// durable; if one cannot be flushed, nothing is changed.
    /// </summary>
    public LaneTask<CommitResult> Change(PoolDescription description) => _store.Run(async () =>
    {
        if (State.Pool!.IsPowerProtected && !description.IsPowerProtected && await FlushMembers() is { } failed)
        {
            return new CommitResult(CommitStatus.Refused, $"{failed} could not be flushed, so the pool stays power-protected.");
        }

        return await _store.CommitNow(new PoolChanged(description));
    });

    /// <summary>Brings the pool to the newest version of the format while it serves. A crash leaves it with the version before or the new one.</summary>
    public LaneTask<CommitResult> Raise() => _store.Run(async () =>
    {
        if (State.Pool!.FormatVersion == PoolDescription.NewestFormat && View.MembersVote)
        {
            return CommitResult.Committed;
        }

        if (!await _store.BeginLease())
        {
            return new CommitResult(CommitStatus.NoQuorum, "A lease could not be written to the majority of its disks.");
        }

        CommitResult raised = await _store.CommitNow(new PoolChanged(State.Pool! with { FormatVersion = PoolDescription.NewestFormat }));
        return !raised.Succeeded || await _store.Views.ChangeView(ViewPlan.None) ? raised : new CommitResult(CommitStatus.NoQuorum, LostReason);
    });

    /// <summary>Lets flushes reach the disks again and flushes all of them; the name of one that failed, for which all is as before.</summary>
    private async LaneTask<string?> FlushMembers()
    {
        MemberDisk[] members = [.. _store.Members.All.Values];
        Array.ForEach(members, static member => member.DeclarePowerProtected(false));
        LaneTask<IoError>[] flushes = Array.ConvertAll(members, static member => member.Flush());
        string? failed = null;
        for (int i = 0; i < members.Length; i++)
        {
            failed = await flushes[i] == IoError.None ? failed : members[i].Name;
        }

        Array.ForEach(members, member => member.DeclarePowerProtected(failed is not null));
        return failed;
    }

    /// <summary>Closes the pool and its disks. <paramref name="clean"/> says that everything above has been written.</summary>
    public async LaneTask Close(bool clean = true)
    {
        foreach (LaneLink link in _links.Values.OfType<LaneLink>())
        {
            await link.Close();
        }

        await _store.Close(clean);
        foreach (MemberDisk member in _store.Members.All.Values.Concat(Membership.Outside.Values).ToArray())
        {
            await member.Disk.Close();
        }
    }

    private void OnApplied(MetadataRecord record)
    {
        if (record is RowsMapped mapped)
        {
            Allocator.Committed(mapped);
        }

        bool changesRoom = record is RowsMapped or RowsFreed or SpaceRemoved or DiskAdded or PoolChanged;
        if (changesRoom && _capacity.Look(State, Allocator) is { Length: > 0 } alert)
        {
            CapacityAlerted?.Invoke(alert);
        }
    }
}
