namespace TierSpaces.Engine.Formats;

/// <summary>Regions of one slab of a row that missed writes: bit r is the r-th sixteenth of the slab.</summary>
/// <param name="Row">Index of the row.</param>
/// <param name="Position">Column × copies + copy.</param>
/// <param name="Regions">One bit per region; never 0.</param>
public readonly record struct StaleEntry(int Row, ushort Position, ushort Regions)
{
    internal static void EncodeAll(StaleEntry[] entries, ByteWriter to)
    {
        to.U32((uint)entries.Length);
        foreach (StaleEntry entry in entries)
        {
            to.U32((uint)entry.Row);
            to.U16(entry.Position);
            to.U16(entry.Regions);
        }
    }

    internal static StaleEntry[] DecodeAll(ref ByteReader from)
    {
        StaleEntry[] entries = new StaleEntry[from.Count(8)];
        for (int i = 0; i < entries.Length; i++)
        {
            uint row = from.U32();
            entries[i] = new StaleEntry((int)row, from.U16(), from.U16());
            if (row > SpaceDescription.MaxRows)
            {
                from.Fail();
            }
        }

        return entries;
    }
}
