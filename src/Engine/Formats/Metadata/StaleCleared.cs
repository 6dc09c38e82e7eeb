using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Formats;

/// <summary>These regions have been resynced.</summary>
public sealed record StaleCleared(SpaceId Space, StaleEntry[] Entries) : MetadataRecord
{
    internal override RecordKind Kind => RecordKind.StaleCleared;

    internal override void EncodeBody(ByteWriter to)
    {
        to.U32(Space.Value);
        StaleEntry.EncodeAll(Entries, to);
    }

    internal static MetadataRecord Decode(ref ByteReader from) =>
        new StaleCleared(new SpaceId(from.U32()), StaleEntry.DecodeAll(ref from));
}
