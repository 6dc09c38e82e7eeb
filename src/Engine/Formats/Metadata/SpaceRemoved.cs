using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Formats;

/// <summary>A space is gone, and its slabs are free.</summary>
public sealed record SpaceRemoved(SpaceId Space) : MetadataRecord
{
    internal override RecordKind Kind => RecordKind.SpaceRemoved;

    internal override void EncodeBody(ByteWriter to) => to.U32(Space.Value);

    internal static MetadataRecord Decode(ref ByteReader from) => new SpaceRemoved(new SpaceId(from.U32()));
}
