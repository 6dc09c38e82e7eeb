namespace TierSpaces.Bench.Nbd;

/// <summary>
/// The order of turns as a balanced Latin square (Williams): in its rows each takes every place equally often and follows every other equally
/// often. Remains of a turn, work or a warm cache, so weigh on all of them.
/// </summary>
internal static class TurnOrder
{
    /// <summary>Rows of the square for so many: as many, or twice as many where they are odd.</summary>
    internal static int Rows(int count) => count % 2 == 0 ? count : 2 * count;

    /// <summary>Order of the turns in a row; rows beyond the square repeat it.</summary>
    internal static int[] Of(int count, int row)
    {
        int[] order = [.. Enumerable.Range(0, count).Select(place => (row + (place % 2 == 0 ? place / 2 : count - ((place + 1) / 2))) % count)];
        if (row % Rows(count) >= count)
        {
            Array.Reverse(order);
        }

        return order;
    }
}
