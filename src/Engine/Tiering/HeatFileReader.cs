using System.Globalization;
using TierSpaces.Engine.Formats;

namespace TierSpaces.Engine.Tiering;

/// <summary>
/// Reads heat that was written to a file, block by block, for a virtual disk that may be another one. The heat is decayed to now, and counted in
/// requests with the half-life of this disk. Slices of the file may be smaller: several make one here. If a block does not fit, or is not as it was
/// written, the reader reports that and takes no heat from the file.
/// </summary>
/// <param name="settings">Settings of the virtual disk.</param>
/// <param name="slices">Slices of the virtual disk.</param>
/// <param name="utcTicks">Now, as ticks of UTC.</param>
/// <param name="nowNs">Now, as the lane's time.</param>
public sealed class HeatFileReader(HeatSettings settings, long slices, long utcTicks, long nowNs)
{
    private const int NsPerTick = 100;

    private readonly HeatMap _map = new(settings, slices);
    private HeatSnapshot _snapshot;
    private int _next;
    private long _covered;   // slices of the file below it are behind
    private double _left;
    private string? _trouble;

    /// <summary>Whether every block has been read.</summary>
    public bool IsWhole { get; private set; }

    /// <summary>Time at which it was written, as ticks of UTC.</summary>
    public long UtcTicks => _snapshot.UtcTicks;

    /// <summary>Virtual disk that it was written of.</summary>
    public Guid Owner => _snapshot.Owner;

    /// <summary>Bytes of a slice of the file.</summary>
    public int SliceBytes => _snapshot.SliceBytes;

    /// <summary>Slices of the file that have heat.</summary>
    public long HotSlices { get; private set; }

    /// <summary>The heat; null unless every block has been read and nothing was wrong.</summary>
    internal HeatMap? Map => IsWhole && _trouble is null ? _map : null;

    /// <summary>Takes the next block of <see cref="HeatSnapshot.BlockSize"/> bytes; what is wrong with it, null when nothing is.</summary>
    public string? Add(ReadOnlySpan<byte> block)
    {
        _trouble ??= Check(block, out HeatSnapshot snapshot, out HeatRun run)
            ?? CheckFit(snapshot) ?? Take(snapshot, run, HeatSnapshot.Heats(block)[..run.Count]);
        return _trouble;
    }

    private string? Check(ReadOnlySpan<byte> block, out HeatSnapshot snapshot, out HeatRun run)
    {
        bool isGood = HeatSnapshot.TryRead(block, out snapshot, out run);
        bool follows = isGood && !IsWhole && run.Number == _next && run.FirstSlice >= _covered && (_next == 0 || snapshot == _snapshot);
        return follows ? null
            : _next == 0 && !HeatSnapshot.IsOne(block) ? "It is no heat map."
            : _next == 0 && HeatSnapshot.VersionOf(block) != HeatSnapshot.Version
                ? Text($"It is of version {HeatSnapshot.VersionOf(block)}; this program reads version {HeatSnapshot.Version}.")
            : IsWhole ? "It goes on behind its end."
            : Text($"It is damaged in its {HeatSnapshot.BlockSize} bytes at {(long)_next * HeatSnapshot.BlockSize}.");
    }

    // Where in a larger slice its heat lay is not known, so it cannot be divided.
    private string? CheckFit(in HeatSnapshot snapshot) => snapshot.SliceBytes <= settings.SliceBytes && settings.SliceBytes % snapshot.SliceBytes == 0
        ? null
        : Text($"It has the heat of slices of {snapshot.SliceBytes} bytes, and the virtual disk has slices of {settings.SliceBytes}: where in a larger slice its heat lay is not known.");

    private string? Take(in HeatSnapshot snapshot, in HeatRun run, ReadOnlySpan<float> heats)
    {
        // Heat is a rate times the half-life, so with another half-life the same load has another heat.
        double away = Math.Max(0, utcTicks - (double)snapshot.UtcTicks) * NsPerTick / snapshot.HalfLifeNs;
        _snapshot = snapshot;
        _left = double.Exp2(-away) * settings.HalfLifeNs / snapshot.HalfLifeNs;
        _next++;
        _covered = run.FirstSlice + run.Count;
        int several = settings.SliceBytes / snapshot.SliceBytes;
        for (int i = 0; i < heats.Length; i++)
        {
            long slice = (run.FirstSlice + i) / several;
            if (heats[i] > 0 && slice >= slices)
            {
                return Text($"It has heat at {((UInt128)(ulong)(run.FirstSlice + i)) * (uint)snapshot.SliceBytes}, beyond the end of the virtual disk, which has {slices * settings.SliceBytes} bytes.");
            }

            Add(slice, heats[i]);
        }

        IsWhole = run.IsLast;
        return null;
    }

    private void Add(long slice, float heat)
    {
        if (heat * _left > 0)
        {
            _map.Restore(slice, heat * _left, nowNs);
            HotSlices++;
        }
    }

    private static string Text(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);
}
