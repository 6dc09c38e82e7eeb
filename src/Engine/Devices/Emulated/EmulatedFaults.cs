using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Devices.Emulated;

// Faults of an emulated disk. They decide over a request before it reaches the medium, so that a request that hangs is done, late, when
// the disk answers again: as a device does it whose host has long gone on.
//
// Invariants
//  1. A request that hangs counts as in flight, and the disk below stays open for it.
//  2. Without a fault a request does not come here.
public sealed partial class EmulatedDisk
{
    private readonly LaneSignal _faultChanged = new();
    private EmulatedFault _fault = EmulatedFault.None;
    private bool _isFaulty;

    /// <summary>What the disk does wrong, from the next request on; requests that hang are let go when it no longer hangs.</summary>
    public EmulatedFault Fault
    {
        get => _fault;
        set
        {
            _fault = value;
            _isFaulty = value != EmulatedFault.None;
            _faultChanged.NotifyAll();
        }
    }

    private async LaneTask<IoError> Suffer(MediumOperation operation, long offset, long length, Func<LaneTask<IoError>> work)
    {
        InFlight++;
        IoError error = await Judge(operation, offset, length);
        if (error == IoError.None)
        {
            long startNs = _lane.NowNs;
            error = await work();
            await _lane.Delay((_lane.NowNs - startNs) * (_fault.SlowFactor - 1));
        }

        RequestEnded();
        return error;
    }

    private async LaneTask<IoError> Judge(MediumOperation operation, long offset, long length)
    {
        while (_fault is { IsHung: true, IsPulled: false })
        {
            await _faultChanged.Wait();
        }

        if (_fault.IsPulled)
        {
            return IoError.DeviceGone;
        }

        bool isRead = operation == MediumOperation.Read;
        bool isHit = _fault.ErrorLength > 0 && offset < _fault.ErrorOffset + _fault.ErrorLength && _fault.ErrorOffset < offset + length;
        return isHit || Happens(isRead ? _fault.ReadErrorsPerMillion : _fault.WriteErrorsPerMillion) ? IoError.Io : IoError.None;
    }

    private async LaneTask<IoError> ReadFaulty(long offset, IoBuffer target)
    {
        IoError error = await Suffer(
            MediumOperation.Read, offset, target.Length,
            () => Begin(MediumOperation.Read, offset, target.Length, ArrivalNs, _below.Read(offset, target)));
        if (error == IoError.None && Happens(_fault.BitFlipsPerMillion))
        {
            ulong bit = _lane.NextRandom() % ((ulong)target.Length * 8);
            target.Span[(int)(bit / 8)] ^= (byte)(1 << (int)(bit % 8));
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

    private bool Happens(int perMillion) => perMillion > 0 && _lane.NextRandom() % EmulatedFault.Million < (ulong)perMillion;
}
