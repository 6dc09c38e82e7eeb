namespace TierSpaces.Engine.Formats;

/// <summary>An empty space exists.</summary>
public sealed record SpaceCreated(SpaceDescription Space) : MetadataRecord
{
    internal override RecordKind Kind => RecordKind.SpaceCreated;

    internal override byte Version => (byte)(Space.IsRemote ? 2 : 1);   // a release without remote caches would take the ring for a cache of its own pool

    internal override void EncodeBody(ByteWriter to) => Space.Encode(to);

    internal static MetadataRecord Decode(ref ByteReader from) => new SpaceCreated(SpaceDescription.Decode(ref from));
}
