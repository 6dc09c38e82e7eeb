namespace TierSpaces.Engine.Pools;

/// <summary>Counts the rows and slices that a thread goes over, so that tests can bound what verbs do on the lane.</summary>
internal static class RowWalks
{
    [ThreadStatic]
    private static long s_count;

    /// <summary>Rows and slices that the current thread has gone over.</summary>
    internal static long OnThisThread => s_count;

    /// <summary>The current thread goes over rows or slices.</summary>
    internal static void Note(int count) => s_count += count;
}
