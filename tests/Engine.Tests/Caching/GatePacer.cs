using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Caching;

/// <summary>Lets so many pieces pass, and nothing more until it is opened.</summary>
internal sealed class GatePacer(SimLane lane, int free) : IWorkPacer
{
    private bool _isOpen;
    private int _free = free;

    internal int Waiting { get; private set; }

    public bool IsYielding => true;

    internal void Open() => _isOpen = true;

    public async LaneTask<bool> Done(long bytes)
    {
        Waiting += --_free < 0 ? 1 : 0;
        while (!_isOpen && _free < 0)
        {
            await lane.Delay(100_000);
        }

        return true;
    }
}
