using TierSpaces.Engine.Formats;

namespace TierSpaces.Engine.Tiering;

/// <summary>
/// Makes the blocks of a snapshot of a heat map, one at a time, while requests go on being recorded: slices that become hot for the first time behind
/// the block made last are missing. Allocates no memory once made.
/// </summary>
/// <param name="map">The map.</param>
/// <param name="owner">Virtual disk it belongs to.</param>
/// <param name="sequence">Number of the snapshot, above those before; says the area (<see cref="HeatSnapshot.Area"/>).</param>
/// <param name="utcTicks">Time of the snapshot, as ticks of UTC.</param>
/// <param name="nowNs">Time of the snapshot, as the lane's time.</param>
public sealed class HeatSnapshotWriter(HeatMap map, Guid owner, ulong sequence, long utcTicks, long nowNs)
{
    private readonly HeatSnapshot _snapshot = new(owner, sequence, map.Settings.HalfLifeNs, map.Settings.SliceBytes, utcTicks);
    private int _number;
    private long _next = map.NextTouched(0);
    private bool _isDone;

    /// <summary>Blocks made.</summary>
    public int Blocks => _number;

    /// <summary>Makes the next block of <see cref="HeatSnapshot.BlockSize"/> bytes; false, and nothing is changed, when there are no more.</summary>
    public bool Next(Span<byte> block)
    {
        if (_isDone)
        {
            return false;
        }

        long first = Math.Min(_next, map.Slices);
        int count = (int)Math.Min(HeatSnapshot.BlockSlices, map.Slices - first);
        Span<float> heats = HeatSnapshot.Heats(block)[..count];
        map.CopyTo(heats, first, nowNs);
        count = heats.LastIndexOfAnyExcept(0f) + 1;
        _next = map.NextTouched(first + HeatSnapshot.BlockSlices);
        _isDone = _next >= map.Slices;
        _snapshot.Seal(block, new HeatRun(_number++, first, count, _isDone));
        return true;
    }
}
