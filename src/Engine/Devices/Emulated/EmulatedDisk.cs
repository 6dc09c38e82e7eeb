using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Devices.Emulated;

// A disk with the manners of another: each request goes to the disk below at once and ends when that has ended and the
// model of the medium says so. Time comes from the lane, so it is the same disk in the simulator.
//
// The medium's time: a completion that the lane delivers late (it was busy, a wake-up takes its time) is delivered with
// the time at which it was due, and what its receiver then submits arrives at that time, at this disk and at every other
// of the lane: the copies of a mirror, the disk of its log. So the lane's lateness is not charged to the disks, up to
// LagMaxNs, and a closed loop runs at the model's rate. A greater lag is lost, and counted.
//
// A handle on another lane is an emulated disk over a handle of the disk below and the same medium (EmulatedMedium): two lanes together are not faster than
// one. Requests, timers and the times of deliveries are the handle's.
//
// Invariants
//  1. Every request passes Begin: the one place where anything else than the model could decide over a request.
//  2. A request is held by the medium and by the disk below; it is reused after both have let go.
//  3. Nothing arrives before the last completion: another disk of the lane may deliver what was due before that.
//  4. One pump delivers at most DeliveriesMax completions, so that a disk faster than the machine cannot hold the lane.

/// <summary>Gives a disk the latency and throughput of a class of disk.</summary>
public sealed class EmulatedDisk : IDisk
{
    private const int DeliveriesMax = 64;

    /// <summary>
    /// The medium's time while a disk of this thread's lane delivers a completion. Requests that the completion triggers are made within the
    /// delivery.
    /// </summary>
    [ThreadStatic]
    private static long? s_deliveringNs;

    private readonly ILane _lane;
    private readonly IDisk _below;
    private readonly EmulatedMedium _medium;      // common to the owner and all handles
    private readonly EmulatedFaults _faults;
    private readonly Stack<EmulatedRequest> _free = new(64);
    private LaneCompletion<Nothing>? _drained;
    private bool _isDelivering;
    private long _deliveredNs;                     // the medium's time at the last completion
    private long _wakeNs = long.MaxValue;          // earliest wake-up asked for
    private bool _closing;

    /// <summary>Wraps a disk, which it then owns.</summary>
    public EmulatedDisk(ILane lane, IDisk below, LatencyProfile profile)
        : this(lane, below, profile, new EmulatedMedium(profile.CreateModel(below.Geometry.Length)))
    {
    }

    private EmulatedDisk(ILane lane, IDisk below, LatencyProfile profile, EmulatedMedium medium)
    {
        _lane = lane;
        _below = below;
        _medium = medium;
        _faults = new EmulatedFaults(lane, medium);
        Port = new MediumPort(lane, WakeForFirst, _faults.Changed);
        medium.Add(Port);
        Profile = profile;
        Identity = below.Identity with { Model = $"Emulated {profile.Name}" };
    }

    /// <summary>The class of disk.</summary>
    public LatencyProfile Profile { get; }

    /// <summary>Faults that the disk shows through all its handles.</summary>
    public EmulatedFault Fault => _medium.Fault;

    /// <summary>Nanoseconds that the medium's clock lost because the machine was too slow or too busy for the model, over all handles.</summary>
    public long LostNs => _medium.LostNs;

    internal MediumPort Port { get; }

    /// <inheritdoc/>
    public DiskIdentity Identity { get; }

    /// <inheritdoc/>
    public StoreGeometry Geometry => _below.Geometry;

    /// <inheritdoc/>
    public bool IsPresent => !_medium.Fault.IsPulled && _below.IsPresent;

    /// <inheritdoc/>
    public int InFlight { get; private set; }

    /// <summary>
    /// Makes the disk show faults through all its handles, from the next request on, in place of those before; called on its lane. Requests that hang complete
    /// when it no longer hangs, each on its lane.
    /// </summary>
    public void Show(EmulatedFault fault) => _medium.SetFault(fault, Port);

    /// <inheritdoc/>
    /// <remarks>A disk that hangs does not answer this either.</remarks>
    public LaneTask<IoError> CheckPresence() => _closing ? Closed() : _medium.IsFaulty ? CheckFaulty() : _below.CheckPresence();

    /// <inheritdoc/>
    public LaneTask<IoError> Read(long offset, IoBuffer target) =>
        _closing ? Closed()
        : _medium.IsFaulty ? ReadFaulty(offset, target)
        : Begin(MediumOperation.Read, offset, target.Length, ArrivalNs, _below.Read(offset, target));

    /// <inheritdoc/>
    public LaneTask<IoError> Write(long offset, IoBuffer source, WriteFlags flags) =>
        _closing ? Closed() : _medium.IsFaulty ? WriteFaulty(offset, source, flags) : WriteNow(offset, source, flags);

    /// <inheritdoc/>
    public LaneTask<IoError> Flush() => _closing ? Closed() : _medium.IsFaulty ? FlushFaulty() : FlushNow();

    /// <inheritdoc/>
    public LaneTask<IoError> Unmap(long offset, long length) =>
        _closing ? Closed() : _medium.IsFaulty ? UnmapFaulty(offset, length) : UnmapNow(offset, length);

    /// <inheritdoc/>
    public LaneTask<IoError> WriteZeroes(long offset, long length, WriteFlags flags) =>
        _closing ? Closed() : _medium.IsFaulty ? ZeroFaulty(offset, length, flags) : ZeroNow(offset, length, flags);

    /// <inheritdoc/>
    public LaneTask<IoError> Status(long offset, long length, List<StoreExtent> extents) => _below.Status(offset, length, extents);

    /// <inheritdoc/>
    void IDisk.GuardCalls(ICallCondition? condition) => _below.GuardCalls(condition);

    /// <inheritdoc/>
    public DiskShare Share()
    {
        if (_closing)
        {
            throw new InvalidOperationException($"{Identity.Uri} is closed.");
        }

        DiskShare below = _below.Share();
        _medium.Share();
        return new DiskShare(lane => new EmulatedDisk(lane, below.Open(lane), Profile, _medium), below.Dispose);
    }

    /// <inheritdoc/>
    public async LaneTask Close()
    {
        if (_closing)
        {
            return;
        }

        _closing = true;
        if (InFlight > 0)
        {
            _drained = LaneCompletion<Nothing>.Rent();
            await new LaneTask(_drained.Task);
        }

        _medium.Remove(Port);
        await _below.Close();
    }

    /// <summary>
    /// Arrival time of a request that is made now, in the medium's time. It is read before the disk below is asked: the time that the disk below
    /// takes at once, such as for copying into memory, then passes beside the medium's and not before it.
    /// </summary>
    private long ArrivalNs => Math.Max(_deliveredNs, s_deliveringNs ?? _lane.NowNs);

    internal void RequestEnded()
    {
        InFlight--;
        if (InFlight == 0 && _drained is { } drained)
        {
            _drained = null;
            drained.Complete(default);
        }
    }

    internal void Return(EmulatedRequest request) => _free.Push(request);

    private static LaneTask<IoError> Closed() => new(IoError.ShutDown);

    private static MediumOperation WriteOperation(WriteFlags flags) =>
        (flags & WriteFlags.ForceUnitAccess) != 0 ? MediumOperation.DurableWrite : MediumOperation.Write;

    private LaneTask<IoError> WriteNow(long offset, IoBuffer source, WriteFlags flags) =>
        Begin(WriteOperation(flags), offset, source.Length, ArrivalNs, _below.Write(offset, source, flags));

    private LaneTask<IoError> FlushNow() => Begin(MediumOperation.Flush, 0, 0, ArrivalNs, _below.Flush());

    private LaneTask<IoError> UnmapNow(long offset, long length) =>
        Begin(MediumOperation.Unmap, offset, length, ArrivalNs, _below.Unmap(offset, length));

    private LaneTask<IoError> ZeroNow(long offset, long length, WriteFlags flags) =>
        Begin((flags & WriteFlags.Fast) != 0 ? MediumOperation.Unmap : WriteOperation(flags), offset, length, ArrivalNs,
            _below.WriteZeroes(offset, length, flags));   // a hole is no write

    private async LaneTask<IoError> Suffer(MediumOperation operation, long offset, long length, Func<LaneTask<IoError>> work)
    {
        InFlight++;
        IoError error = await _faults.Judge(operation, offset, length);
        if (error == IoError.None)
        {
            long startNs = _lane.NowNs;
            error = await work();
            await _faults.Slow(_lane.NowNs - startNs);
        }

        RequestEnded();
        return error;
    }

    private async LaneTask<IoError> CheckFaulty()
    {
        InFlight++;
        IoError error = await _faults.AwaitAnswer();
        error = error == IoError.None ? await _below.CheckPresence() : error;
        RequestEnded();
        return error;
    }

    private async LaneTask<IoError> ReadFaulty(long offset, IoBuffer target)
    {
        IoError error = await Suffer(
            MediumOperation.Read, offset, target.Length,
            () => Begin(MediumOperation.Read, offset, target.Length, ArrivalNs, _below.Read(offset, target)));
        if (error == IoError.None)
        {
            _faults.MayFlip(target);
        }

        return error;
    }

    // Methods of their own, so that a disk without faults makes no closures.
    private LaneTask<IoError> WriteFaulty(long offset, IoBuffer source, WriteFlags flags) =>
        Suffer(MediumOperation.Write, offset, source.Length, () => WriteNow(offset, source, flags));

    private LaneTask<IoError> FlushFaulty() => Suffer(MediumOperation.Flush, 0, 0, FlushNow);

    private LaneTask<IoError> UnmapFaulty(long offset, long length) =>
        Suffer(MediumOperation.Unmap, offset, length, () => UnmapNow(offset, length));

    private LaneTask<IoError> ZeroFaulty(long offset, long length, WriteFlags flags) =>
        Suffer(MediumOperation.Write, offset, length, () => ZeroNow(offset, length, flags));

    private LaneTask<IoError> Begin(MediumOperation operation, long offset, long length, long arrivalNs, LaneTask<IoError> below)
    {
        bool belowEnded = below.IsCompleted;
        if (belowEnded && below.GetAwaiter().GetResult() is var error and not IoError.None)
        {
            return new LaneTask<IoError>(error);   // refused: it never reached the medium
        }

        EmulatedRequest request = _free.Count > 0 ? _free.Pop() : new EmulatedRequest(this);
        request.Begin(operation, offset, length);
        LaneTask<IoError> task = request.Task;
        InFlight++;
        if (belowEnded)
        {
            request.HalfEnded(IoError.None);
        }
        else
        {
            AwaitBelow(request, below).Forget();
        }

        Arrive(request, arrivalNs);
        return task;
    }

    private void Arrive(EmulatedRequest request, long nowNs)
    {
        _medium.Arrive(Port, request, nowNs, begins: !_isDelivering);
        if (!_isDelivering)   // else the delivery does so
        {
            WakeForFirst();
        }
    }

    private static async LaneTask AwaitBelow(EmulatedRequest request, LaneTask<IoError> below) => request.HalfEnded(await below);

    private void WakeForFirst()
    {
        long firstNs = _medium.NextWakeNs(Port);
        if (firstNs < _wakeNs)
        {
            _wakeNs = firstNs;
            WakeAt(firstNs).Forget();
        }
    }

    private async LaneTask WakeAt(long timeNs)
    {
        await _lane.Delay(Math.Max(0, timeNs - _lane.NowNs));
        _wakeNs = _wakeNs == timeNs ? long.MaxValue : _wakeNs;
        _isDelivering = true;
        try
        {
            Deliver();
        }
        finally
        {
            _isDelivering = false;
            s_deliveringNs = null;
            WakeForFirst();
        }
    }

    private void Deliver()
    {
        long nowNs = _lane.NowNs;
        for (int count = 0; count < DeliveriesMax && _medium.TakeDue(Port, nowNs, ref _deliveredNs) is { } request; count++)
        {
            s_deliveringNs = _deliveredNs;
            request.HalfEnded(IoError.None);
            _medium.BeginWaiting(Port, _deliveredNs);
        }

        _medium.GoOn(Port, nowNs);
    }
}
