namespace TierSpaces.Engine.Formats;

/// <summary>A disk's description, whole, as it is from now on.</summary>
public sealed record DiskChanged(DiskDescription Disk) : MetadataRecord
{
    internal override RecordKind Kind => RecordKind.DiskChanged;

    internal override void EncodeBody(ByteWriter to) => Disk.Encode(to);

    internal static MetadataRecord Decode(ref ByteReader from) => new DiskChanged(DiskDescription.Decode(ref from));
}
