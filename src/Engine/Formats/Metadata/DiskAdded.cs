namespace TierSpaces.Engine.Formats;

/// <summary>A disk has joined the pool.</summary>
public sealed record DiskAdded(DiskDescription Disk) : MetadataRecord
{
    internal override RecordKind Kind => RecordKind.DiskAdded;

    internal override void EncodeBody(ByteWriter to) => Disk.Encode(to);

    internal static MetadataRecord Decode(ref ByteReader from) => new DiskAdded(DiskDescription.Decode(ref from));
}
