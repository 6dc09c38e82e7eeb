using System.Globalization;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tiering;

/// <summary>A slice whose heat differs between two files, each heat as of when its file was written.</summary>
/// <param name="Slice">The slice.</param>
/// <param name="Before">Its heat in the first file.</param>
/// <param name="After">Its heat in the second one, counted with the half-life of the first.</param>
public readonly record struct HeatDifference(long Slice, double Before, double After)
{
    /// <summary>Heat that was added; negative where it has cooled.</summary>
    public double Change => After - Before;
}

/// <summary>
/// The heat of a file with that of virtual disks, to be compared with that of another one. Four bytes for each slice from the first to the last that
/// a block of the file names.
/// </summary>
public sealed class HeatFileContents
{
    private readonly HeatBlocks _blocks = new();
    private readonly List<(long FirstSlice, float[] Heats)> _runs = [];
    private string? _trouble;

    /// <summary>Whether every block has been read.</summary>
    public bool IsWhole => _blocks.IsWhole;

    /// <summary>Bytes of a slice.</summary>
    public int SliceBytes => _blocks.Snapshot.SliceBytes;

    /// <summary>Takes the next block of <see cref="HeatSnapshot.BlockSize"/> bytes; what is wrong with it, null when nothing is.</summary>
    public string? Add(ReadOnlySpan<byte> block)
    {
        HeatRun run = default;
        _trouble ??= _blocks.Add(block, out run);
        if (_trouble is null && run.Count > 0)
        {
            _runs.Add((run.FirstSlice, HeatSnapshot.Heats(block)[..run.Count].ToArray()));
        }

        return _trouble;
    }

    /// <summary>The slices whose heat differs most from here to another file, the greatest change first; of equal ones the first slice.</summary>
    /// <param name="other">The later file, of slices as large.</param>
    /// <param name="most">Slices at most.</param>
    /// <exception cref="ArgumentException">Its slices have another size.</exception>
    public HeatDifference[] DifferencesTo(HeatFileContents other, int most)
    {
        if (other.SliceBytes != SliceBytes)
        {
            throw new ArgumentException(
                string.Create(CultureInfo.InvariantCulture, $"The slices have {ByteText.Exact(SliceBytes)} and {ByteText.Exact(other.SliceBytes)}; they must be as large."),
                nameof(other));
        }

        // Heat is a rate times the half-life.
        double factor = _blocks.Snapshot.HalfLifeNs / (double)other._blocks.Snapshot.HalfLifeNs;
        Dictionary<long, float> after = other.Slices().ToDictionary(static slice => slice.Slice, static slice => slice.Heat);
        PriorityQueue<HeatDifference, (double, long)> greatest = new();
        foreach ((long slice, float heat) in Slices())
        {
            Note(new HeatDifference(slice, heat, after.Remove(slice, out float later) ? later * factor : 0));
        }

        foreach ((long slice, float heat) in after)
        {
            Note(new HeatDifference(slice, 0, heat * factor));
        }

        return [.. greatest.UnorderedItems.OrderByDescending(static item => item.Priority).Select(static item => item.Element)];

        void Note(HeatDifference difference)
        {
            if (difference.Change != 0)
            {
                greatest.Enqueue(difference, (Math.Abs(difference.Change), -difference.Slice));
                if (greatest.Count > most)
                {
                    greatest.Dequeue();
                }
            }
        }
    }

    private IEnumerable<(long Slice, float Heat)> Slices()
    {
        foreach ((long first, float[] heats) in _runs)
        {
            for (int i = 0; i < heats.Length; i++)
            {
                if (heats[i] > 0)
                {
                    yield return (first + i, heats[i]);
                }
            }
        }
    }
}
