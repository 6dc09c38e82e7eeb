using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Devices;

// A member disk whose requests are counted, timed, and end: when the device does not answer within the deadline, the caller
// gets TimedOut and the device keeps the memory until it answers.
//
// Invariants
//  1. Memory that a device may still access is never used again. If the caller allowed it (IoBuffer.MayBeKept), the device uses the caller's
//     memory, which is then quarantined in the pool. Else it uses memory that is rented here until the device has answered.
//  2. While a request is overdue nothing more is submitted: a late request cannot overtake one that was submitted after it, and a
//     device that hangs holds no more memory than it had. When the last one has ended the disk is used again, if it is still
//     a member.
//  3. After Disconnect nothing is submitted any more; the device is closed when it has answered everything.
//  4. InFlight counts the requests that the device has not answered, including those whose callers have their answer. A look whether it is there
//     (CheckPresence) counts only once it is overdue.
//  5. While the lease of the pool does not run, nothing is submitted, and no answer of the device is passed on.
//  6. While the pool skips flushes no flush is submitted and no write is marked durable: what the device has acknowledged is. The end of it flushes the
//     device first.
//  7. A handle has the requests, deadlines and counters of its lane, and 2 is true of it alone. The owner shows the sums over its handles; a Disconnect of
//     the owner reaches the handles by a message, and each request of them looks for it.

/// <summary>A member disk whose requests are counted, timed and given deadlines.</summary>
public sealed class MeteredDisk : IDisk
{
    private readonly IDisk _below;
    private readonly DiskWatch _watch;
    private readonly MeteredHandles _handles;             // common to the owner and all handles
    private readonly MeteredHandles.Slot? _slot;          // of a handle
    private FreeList<MeteredRequest> _free;
    private FollowerList<MeteredRequest> _inFlight;   // requests whose callers wait, in order of submission
    private bool _isClosing;
    private IoError _fault;          // DeviceGone once disconnected
    private int _overdue;
    private long _answers;

    /// <summary>A disk on a lane, watched with the others of that lane, or by itself.</summary>
    public MeteredDisk(ILane lane, IDisk below, DiskWatch? watch = null)
    {
        Lane = lane;
        _below = below;
        _handles = new MeteredHandles(this);
        BadPlaces = new BadPlaces();
        _watch = watch ?? new DiskWatch(lane);
        _watch.Add(this);
    }

    private MeteredDisk(ILane lane, IDisk below, MeteredHandles handles, MeteredHandles.Slot slot)
    {
        Lane = lane;
        _below = below;
        _handles = handles;
        _slot = slot;
        BadPlaces = new BadPlaces(handles.Owner.BadPlaces, handles.Owner.Lane);
        _watch = handles.Owner.Watch.All.Of(lane);
        _watch.Add(this);
        slot.Fill(this);
    }

    /// <summary>Counts of the same disk as the devices that it was before; null: none. Only the owner has it.</summary>
    internal IoCounters? Before { get; init; }

    /// <summary>Counters of the requests through this handle, or of the owner's own. See <see cref="TotalCounters"/>.</summary>
    public IoCounters Counters { get; } = new();

    /// <summary>Places at which a request of any handle failed or gave something else than its checksum says. Only the owner gives them out.</summary>
    public BadPlaces BadPlaces { get; }

    /// <summary>Requests past their deadline that the device has not answered yet; of the owner with those of its handles.</summary>
    public int Overdue => IsShared ? _overdue + _handles.Sum(static handle => handle._overdue) : _overdue;

    /// <summary>
    /// Whether the device lets requests pass their deadline, of the owner also those of its handles. Nothing more is submitted through a handle until the
    /// device has answered those of that handle.
    /// </summary>
    public bool IsHung => Overdue > 0;

    /// <summary>Whether a flush has failed, through any handle, while the device was there. Read on any lane.</summary>
    internal bool HasFailedFlush => _handles.HasFailedFlush;

    /// <inheritdoc/>
    public DiskIdentity Identity => _below.Identity;

    /// <inheritdoc/>
    public bool IsPresent => _below.IsPresent;

    /// <inheritdoc/>
    /// <remarks>
    /// It has the deadline of every request, but its answer does not count as one of the medium: a file system may know the file and not reach it.
    /// </remarks>
    public LaneTask<IoError> CheckPresence()
    {
        if (RequestError() is var problem and not IoError.None)
        {
            return new LaneTask<IoError>(problem);
        }

        return Track(MemberOperation.Presence, BadPlaces.NoOffset, 0, default, default, Lane.NowNs, _below.CheckPresence());
    }

    /// <inheritdoc/>
    public int InFlight => IsShared ? OwnInFlight + _handles.Sum(static handle => handle.OwnInFlight) : OwnInFlight;

    /// <inheritdoc/>
    public StoreGeometry Geometry => _below.Geometry;

    /// <summary>The disk below.</summary>
    public IDisk Below => _below;

    internal ILane Lane { get; }

    /// <summary>The gate of the pool's lease, for all handles; null: no lease is held.</summary>
    internal LeaseGate? Gate => _handles.Gate;

    internal DiskWatch Watch => _watch;

    /// <summary>Answers of the device through this handle so far. Read on any lane.</summary>
    internal long Answers => Volatile.Read(ref _answers);

    /// <summary>Time of the device's last answer, in ticks of the watch.</summary>
    internal int AnsweredTick { get; private set; }

    internal bool HasLive => _inFlight.Oldest is not null;

    /// <summary>Time at which the oldest request in flight was submitted, in ticks of the watch; null while there is none.</summary>
    internal int? OldestTick => _inFlight.Oldest?.StartTick;

    /// <summary>A pool uses the disk, through all handles.</summary>
    /// <param name="gate">The gate of the pool's lease; null: no lease is held.</param>
    /// <param name="skipsFlush">Whether what the device has acknowledged counts as durable: no flush reaches it.</param>
    internal void Use(LeaseGate? gate, bool skipsFlush)
    {
        _handles.Use(gate, skipsFlush);
        _below.GuardCalls(gate);
    }

    /// <summary>Counts requests to these areas as metadata, through all handles. Until then everything counts as data.</summary>
    internal void CountMetadata(MetadataAreas areas) => _handles.CountMetadata(areas);

    /// <inheritdoc/>
    public LaneTask<IoError> Read(long offset, IoBuffer target)
    {
        if (ShutGate() is { } gate)
        {
            return ReadLater(gate, offset, target);
        }

        if (RequestError() is var problem and not IoError.None)
        {
            return new LaneTask<IoError>(problem);
        }

        long startNs = Start();
        IoBuffer memory = target.MayBeKept ? target : Lane.Buffers.Rent(target.Length);
        return Track(MemberOperation.Read, offset, target.Length, memory, target, startNs, _below.Read(offset, memory));
    }

    /// <inheritdoc/>
    public LaneTask<IoError> Write(long offset, IoBuffer source, WriteFlags flags)
    {
        if (ShutGate() is { } gate)
        {
            return WriteLater(gate, offset, source, flags);
        }

        if (RequestError() is var problem and not IoError.None)
        {
            return new LaneTask<IoError>(problem);
        }

        long startNs = Start();
        IoBuffer memory = source;
        if (!source.MayBeKept)
        {
            memory = Lane.Buffers.Rent(source.Length);
            source.CopyTo(memory);
        }

        return Track(MemberOperation.Write, offset, source.Length, memory, source, startNs, _below.Write(offset, memory, Durable(flags)));
    }

    /// <inheritdoc/>
    public LaneTask<IoError> Flush() => ShutGate() is { } gate ? FlushLater(gate)
        : RequestError() is var problem && (problem != IoError.None || _handles.SkipsFlush) ? new LaneTask<IoError>(problem)
        : Track(MemberOperation.Flush, BadPlaces.NoOffset, 0, default, default, Start(), _below.Flush());

    /// <inheritdoc/>
    public LaneTask<IoError> Unmap(long offset, long length) => ShutGate() is { } gate ? UnmapLater(gate, offset, length)
        : RequestError() is var problem and not IoError.None ? new LaneTask<IoError>(problem)
        : Track(MemberOperation.Unmap, offset, length, default, default, Start(), _below.Unmap(offset, length));

    /// <inheritdoc/>
    public LaneTask<IoError> WriteZeroes(long offset, long length, WriteFlags flags) => ShutGate() is { } gate ? WriteZeroesLater(gate, offset, length, flags)
        : RequestError() is var problem and not IoError.None ? new LaneTask<IoError>(problem)
        : Track(OperationOf(flags), offset, length, default, default, Start(), _below.WriteZeroes(offset, length, Durable(flags)));

    /// <inheritdoc/>
    public LaneTask<IoError> Status(long offset, long length, List<StoreExtent> extents) => _below.Status(offset, length, extents);

    /// <summary>
    /// Returns a copy of the counters, of the owner with those of its handles, closed ones included; called on the lane of the disk. The numbers of handles may
    /// be of slightly different instants.
    /// </summary>
    public IoCounters TotalCounters()
    {
        IoCounters sum = Counters.Copy();
        if (_slot is null)
        {
            _handles.AddTo(sum);
        }

        return sum;
    }

    /// <summary>Returns <see cref="TotalCounters"/> with those of the devices that the disk was before: they never decrease while the host runs.</summary>
    internal IoCounters LifetimeCounters()
    {
        IoCounters sum = TotalCounters();
        if (Before is { } before)
        {
            sum.Add(before);
        }

        return sum;
    }

    /// <inheritdoc/>
    /// <remarks>Its handles are counted, timed and given deadlines on their own lanes. A handle cannot be shared again.</remarks>
    public DiskShare Share()
    {
        if (_slot is not null || _isClosing)
        {
            throw new InvalidOperationException($"{Identity.Uri}: only the owner of a disk shares it, while it is open.");
        }

        DiskShare below = _below.Share();
        MeteredHandles.Slot slot = _handles.Prepare();
        return new DiskShare(
            lane => new MeteredDisk(lane, below.Open(lane), _handles, slot),
            () =>
            {
                _handles.Release(slot);
                below.Dispose();
            });
    }

    /// <inheritdoc/>
    public void Disconnect()
    {
        if (_slot is null)
        {
            _handles.Disconnect();
        }

        _fault = IoError.DeviceGone;
        while (_inFlight.Oldest is { } request)
        {
            GiveUp(request, IoError.DeviceGone);
        }
    }

    /// <summary>Closes the device when it has answered everything. A device that does not answer is not waited for beyond its deadline.</summary>
    public async LaneTask Close()
    {
        if (_isClosing)
        {
            return;
        }

        _isClosing = true;
        LaneTask<IoError> closing = CloseBelow();
        if (_overdue == 0)
        {
            await Track(MemberOperation.Close, BadPlaces.NoOffset, 0, default, default, Start(), closing);
        }
        else
        {
            closing.Forget();
        }
    }

    /// <summary>Ends, for their callers, the requests that have waited too long.</summary>
    internal void FailOverdue()
    {
        while (_inFlight.Oldest is { } request && _watch.IsOverdue(this, request))
        {
            GiveUp(request, IoError.TimedOut);
        }
    }

    /// <summary>Asks the device for a block, only to see whether it answers.</summary>
    internal async LaneTask Probe()
    {
        IoBuffer block = Lane.Buffers.Rent(BufferPool.Alignment);
        await Read(0, block.AllowKeeping());
        Lane.Buffers.Return(block);
    }

    /// <summary>The device has answered a request whose caller waits.</summary>
    internal void Ended(MeteredRequest request, IoError error)
    {
        _inFlight.Remove(request);
        NoteAnswer(request.Operation);
        long nowNs = Lane.NowNs;
        Count(request.Operation, request.Offset, request.Length, nowNs - request.StartNs, error);
        Trace(request.Traced, request.Operation, request.StartNs, nowNs, request.Offset, request.Length);
    }

    /// <summary>The device has answered a request whose caller has gone on.</summary>
    internal void EndedLate(MemberOperation operation)
    {
        _overdue--;
        NoteAnswer(operation);
    }

    /// <summary>Returns rented memory to the pool; copies the data of a read to the caller's memory first.</summary>
    internal void GiveBack(MemberOperation operation, IoBuffer memory, IoBuffer callers, IoError error)
    {
        if (operation == MemberOperation.Read && error == IoError.None)
        {
            memory.CopyTo(callers);
        }

        Lane.Buffers.Return(memory);
    }

    internal void Return(MeteredRequest request) => _free.Return(request);

    /// <summary>Whether two handles, or a handle and its owner, are of one device. Read on any lane.</summary>
    internal bool IsSameDevice(MeteredDisk other) => _handles == other._handles;

    /// <summary>The longest requests are those from now on.</summary>
    internal void ForgetLongest()
    {
        Counters.ForgetLongest();
        _handles.ForgetLongest();
    }

    private WriteFlags Durable(WriteFlags flags) => _handles.SkipsFlush ? flags & ~WriteFlags.ForceUnitAccess : flags;

    /// <summary>Whether the numbers of handles are added: to those of the owner.</summary>
    private bool IsShared => _slot is null && _handles.Any;

    private int OwnInFlight => Counters.Queue + _overdue;

    /// <summary>The gate, while the lease does not run.</summary>
    internal LeaseGate? ShutGate() => _handles.Gate is { } gate && !gate.IsOpen(Lane) ? gate : null;

    private async LaneTask<IoError> ReadLater(LeaseGate gate, long offset, IoBuffer target) =>
        await gate.Wait(Lane) is not IoError.None and var error ? error : await Read(offset, target);

    private async LaneTask<IoError> WriteLater(LeaseGate gate, long offset, IoBuffer source, WriteFlags flags) =>
        await gate.Wait(Lane) is not IoError.None and var error ? error : await Write(offset, source, flags);

    private async LaneTask<IoError> FlushLater(LeaseGate gate) => await gate.Wait(Lane) is not IoError.None and var error ? error : await Flush();

    private async LaneTask<IoError> UnmapLater(LeaseGate gate, long offset, long length) =>
        await gate.Wait(Lane) is not IoError.None and var error ? error : await Unmap(offset, length);

    private async LaneTask<IoError> WriteZeroesLater(LeaseGate gate, long offset, long length, WriteFlags flags) =>
        await gate.Wait(Lane) is not IoError.None and var error ? error : await WriteZeroes(offset, length, flags);

    private async LaneTask<IoError> PassLater(LeaseGate gate, IoError answer) => await gate.Wait(Lane) is not IoError.None and var shut ? shut : answer;

    private IoError RequestError() => _fault != IoError.None ? _fault
        : _overdue > 0 ? IoError.TimedOut
        : _handles.IsDisconnected ? IoError.DeviceGone
        : IoError.None;

    private long Start()
    {
        Invariant.That(!Invariant.ChecksCostly || Lane.IsCurrent, "A handle of a disk is used on its lane.");
        Counters.Begin();
        return Lane.NowNs;
    }

    private LaneTask<IoError> Track(MemberOperation operation, long offset, long length, IoBuffer memory, IoBuffer callers, long startNs,
        LaneTask<IoError> below)
    {
        bool isBorrowed = memory.Length > 0 && !callers.MayBeKept;
        if (below.IsCompleted)
        {
            IoError error = below.GetAwaiter().GetResult();
            NoteAnswer(operation);
            long nowNs = Lane.NowNs;
            Count(operation, offset, length, nowNs - startNs, error);
            if (RequestTrace.IsOn)
            {
                Trace(RequestTrace.Current, operation, startNs, nowNs, offset, length);
            }

            if (isBorrowed)
            {
                GiveBack(operation, memory, callers, error);
            }

            return ShutGate() is { } gate && MeteredRequest.IsGated(operation) ? PassLater(gate, error) : new LaneTask<IoError>(error);
        }

        MeteredRequest request = _free.Take() ?? new MeteredRequest(this);
        _inFlight.Add(request);
        _watch.Wake();
        return request.Begin(operation, offset, length, memory, isBorrowed ? callers : default, startNs, _watch.Tick, below);
    }

    private void NoteAnswer(MemberOperation operation)
    {
        if (operation != MemberOperation.Presence)
        {
            AnsweredTick = _watch.Tick;
            Volatile.Write(ref _answers, _answers + 1);
        }
    }

    private void GiveUp(MeteredRequest request, IoError error)
    {
        _inFlight.Remove(request);
        _overdue++;
        long nowNs = Lane.NowNs;
        Count(request.Operation, request.Offset, request.Length, nowNs - request.StartNs, error);
        Trace(request.Traced, request.Operation, request.StartNs, nowNs, request.Offset, request.Length);
        request.GiveUp(error);
    }

    private void Trace(ulong traced, MemberOperation operation, long startNs, long nowNs, long offset, long length)
    {
        if (traced != 0)
        {
            RequestTrace.Add(
                traced, operation == MemberOperation.Flush ? TraceLayer.Flush : TraceLayer.MemberDisk, startNs, nowNs, (byte)operation, offset, length,
                _handles.Owner);
        }
    }

    private async LaneTask<IoError> CloseBelow()
    {
        await _below.Close();
        _watch.Remove(this);
        if (_slot is { } slot)
        {
            LanePosts.TryPost(Lane, () => _handles.Closed(slot));   // later: the request that ends with this is counted first
        }

        return IoError.None;
    }

    /// <summary>Zeroing that a device may refuse writes nothing: it makes a hole, as an unmap does.</summary>
    private static MemberOperation OperationOf(WriteFlags flags) =>
        (flags & (WriteFlags.Fast | WriteFlags.NoHole)) == WriteFlags.Fast ? MemberOperation.Punch : MemberOperation.Zero;

    private void Count(MemberOperation operation, long offset, long length, long elapsedNs, IoError error)
    {
        bool failed = error != IoError.None && !(operation == MemberOperation.Punch && error == IoError.NotSupported);
        if (error == IoError.Io)
        {
            Counters.NoteMediaError();
            BadPlaces.Add(offset);
        }
        else if (!failed && operation is MemberOperation.Write or MemberOperation.Zero or MemberOperation.Punch && error == IoError.None)
        {
            BadPlaces.Rewritten(offset, length);
        }

        switch (operation)
        {
            case MemberOperation.Read:
                if (_handles.Metadata is { } read && read.Contains(offset))
                {
                    Counters.NoteMetadataRead(length);
                }

                Counters.EndRead(length, elapsedNs, failed);
                break;
            case MemberOperation.Flush:
                Counters.EndFlush(elapsedNs, failed);
                if (error is not (IoError.None or IoError.DeviceGone or IoError.NoDevice))
                {
                    _handles.NoteFailedFlush();
                }

                break;
            case MemberOperation.Unmap or MemberOperation.Punch:
                if (error == IoError.NotSupported)
                {
                    Counters.EndUnknownUnmap(elapsedNs, failed);
                }
                else
                {
                    Counters.EndUnmap(length, elapsedNs, failed);
                }

                break;
            case MemberOperation.Close:
                Counters.EndClose();
                break;
            case MemberOperation.Presence:
                break;   // no request for data: nothing can overtake it
            default:
                if (_handles.Metadata is { } written && written.Contains(offset))
                {
                    Counters.NoteMetadataWrite(length);
                }

                Counters.EndWrite(length, elapsedNs, failed);
                break;
        }
    }
}
