namespace TierSpaces.Engine.Formats;

/// <summary>The pool's settings, whole, as they are from now on.</summary>
public sealed record PoolChanged(PoolDescription Pool) : MetadataRecord
{
    internal override RecordKind Kind => RecordKind.PoolChanged;

    internal override void EncodeBody(ByteWriter to) => Pool.Encode(to);

    internal static MetadataRecord Decode(ref ByteReader from) => new PoolChanged(PoolDescription.Decode(ref from));
}
