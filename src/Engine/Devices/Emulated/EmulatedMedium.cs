using TierSpaces.Engine.Lanes;

namespace TierSpaces.Engine.Devices.Emulated;

// The one medium of an emulated disk and of its handles on other lanes: the model, the requests in it, the fault that it shows, the time that it lost.
//
// Each request is ended by the lane of its handle, at the time at which it was due, however late that lane is. The next request of the medium begins at that
// time too. A lane whose request waits for one of another lane wakes when that lane is late by more than LagMaxNs, and then the medium goes on without it.
//
// A disk that is used by one lane takes no lock. From the first Share on the members are guarded by a spin lock, also in the data path: a short one, without
// system calls and without code of others under it. An emulated disk is an instrument of tests. The lanes have one clock.
//
// Invariants
//  1. Several lanes together get no more out of the medium than one: it is one model, and it begins nothing before the end of what it was busy with.
//  2. A handle whose request another lane has begun receives a message to wake for its end.

/// <summary>The medium of an emulated disk. Each member may be used on any lane that has a port.</summary>
internal sealed class EmulatedMedium(IMediumModel model)
{
    /// <summary>Lateness of a lane that is not charged to the disk, in nanoseconds.</summary>
    internal const long LagMaxNs = 20_000_000;

    private SpinLock _gate = new(enableThreadOwnerTracking: false);   // not readonly: it is a value that changes
    private MediumPort[] _ports = [];                                 // replaced as a whole
    private volatile EmulatedFault _fault = EmulatedFault.None;
    private volatile bool _isFaulty;
    private bool _isShared;               // from the first Share on; handles are opened after that
    private long _lostNs;
    private long _lostUntilNs;            // end of the last stretch counted in LostNs

    /// <summary>The fault in force.</summary>
    internal EmulatedFault Fault => _fault;

    /// <summary>Whether any fault is in force.</summary>
    internal bool IsFaulty => _isFaulty;

    /// <summary>Nanoseconds that were lost, each stretch once however many lanes were late.</summary>
    internal long LostNs => Volatile.Read(ref _lostNs);

    /// <summary>The disk is going to be used by other lanes too; called on its lane.</summary>
    internal void Share() => _isShared = true;

    internal void Add(MediumPort port) => ReplacePorts(ports => [.. ports, port]);

    internal void Remove(MediumPort port) => ReplacePorts(ports => Array.FindAll(ports, one => one != port));

    /// <summary>Changes the fault for all handles. Requests that hang look at it on their own lanes.</summary>
    internal void SetFault(EmulatedFault fault, MediumPort by)
    {
        _fault = fault;
        _isFaulty = fault != EmulatedFault.None;
        by.FaultChanged();
        foreach (MediumPort port in Volatile.Read(ref _ports))
        {
            if (port != by)
            {
                LanePosts.TryPost(port.Lane, port.FaultChanged);
            }
        }
    }

    /// <summary>A request waits from <paramref name="nowNs"/> on.</summary>
    /// <param name="port">Port of its handle.</param>
    /// <param name="request">The request.</param>
    /// <param name="nowNs">Its arrival in the medium's time.</param>
    /// <param name="begins">Whether the medium begins what it can; else the caller lets it do so later.</param>
    internal void Arrive(MediumPort port, EmulatedRequest request, long nowNs, bool begins)
    {
        bool isTaken = Enter();
        try
        {
            request.Wait(nowNs);
            port.NoteArrival();
            model.Arrive(request);
            if (begins)
            {
                Begin(port, nowNs);
            }
        }
        finally
        {
            Exit(isTaken);
        }

        WakeOthers();
    }

    /// <summary>Begins what the medium can begin at <paramref name="nowNs"/>, of any handle.</summary>
    internal void BeginWaiting(MediumPort port, long nowNs)
    {
        bool isTaken = Enter();
        try
        {
            Begin(port, nowNs);
        }
        finally
        {
            Exit(isTaken);
        }

        WakeOthers();
    }

    /// <summary>The medium goes on without a lane that is too late to end its request.</summary>
    internal void GoOn(MediumPort port, long nowNs)
    {
        if (_isShared)
        {
            BeginWaiting(port, nowNs);
        }
    }

    /// <summary>Ends the first request of a handle that is due; null if none is.</summary>
    /// <param name="port">Port of the handle.</param>
    /// <param name="nowNs">Time of its lane.</param>
    /// <param name="deliveredNs">The medium's time at its last completion, which moves to that of this one.</param>
    internal EmulatedRequest? TakeDue(MediumPort port, long nowNs, ref long deliveredNs)
    {
        bool isTaken = Enter();
        try
        {
            long endNs = port.UnderWay.FirstEndNs;
            if (endNs > nowNs)
            {
                return null;
            }

            EmulatedRequest request = port.UnderWay.TakeFirst();
            deliveredNs = Math.Max(deliveredNs, MediumTime(endNs, nowNs - LagMaxNs));
            model.End(request);
            return request;
        }
        finally
        {
            Exit(isTaken);
        }
    }

    /// <summary>Time at which the lane of a handle has something to do here; <see cref="long.MaxValue"/> if nothing is foreseen.</summary>
    internal long NextWakeNs(MediumPort port)
    {
        bool isTaken = Enter();
        try
        {
            return Math.Min(port.UnderWay.FirstEndNs, _isShared && port.Waiting > 0 ? model.GoesOnAtNs : long.MaxValue);
        }
        finally
        {
            Exit(isTaken);
        }
    }

    private bool Enter()
    {
        bool isTaken = false;
        if (_isShared)
        {
            _gate.Enter(ref isTaken);
        }

        return isTaken;
    }

    private void Exit(bool isTaken)
    {
        if (isTaken)
        {
            _gate.Exit(useMemoryBarrier: true);
        }
    }

    private void Begin(MediumPort by, long nowNs)
    {
        while (model.TryBegin(nowNs, out EmulatedRequest request, out long endNs))
        {
            MediumPort port = request.Port;
            port.Begin(request, endNs);
            if (port != by)
            {
                port.MustWake();
            }
        }
    }

    private void WakeOthers()
    {
        if (!_isShared)
        {
            return;
        }

        foreach (MediumPort port in Volatile.Read(ref _ports))
        {
            port.WakeIfMust();
        }
    }

    /// <summary>Returns the time at which a request that was due counts as ended: the due time, or the earliest time that is made up for.</summary>
    private long MediumTime(long endNs, long earliestNs)
    {
        if (endNs >= earliestNs)
        {
            return endNs;
        }

        Volatile.Write(ref _lostNs, _lostNs + Math.Max(0, earliestNs - Math.Max(endNs, _lostUntilNs)));
        _lostUntilNs = Math.Max(_lostUntilNs, earliestNs);
        return earliestNs;
    }

    private void ReplacePorts(Func<MediumPort[], MediumPort[]> change)
    {
        for (MediumPort[] before = Volatile.Read(ref _ports), seen; ; before = seen)
        {
            seen = Interlocked.CompareExchange(ref _ports, change(before), before);
            if (seen == before)
            {
                return;
            }
        }
    }
}
