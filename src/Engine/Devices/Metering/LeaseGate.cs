using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Lanes.Native;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Devices;

// Invariants
//  1. The end of the lease is one machine word that one lane writes and every lane reads.
//  2. A gate that is shut for good never opens again.

/// <summary>
/// Says whether the lease of a pool runs: only then a request is given to a member disk, and only then the end of one is acted on. While it does not run,
/// both are held back; what is held back ends with an error once the pool belongs to another host.
/// </summary>
/// <param name="untilNs">The lease runs until this time on the boot clock.</param>
internal sealed class LeaseGate(long untilNs) : ICallCondition
{
    private const long PollNs = 20_000_000;

    private long _untilNs = untilNs;
    private volatile bool _isShut;

    /// <summary>Whether the lease runs now. Called on any lane, for every request.</summary>
    internal bool IsOpen(ILane lane) => lane.BootNs < Volatile.Read(ref _untilNs);

    /// <summary>Whether the pool belongs to another host.</summary>
    internal bool IsShut => _isShut;

    /// <summary>The lease runs until this time on the boot clock, or longer if it does already.</summary>
    internal void RunUntil(long bootNs)
    {
        if (!_isShut)
        {
            Volatile.Write(ref _untilNs, Math.Max(_untilNs, bootNs));
        }
    }

    /// <summary>The pool belongs to another host.</summary>
    internal void Shut()
    {
        _isShut = true;
        Volatile.Write(ref _untilNs, 0);
    }

    /// <summary>The same on a thread, for lanes with the clock of the machine.</summary>
    public CallPermission Look() =>
        _isShut ? CallPermission.Never : Libc.BootTimeNs() < Volatile.Read(ref _untilNs) ? CallPermission.Now : CallPermission.Later;

    /// <summary>Waits until the lease runs; DeviceGone when it never will.</summary>
    internal async LaneTask<IoError> Wait(ILane lane)
    {
        while (!IsOpen(lane) && !_isShut)
        {
            await lane.Delay(PollNs);
        }

        return _isShut ? IoError.DeviceGone : IoError.None;
    }
}
