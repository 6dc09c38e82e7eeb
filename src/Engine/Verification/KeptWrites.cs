namespace TierSpaces.Engine.Verification;

/// <summary>
/// Selections of the writes without a flush that survive a power cut: rules that answer for disk, pending write of that disk, and sector of that
/// write. Pending writes are numbered over all disks, one disk after the other.
/// </summary>
public static class KeptWrites
{
    /// <summary>Nothing.</summary>
    public static Func<int, int, int, bool> None { get; } = static (_, _, _) => false;

    /// <summary>Everything.</summary>
    public static Func<int, int, int, bool> All { get; } = static (_, _, _) => true;

    /// <summary>One write alone.</summary>
    public static Func<int, int, int, bool> OnlyOne(int chosen, int[] pending) => (disk, write, _) => Index(pending, disk, write) == chosen;

    /// <summary>All but one.</summary>
    public static Func<int, int, int, bool> AllButOne(int chosen, int[] pending) => (disk, write, _) => Index(pending, disk, write) != chosen;

    /// <summary>The oldest writes of each disk.</summary>
    public static Func<int, int, int, bool> Prefixes(Random random, int[] pending)
    {
        int[] ends = Array.ConvertAll(pending, count => random.Next(count + 1));
        return (disk, write, _) => write < ends[disk];
    }

    /// <summary>A random share, of whole writes or of sectors.</summary>
    public static Func<int, int, int, bool> Random(Random random)
    {
        int percent = random.Next(1, 100);
        bool torn = random.Next(2) == 0;
        Dictionary<(int, int), bool> whole = [];
        return (disk, write, _) =>
        {
            if (torn)
            {
                return random.Next(100) < percent;
            }

            if (!whole.TryGetValue((disk, write), out bool kept))
            {
                whole[(disk, write)] = kept = random.Next(100) < percent;
            }

            return kept;
        };
    }

    /// <summary>Number of a pending write over all disks.</summary>
    public static int Index(int[] pending, int disk, int write) => pending.Take(disk).Sum() + write;
}
