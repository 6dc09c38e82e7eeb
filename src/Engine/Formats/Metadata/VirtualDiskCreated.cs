namespace TierSpaces.Engine.Formats;

/// <summary>A virtual disk exists; its spaces follow.</summary>
public sealed record VirtualDiskCreated(VirtualDiskDescription VirtualDisk) : MetadataRecord
{
    internal override RecordKind Kind => RecordKind.VirtualDiskCreated;

    // A release that does not know of caches elsewhere would serve without what the cache holds.
    internal override byte Version => (byte)(VirtualDisk.IsCacheElsewhere ? 2 : 1);

    internal override void EncodeBody(ByteWriter to) => VirtualDisk.Encode(to);

    internal static MetadataRecord Decode(ref ByteReader from) => new VirtualDiskCreated(VirtualDiskDescription.Decode(ref from));
}
