using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Devices.Emulated;

// Faults of an emulated disk. They decide about a request before it reaches the medium. A request that hangs is carried out late, when the
// disk answers again, as a device does whose host no longer waits.
//
// Invariants
//  1. A request that hangs counts as in flight, and the disk below stays open for it.
//  2. Without a fault, a request does not come here.
//  3. The fault is the medium's, so it is in force for all handles. Requests wait and are delayed on the lane of their handle.

/// <summary>Applies the faults of an emulated disk to the requests of one handle.</summary>
internal sealed class EmulatedFaults(ILane lane, EmulatedMedium medium)
{
    private readonly LaneSignal _changed = new();

    /// <summary>The disk shows another fault.</summary>
    internal void Changed() => _changed.NotifyAll();

    /// <summary>Waits while the disk hangs; gives the error that a request ends with, or none.</summary>
    internal async LaneTask<IoError> Judge(MediumOperation operation, long offset, long length)
    {
        if (await AwaitAnswer() is not IoError.None and var gone)
        {
            return gone;
        }

        EmulatedFault fault = medium.Fault;
        bool isRead = operation == MediumOperation.Read;
        bool isHit = fault.ErrorLength > 0 && offset < fault.ErrorOffset + fault.ErrorLength && fault.ErrorOffset < offset + length;
        return isHit || Happens(isRead ? fault.ReadErrorsPerMillion : fault.WriteErrorsPerMillion) ? IoError.Io : IoError.None;
    }

    /// <summary>Waits while the disk hangs; DeviceGone if it is pulled.</summary>
    internal async LaneTask<IoError> AwaitAnswer()
    {
        while (medium.Fault is { IsHung: true, IsPulled: false })
        {
            await _changed.Wait();
        }

        return medium.Fault.IsPulled ? IoError.DeviceGone : IoError.None;
    }

    /// <summary>Waits as much longer as the disk is slower than its medium.</summary>
    /// <param name="tookNs">Nanoseconds that the request took.</param>
    internal LaneTask Slow(long tookNs) => lane.Delay(tookNs * (medium.Fault.SlowFactor - 1));

    /// <summary>Inverts a bit of what was read, as often as the fault says.</summary>
    internal void MayFlip(IoBuffer target)
    {
        if (Happens(medium.Fault.BitFlipsPerMillion))
        {
            ulong bit = lane.NextRandom() % ((ulong)target.Length * 8);
            target.Span[(int)(bit / 8)] ^= (byte)(1 << (int)(bit % 8));
        }
    }

    private bool Happens(int perMillion) => perMillion > 0 && lane.NextRandom() % EmulatedFault.Million < (ulong)perMillion;
}
