namespace TierSpaces.Engine.Formats;

/// <summary>The first record of a pool.</summary>
public sealed record PoolCreated(PoolDescription Pool) : MetadataRecord
{
    internal override RecordKind Kind => RecordKind.PoolCreated;

    internal override void EncodeBody(ByteWriter to) => Pool.Encode(to);

    internal static MetadataRecord Decode(ref ByteReader from) => new PoolCreated(PoolDescription.Decode(ref from));
}
