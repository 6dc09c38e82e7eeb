using TierSpaces.Engine.Primitives;

namespace TierSpaces.PowerCuts;

/// <summary>
/// The power of all disks of a machine, on the lane of the disks. It fails for all of them at once, at a request: the n-th that changes something from a
/// moment on, or the next one.
/// </summary>
internal sealed class PowerSupply
{
    private readonly LaneSignal _gone = new();
    private readonly ManualResetEventSlim _failed = new();
    private long _failsAt = long.MaxValue;

    internal bool IsOn { get; private set; } = true;

    /// <summary>A planted fault: flushes are acknowledged and not carried out.</summary>
    internal bool FlushesLie { get; set; }

    /// <summary>Writes, zeroings and flushes since the power is on.</summary>
    internal long Changes { get; private set; }

    /// <summary>Switches it on, for a machine that starts.</summary>
    internal void TurnOn()
    {
        (IsOn, Changes, _failsAt) = (true, 0, long.MaxValue);
        _failed.Reset();
    }

    /// <summary>Lets the power fail at a later change, 1: the next one.</summary>
    internal void FailAfter(long changes) => _failsAt = Changes + changes;

    /// <summary>Lets the power fail now.</summary>
    internal void Fail()
    {
        IsOn = false;
        _failed.Set();
    }

    /// <summary>The machine has ended: what it has asked for since the cut fails.</summary>
    internal void Release() => _gone.NotifyAll();

    /// <summary>Waits for the cut, on any thread; false after the time.</summary>
    internal bool WaitForCut(TimeSpan most) => _failed.Wait(most);

    /// <summary>Counts a change. False: the power fails with it.</summary>
    internal bool TakeChange()
    {
        if (++Changes >= _failsAt)
        {
            Fail();
        }

        return IsOn;
    }

    /// <summary>A request that finds no power: it ends after the machine.</summary>
    internal async LaneTask<IoError> Lost()
    {
        await _gone.Wait();
        return IoError.Io;
    }
}
