using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Formats;

/// <summary>These rows, all of them mapped until now, have no slabs any more.</summary>
/// <param name="Space">The space.</param>
/// <param name="FirstRow">Index of the first row.</param>
/// <param name="Count">Number of rows.</param>
public sealed record RowsFreed(SpaceId Space, int FirstRow, int Count) : MetadataRecord
{
    internal override RecordKind Kind => RecordKind.RowsFreed;

    internal override void EncodeBody(ByteWriter to)
    {
        to.U32(Space.Value);
        to.U32((uint)FirstRow);
        to.U32((uint)Count);
    }

    internal static MetadataRecord Decode(ref ByteReader from)
    {
        SpaceId space = new(from.U32());
        uint first = from.U32();
        uint count = from.U32();
        if (first > SpaceDescription.MaxRows || count > SpaceDescription.MaxRows)
        {
            from.Fail();
        }

        return new RowsFreed(space, (int)first, (int)count);
    }
}
