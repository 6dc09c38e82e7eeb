using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Resiliency;

// The member disks as one space or one ring uses them.
//
// Invariants
//  1. Flushed ≤ Written per disk, both counts of completed writes; a flush covers what had completed when it was submitted.
//  2. One flush of a disk is under way at a time; a caller that needs a later one waits for it and then submits the next.
//  3. A full host file system is waited for, a try a second: it is never the disk's failure. Data of clients waits a minute at most. Writes of the
//     space itself (log, pages) wait for room while the space serves: their callers are answered by OrNoSpace after a
//     minute, the work goes on, so nothing is left half done when there is room again.
//  4. When a disk has left that alone held writes which were not flushed, flushes fail from then on, also when it is back: it may have lost its power.
//  5. A flush that fails, for want of room too, is never repeated and believed: a file system may have dropped what it could not place.

/// <summary>Reads, writes and flushes the member disks for one space, or for a ring in a cache pool.</summary>
internal sealed class SpaceMembers(IMemberHost host)
{
    private const long RetryNs = 1_000_000_000;
    private const int RetriesMax = 60;

    private const int ZeroStep = 1 << 20;

    private const int OverdueLoad = 1 << 20;

    private readonly List<Member> _members = [];
    private readonly RoomWaits _waits = new();
    private readonly HashSet<int> _givenUp = [];   // disks that are away and do not come back, as an administrator says
    private int _overdue;      // overdue reads of all disks
    private Action<int>? _used;
    private bool _isServing;   // the space is open: own writes and flushes wait for room without a limit

    /// <summary>Number of the disks and places that are in use now: work that began with another one starts again.</summary>
    internal int Version { get; private set; }

    /// <summary>Lets nothing be promised any more, for a reason in words; gives the error.</summary>
    internal required Func<IoError, string, IoError> Fail { get; init; }

    /// <summary>Called after an eviction, for a user that the pool does not notify of departures; null: the pool notifies it.</summary>
    internal Func<int, LaneTask<IoError>>? AfterEviction { get; init; }

    /// <summary>Disks that were used so far.</summary>
    internal IEnumerable<int> Used => _members.Select(static member => member.Disk);

    /// <summary>Lets a caller know each disk that is used for the first time.</summary>
    internal void TellFirstUse(Action<int> used) => _used = used;

    /// <summary>A disk has left or come back, or data has another place: work that spans that starts again.</summary>
    internal void NoteChange()
    {
        _givenUp.RemoveWhere(IsLive);
        Version++;
    }

    /// <summary>The space is open: own writes and flushes wait for room without a limit.</summary>
    internal void BeginServing() => _isServing = true;

    /// <summary>The space closes.</summary>
    internal void EndServing() => _isServing = false;

    internal bool IsLive(int disk) => host.Members.Disk(disk) is not null;

    /// <summary>Whether a disk is not there and may come back with what it holds.</summary>
    internal bool IsAway(int disk) => !IsLive(disk) && !_givenUp.Contains(disk);

    /// <summary>Lets disks that are not there count as lost with what they hold, until they are there again.</summary>
    internal void GiveUp(IEnumerable<int> disks)
    {
        _givenUp.UnionWith(disks);
        Version++;
    }

    /// <summary>A disk that requests wait for because the file system below it is full; −1: none.</summary>
    internal int Full => _members.Find(static member => member.AwaitingRoom > 0)?.Disk ?? -1;

    /// <summary>Returns the load of a disk, for the choice among copies. A disk with overdue reads comes last.</summary>
    internal int Load(int disk)
    {
        int load = host.Members.Disk(disk)?.InFlight ?? int.MaxValue;
        return _overdue > 0 && HasOverdue(disk) ? Math.Max(load, OverdueLoad) : load;
    }

    internal bool HasOverdue(int disk) => _overdue > 0 && Of(disk).Overdue > 0;

    /// <summary>A read of this disk became overdue, or one that was has ended.</summary>
    internal void NoteOverdue(int disk, int change)
    {
        Of(disk).Overdue += change;
        Invariant.That(Of(disk).Overdue >= 0, "A read that was counted overdue on a disk ends on that disk.");
        _overdue += change;
    }

    internal LaneTask<IoError> Read(int disk, long offset, IoBuffer target) =>
        host.Members.Disk(disk) is { } device ? device.Read(offset, target) : LaneTask.FromResult(IoError.DeviceGone);

    /// <summary>Writes to a disk.</summary>
    /// <param name="disk">Number of the disk.</param>
    /// <param name="offset">First byte.</param>
    /// <param name="source">Data to write. The buffer belongs to the request until it ends.</param>
    /// <param name="isOwn">Whether the space writes it for itself: then the write waits for room as invariant 3 says.</param>
    internal LaneTask<IoError> Write(int disk, long offset, IoBuffer source, bool isOwn = false)
    {
        if (host.Members.Disk(disk) is not { } device)
        {
            return LaneTask.FromResult(IoError.DeviceGone);
        }

        LaneTask<IoError> write = device.Write(offset, source, WriteFlags.None);
        return write.IsCompleted ? AfterWrite(write.GetAwaiter().GetResult(), disk, offset, source, isOwn) : WriteSlow(write, disk, offset, source, isOwn);
    }

    /// <summary>Writes to the slab of a position. If the slab moves, its target is written too, and only the answer of the source counts.</summary>
    internal LaneTask<IoError> Write(SpaceRow row, int position, int slabOffset, IoBuffer source)
    {
        SlabPlace place = row.Places[position];
        return row.JoiningPosition == position ? WriteBoth(row, place, slabOffset, source) : Write(place.Disk, place.DataOffset + slabOffset, source);
    }

    /// <summary>Writes what is not a client's: healing, checksum pages. A disk that fails it leaves the view when it can.</summary>
    internal async LaneTask<IoError> WriteOrEvict(int disk, long offset, IoBuffer source, bool hasOtherCopy, bool awaitsRoom = false)
    {
        IoError error = await Write(disk, offset, source, awaitsRoom);
        if (error != IoError.None && error != IoError.NoSpace)
        {
            await Evict(disk, error, hasOtherCopy, "a write");
        }

        return error;
    }

    /// <summary>
    /// Answers a caller of work that waits for room after a minute with NoSpace; the work goes on. Nothing of the caller's may be in use by it.
    /// </summary>
    internal LaneTask<IoError> OrNoSpace(LaneTask<IoError> work) => work.IsCompleted ? work : _waits.Follow(work, host.Lane.NowNs);

    // A device that would have to write the zeros gets them in steps, one at a time, so that no request of it comes near a deadline.

    /// <summary>Makes a range of a member read as zeros.</summary>
    internal async LaneTask<IoError> Zero(int disk, long offset, long length)
    {
        IoError error = await ZeroOnce(disk, offset, length, WriteFlags.Fast);
        if (error != IoError.NotSupported)
        {
            return error;
        }

        error = IoError.None;
        for (long at = 0; at < length && error == IoError.None; at += ZeroStep)
        {
            error = await ZeroOnce(disk, offset + at, Math.Min(ZeroStep, length - at), WriteFlags.None);
        }

        return error;
    }

    private async LaneTask<IoError> WriteBoth(SpaceRow row, SlabPlace place, int slabOffset, IoBuffer source)
    {
        LaneTask<IoError> here = Write(place.Disk, place.DataOffset + slabOffset, source);
        LaneTask<IoError> there = Write(row.Joining.Disk, row.Joining.DataOffset + slabOffset, source);
        IoError error = await here;
        if (await there != IoError.None)
        {
            row.FailJoining();
        }

        return error;
    }

    private async LaneTask<IoError> ZeroOnce(int disk, long offset, long length, WriteFlags flags)
    {
        IoError error = IoError.DeviceGone;
        for (int attempt = 0; attempt <= RetriesMax && host.Members.Disk(disk) is { } device; attempt++)
        {
            error = await device.WriteZeroes(offset, length, flags);
            Of(disk).Written++;
            if (error != IoError.NoSpace)
            {
                return error;
            }

            await AwaitRoom(disk, attempt);
        }

        return error;
    }

    /// <summary>Gives a range back to the medium; a disk that is not there keeps it.</summary>
    internal LaneTask<IoError> Unmap(int disk, long offset, long length) =>
        host.Members.Disk(disk) is { } device ? device.Unmap(offset, length) : LaneTask.FromResult(IoError.DeviceGone);

    /// <summary>
    /// Makes a range that holds zeros a hole that reads as zeros, where the disk can make one without writing. A flush covers it, and what becomes of it
    /// does not matter.
    /// </summary>
    internal async LaneTask<Nothing> PunchZeros(int disk, long offset, long length)
    {
        if (host.Members.Disk(disk) is { } device)
        {
            await device.WriteZeroes(offset, length, WriteFlags.Fast);
            Of(disk).Written++;
        }

        return default;
    }

    /// <summary>Counts a disk as unflushed whatever is known of it.</summary>
    internal void NoteUnflushed(int disk) => Of(disk).Written++;

    /// <summary>Whether a disk has left that alone held writes which were not flushed: it may have lost its power, and them.</summary>
    internal bool HasMissedFlush { get; private set; }

    /// <summary>
    /// Whether the last flush of a disk has failed, or one of its flushes on another lane. The effect of flushes beside that one is not known then.
    /// </summary>
    internal bool HasFailedFlush(int disk) => Of(disk) is { HasFailedFlush: true } or { Flushing.HasFailedFlush: true };

    /// <summary>A disk has left that held data alone.</summary>
    internal void NoteLastGone(int disk) => HasMissedFlush |= Of(disk).Written > Of(disk).Flushed;

    /// <summary>Makes every completed write to every disk durable. The result names a disk that failed (−1: none).</summary>
    internal async LaneTask<int> FlushUnflushed()
    {
        int count = _members.Count;
        if (count == 1)
        {
            return await Flush(_members[0]) ? -1 : _members[0].Disk;
        }

        LaneTask<bool>[] flushes = new LaneTask<bool>[count];
        for (int i = 0; i < count; i++)
        {
            flushes[i] = Flush(_members[i]);
        }

        int failed = -1;
        for (int i = 0; i < count; i++)
        {
            failed = await flushes[i] ? failed : _members[i].Disk;
        }

        return failed;
    }

    /// <summary>A disk that has failed while the view without it is not in force yet; −1: none.</summary>
    internal int Leaving()
    {
        foreach (Member member in _members)
        {
            if (host.Members.IsLeaving(member.Disk))
            {
                return member.Disk;
            }
        }

        return -1;
    }

    /// <summary>
    /// A member failed a request. It leaves the view when another copy can carry on or when it is gone altogether; a disk that only
    /// refuses one request and has no other copy stays, and the request fails.
    /// </summary>
    internal async LaneTask<bool> Evict(int disk, IoError error, bool hasOtherCopy, string what)
    {
        if (!IsLive(disk))
        {
            return !host.Members.IsLeaving(disk) || await AwaitLeaving(disk);
        }

        bool isGone = error is IoError.DeviceGone or IoError.NoDevice;
        if (!isGone && (!hasOtherCopy || error == IoError.NoSpace) && !await IsFoundGone(disk))
        {
            return false;
        }

        IoError evicted = await host.Evict(disk, $"{what} failed with {error}");
        evicted = evicted == IoError.None && AfterEviction is { } tell ? await tell(disk) : evicted;
        return evicted == IoError.None || Fail(evicted, "a failed disk could not be taken out of the view") == IoError.None;
    }

    /// <summary>Whether a member that failed a read is there and answers; one that has gone leaves the view.</summary>
    internal async LaneTask<bool> Answers(int disk)
    {
        bool isGone = await IsFoundGone(disk);
        _ = isGone && await Evict(disk, IoError.DeviceGone, hasOtherCopy: false, "a read");
        return !isGone && IsLive(disk);
    }

    /// <summary>Looks whether a member that failed a request is still there. False if it has left, or come back as another device, meanwhile.</summary>
    private async LaneTask<bool> IsFoundGone(int disk)
    {
        if (host.Members.Disk(disk) is not { } device)
        {
            return false;
        }

        bool isGone = !device.IsPresent || await device.CheckPresence() is IoError.DeviceGone or IoError.NoDevice;
        return isGone && host.Members.Disk(disk) == device;
    }

    /// <summary>
    /// A member failed a request that began at a version of the members. If that is not the version now, the failure may be of a disk that has left since
    /// and come back: nothing is done.
    /// </summary>
    internal LaneTask<bool> EvictSince(int version, int disk, IoError error, bool hasOtherCopy, string what) =>
        version == Version ? Evict(disk, error, hasOtherCopy, what) : LaneTask.FromResult(false);

    /// <summary>Makes every completed write to one disk durable; false when that failed. A disk out of the view needs none.</summary>
    internal LaneTask<bool> FlushDisk(int disk) => Flush(Of(disk));

    /// <summary>Waits until the view that excludes a failed disk is committed. Until then no write that the disk missed is acknowledged.</summary>
    private async LaneTask<bool> AwaitLeaving(int disk)
    {
        IoError evicted = await host.Evict(disk, "it has failed");
        return evicted == IoError.None || Fail(evicted, "a failed disk could not be taken out of the view") == IoError.None;
    }

    private async LaneTask<bool> Flush(Member member)
    {
        long needed = member.Written;
        while (member.Flushed < needed && IsLive(member.Disk))
        {
            if (member.IsFlushing)
            {
                await member.FlushEnded.Wait();
                continue;
            }

            member.IsFlushing = true;
            long covered = member.Written;
            bool done = await FlushDevice(member);
            member.IsFlushing = false;
            member.Flushed = done ? covered : member.Flushed;
            member.FlushEnded.NotifyAll();
            if (!done)
            {
                return false;
            }
        }

        return true;
    }

    private async LaneTask<bool> FlushDevice(Member member)
    {
        if (host.Members.Disk(member.Disk) is not { } device)
        {
            return true;   // out of the view meanwhile: nothing of it is promised
        }

        member.Flushing = device as MeteredDisk;
        IoError error = device.IsPresent ? await device.Flush() : IoError.DeviceGone;
        member.HasFailedFlush = error is not (IoError.None or IoError.DeviceGone or IoError.NoDevice);
        return error == IoError.None && device.IsPresent;
    }

    private LaneTask<IoError> AfterWrite(IoError error, int disk, long offset, IoBuffer source, bool isOwn)
    {
        Of(disk).Written++;
        return error == IoError.NoSpace ? Retry(disk, offset, source, isOwn) : LaneTask.FromResult(error);
    }

    private async LaneTask<IoError> WriteSlow(LaneTask<IoError> write, int disk, long offset, IoBuffer source, bool isOwn)
    {
        IoError error = await write;
        Of(disk).Written++;
        return error == IoError.NoSpace ? await Retry(disk, offset, source, isOwn) : error;
    }

    private bool GivesUp(int attempt) => attempt >= RetriesMax && !_isServing;

    private async LaneTask<IoError> Retry(int disk, long offset, IoBuffer source, bool isOwn)
    {
        IoError error = IoError.NoSpace;
        for (int attempt = 0; error == IoError.NoSpace && (isOwn ? !GivesUp(attempt) : attempt < RetriesMax); attempt++)
        {
            await AwaitRoom(disk, attempt);
            error = host.Members.Disk(disk) is { } device ? await device.Write(offset, source, WriteFlags.None) : IoError.DeviceGone;
            Of(disk).Written++;
        }

        return error;
    }

    /// <summary>The time between two tries of a request that found its host file system full; shown as the space's state meanwhile.</summary>
    private async LaneTask AwaitRoom(int disk, int attempt)
    {
        Member member = Of(disk);
        member.AwaitingRoom++;
        await host.Lane.Delay(RetryNs);
        member.AwaitingRoom--;
        if (attempt + 1 >= RetriesMax)
        {
            _waits.Expire(host.Lane.NowNs);   // this request has found no room for a minute: that, and nothing else, is what its callers wait for
        }
    }

    private Member Of(int disk)
    {
        foreach (Member member in _members)
        {
            if (member.Disk == disk)
            {
                return member;
            }
        }

        Member added = new(disk);
        _members.Add(added);
        _used?.Invoke(disk);
        return added;
    }

    private sealed class Member(int disk)
    {
        internal int Disk { get; } = disk;

        internal long Written { get; set; }

        internal long Flushed { get; set; }

        internal bool IsFlushing { get; set; }

        internal MeteredDisk? Flushing { get; set; }   // the device that was flushed last

        internal bool HasFailedFlush { get; set; }   // the last flush that ended

        internal int Overdue { get; set; }

        internal int AwaitingRoom { get; set; }

        internal LaneSignal FlushEnded { get; } = new();
    }
}
