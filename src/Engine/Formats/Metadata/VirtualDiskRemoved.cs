using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Formats;

/// <summary>A virtual disk whose spaces are gone is gone.</summary>
public sealed record VirtualDiskRemoved(VirtualDiskId VirtualDisk) : MetadataRecord
{
    internal override RecordKind Kind => RecordKind.VirtualDiskRemoved;

    internal override void EncodeBody(ByteWriter to) => to.Guid(VirtualDisk.Value);

    internal static MetadataRecord Decode(ref ByteReader from) => new VirtualDiskRemoved(new VirtualDiskId(from.Guid()));
}
