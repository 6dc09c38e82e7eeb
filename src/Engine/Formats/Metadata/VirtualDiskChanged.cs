namespace TierSpaces.Engine.Formats;

/// <summary>A virtual disk's description, whole, as it is from now on.</summary>
public sealed record VirtualDiskChanged(VirtualDiskDescription VirtualDisk) : MetadataRecord
{
    internal override RecordKind Kind => RecordKind.VirtualDiskChanged;

    // A release that does not know of caches elsewhere would serve without what the cache holds.
    internal override byte Version => (byte)(VirtualDisk.IsCacheElsewhere ? 2 : 1);

    internal override void EncodeBody(ByteWriter to) => VirtualDisk.Encode(to);

    internal static MetadataRecord Decode(ref ByteReader from) => new VirtualDiskChanged(VirtualDiskDescription.Decode(ref from));
}
