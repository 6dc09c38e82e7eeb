using System.Globalization;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

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
    private readonly HeatBlocks _blocks = new();
    private double _left;
    private string? _trouble;

    /// <summary>Whether every block has been read.</summary>
    public bool IsWhole => _blocks.IsWhole;

    /// <summary>Time at which it was written, as ticks of UTC.</summary>
    public long UtcTicks => _blocks.Snapshot.UtcTicks;

    /// <summary>Virtual disk that it was written of.</summary>
    public Guid Owner => _blocks.Snapshot.Owner;

    /// <summary>Bytes of a slice of the file.</summary>
    public int SliceBytes => _blocks.Snapshot.SliceBytes;

    /// <summary>Slices of the file that have heat.</summary>
    public long HotSlices { get; private set; }

    /// <summary>The heat; null unless every block has been read and nothing was wrong.</summary>
    internal HeatMap? Map => IsWhole && _trouble is null ? _map : null;

    /// <summary>Takes the next block of <see cref="HeatSnapshot.BlockSize"/> bytes; what is wrong with it, null when nothing is.</summary>
    public string? Add(ReadOnlySpan<byte> block)
    {
        _trouble ??= _blocks.Add(block, out HeatRun run)
            ?? CheckFit(_blocks.Snapshot) ?? Take(_blocks.Snapshot, run, HeatSnapshot.Heats(block)[..run.Count]);
        return _trouble;
    }

    // Where in a larger slice its heat lay is not known, so it cannot be divided.
    private string? CheckFit(in HeatSnapshot snapshot) => snapshot.SliceBytes <= settings.SliceBytes && settings.SliceBytes % snapshot.SliceBytes == 0
        ? null
        : Text($"It has the heat of slices of {ByteText.Exact(snapshot.SliceBytes)}, and the virtual disk has slices of {ByteText.Exact(settings.SliceBytes)}: where in a larger slice its heat lay is not known.");

    private string? Take(in HeatSnapshot snapshot, in HeatRun run, ReadOnlySpan<float> heats)
    {
        // Heat is a rate times the half-life, so with another half-life the same load has another heat.
        double away = Math.Max(0, utcTicks - (double)snapshot.UtcTicks) * NsPerTick / snapshot.HalfLifeNs;
        _left = double.Exp2(-away) * settings.HalfLifeNs / snapshot.HalfLifeNs;
        int several = settings.SliceBytes / snapshot.SliceBytes;
        for (int i = 0; i < heats.Length; i++)
        {
            long slice = (run.FirstSlice + i) / several;
            if (heats[i] > 0 && slice >= slices)
            {
                return Text($"It has heat of slice {run.FirstSlice + i} of {ByteText.Exact(snapshot.SliceBytes)}, beyond the end of the virtual disk, which has {ByteText.Exact(slices * settings.SliceBytes)}.");
            }

            Add(slice, heats[i]);
        }

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
