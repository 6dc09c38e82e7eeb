using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Devices.Emulated;

// Faults of an emulated disk. They decide about a request before it reaches the medium. A request that hangs is carried out late, when the
// disk answers again, as a device does whose host no longer waits.
//
// Invariants
//  1. A request that hangs counts as in flight, and the disk below stays open for it.
//  2. Without a fault, a request does not come here.

/// <summary>Applies the faults of an emulated disk to its requests.</summary>
internal sealed class EmulatedFaults(ILane lane)
{
    private readonly LaneSignal _changed = new();
    private EmulatedFault _fault = EmulatedFault.None;

    /// <summary>The fault in force, from the next request on. Requests that hang complete when it no longer hangs.</summary>
    internal EmulatedFault Fault
    {
        get => _fault;
        set
        {
            _fault = value;
            IsFaulty = value != EmulatedFault.None;
            _changed.NotifyAll();
        }
    }

    /// <summary>Whether any fault is in force.</summary>
    internal bool IsFaulty { get; private set; }

    /// <summary>Waits while the disk hangs; gives the error that a request ends with, or none.</summary>
    internal async LaneTask<IoError> Judge(MediumOperation operation, long offset, long length)
    {
        if (await AwaitAnswer() is not IoError.None and var gone)
        {
            return gone;
        }

        bool isRead = operation == MediumOperation.Read;
        bool isHit = _fault.ErrorLength > 0 && offset < _fault.ErrorOffset + _fault.ErrorLength && _fault.ErrorOffset < offset + length;
        return isHit || Happens(isRead ? _fault.ReadErrorsPerMillion : _fault.WriteErrorsPerMillion) ? IoError.Io : IoError.None;
    }

    /// <summary>Waits while the disk hangs; DeviceGone if it is pulled.</summary>
    internal async LaneTask<IoError> AwaitAnswer()
    {
        while (_fault is { IsHung: true, IsPulled: false })
        {
            await _changed.Wait();
        }

        return _fault.IsPulled ? IoError.DeviceGone : IoError.None;
    }

    /// <summary>Waits as much longer as the disk is slower than its medium.</summary>
    /// <param name="tookNs">Nanoseconds that the request took.</param>
    internal LaneTask Slow(long tookNs) => lane.Delay(tookNs * (_fault.SlowFactor - 1));

    /// <summary>Inverts a bit of what was read, as often as the fault says.</summary>
    internal void MayFlip(IoBuffer target)
    {
        if (Happens(_fault.BitFlipsPerMillion))
        {
            ulong bit = lane.NextRandom() % ((ulong)target.Length * 8);
            target.Span[(int)(bit / 8)] ^= (byte)(1 << (int)(bit % 8));
        }
    }

    private bool Happens(int perMillion) => perMillion > 0 && lane.NextRandom() % EmulatedFault.Million < (ulong)perMillion;
}
