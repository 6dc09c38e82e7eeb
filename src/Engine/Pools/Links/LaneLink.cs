using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

// The link of virtual disks on a lane of their own. Per pool and lane there is one queue of messages each way.
//
//   to the pool    orders, LEFT(disk)
//   to the lane    answers, calls, tables (a disk has left, a disk joins), "everything on a disk is stale"
//
// A disk leaves in this order:
//
//   1. A lane whose request failed uses the disk no more and orders its eviction. Other lanes keep the disk in their tables; requests of theirs that are
//      under way at it fail when the pool detaches itself from the device, and then they order the same.
//   2. The view without the disk is durable. Only then its table goes to every lane, before the answer to the order.
//   3. A lane that takes the table gives up its requests to the disk, and its virtual disks record what is dirty on it.
//   4. LEFT: the records are durable, every request of the lane has ended, given-up ones too, and its handle is closed. Writes that could not be recorded
//      because a virtual disk takes no requests any more are judged when that is opened again; none was acknowledged since.
//
// A disk joins only when every lane has said LEFT. No lane waits for another one, and the pool waits for no lane inside a commit or a change of its view.
//
// Invariants
//  1. A message is taken in one step: what it has to wait for is started, never awaited.
//  2. A table goes to the lane only when its view is durable.
//  3. A disk that the lane wants evicted is not in its table, although the view in force may still have it.
//  4. A disk is owed from the sending of the table without it until LEFT.
//  5. A disk of which the lane can get no handle, because the process has no descriptor left, is out for this lane: what it misses is recorded.

/// <summary>The link of virtual disks on a lane of their own.</summary>
internal sealed class LaneLink : PoolLink
{
    private const long LeftPollNs = 1_000_000;

    private readonly LaneChannel _toPool;
    private readonly LaneChannel _toLane;
    private readonly HashSet<DiskNumber> _owed = [];   // the pool's lane: see invariant 4

    private readonly HashSet<int> _leaving = [];   // the lane from here on: see invariant 3
    private IDisk?[] _handles = [];                // by number; those of the view
    private MemberTable _members = MemberTable.Empty;
    private PoolState _state;
    private PoolView _view;
    private int _openings;   // virtual disks that are being opened
    private int _notes;      // followers that record what a disk misses

    private LaneLink(Pool pool, ILane lane)
        : base(pool, lane)
    {
        _state = pool.State;
        _view = pool.View;
        _toPool = new LaneChannel(pool.Environment.Lane);
        _toLane = new LaneChannel(lane);
    }

    public override PoolState State => _state;

    public override MemberTable Members => _members;

    public override PoolView View => _view;

    /// <summary>Links a lane to a pool, on the pool's lane.</summary>
    internal static LaneLink Start(Pool pool, ILane lane)
    {
        LaneLink link = new(pool, lane);
        List<(int Number, DiskShare Share)> shares = [];
        List<int> leaving = [];
        foreach (ViewMember member in pool.View.Members)
        {
            if (pool.Disk(member.Disk) is { } disk)
            {
                if (TryShare(disk) is { } share)
                {
                    shares.Add((member.Disk.Value, share));
                }
            }
            else if (pool.Members.IsLeaving(member.Disk.Value))
            {
                leaving.Add(member.Disk.Value);
            }
        }

        link._toLane.Send(() => link.TakeFirst(shares, leaving));
        pool.MembershipChanged += link.OnMembershipChanged;
        pool.DiskMarkedStale += link.OnDiskMarkedStale;
        return link;
    }

    /// <summary>On the pool's lane: whether the lane has not said LEFT yet of a disk that left.</summary>
    internal bool Owes(DiskNumber disk) => _owed.Contains(disk);

    /// <summary>On the pool's lane: closes the handles of the lane. No virtual disk of the pool is open on it any more.</summary>
    internal LaneTask<Nothing> Close()
    {
        Owner.MembershipChanged -= OnMembershipChanged;
        Owner.DiskMarkedStale -= OnDiskMarkedStale;
        return Call(CloseHandles);
    }

    internal override LaneTask<T> Ask<T>(Func<Pool, LaneTask<T>> order)
    {
        LaneCompletion<T> answer = LaneCompletion<T>.Rent();
        LaneTask<T> task = answer.Task;
        SendToPool(() => Run(() => order(Owner), answer, SendToLane).Forget());
        return task;
    }

    internal override void Tell(Action<Pool> order) => SendToPool(() => order(Owner));

    internal override LaneTask<T> Call<T>(Func<LaneTask<T>> action)
    {
        LaneCompletion<T> answer = LaneCompletion<T>.Rent();
        LaneTask<T> task = answer.Task;
        SendToLane(() => Run(action, answer, SendToPool).Forget());
        return task;
    }

    internal override LaneTask<CommitResult> Evict(DiskNumber disk, string reason)
    {
        if (_members.Disk(disk.Value) is { } handle)
        {
            _leaving.Add(disk.Value);
            MakeTable();
            handle.Disconnect();
        }

        return Ask(pool => pool.Evict(disk, reason));
    }

    internal override void BeginOpening() => _openings++;

    internal override void EndOpening() => _openings--;

    private protected override async LaneTask<IoError> Note(IMemberFollower follower, DiskNumber disk)
    {
        _notes++;
        IoError error = await base.Note(follower, disk);
        _notes--;
        return error;
    }

    /// <summary>Runs one side of a call or an order and sends its result back. An exception is the caller's; a broken invariant is not.</summary>
    private static async LaneTask Run<T>(Func<LaneTask<T>> work, LaneCompletion<T> answer, Action<Action> sendBack)
    {
        T result = default!;
        Exception? failure = null;
        try
        {
            result = await work();
        }
        catch (Exception error) when (error is not InvariantException)
        {
            failure = error;
        }

        sendBack(() =>
        {
            if (failure is null)
            {
                answer.Complete(result);
            }
            else
            {
                answer.Fail(failure);
            }
        });
    }

    private void SendToPool(Action message) => _toPool.Send(() =>
    {
        Owner.MessageArrives?.Invoke(this);
        message();
    });

    /// <summary>On the pool's lane: sends a message, with the state as it is now.</summary>
    private void SendToLane(Action message)
    {
        PoolState state = Owner.State;
        PoolView view = Owner.View;
        _toLane.Send(() =>
        {
            _state = state;
            _view = view;
            message();
        });
    }

    private void OnMembershipChanged(MembershipChange change)
    {
        DiskNumber disk = change.Disk;
        if (change.Kind == MembershipChangeKind.Left)
        {
            Owe(disk);
            SendToLane(() => TakeLeft(disk));
        }
        else if (change.Kind == MembershipChangeKind.QuorumLost)
        {
            SendToLane(() => TellPoolLost(change.Reason));
        }
        else if (change.Kind == MembershipChangeKind.Joined && Owner.Disk(disk) is { } device && TryShare(device) is { } share)
        {
            SendToLane(() => TakeJoined(disk.Value, share));
        }
    }

    private void Owe(DiskNumber disk) => _owed.Add(disk);

    private void OnDiskMarkedStale(DiskNumber disk) => SendToLane(() => TellMarkedStale(disk));

    /// <summary>Prepares a handle; null: there is no descriptor for it.</summary>
    private static DiskShare? TryShare(IDisk disk)
    {
        try
        {
            return disk.Share();
        }
        catch (DiskOpenException)
        {
            return null;
        }
    }

    private void TakeFirst(List<(int Number, DiskShare Share)> shares, List<int> leaving)
    {
        _leaving.UnionWith(leaving);
        foreach ((int number, DiskShare share) in shares)
        {
            Open(number, share);
        }

        MakeTable();
    }

    private void TakeJoined(int number, DiskShare share)
    {
        Open(number, share);
        MakeTable();
        TellJoined();
    }

    private void TakeLeft(DiskNumber disk)
    {
        int number = disk.Value;
        IDisk? handle = number < _handles.Length ? _handles[number] : null;
        _leaving.Remove(number);
        if (handle is not null)
        {
            _handles[number] = null;
        }

        MakeTable();
        foreach (IMemberFollower follower in Followers.ToArray())
        {
            Note(follower, disk).Forget();
        }

        handle?.Disconnect();
        Leave(disk, handle).Forget();
    }

    /// <summary>Says LEFT as soon as it is true.</summary>
    private async LaneTask Leave(DiskNumber disk, IDisk? handle)
    {
        if (handle is not null)
        {
            await handle.Close();
            await AwaitRequests(handle);
        }

        await AwaitRecords();
        SendToPool(() => _owed.Remove(disk));
    }

    /// <summary>Waits until every request through a handle that takes no more has ended, given-up ones included.</summary>
    private async LaneTask<Nothing> AwaitRequests(IDisk handle)
    {
        while (handle.InFlight > 0)
        {
            await Lane.Delay(LeftPollNs);
        }

        return default;
    }

    /// <summary>Waits until what disks that have left miss is recorded durably, also by virtual disks that are being opened.</summary>
    private async LaneTask<Nothing> AwaitRecords()
    {
        while (_openings > 0 || _notes > 0)
        {
            await Lane.Delay(LeftPollNs);
        }

        return default;
    }

    private void Open(int number, DiskShare share)
    {
        if (number >= _handles.Length)
        {
            Array.Resize(ref _handles, number + 1);
        }

        Invariant.That(_handles[number] is null, "A lane has one handle of a disk.");
        _handles[number] = share.Open(Lane);
    }

    private void MakeTable() =>
        _members = new MemberTable([.. _handles.Select((handle, number) => _leaving.Contains(number) ? null : handle)], [.. _leaving]);

    private async LaneTask<Nothing> CloseHandles()
    {
        IDisk[] open = [.. _handles.OfType<IDisk>()];
        _handles = [];
        _members = MemberTable.Empty;
        foreach (IDisk handle in open)
        {
            await handle.Close();
        }

        return default;
    }
}
