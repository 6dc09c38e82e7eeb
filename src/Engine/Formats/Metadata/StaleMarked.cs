using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Formats;

/// <summary>These regions have missed a write; not to be read there until resynced.</summary>
public sealed record StaleMarked(SpaceId Space, StaleEntry[] Entries) : MetadataRecord
{
    internal override RecordKind Kind => RecordKind.StaleMarked;

    internal override void EncodeBody(ByteWriter to)
    {
        to.U32(Space.Value);
        StaleEntry.EncodeAll(Entries, to);
    }

    internal static MetadataRecord Decode(ref ByteReader from) =>
        new StaleMarked(new SpaceId(from.U32()), StaleEntry.DecodeAll(ref from));
}
