using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Formats;

/// <summary>
/// From now on these rows have exactly these slabs: new rows, or old ones with targets joining or switched. Slabs no longer
/// named are free. A stale mark stays with a position whose source stays and goes with a source that goes.
/// </summary>
/// <param name="Space">The space.</param>
/// <param name="FirstRow">Index of the first row.</param>
/// <param name="Positions">Slabs of each row: columns × copies of the space.</param>
/// <param name="Rows">The rows, in order.</param>
public sealed record RowsMapped(SpaceId Space, int FirstRow, int Positions, RowMapping[] Rows) : MetadataRecord
{
    internal override RecordKind Kind => RecordKind.RowsMapped;

    internal override void EncodeBody(ByteWriter to)
    {
        to.U32(Space.Value);
        to.U32((uint)FirstRow);
        to.U16((ushort)Positions);
        to.U32((uint)Rows.Length);
        foreach (RowMapping row in Rows)
        {
            row.Encode(to);
        }
    }

    internal static MetadataRecord Decode(ref ByteReader from)
    {
        SpaceId space = new(from.U32());
        uint first = from.U32();
        int positions = from.U16();
        if (first > SpaceDescription.MaxRows || positions is < 1 or > SpaceDescription.MaxPositions)
        {
            from.Fail();
            positions = 1;
        }

        RowMapping[] rows = new RowMapping[from.Count(1 + (positions * 6))];
        for (int i = 0; i < rows.Length; i++)
        {
            rows[i] = RowMapping.Decode(ref from, positions);
        }

        return new RowsMapped(space, (int)first, positions, rows);
    }
}
