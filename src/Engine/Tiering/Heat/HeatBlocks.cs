using System.Globalization;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tiering;

/// <summary>
/// Checks the blocks of a file with heat, one after the other: each is as it was written, follows the one before, and the last ends the file.
/// </summary>
internal sealed class HeatBlocks
{
    private int _next;
    private long _covered;   // slices below it are behind

    /// <summary>Facts of the file in every block, once there was one.</summary>
    internal HeatSnapshot Snapshot { get; private set; }

    /// <summary>Whether the last block has come.</summary>
    internal bool IsWhole { get; private set; }

    /// <summary>Takes the next block of <see cref="HeatSnapshot.BlockSize"/> bytes; what is wrong with it, null when nothing is.</summary>
    internal string? Add(ReadOnlySpan<byte> block, out HeatRun run)
    {
        bool isGood = HeatSnapshot.TryRead(block, out HeatSnapshot snapshot, out run);
        if (!isGood || IsWhole || run.Number != _next || run.FirstSlice < _covered || (_next > 0 && snapshot != Snapshot))
        {
            return _next == 0 && !HeatSnapshot.IsOne(block) ? "It is no heat map."
                : _next == 0 && HeatSnapshot.VersionOf(block) != HeatSnapshot.Version
                    ? Text($"It is of version {HeatSnapshot.VersionOf(block)}; this program reads version {HeatSnapshot.Version}.")
                : IsWhole ? "It goes on behind its end."
                : Text($"It is damaged in its {ByteText.Range((long)_next * HeatSnapshot.BlockSize, HeatSnapshot.BlockSize)}.");
        }

        Snapshot = snapshot;
        IsWhole = run.IsLast;
        _next++;
        _covered = run.FirstSlice + run.Count;
        return null;
    }

    private static string Text(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);
}
