using TierSpaces.Engine.Formats;

namespace TierSpaces.Engine.Tiering;

/// <summary>
/// Reads a snapshot of heat block by block, from the first of an area on. The heat is the one that remains now, as requests counted with the map's
/// half-life. Any difference from the blocks as they were written makes the snapshot torn; no method throws.
/// </summary>
/// <param name="owner">Virtual disk it must belong to.</param>
/// <param name="settings">Settings of the map; a snapshot of slices of another size is as none.</param>
/// <param name="slices">Slices of the virtual disk now; heat beyond them is dropped.</param>
/// <param name="utcTicks">Now, as ticks of UTC.</param>
/// <param name="nowNs">Now, as the lane's time.</param>
public sealed class HeatSnapshotReader(Guid owner, HeatSettings settings, long slices, long utcTicks, long nowNs)
{
    private const int NsPerTick = 100;

    private readonly HeatMap _map = new(settings, slices);
    private HeatSnapshot _snapshot;
    private int _next;
    private long _covered;   // slices below it are behind
    private double _left;
    private bool _isTorn;

    /// <summary>Number of the snapshot; 0 before its first whole block.</summary>
    public ulong Sequence => _snapshot.Sequence;

    /// <summary>Whether every block has been read.</summary>
    public bool IsWhole { get; private set; }

    /// <summary>The heat that was saved; null unless every block has been read.</summary>
    public HeatMap? Map => IsWhole ? _map : null;

    /// <summary>Whether the first block of one area is of a newer snapshot than that of the other, for which area to read first.</summary>
    public static bool IsNewer(ReadOnlySpan<byte> block, ReadOnlySpan<byte> other, Guid owner) =>
        HeatSnapshot.TryRead(block, owner, out HeatSnapshot one, out _)
        && (!HeatSnapshot.TryRead(other, owner, out HeatSnapshot two, out _) || one.Sequence > two.Sequence);

    /// <summary>Reads the newest whole snapshot of two areas that are in memory; null when there is none.</summary>
    public static HeatSnapshotReader? Newest(ReadOnlySpan<byte> first, ReadOnlySpan<byte> second, Func<HeatSnapshotReader> make)
    {
        HeatSnapshotReader one = make().AddAll(first);
        HeatSnapshotReader two = make().AddAll(second);
        return one.IsWhole && (!two.IsWhole || one.Sequence > two.Sequence) ? one : two.IsWhole ? two : null;
    }

    /// <summary>Takes the next block; whether there is another to be read.</summary>
    public bool Add(ReadOnlySpan<byte> block)
    {
        if (IsWhole || _isTorn)
        {
            return false;
        }

        _isTorn = !HeatSnapshot.TryRead(block, owner, out HeatSnapshot snapshot, out HeatRun run) || !Follows(snapshot, run);
        if (_isTorn)
        {
            return false;
        }

        ReadOnlySpan<float> heats = HeatSnapshot.Heats(block);
        for (int i = 0; i < run.Count && run.FirstSlice + i < slices; i++)
        {
            if (heats[i] * _left > 0)
            {
                _map.Restore(run.FirstSlice + i, heats[i] * _left, nowNs);
            }
        }

        _next++;
        _covered = run.FirstSlice + run.Count;
        IsWhole = run.IsLast;
        return !IsWhole;
    }

    private HeatSnapshotReader AddAll(ReadOnlySpan<byte> area)
    {
        while (area.Length >= HeatSnapshot.BlockSize && Add(area))
        {
            area = area[HeatSnapshot.BlockSize..];
        }

        return this;
    }

    private bool Follows(in HeatSnapshot snapshot, in HeatRun run)
    {
        if (run.Number != _next || run.FirstSlice < _covered || (_next > 0 && snapshot != _snapshot) || snapshot.SliceBytes != settings.SliceBytes)
        {
            return false;
        }

        // Heat is a rate times the half-life, so with another half-life the same load has another heat.
        double away = Math.Max(0, utcTicks - (double)snapshot.UtcTicks) * NsPerTick / snapshot.HalfLifeNs;
        _snapshot = snapshot;
        _left = double.Exp2(-away) * settings.HalfLifeNs / snapshot.HalfLifeNs;
        return true;
    }
}
