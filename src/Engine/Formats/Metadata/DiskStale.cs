using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Formats;

/// <summary>Every region of a space that lies on this disk is stale.</summary>
public sealed record DiskStale(SpaceId Space, DiskNumber Disk) : MetadataRecord
{
    internal override RecordKind Kind => RecordKind.DiskStale;

    internal override void EncodeBody(ByteWriter to)
    {
        to.U32(Space.Value);
        to.U16(Disk.Value);
    }

    internal static MetadataRecord Decode(ref ByteReader from) => new DiskStale(new SpaceId(from.U32()), new DiskNumber(from.U16()));
}
